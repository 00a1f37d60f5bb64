// SPDX-License-Identifier: Apache-2.0
#include "client/lean.h"

#include "api/sample_json.h"
#include "base/jsonx.h"
#include "test.h"

TEST("objects come without managers, and pods without what only a kubelet reads")
{
	static const struct {
		const char *in, *out;
	} rows[] = {
		{ "{'kind':'Job','metadata':{'name':'a','managedFields':[{}]},'spec':{'containers':[{'env':[]}]}}",
		  "{'kind':'Job','metadata':{'name':'a'},'spec':{'containers':[{'env':[]}]}}" },
		{ "{'kind':'Pod','metadata':{},'spec':{'nodeName':'n','initContainers':[{'name':'i','args':[]}],"
		  "'containers':[{'name':'c','image':'x','env':[],'command':[],'ports':[],'resources':{}}]}}",
		  "{'kind':'Pod','metadata':{},'spec':{'nodeName':'n','initContainers':[{'name':'i'}],"
		  "'containers':[{'name':'c','image':'x','ports':[],'resources':{}}]}}" },
		{ "{'kind':'Pod','metadata':{},'spec':{'priority':0,'securityContext':{},'dnsPolicy':'x','tolerations':"
		  "[],"
		  "'volumes':[{'name':'t','projected':{}},{'name':'c','persistentVolumeClaim':{}},{'name':'e','"
		  "emptyDir':{}},"
		  "{'name':'g','ephemeral':{}}]}}",
		  "{'kind':'Pod','metadata':{},'spec':{'priority':0,'tolerations':[],"
		  "'volumes':[{'name':'c','persistentVolumeClaim':{}},{'name':'g','ephemeral':{}}]}}" },
		{ "{'kind':'PodList','items':[{'metadata':{'managedFields':[]},'spec':{'containers':[{'env':[]}]}}]}",
		  "{'kind':'PodList','items':[{'metadata':{},'spec':{'containers':[{}]}}]}" },
		{ "{'kind':'JobList','items':[{'metadata':{'managedFields':[]},'spec':{'containers':[{'env':[]}]}}]}",
		  "{'kind':'JobList','items':[{'metadata':{},'spec':{'containers':[{'env':[]}]}}]}" },
		{ "{}", "{}" },
		{ "{'items':7}", "{'items':7}" },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		json_auto_t *doc = sample_json(rows[i].in);
		json_auto_t *want = sample_json(rows[i].out);

		lean(doc);
		CHECK(jsonx_equal(doc, want));
	}
	lean(NULL);
}
