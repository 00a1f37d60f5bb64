// SPDX-License-Identifier: Apache-2.0
#include "base/json_alike.h"

#include "api/sample_json.h"
#include "base/jsonx.h"
#include "base/mem.h"
#include "test.h"

TEST("what is made of parts of another equals what it was made from, to the letter")
{
	static const char *const rows[][2] = {
		{ "{'a':1,'b':[1,2,{'c':'x'}]}", "{'a':1,'b':[1,2,{'c':'x'}]}" },
		{ "{'a':1,'b':[1,2,{'c':'y'}]}", "{'a':1,'b':[1,2,{'c':'x'}]}" },
		{ "{'a':1,'b':[1,2]}", "{'b':[1,2],'a':1}" },
		{ "{'a':1.0}", "{'a':1}" },
		{ "{'a':[1,2,3]}", "{'a':[1,2]}" },
		{ "{'a':[1]}", "{'a':[1,2]}" },
		{ "{'a':{'x':null,'y':true}}", "{'a':{'x':false,'y':true},'b':0}" },
		{ "{'a':'x'}", "{'a':{'x':1}}" },
		{ "[]", "{}" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		json_auto_t *v = sample_json(rows[i][0]);
		json_auto_t *like = sample_json(rows[i][1]);
		json_auto_t *one = json_alike(v, like);
		auto_sbuf struct sbuf was = SBUF(1000);
		auto_sbuf struct sbuf is = SBUF(1000);

		jsonx_dump(v, &was);
		jsonx_dump(one, &is);
		CHECK_STR(is.p, was.p);
		CHECK_JSON(like, rows[i][1]); /* and that one is as it was */
	}
}

TEST("equal parts are the other's own, and what differs is not")
{
	json_auto_t *v = sample_json("{'metadata':{'name':'b','labels':{'x':'1'}},'spec':{'n':[1,{'deep':'same'}]}}");
	json_auto_t *like =
		sample_json("{'metadata':{'name':'a','labels':{'x':'1'}},'spec':{'n':[1,{'deep':'same'}]}}");
	json_auto_t *one = json_alike(v, like);

	CHECK(json_object_get(one, "spec") == json_object_get(like, "spec"));
	CHECK(jsonx_at(one, "metadata.labels") == jsonx_at(like, "metadata.labels"));
	CHECK_STR(jsonx_str(one, "metadata.name"), "b");
	CHECK_STR(jsonx_str(v, "metadata.name"), "b");
	CHECK(json_object_get(v, "spec") != json_object_get(like, "spec"));
}

TEST("an object is compared with the last of its sort")
{
	static const char *const bodies[] = {
		"{'metadata':{'name':'a','namespace':'x'},'spec':{'p':[1,2]}}",
		"{'metadata':{'name':'b','namespace':'x'},'spec':{'p':[1,2]}}",
		"{'metadata':{'name':'c','namespace':'x'},'spec':{'p':[1,2]},'status':{'phase':'Running'}}",
		"{'metadata':{'name':'d','namespace':'x'},'spec':{'p':[1,2]}}",
	};
	json_t *kept[ARRAY_SIZE(bodies)];
	struct json_alike a = { 0 };

	for (size_t i = 0; i < ARRAY_SIZE(bodies); i++) {
		json_auto_t *obj = sample_json(bodies[i]);

		kept[i] = json_alike_next(&a, 7, obj);
		CHECK_JSON(kept[i], bodies[i]);
	}
	CHECK(json_object_get(kept[1], "spec") == json_object_get(kept[0], "spec"));
	CHECK(json_object_get(kept[3], "spec") == json_object_get(kept[0], "spec"));
	json_alike_done(&a);
	for (size_t i = 0; i < ARRAY_SIZE(bodies); i++)
		json_decref(kept[i]);
}
