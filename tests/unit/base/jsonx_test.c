// SPDX-License-Identifier: Apache-2.0
#include "base/jsonx.h"

#include "base/json_read.h"
#include "base/limits.h"
#include "base/mem.h"
#include "test.h"

static json_t *parse(const char *s)
{
	struct err e = ERR_INIT;
	json_t *v = NULL;

	if (jsonx_parse(s, strlen(s), NULL, NULL, &v, &e) < 0)
		test_fail(__FILE__, __LINE__, "%s: %s", s, e.text);
	return v;
}

TEST("bad JSON is told with line and column")
{
	struct err e = ERR_INIT;
	json_t *v = NULL;

	CHECK(jsonx_parse("{\n \"a\": }", 9, NULL, NULL, &v, &e) < 0);
	CHECK_INT(e.kind, ERR_BAD_REQUEST);
	CHECK(str_starts(e.text, "invalid JSON at line 2, column"));
	CHECK(v == NULL);
	CHECK(jsonx_parse("", 0, NULL, NULL, &v, &e) < 0);
	CHECK(jsonx_parse("{} x", 4, NULL, NULL, &v, &e) < 0);
	CHECK(jsonx_parse("\"\\u0000\"", 8, NULL, NULL, &v, &e) < 0);
}

TEST("nesting is limited, brackets in strings do not count")
{
	auto_sbuf struct sbuf b = SBUF(10000);
	struct err e = ERR_INIT;
	json_t *v = NULL;

	for (int i = 0; i <= LIMIT_JSON_DEPTH; i++)
		sbuf_addc(&b, '[');
	for (int i = 0; i <= LIMIT_JSON_DEPTH; i++)
		sbuf_addc(&b, ']');
	CHECK(jsonx_parse(b.p, b.n, NULL, NULL, &v, &e) < 0);
	CHECK_INT(jsonx_parse(b.p + 1, b.n - 2, NULL, NULL, &v, &e), 0);
	json_decref(v);
	sbuf_reset(&b);
	sbuf_addc(&b, '"');
	for (int i = 0; i < 1000; i++)
		sbuf_adds(&b, "\\\"[");
	sbuf_addc(&b, '"');
	CHECK_INT(jsonx_parse(b.p, b.n, NULL, NULL, &v, &e), 0);
	json_decref(v);
}

static void note(void *arg, const char *path)
{
	sbuf_addf(arg, "%s;", path);
}

TEST("duplicate keys are told with their path and the last one wins")
{
	static const char text[] = "{\"a\":{\"b\":1,\"b\":2},\"l\":[{\"c\":\"}\",\"c\":[]}],\"a\":{\"b\":3}}";
	struct err e = ERR_INIT;
	json_auto_t *v = NULL;
	auto_sbuf struct sbuf seen = SBUF(1000);

	CHECK_INT(jsonx_parse(text, sizeof(text) - 1, note, &seen, &v, &e), 0);
	CHECK_STR(seen.p, "a.b;l[0].c;a;");
	CHECK_INT(jsonx_int_or(v, "a.b", 0), 3);
}

TEST("paths read, set and remove")
{
	json_auto_t *v = parse("{\"a\":{\"b\":\"x\",\"n\":5,\"t\":true}}");

	CHECK_STR(jsonx_str(v, "a.b"), "x");
	CHECK_STR(jsonx_str(v, "a.n"), NULL);
	CHECK_STR(jsonx_str_or(v, "a.c.d", "y"), "y");
	CHECK_INT(jsonx_int_or(v, "a.n", 1), 5);
	CHECK_INT(jsonx_int_or(v, "a.b", 1), 1);
	CHECK(jsonx_bool_or(v, "a.t", false) && jsonx_bool_or(v, "a.z", true));
	jsonx_set_new(v, "p.q.r", json_integer(1));
	jsonx_set_new(v, "a.b.c", json_integer(2));
	CHECK_INT(jsonx_int_or(v, "p.q.r", 0), 1);
	CHECK_INT(jsonx_int_or(v, "a.b.c", 0), 2);
	jsonx_del(v, "p.q");
	jsonx_del(v, "p.q.nothing");
	CHECK(jsonx_at(v, "p.q") == NULL && jsonx_at(v, "p") != NULL);
}

