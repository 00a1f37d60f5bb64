// SPDX-License-Identifier: Apache-2.0
/* fieldset_test.c - set arithmetic, the walk over typed objects, and paths as text */
#include "api/fieldset.h"

#include "base/str.h"
#include "sample_json.h"
#include "sample_types.h"
#include "test.h"

static const struct {
	const char *a, *b, *either, *minus, *both;
} sums[] = {
	{ "{'f:a':{}}", "{'f:b':{}}", "{'f:a':{},'f:b':{}}", "{'f:a':{}}", "(none)" },
	{ "{'f:a':{}}", "{'f:a':{}}", "{'f:a':{}}", "(none)", "{'f:a':{}}" },
	{ "{'f:a':{'f:x':{}}}", "{'f:a':{}}", "{'f:a':{'.':{},'f:x':{}}}", "{'f:a':{'f:x':{}}}", "(none)" },
	{ "{'f:a':{'.':{},'f:x':{}}}", "{'f:a':{'f:x':{}}}", "{'f:a':{'.':{},'f:x':{}}}", "{'f:a':{}}",
	  "{'f:a':{'f:x':{}}}" },
	{ "{'f:a':{'.':{},'f:x':{}}}", "{'f:a':{'.':{}}}", "{'f:a':{'.':{},'f:x':{}}}", "{'f:a':{'f:x':{}}}",
	  "{'f:a':{}}" },
	{ "{}", "{'f:a':{}}", "{'f:a':{}}", "(none)", "(none)" },
	{ "{'f:a':{'f:b':{'f:c':{}}}}", "{}", "{'f:a':{'f:b':{'f:c':{}}}}", "{'f:a':{'f:b':{'f:c':{}}}}", "(none)" },
};

TEST("sets of fields unite, subtract and intersect")
{
	for (size_t i = 0; i < sizeof(sums) / sizeof(sums[0]); i++) {
		json_t *a = sample_json(sums[i].a), *b = sample_json(sums[i].b);
		json_t *either = fieldset_union(a, b), *minus = fieldset_difference(a, b);
		json_t *both = fieldset_intersection(a, b);

		CHECK_JSON(either, sums[i].either);
		CHECK_JSON(minus, sums[i].minus);
		CHECK_JSON(both, sums[i].both);
		CHECK_JSON(a, sums[i].a);
		json_decref(a);
		json_decref(b);
		json_decref(either);
		json_decref(minus);
		json_decref(both);
	}
}

TEST("no set is a set with nothing in it")
{
	CHECK(fieldset_equal(NULL, NULL));
	CHECK(!fieldset_union(NULL, NULL));
	CHECK(!fieldset_difference(NULL, NULL));
	CHECK(!fieldset_intersection(NULL, NULL));
}

static const struct {
	const char *object, *leaves;
} owned[] = {
	{ "{'apiVersion':'v1','kind':'Sample','metadata':{'name':'x','uid':'1','labels':{'a':'b'}}}",
	  "{'f:metadata':{'f:labels':{'f:a':{}}}}" },
	{ "{'metadata':{'name':'x'}}", "(none)" },
	{ "{'data':{'a':'1'},'status':{'phase':'x'}}", "{'f:data':{'f:a':{}}}" },
	{ "{'data':{}}", "{'f:data':{}}" },
	{ "{'spec':{'nodeSelector':{'a':'1','b':'2'}}}", "{'f:spec':{'f:nodeSelector':{}}}" },
	{ "{'spec':{'podCIDRs':['a','b']}}", "{'f:spec':{'f:podCIDRs':{'v:`'a`'':{},'v:`'b`'':{}}}}" },
	{ "{'spec':{'podCIDRs':[]}}", "(none)" },
	{ "{'spec':{'containers':[{'name':'c','args':['x'],'ports':[{'port':80}]}]}}",
	  "{'f:spec':{'f:containers':{'k:{`'name`':`'c`'}':{'.':{},'f:name':{},'f:args':{},"
	  "'f:ports':{'k:{`'port`':80,`'protocol`':`'TCP`'}':{'.':{},'f:port':{}}}}}}}" },
	{ "{'spec':{'volumes':[{'name':'v','emptyDir':{}}]}}",
	  "{'f:spec':{'f:volumes':{'k:{`'name`':`'v`'}':{'.':{},'f:name':{},'f:emptyDir':{}}}}}" },
	{ "{'spec':{'volumes':[{'name':'v','hostPath':{'path':'/x'}}]}}",
	  "{'f:spec':{'f:volumes':{'k:{`'name`':`'v`'}':{'.':{},'f:name':{},'f:hostPath':{}}}}}" },
	{ "{'spec':{'replicas':null}}", "(none)" },
	{ "{'spec':{'containers':[{'image':'nameless'}]}}",
	  "{'f:spec':{'f:containers':{'i:0':{'.':{},'f:image':{}}}}}" },
	{ "{'other':{'x':{'y':1},'z':[1]}}", "{'f:other':{'.':{},'f:x':{'.':{},'f:y':{}},'f:z':{}}}" },
};

