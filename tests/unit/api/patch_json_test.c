// SPDX-License-Identifier: Apache-2.0
/* patch_json_test.c - RFC 6902 by table; a row without a result names the kind of error */
#include "api/patch.h"
#include "base/limits.h"
#include "base/mem.h"
#include "sample_json.h"
#include "test.h"

static const struct {
	const char *object, *patch, *result;
	enum err_kind error;
} rows[] = {
	{ "{'a':1}", "[{'op':'add','path':'/b','value':2}]", "{'a':1,'b':2}", 0 },
	{ "{'a':1}", "[{'op':'add','path':'/a','value':{'x':null}}]", "{'a':{'x':null}}", 0 },
	{ "{'a':[1,3]}", "[{'op':'add','path':'/a/1','value':2}]", "{'a':[1,2,3]}", 0 },
	{ "{'a':[1]}", "[{'op':'add','path':'/a/-','value':2}]", "{'a':[1,2]}", 0 },
	{ "{'a':[1]}", "[{'op':'add','path':'/a/1','value':2}]", "{'a':[1,2]}", 0 },
	{ "{'a':[1]}", "[{'op':'add','path':'/a/2','value':2}]", NULL, ERR_INVALID },
	{ "{'a':[1]}", "[{'op':'add','path':'/a/00','value':2}]", NULL, ERR_INVALID },
	{ "{'a':[1]}", "[{'op':'add','path':'/a/-1','value':2}]", NULL, ERR_INVALID },
	{ "{'a':1}", "[{'op':'add','path':'/b/c','value':2}]", NULL, ERR_INVALID },
	{ "{'a':1}", "[{'op':'add','path':'/a/c','value':2}]", NULL, ERR_INVALID },
	{ "{'a':1}", "[{'op':'add','path':'','value':{'z':1}}]", "{'z':1}", 0 },
	{ "{'a':1}", "[{'op':'add','path':'b','value':2}]", NULL, ERR_BAD_REQUEST },
	{ "{'a':1}", "[{'op':'add','path':'/b'}]", NULL, ERR_BAD_REQUEST },
	{ "{'m':{'x/y':1,'p~q':2}}", "[{'op':'remove','path':'/m/x~1y'}]", "{'m':{'p~q':2}}", 0 },
	{ "{'m':{'x/y':1,'p~q':2}}", "[{'op':'replace','path':'/m/p~0q','value':3}]", "{'m':{'x/y':1,'p~q':3}}", 0 },
	{ "{'m':1}", "[{'op':'remove','path':'/m~2'}]", NULL, ERR_BAD_REQUEST },
	{ "{'':1}", "[{'op':'replace','path':'/','value':2}]", "{'':2}", 0 },
	{ "{'a':1,'b':2}", "[{'op':'remove','path':'/a'}]", "{'b':2}", 0 },
	{ "{'a':[1,2,3]}", "[{'op':'remove','path':'/a/1'}]", "{'a':[1,3]}", 0 },
	{ "{'a':[1]}", "[{'op':'remove','path':'/a/-'}]", NULL, ERR_INVALID },
	{ "{'a':1}", "[{'op':'remove','path':'/b'}]", NULL, ERR_INVALID },
	{ "{'a':1}", "[{'op':'remove','path':''}]", NULL, ERR_BAD_REQUEST },
	{ "{'a':1}", "[{'op':'replace','path':'/a','value':[]}]", "{'a':[]}", 0 },
	{ "{'a':1}", "[{'op':'replace','path':'/b','value':1}]", NULL, ERR_INVALID },
	{ "{'a':[1]}", "[{'op':'replace','path':'/a/1','value':1}]", NULL, ERR_INVALID },
	{ "{'a':{'x':1},'b':{}}", "[{'op':'move','from':'/a/x','path':'/b/y'}]", "{'a':{},'b':{'y':1}}", 0 },
	{ "{'a':[1,2,3]}", "[{'op':'move','from':'/a/0','path':'/a/2'}]", "{'a':[2,3,1]}", 0 },
	{ "{'a':{'b':1}}", "[{'op':'move','from':'/a','path':'/a/c'}]", NULL, ERR_BAD_REQUEST },
	{ "{'a':1}", "[{'op':'move','from':'/a','path':'/a'}]", "{'a':1}", 0 },
	{ "{'a':1}", "[{'op':'move','from':'/x','path':'/a'}]", NULL, ERR_INVALID },
	{ "{'a':1}", "[{'op':'move','path':'/a'}]", NULL, ERR_BAD_REQUEST },
	{ "{'a':1}", "[{'op':'move','from':'','path':'/b'}]", NULL, ERR_BAD_REQUEST },
	{ "{'a':1}", "[{'op':'move','from':'','path':'b'}]", NULL, ERR_BAD_REQUEST },
	{ "{'a':{'x':[1]}}", "[{'op':'copy','from':'/a','path':'/b'}]", "{'a':{'x':[1]},'b':{'x':[1]}}", 0 },
	{ "{'a':{'x':[1]}}", "[{'op':'copy','from':'/a','path':'/b'},{'op':'add','path':'/b/x/-','value':2}]",
	  "{'a':{'x':[1]},'b':{'x':[1,2]}}", 0 },
	{ "{'a':1}", "[{'op':'test','path':'/a','value':1},{'op':'remove','path':'/a'}]", "{}", 0 },
	{ "{'a':1}", "[{'op':'test','path':'/a','value':1.0}]", "{'a':1}", 0 },
	{ "{'a':{'b':[1]}}", "[{'op':'test','path':'/a','value':{'b':[1]}}]", "{'a':{'b':[1]}}", 0 },
	{ "{'a':1}", "[{'op':'remove','path':'/a'},{'op':'test','path':'/b','value':1}]", NULL, ERR_INVALID },
	{ "{'a':1}", "[{'op':'test','path':'/b','value':null}]", "{'a':1}", 0 },
	{ "{'a':1}", "[{'op':'test','path':'/a','value':'1'}]", NULL, ERR_INVALID },
	{ "{'a':1}", "[{'op':'spin','path':'/a'}]", NULL, ERR_BAD_REQUEST },
	{ "{'a':1}", "[{'path':'/a'}]", NULL, ERR_BAD_REQUEST },
	{ "{'a':1}", "[1]", NULL, ERR_BAD_REQUEST },
	{ "{'a':1}", "{}", NULL, ERR_BAD_REQUEST },
	{ "{'a':1}", "[]", "{'a':1}", 0 },
};

