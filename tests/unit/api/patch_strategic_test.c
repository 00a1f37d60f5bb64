// SPDX-License-Identifier: Apache-2.0
/* patch_strategic_test.c - strategic merge by table over the sample types */
#include "api/patch.h"
#include "sample_json.h"
#include "sample_types.h"
#include "test.h"

static const struct {
	const char *object, *patch, *result; /* result NULL: ERR_BAD_REQUEST */
} rows[] = {
	/* maps */
	{ "{'data':{'a':'1','b':'2'}}", "{'data':{'a':null,'c':'3'}}", "{'data':{'b':'2','c':'3'}}" },
	{ "{'data':{'a':'1'}}", "{'data':{'$patch':'replace','b':'2'}}", "{'data':{'b':'2'}}" },
	{ "{'data':{'a':'1'}}", "{'data':{'$patch':'delete'}}", "{'data':{}}" },
	{ "{'data':{'a':'1'}}", "{'data':{'$patch':'shuffle'}}", NULL },
	{ "{}", "{'data':{'$patch':'replace','a':'1','b':null}}", "{'data':{'a':'1'}}" },
	{ "{'data':{'a':'1'}}", "{'data':null}", "{}" },
	{ "{'spec':{'selector':{'a':'1'}}}", "{'spec':{'selector':{'b':'2'}}}", "{'spec':{'selector':{'b':'2'}}}" },
	{ "{'x':{'a':[1]}}", "{'x':{'a':[2],'b':1}}", "{'x':{'a':[2],'b':1}}" },
	/* retainKeys */
	{ "{'spec':{'strategy':{'type':'RollingUpdate','rollingUpdate':{'maxSurge':1}}}}",
	  "{'spec':{'strategy':{'$retainKeys':['type'],'type':'Recreate'}}}",
	  "{'spec':{'strategy':{'type':'Recreate'}}}" },
	{ "{'spec':{'strategy':{'type':'A'}}}", "{'spec':{'strategy':{'$retainKeys':['x'],'type':'B'}}}", NULL },
	{ "{'spec':{'strategy':{'type':'A'}}}", "{'spec':{'strategy':{'$retainKeys':1}}}", NULL },
	{ "{'spec':{'volumes':[{'name':'v','emptyDir':{}}]}}",
	  "{'spec':{'volumes':[{'$retainKeys':['name','hostPath'],'name':'v','hostPath':{'path':'/x'}}]}}",
	  "{'spec':{'volumes':[{'name':'v','hostPath':{'path':'/x'}}]}}" },
	/* keyed lists */
	{ "{'spec':{'containers':[{'name':'a','image':'1','env':[{'name':'X','value':'1'}]},{'name':'b'}]}}",
	  "{'spec':{'containers':[{'name':'a','image':'2','env':[{'name':'Y','value':'2'}]}]}}",
	  "{'spec':{'containers':[{'name':'a','image':'2','env':[{'name':'X','value':'1'},{'name':'Y','value':'2'}]},"
	  "{'name':'b'}]}}" },
	{ "{'spec':{'containers':[{'name':'a'},{'name':'b'}]}}", "{'spec':{'containers':[{'name':'c','args':['x']}]}}",
	  "{'spec':{'containers':[{'name':'a'},{'name':'b'},{'name':'c','args':['x']}]}}" },
	{ "{'spec':{'containers':[{'name':'a'},{'name':'b'}]}}",
	  "{'spec':{'containers':[{'$patch':'delete','name':'a'}]}}", "{'spec':{'containers':[{'name':'b'}]}}" },
	{ "{'spec':{'containers':[{'name':'a'},{'name':'b'}]}}",
	  "{'spec':{'containers':[{'name':'z'},{'$patch':'replace'}]}}", "{'spec':{'containers':[{'name':'z'}]}}" },
	{ "{'spec':{'containers':[{'name':'a'}]}}", "{'spec':{'containers':[{'image':'x'}]}}", NULL },
	{ "{'spec':{'containers':[{'name':'a'}]}}", "{'spec':{'containers':['a']}}", NULL },
	{ "{'spec':{'containers':[{'name':'a','args':['1','2']}]}}",
	  "{'spec':{'containers':[{'name':'a','args':['3']}]}}",
	  "{'spec':{'containers':[{'name':'a','args':['3']}]}}" },
	{ "{'spec':{'ports':[{'port':80,'name':'w'},{'port':81}]}}", "{'spec':{'ports':[{'port':81,'name':'x'}]}}",
	  "{'spec':{'ports':[{'port':80,'name':'w'},{'port':81,'name':'x'}]}}" },
	{ "{}", "{'spec':{'containers':[{'name':'a','env':[{'name':'X','$patch':'delete'}],'image':null}]}}",
	  "{'spec':{'containers':[{'name':'a','env':[]}]}}" },
	/* order */
	{ "{'spec':{'containers':[{'name':'a'},{'name':'b'},{'name':'x'}]}}",
	  "{'spec':{'$setElementOrder/"
	  "containers':[{'name':'b'},{'name':'a'}],'containers':[{'name':'a','image':'i'}]}}",
	  "{'spec':{'containers':[{'name':'b'},{'name':'a','image':'i'},{'name':'x'}]}}" },
	{ "{'spec':{'containers':[{'name':'x'},{'name':'a'}]}}",
	  "{'spec':{'$setElementOrder/containers':[{'name':'n'},{'name':'a'}],'containers':[{'name':'n'}]}}",
	  "{'spec':{'containers':[{'name':'x'},{'name':'n'},{'name':'a'}]}}" },
	{ "{'spec':{'containers':[{'name':'a'},{'name':'b'}]}}",
	  "{'spec':{'$setElementOrder/containers':[{'name':'b'},{'name':'a'}]}}",
	  "{'spec':{'containers':[{'name':'b'},{'name':'a'}]}}" },
	{ "{'spec':{'containers':[{'name':'a'}]}}",
	  "{'spec':{'$setElementOrder/"
	  "containers':[{'name':'b'}],'containers':[{'name':'b'},{'$patch':'delete','name':'a'}]}"
	  "}",
	  "{'spec':{'containers':[{'name':'b'}]}}" },
	{ "{'spec':{'containers':[{'name':'a'}]}}",
	  "{'spec':{'$setElementOrder/containers':[{'name':'b'}],'containers':[{'name':'c'}]}}", NULL },
	{ "{'spec':{}}", "{'spec':{'$setElementOrder/containers':{}}}", NULL },
	{ "{'spec':{}}", "{'spec':{'$setElementOrder/containers':[{'name':'a'}]}}", "{'spec':{}}" },
	/* sets of scalars */
	{ "{'metadata':{'finalizers':['a','b']}}", "{'metadata':{'finalizers':['c','b']}}",
	  "{'metadata':{'finalizers':['a','c','b']}}" },
	{ "{'metadata':{'finalizers':['a','b']}}", "{'metadata':{'$deleteFromPrimitiveList/finalizers':['a']}}",
	  "{'metadata':{'finalizers':['b']}}" },
	{ "{'metadata':{'finalizers':['a','b']}}",
	  "{'metadata':{'$deleteFromPrimitiveList/finalizers':['a'],'$setElementOrder/finalizers':['c','b'],"
	  "'finalizers':['c']}}",
	  "{'metadata':{'finalizers':['c','b']}}" },
	{ "{'metadata':{}}", "{'metadata':{'$deleteFromPrimitiveList/finalizers':['a']}}", "{'metadata':{}}" },
	{ "{'metadata':{}}", "{'metadata':{'$deleteFromPrimitiveList/finalizers':'a'}}", NULL },
	/* owner references, through the metadata table */
	{ "{'metadata':{'ownerReferences':[{'uid':'1','name':'a'}]}}",
	  "{'metadata':{'ownerReferences':[{'uid':'1','$patch':'delete'}]}}", "{'metadata':{'ownerReferences':[]}}" },
	{ "{}", "[]", NULL },
};

TEST("a strategic merge follows the field tables and its directives")
{
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		json_t *obj = sample_json(rows[i].object);
		json_t *patch = sample_json(rows[i].patch);
		struct err e = ERR_INIT;
		int rc = patch_strategic(&sample, obj, patch, &e);

		CHECK_INT(rc, rows[i].result ? 0 : -1);
		CHECK_INT(e.kind, rows[i].result ? ERR_NONE : ERR_BAD_REQUEST);
		if (rows[i].result)
			CHECK_JSON(obj, rows[i].result);
		json_decref(obj);
		json_decref(patch);
	}
}

TEST("a strategic merge without a table merges maps and replaces lists")
{
	json_t *obj = sample_json("{'a':{'b':[1],'c':1}}");
	json_t *patch = sample_json("{'a':{'b':[2],'c':null}}");
	struct err e = ERR_INIT;

	CHECK_INT(patch_strategic(NULL, obj, patch, &e), 0);
	CHECK_JSON(obj, "{'a':{'b':[2]}}");
	json_decref(obj);
	json_decref(patch);
}