TEST("equality compares numbers by value and ignores the order of keys")
{
	json_auto_t *a = parse("{\"x\":1,\"y\":[1.5,null,\"s\"]}");
	json_auto_t *b = parse("{\"y\":[1.5,null,\"s\"],\"x\":1.0}");
	json_auto_t *c = parse("{\"y\":[1.5,null],\"x\":1}");

	CHECK(jsonx_equal(a, b));
	CHECK(!jsonx_equal(a, c));
	CHECK(!jsonx_equal(a, NULL) && jsonx_equal(NULL, NULL));
}

TEST("strings from anywhere become valid ones")
{
	json_auto_t *v = jsonx_stringn("a\xff\xe2\x82\xac\xc3", 6);
	json_auto_t *f = jsonx_stringf("%d-%s", 5, "x");

	CHECK_STR(json_string_value(v), "a\xef\xbf\xbd\xe2\x82\xac\xef\xbf\xbd");
	CHECK_STR(json_string_value(f), "5-x");
}

TEST("printing is compact or for people")
{
	json_auto_t *v = parse("{\"a\":[1,true]}");
	auto_sbuf struct sbuf b = SBUF(100);
	auto_sbuf struct sbuf pretty = SBUF(100);

	jsonx_dump(v, &b);
	jsonx_dump_pretty(v, &pretty);
	CHECK_STR(b.p, "{\"a\":[1,true]}");
	CHECK_STR(pretty.p, "{\n  \"a\": [\n    1,\n    true\n  ]\n}\n");
}

TEST("a copy has containers of its own")
{
	json_auto_t *a = json_pack("{s:{s:[i, s, {s:n}]}, s:b, s:f}", "x", "y", 1, "t", "z", "b", 1, "r", 0.5);
	json_auto_t *b = jsonx_copy(a);

	CHECK(json_equal(a, b));
	CHECK(jsonx_at(a, "x") != jsonx_at(b, "x"));
	json_array_append_new(jsonx_at(b, "x.y"), json_true());
	json_object_set_new(json_array_get(jsonx_at(b, "x.y"), 2), "z", json_integer(3));
	CHECK_INT(json_array_size(jsonx_at(a, "x.y")), 3);
	CHECK(json_is_null(json_object_get(json_array_get(jsonx_at(a, "x.y"), 2), "z")));
	CHECK(jsonx_copy(NULL) == NULL);
}

TEST("the text of one member is found without reading the rest")
{
	static const struct {
		const char *text;
		bool good;
		const char *value; /* NULL: it is not there */
	} rows[] = {
		{ "{\"a\":{\"b\":[1,2]}}", true, "[1,2]" },
		{ "{\"x\":{\"a\":{\"b\":3}},\"a\":{\"c\":\"}\\\\\\\"{,\",\"d\":[[],{}],\"e\":null,\"b\":\"v\"}}", true,
		  "\"v\"" },
		{ "{\"x\":-12,\"y\":true,\"a\":{\"c\":\"\\\"b\\\":7\",\"b\":{}}}", true, "{}" },
		{ "{\"a\":{\"c\":1}}", true, NULL },
		{ "{\"a\":{}}", true, NULL },
		{ "{\"x\":{\"b\":1}}", true, NULL },
		{ "{}", true, NULL },
		{ "{\"a\":[\"b\"]}", false, NULL },
		{ "{\"a\": {\"b\":1}}", false, NULL }, /* not as we write it */
		{ "{\"x\":[}", false, NULL },
		{ "{\"x\":}", false, NULL },
		{ "{\"x\":\"\\", false, NULL },
		{ "{\"x\":1", false, NULL },
		{ "{\"a\":{\"b\":1.5}}", true, "1.5" },
		{ "{\"a\":{\"b\":[1", false, NULL },
		{ "", false, NULL },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct str v;

		CHECK_INT(json_find_member(str_of(rows[i].text), "a", "b", &v), rows[i].good);
		CHECK(str_eq(v, rows[i].value ? rows[i].value : ""));
	}
}

TEST("one of a list is found by the text of a member")
{
	json_auto_t *list = json_pack("[{s:s}, {s:i}, {s:s, s:i}, {s:s}]", "name", "a", "name", 1, "name", "b", "at", 2,
				      "name", "b");

	CHECK(jsonx_find(list, "name", "b") == json_array_get(list, 2));
	CHECK(!jsonx_find(list, "name", "c"));
	CHECK(!jsonx_find(list, "at", "b"));
	CHECK(!jsonx_find(NULL, "name", "b"));
}