TEST("a JSON patch does all of its operations or none")
{
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		json_t *doc = sample_json(rows[i].object);
		json_t *ops = sample_json(rows[i].patch);
		struct err e = ERR_INIT;
		int rc = patch_json(&doc, ops, &e);

		CHECK_INT(rc, rows[i].result ? 0 : -1);
		CHECK_INT(e.kind, rows[i].error);
		CHECK_JSON(doc, rows[i].result ? rows[i].result : rows[i].object);
		json_decref(doc);
		json_decref(ops);
	}
}

TEST("a failed test says what clients look for")
{
	json_t *doc = sample_json("{}");
	json_t *ops = sample_json("[{'op':'test','path':'/a','value':1}]");
	struct err e = ERR_INIT;

	CHECK_INT(patch_json(&doc, ops, &e), -1);
	CHECK(strstr(e.text, "the server rejected our request due to an error in our request"));
	json_decref(doc);
	json_decref(ops);
}

TEST("copies cannot blow an object up")
{
	json_t *doc = sample_json("{'a':['0123456789']}");
	json_t *ops = json_array();
	struct err e = ERR_INIT;

	for (int i = 0; i < 64; i++)
		json_array_append_new(ops, sample_json("{'op':'copy','from':'/a','path':'/a/-'}"));
	CHECK_INT(patch_json(&doc, ops, &e), -1);
	CHECK_INT(e.kind, ERR_TOO_LARGE);
	CHECK_JSON(doc, "{'a':['0123456789']}");
	json_decref(doc);
	json_decref(ops);
}

TEST("moves and adds cannot nest deeper than a document may")
{
	json_t *doc = json_object();
	json_t *ops = json_array();
	json_t *deep = json_integer(1);
	struct err e = ERR_INIT;

	for (int i = 0; i < LIMIT_JSON_DEPTH - 8; i++) {
		json_t *up = json_object();

		json_object_set_new(up, "a", deep);
		deep = up;
	}
	json_array_append_new(ops, sample_json("{'op':'add','path':'/x'}"));
	json_object_set(json_array_get(ops, 0), "value", deep);
	json_array_append_new(ops, sample_json("{'op':'add','path':'/y','value':{'b':{'c':{'d':{'e':{'f':{}}}}}}}"));
	CHECK_INT(patch_json(&doc, ops, &e), 0);
	json_array_clear(ops);
	json_array_append_new(ops, sample_json("{'op':'move','from':'/x','path':'/y/b/c/d/e/f/g'}"));
	for (int i = 0; i < 4; i++)
		json_array_append_new(ops, sample_json("{'op':'copy','from':'/y','path':'/y/b/c/d/e/f/h'}"));
	CHECK_INT(patch_json(&doc, ops, &e), -1);
	CHECK_INT(e.kind, ERR_TOO_LARGE);
	json_decref(deep);
	json_decref(doc);
	json_decref(ops);
}

/* A list of n numbers, and the same operation m times. */
static int change_long_list(int n, const char *op, int m, struct err *e, size_t *ret_size)
{
	json_t *doc = sample_json("{'a':[]}");
	json_t *ops = json_array();
	int r;

	for (int i = 0; i < n; i++)
		json_array_append_new(json_object_get(doc, "a"), json_integer(i));
	for (int i = 0; i < m; i++)
		json_array_append_new(ops, sample_json(op));
	*e = ERR_INIT;
	r = patch_json(&doc, ops, e);
	*ret_size = json_array_size(json_object_get(doc, "a"));
	json_decref(doc);
	json_decref(ops);
	return r;
}

TEST("a long list cannot be moved about for ever, but may grow at its end")
{
	static const char *const slow[] = {
		"{'op':'add','path':'/a/0','value':1}",
		"{'op':'copy','from':'/a/0','path':'/a/0'}",
		"{'op':'remove','path':'/a/0'}",
		"{'op':'move','from':'/a/0','path':'/a/100'}",
	};
	struct err e;
	size_t size;

	for (size_t i = 0; i < ARRAY_SIZE(slow); i++) {
		CHECK_INT(change_long_list(100000, slow[i], 100, &e, &size), 0);
		CHECK_INT(change_long_list(100000, slow[i], 1000, &e, &size), -1);
		CHECK_INT(e.kind, ERR_TOO_LARGE);
		CHECK_INT(size, 100000);
	}
	CHECK_INT(change_long_list(100000, "{'op':'add','path':'/a/-','value':1}", 9999, &e, &size), 0);
	CHECK_INT(size, 109999);
	CHECK_INT(change_long_list(1000, slow[0], 9000, &e, &size), 0);
	CHECK_INT(size, 10000);
}
