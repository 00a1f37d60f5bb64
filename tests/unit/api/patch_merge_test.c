// SPDX-License-Identifier: Apache-2.0
/* patch_merge_test.c - RFC 7386, with the examples of its appendix that have an object on both sides */
#include "api/patch.h"
#include "sample_json.h"
#include "test.h"

static const struct {
	const char *object, *patch, *result;
} rows[] = {
	{ "{'a':'b'}", "{'a':'c'}", "{'a':'c'}" },
	{ "{'a':'b'}", "{'b':'c'}", "{'a':'b','b':'c'}" },
	{ "{'a':'b'}", "{'a':null}", "{}" },
	{ "{'a':'b','b':'c'}", "{'a':null}", "{'b':'c'}" },
	{ "{'a':['b']}", "{'a':'c'}", "{'a':'c'}" },
	{ "{'a':'c'}", "{'a':['b']}", "{'a':['b']}" },
	{ "{'a':{'b':'c'}}", "{'a':{'b':'d','c':null}}", "{'a':{'b':'d'}}" },
	{ "{'a':[{'b':'c'}]}", "{'a':[1]}", "{'a':[1]}" },
	{ "{'e':null}", "{'a':1}", "{'e':null,'a':1}" },
	{ "{'a':'foo'}", "{'a':{'bb':{'ccc':null}}}", "{'a':{'bb':{}}}" },
	{ "{}", "{'a':{'bb':{'ccc':null,'d':1}}}", "{'a':{'bb':{'d':1}}}" },
	{ "{'a':{'b':1}}", "{'a':{}}", "{'a':{'b':1}}" },
};

TEST("a merge patch sets, removes and descends as RFC 7386 says")
{
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		json_t *obj = sample_json(rows[i].object);
		json_t *patch = sample_json(rows[i].patch);

		patch_merge(obj, patch);
		CHECK_JSON(obj, rows[i].result);
		json_decref(obj);
		json_decref(patch);
	}
}

TEST("an object shares nothing with the merge patch it took")
{
	json_t *obj = json_object();
	json_t *patch = sample_json("{'a':[{'b':1}]}");

	patch_merge(obj, patch);
	json_array_clear(json_object_get(obj, "a"));
	CHECK_JSON(patch, "{'a':[{'b':1}]}");
	json_decref(obj);
	json_decref(patch);
}
