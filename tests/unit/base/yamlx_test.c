// SPDX-License-Identifier: Apache-2.0
#include "base/yamlx.h"

#include "base/limits.h"
#include "base/mem.h"
#include "test.h"

/* The one document of a text as compact JSON, or the error's text. */
static const char *yaml_json(const char *text)
{
	static char out[4096];
	struct err e = ERR_INIT;
	json_auto_t *v = NULL;
	auto_sbuf struct sbuf b = SBUF(sizeof(out) - 1);

	if (yamlx_parse(text, strlen(text), NULL, NULL, &v, &e) < 0)
		snprintf(out, sizeof(out), "%s", e.text);
	else {
		jsonx_dump(v, &b);
		snprintf(out, sizeof(out), "%s", sbuf_str(&b).p);
	}
	return out;
}

TEST("plain scalars resolve as Kubernetes' parser resolves them")
{
	static const struct {
		const char *yaml, *json;
	} rows[] = {
		{ "a: yes", "{\"a\":true}" },
		{ "a: Off", "{\"a\":false}" },
		{ "a: y", "{\"a\":true}" },
		{ "a: yEs", "{\"a\":\"yEs\"}" },
		{ "a: \"yes\"", "{\"a\":\"yes\"}" },
		{ "a: 'no'", "{\"a\":\"no\"}" },
		{ "a: ~", "{\"a\":null}" },
		{ "a:", "{\"a\":null}" },
		{ "a: null", "{\"a\":null}" },
		{ "a: 0644", "{\"a\":420}" },
		{ "a: 0o17", "{\"a\":15}" },
		{ "a: 0x1F", "{\"a\":31}" },
		{ "a: -0b101", "{\"a\":-5}" },
		{ "a: 1_000", "{\"a\":1000}" },
		{ "a: +7", "{\"a\":7}" },
		{ "a: 089", "{\"a\":89}" },
		{ "a: 3.0", "{\"a\":3}" },
		{ "a: 1e3", "{\"a\":1000}" },
		{ "a: 1.5", "{\"a\":1.5}" },
		{ "a: .5", "{\"a\":0.5}" },
		{ "a: 9223372036854775807", "{\"a\":9223372036854775807}" },
		{ "a: -9223372036854775808", "{\"a\":-9223372036854775808}" },
		{ "a: 2020-01-02", "{\"a\":\"2020-01-02\"}" },
		{ "a: 2020-01-02T03:04:05Z", "{\"a\":\"2020-01-02T03:04:05Z\"}" },
		{ "a: 10:20", "{\"a\":\"10:20\"}" },
		{ "a: 1.2.3", "{\"a\":\"1.2.3\"}" },
		{ "a: 100m", "{\"a\":\"100m\"}" },
		{ "a: 0x", "{\"a\":\"0x\"}" },
		{ "a: -", "invalid YAML at line 1, column 4: block sequence entries are not allowed in this context" },
		{ "a: .", "{\"a\":\".\"}" },
		{ "a: !!str 12", "{\"a\":\"12\"}" },
		{ "a: !!int \"12\"", "{\"a\":12}" },
		{ "a: !!binary aGk=", "{\"a\":\"hi\"}" },
		{ "1: a", "{\"1\":\"a\"}" },
		{ "true: a", "{\"true\":\"a\"}" },
		{ "1.5: a", "{\"1.5\":\"a\"}" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		CHECK_STR(yaml_json(rows[i].yaml), rows[i].json);
}

TEST("an escaped line break in double quotes joins the lines")
{
	CHECK_STR(yaml_json("worker: \"10.100.0.174:2222,\\\n         10.100.0.119:2222\"\n"),
		  "{\"worker\":\"10.100.0.174:2222,10.100.0.119:2222\"}");
	CHECK_STR(yaml_json("args: [\"a;\n  b  c\n  \"]"), "{\"args\":[\"a; b  c \"]}");
}

TEST("anchors, aliases and merge keys are expanded, explicit fields win")
{
	CHECK_STR(yaml_json("a: &x {b: 1, c: 2}\nd: *x\ne: {c: 3, <<: *x}\n"),
		  "{\"a\":{\"b\":1,\"c\":2},\"d\":{\"b\":1,\"c\":2},\"e\":{\"c\":3,\"b\":1}}");
	CHECK_STR(yaml_json("a: &x {b: 1}\nc: &y {b: 2, d: 4}\ne: {<<: [*x, *y]}\n"),
		  "{\"a\":{\"b\":1},\"c\":{\"b\":2,\"d\":4},\"e\":{\"b\":1,\"d\":4}}");
	CHECK_STR(yaml_json("a: *nowhere"),
		  "invalid YAML at line 1, column 4: an alias of an unknown anchor, or of one that contains it");
	CHECK_STR(yaml_json("a: &x [*x]"),
		  "invalid YAML at line 1, column 8: an alias of an unknown anchor, or of one that contains it");
	CHECK_STR(yaml_json("a: {<<: 5}"),
		  "invalid YAML at line 1, column 5: map merge requires map or sequence of maps as the value");
}

TEST("copies made by aliases do not share values")
{
	static const char text[] = "a: &x {b: 1}\nc: *x\n";
	struct err e = ERR_INIT;
	json_auto_t *v = NULL;

	CHECK_INT(yamlx_parse(text, sizeof(text) - 1, NULL, NULL, &v, &e), 0);
	json_object_set_new(json_object_get(v, "a"), "b", json_integer(2));
	CHECK_INT(jsonx_int_or(v, "c.b", 0), 1);
}

TEST("an alias bomb is an error")
{
	auto_sbuf struct sbuf b = SBUF(100000);
	struct err e = ERR_INIT;
	json_t *v = NULL;

	sbuf_adds(&b, "a0: &a0 [1,1,1,1,1,1,1,1,1,1]\n");
	for (int i = 1; i < 10; i++) {
		sbuf_addf(&b, "a%d: &a%d [", i, i);
		for (int k = 0; k < 10; k++)
			sbuf_addf(&b, "%s*a%d", k ? "," : "", i - 1);
		sbuf_adds(&b, "]\n");
	}
	CHECK(yamlx_parse(b.p, b.n, NULL, NULL, &v, &e) < 0);
	CHECK_INT(e.kind, ERR_BAD_REQUEST);
	CHECK(strstr(e.text, "too many values") != NULL);
}

TEST("depth is limited")
{
	auto_sbuf struct sbuf b = SBUF(100000);
	struct err e = ERR_INIT;
	json_t *v = NULL;

	for (int i = 0; i <= LIMIT_JSON_DEPTH; i++)
		sbuf_adds(&b, "- ");
	sbuf_adds(&b, "1\n");
	CHECK(yamlx_parse(b.p, b.n, NULL, NULL, &v, &e) < 0);
	CHECK(strstr(e.text, "nested too deeply") != NULL);
}

TEST("errors say where")
{
	CHECK_STR(yaml_json("a: 1\n\tb: 2\n"),
		  "invalid YAML at line 2, column 1: found a tab character that violates indentation");
	CHECK_STR(yaml_json("a: .nan"),
		  "invalid YAML at line 1, column 4: a value that JSON cannot hold or its tag does not allow");
	CHECK_STR(yaml_json("a: \"\\0\""), "invalid YAML at line 1, column 4: a NUL character");
	CHECK_STR(yaml_json("? [a]\n: 1"), "invalid YAML at line 1, column 3: a key must be a word, not a mapping, a "
					   "sequence or an alias");
	CHECK_STR(yaml_json("a\n---\nb\n"), "expected one YAML document, found 2");
	CHECK_STR(yaml_json("# nothing\n"), "expected one YAML document, found 0");
}

TEST("a stream gives its documents without the empty ones")
{
	static const char text[] = "---\n# only a comment\n---\na: 1\n---\n---\n{\"b\": 2}\n...\n";
	struct err e = ERR_INIT;
	json_auto_t *docs = NULL;

	CHECK_INT(yamlx_parse_all(text, sizeof(text) - 1, NULL, NULL, &docs, &e), 0);
	CHECK_INT(json_array_size(docs), 2);
	CHECK_INT(jsonx_int_or(json_array_get(docs, 1), "b", 0), 2);
}

TEST("JSON is read as JSON, also what libyaml cannot read")
{
	CHECK_STR(yaml_json("{\n\t\"a\":\t\"\\ud83d\\ude00\\/\"}"), "{\"a\":\"\xf0\x9f\x98\x80/\"}");
	CHECK_STR(yaml_json("{a: b, c: [1,2]}"), "{\"a\":\"b\",\"c\":[1,2]}");
}

static void note(void *arg, const char *path)
{
	sbuf_addf(arg, "%s;", path);
}

TEST("duplicate keys are told with their path and the last one wins")
{
	static const char text[] = "spec:\n  a: 1\n  list:\n  - b: 1\n    b: 2\n  a: 3\n";
	struct err e = ERR_INIT;
	json_auto_t *v = NULL;
	auto_sbuf struct sbuf seen = SBUF(1000);

	CHECK_INT(yamlx_parse(text, sizeof(text) - 1, note, &seen, &v, &e), 0);
	CHECK_STR(seen.p, "spec.list[0].b;spec.a;");
	CHECK_INT(jsonx_int_or(v, "spec.a", 0), 3);
}

static void check_round_trip(const json_t *v)
{
	struct err e = ERR_INIT;
	auto_sbuf struct sbuf text = SBUF(1 << 20);
	json_auto_t *back = NULL;

	yamlx_dump(v, &text);
	if (yamlx_parse(text.p, text.n, NULL, NULL, &back, &e) < 0)
		test_fail(__FILE__, __LINE__, "%s in:\n%s", e.text, text.p);
	else if (!jsonx_equal(v, back))
		test_fail(__FILE__, __LINE__, "changed by:\n%s", text.p);
}

TEST("every string survives being written and read")
{
	static const char *const strings[] = {
		"",
		" ",
		"a",
		"yes",
		"n",
		"null",
		"~",
		"1",
		"0x1f",
		"1e3",
		"1.5",
		".5",
		".inf",
		"-",
		"- a",
		"a: b",
		"a #b",
		"#a",
		"a:",
		":a",
		"\n",
		"a\n",
		"a\nb",
		"\na",
		"a\n\n",
		"  a\nb",
		"a\n b ",
		"a \nb",
		"\ta\nb",
		"a\tb",
		"'a'",
		"\"a\"",
		"[a]",
		"{a}",
		"*a",
		"&a",
		"!a",
		"%a",
		"@a",
		"`a",
		"? a",
		"| a",
		"> a",
		"<<",
		"=",
		"---",
		"--- a",
		"...",
		"a\r\nb",
		"\r",
		"\x7f",
		"\x1b[m",
		"\xc3\xa9",
		"2020-01-02",
		"10:20",
		"1_000",
		"+1",
		"0644",
		"089",
		"\xef\xbb\xbf"
		"a",
		"\xc2\x85",
		"\xe2\x80\xa8",
		"a\n\xe2\x80\xa9",
		"\xf0\x9f\x98\x80\nb",
		"a, b",
		"a,b",
		"\n\n",
		" \n",
		"\n ",
		"a\n ",
		"#!/bin/sh\nset -e\necho \"hi\"\n",
		"a\n\n\nb\n\n",
	};
	json_auto_t *all = json_object();
	json_auto_t *list = json_array();

	for (size_t i = 0; i < ARRAY_SIZE(strings); i++) {
		json_auto_t *one = json_string(strings[i]);
		json_auto_t *nested = json_pack("{s:[{s:O}]}", "a", "b", one);

		json_object_set(all, strings[i], one);
		json_array_append(list, one);
		check_round_trip(one);
		check_round_trip(nested);
	}
	check_round_trip(all);
	check_round_trip(list);
}

TEST("values are written as kubectl writes them")
{
	struct err e = ERR_INIT;
	json_auto_t *v = NULL;
	auto_sbuf struct sbuf out = SBUF(10000);
	static const char json[] =
		"{\"b\":[{\"y\":\"2020-01-02T03:04:05Z\",\"x\":1},[],{}],\"a\":{\"t\":true,\"n\":null,\"f\":1.5},"
		"\"s\":\"l1\\nl2\\n\",\"q\":\"true\"}";

	CHECK_INT(jsonx_parse(json, sizeof(json) - 1, NULL, NULL, &v, &e), 0);
	yamlx_dump(v, &out);
	CHECK_STR(out.p,
		  "a:\n  f: 1.5\n  \"n\": null\n  t: true\nb:\n- x: 1\n  \"y\": \"2020-01-02T03:04:05Z\"\n- []\n- {}\n"
		  "q: \"true\"\ns: |\n  l1\n  l2\n");
	check_round_trip(v);
}
