// SPDX-License-Identifier: Apache-2.0
#include "kinds/jsonpath.h"

#include "base/jsonx.h"
#include "base/mem.h"
#include "test.h"

static const char document[] =
	"{\"a\":{\"b\":1,\"c.d\":2,\"e-f\":3},\"l\":[10,20,30],\"s\":{\"conditions\":["
	"{\"type\":\"Ready\",\"status\":\"True\",\"n\":1},{\"type\":\"Done\",\"status\":\"False\",\"n\":2}]}}";

TEST("paths find what kubectl would print")
{
	static const struct {
		const char *path, *all;
	} rows[] = {
		{ ".a.b", "[1]" },
		{ "a.b", "[1]" },
		{ "$.a.b", "[1]" },
		{ "{.a.b}", "[1]" },
		{ ".a['c.d']", "[2]" },
		{ ".a[\"c.d\"]", "[2]" },
		{ ".a.c\\.d", "[2]" },
		{ ".a.e-f", "[3]" },
		{ ".a.*", "[1,2,3]" },
		{ ".l[0]", "[10]" },
		{ ".l[-1]", "[30]" },
		{ ".l[-1:]", "[30]" },
		{ ".l[1:]", "[20,30]" },
		{ ".l[:2]", "[10,20]" },
		{ ".l[0:1]", "[10]" },
		{ ".l[5]", "[]" },
		{ ".l[-9]", "[]" },
		{ ".l[-9:9]", "[10,20,30]" },
		{ ".l[*]", "[10,20,30]" },
		{ ".s.conditions[?(@.type==\"Ready\")].status", "[\"True\"]" },
		{ ".s.conditions[?(@.type=='Done')].status", "[\"False\"]" },
		{ ".s.conditions[?( @.n >= 2 )].type", "[\"Done\"]" },
		{ ".s.conditions[?(@.n<2)].type", "[\"Ready\"]" },
		{ ".s.conditions[?(@.type!=\"Ready\")].n", "[2]" },
		{ ".s.conditions[?(@.n>\"x\")].n", "[]" },
		{ ".s.conditions[?(@.missing)].n", "[]" },
		{ ".s.conditions[?(@.status)].n", "[1,2]" },
		{ ".s.conditions[*].type", "[\"Ready\",\"Done\"]" },
		{ ".x.y", "[]" },
		{ ".l.a", "[]" },
		{ ".l[?(@==20)]", "[20]" },
	};
	struct err e = ERR_INIT;
	json_auto_t *doc = NULL;

	CHECK_INT(jsonx_parse(document, sizeof(document) - 1, NULL, NULL, &doc, &e), 0);
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		auto_sbuf struct sbuf text = SBUF(1000);
		struct jsonpath *p = NULL;
		json_auto_t *all = NULL;

		if (jsonpath_parse(rows[i].path, &p, &e) < 0) {
			test_fail(__FILE__, __LINE__, "%s", e.text);
			continue;
		}
		all = jsonpath_all(p, doc);
		jsonx_dump(all, &text);
		CHECK_STR(text.p, rows[i].all);
		CHECK(jsonpath_first(p, doc) == json_array_get(all, 0));
		jsonpath_free(p);
	}
}

TEST("the empty path is the document itself")
{
	static const char *const paths[] = { "", "$", ".", "{}", "{.}" };
	json_auto_t *doc = json_integer(1);

	for (size_t i = 0; i < ARRAY_SIZE(paths); i++) {
		struct jsonpath *p = NULL;
		struct err e = ERR_INIT;

		CHECK_INT(jsonpath_parse(paths[i], &p, &e), 0);
		CHECK(p && jsonpath_first(p, doc) == doc);
		jsonpath_free(p);
	}
}

TEST("bad paths are told with the column")
{
	static const struct {
		const char *path, *error;
	} rows[] = {
		{ ".a[", "JSONPath \".a[\", column 4: expected an index, '*', a quoted name or '?('" },
		{ ".a[1", "JSONPath \".a[1\", column 5: expected ']'" },
		{ ".a..b", "JSONPath \".a..b\", column 4: expected a field name" },
		{ ".a['b", "JSONPath \".a['b\", column 6: expected a closing quote" },
		{ ".a[?(b)]", "JSONPath \".a[?(b)]\", column 6: expected @" },
		{ ".a[?(@.b==)]", "JSONPath \".a[?(@.b==)]\", column 11: expected a string, a number, true or false" },
		{ ".a[?(@.b==1]", "JSONPath \".a[?(@.b==1]\", column 11: expected a string, a number, true or false" },
		{ "{.a", "JSONPath \"{.a\", column 4: expected '}'" },
		{ ".a}", "JSONPath \".a}\", column 3: expected the end" },
		{ ".a b", "JSONPath \".a b\", column 3: expected '.' or '['" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct jsonpath *p = NULL;
		struct err e = ERR_INIT;

		CHECK(jsonpath_parse(rows[i].path, &p, &e) < 0);
		CHECK_STR(e.text, rows[i].error);
		CHECK(p == NULL);
	}
}
