// SPDX-License-Identifier: Apache-2.0
#include "client/event.h"

#include "api/sample_json.h"
#include "base/clock.h"
#include "base/jsonx.h"
#include "test.h"

TEST("an event names its object, its reason and who says so")
{
	json_auto_t *pod =
		sample_json("{'kind':'Pod','apiVersion':'v1','metadata':{'name':'a','namespace':'n','uid':'u',"
			    "'resourceVersion':'7'}}");
	json_auto_t *event = event_make(&(struct event_report){ .about = pod,
								.type = EVENT_WARNING,
								.reason = "Failed",
								.message = "no \xff",
								.component = "kubelet",
								.host = "h",
								.field = "spec.containers{c}" });
	json_auto_t *want = sample_json("{'kind':'Pod','apiVersion':'v1','name':'a','namespace':'n','uid':'u',"
					"'resourceVersion':'7','fieldPath':'spec.containers{c}'}");

	CHECK(json_equal(json_object_get(event, "involvedObject"), want));
	CHECK(strncmp(jsonx_str(event, "metadata.name"), "a.", 2) == 0);
	CHECK_STR(jsonx_str(event, "metadata.namespace"), "n");
	CHECK_STR(jsonx_str(event, "type"), "Warning");
	CHECK_STR(jsonx_str(event, "message"), "no \xef\xbf\xbd");
	CHECK_STR(jsonx_str(event, "source.component"), "kubelet");
	CHECK_STR(jsonx_str(event, "source.host"), "h");
	CHECK_INT(jsonx_int_or(event, "count", 0), 1);
}

TEST("an event of an object without a namespace is in default")
{
	json_auto_t *node = sample_json("{'metadata':{'name':'a'}}");
	json_auto_t *event = event_make(&(struct event_report){ .about = node,
								.kind = "Node",
								.api_version = "v1",
								.reason = "Starting",
								.message = "",
								.component = "kubelet" });

	CHECK_STR(jsonx_str(event, "metadata.namespace"), "default");
	CHECK_STR(jsonx_str(event, "involvedObject.kind"), "Node");
	CHECK_STR(jsonx_str(event, "type"), "Normal");
}