TEST("who applies an object owns its ends, map keys and list items")
{
	for (size_t i = 0; i < sizeof(owned) / sizeof(owned[0]); i++) {
		json_t *v = sample_json(owned[i].object);
		json_t *set = fieldset_leaves(typeref_of_kind(&sample_kind), SCOPE_MAIN, v);

		CHECK_JSON(set, owned[i].leaves);
		json_decref(v);
		json_decref(set);
	}
}

static const struct {
	const char *old, *object, *changed, *removed;
} changes[] = {
	{ "{}", "{'metadata':{'labels':{'a':'1'}},'data':{'a':'1'},'spec':{'replicas':1}}",
	  "{'f:metadata':{'f:labels':{'.':{},'f:a':{}}},'f:data':{'.':{},'f:a':{}},'f:spec':{'f:replicas':{}}}",
	  "(none)" },
	{ "{'data':{'a':'1','b':'2'}}", "{'data':{'a':'2','c':'3'}}", "{'f:data':{'f:a':{},'f:c':{}}}",
	  "{'f:data':{'f:b':{}}}" },
	{ "{'data':{'a':'1'}}", "{}", "(none)", "{'f:data':{'.':{},'f:a':{}}}" },
	{ "{'data':{'a':'1'}}", "{'data':{'a':'1'}}", "(none)", "(none)" },
	{ "{'status':{'phase':'a'}}", "{'status':{'phase':'b'}}", "(none)", "(none)" },
	{ "{'metadata':{'resourceVersion':'1'}}", "{'metadata':{'resourceVersion':'2'}}", "(none)", "(none)" },
	{ "{'spec':{'nodeSelector':{'a':'1'}}}", "{'spec':{'nodeSelector':{'a':'1','b':'1'}}}",
	  "{'f:spec':{'f:nodeSelector':{}}}", "(none)" },
	{ "{'spec':{'containers':[{'name':'a','image':'1'},{'name':'b'}]}}",
	  "{'spec':{'containers':[{'name':'c','resources':{}},{'name':'a','image':'2'}]}}",
	  "{'f:spec':{'f:containers':{'k:{`'name`':`'c`'}':{'.':{},'f:name':{},'f:resources':{}},"
	  "'k:{`'name`':`'a`'}':{'f:image':{}}}}}",
	  "{'f:spec':{'f:containers':{'k:{`'name`':`'b`'}':{'.':{},'f:name':{}}}}}" },
	{ "{'spec':{'containers':[{'name':'a'}]}}", "{'spec':{'containers':[{'name':'a','resources':{}}]}}", "(none)",
	  "(none)" },
	{ "{'spec':{'podCIDRs':['a','b']}}", "{'spec':{'podCIDRs':['b','c']}}",
	  "{'f:spec':{'f:podCIDRs':{'v:`'c`'':{}}}}", "{'f:spec':{'f:podCIDRs':{'v:`'a`'':{}}}}" },
	{ "{'x':{'a':1}}", "{'x':'s'}", "{'f:x':{}}", "{'f:x':{'.':{},'f:a':{}}}" },
};

TEST("a comparison finds what came, changed and went")
{
	for (size_t i = 0; i < sizeof(changes) / sizeof(changes[0]); i++) {
		json_t *old = sample_json(changes[i].old), *v = sample_json(changes[i].object);
		json_t *changed = NULL, *removed = NULL;

		fieldset_compare(typeref_of_kind(&sample_kind), SCOPE_MAIN, old, v, &changed, &removed);
		CHECK_JSON(changed, changes[i].changed);
		CHECK_JSON(removed, changes[i].removed);
		json_decref(old);
		json_decref(v);
		json_decref(changed);
		json_decref(removed);
	}
}

static void append_path(void *arg, const char *path)
{
	sbuf_addf(arg, "%s ", path);
}

TEST("paths are printed as Kubernetes prints them")
{
	json_t *set = sample_json("{'f:a':{'.':{},'k:{`'port`':80,`'protocol`':`'TCP`'}':{'f:name':{}}},"
				  "'f:s':{'v:`'x`'':{}},'f:i':{'i:3':{}}}");
	struct sbuf out;

	sbuf_init(&out, 1000);
	fieldset_each(set, append_path, &out);
	CHECK_STR(out.p, ".a .a[port=80,protocol=\"TCP\"].name .s[=\"x\"] .i[3] ");
	sbuf_done(&out);
	json_decref(set);
}

TEST("only sets of fields are valid")
{
	static const struct {
		const char *text;
		bool valid;
	} texts[] = {
		{ "{}", true },          { "{'f:a':{'.':{},'k:{`'a`':1}':{},'v:1':{},'i:0':{}}}", true },
		{ "{'a':{}}", false },   { "{'f:a':1}", false },
		{ "{'k:x':{}}", false }, { "{'k:[]':{}}", false },
		{ "{'i:x':{}}", false }, { "{'v:':{}}", false },
		{ "{'':{}}", false },    { "[]", false },
	};

	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		json_t *v = sample_json(texts[i].text);

		CHECK_INT(fieldset_valid(v, false), texts[i].valid);
		json_decref(v);
	}
}
