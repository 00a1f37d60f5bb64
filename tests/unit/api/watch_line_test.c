// SPDX-License-Identifier: Apache-2.0
#include "api/watch_line.h"

#include "base/jsonx.h"
#include "base/mem.h"
#include "sample_json.h"
#include "test.h"

#define STORED "{\"metadata\":{\"name\":\"a\",\"namespace\":\"n\",\"resourceVersion\":\"5\"},\"data\":{\"k\":\"v\"}}"

/* The line as sample text, to be freed; a missing newline shows. */
static char *line_of(const char *plural, enum watch_form form, const char *type, bool with_body, bool first)
{
	struct registry *r = registry_new();
	struct watch_shape shape = { registry_preferred(r, "", plural), form, INCLUDE_NONE, "v1" };
	json_auto_t *obj = json_loads(STORED, 0, NULL);
	struct watch_event ev = { type, obj, with_body ? STR(STORED) : (struct str){ "", 0 }, 9 };
	struct sbuf out = SBUF(1 << 16);

	watch_line(&shape, &ev, first, &out);
	registry_free(r);
	for (size_t i = 0; i < out.n; i++)
		out.p[i] = out.p[i] == '"' ? '\'' : out.p[i];
	return sbuf_steal(&out);
}

TEST("an event is its type and the object, and a deletion has a revision of its own")
{
	static const struct {
		enum watch_form form;
		const char *type;
		bool with_body;
		const char *want;
	} rows[] = {
		{ WATCH_JSON, "ADDED", true,
		  "{'type':'ADDED','object':{'kind':'ConfigMap','apiVersion':'v1','metadata':{'name':'a','namespace':'"
		  "n',"
		  "'resourceVersion':'5'},'data':{'k':'v'}}}\n" },
		{ WATCH_JSON, "MODIFIED", false,
		  "{'type':'MODIFIED','object':{'kind':'ConfigMap','apiVersion':'v1','metadata':{'name':'a','namespace'"
		  ":"
		  "'n','resourceVersion':'5'},'data':{'k':'v'}}}\n" },
		{ WATCH_JSON, "DELETED", true,
		  "{'type':'DELETED','object':{'kind':'ConfigMap','apiVersion':'v1','metadata':{'name':'a','namespace':"
		  "'n','resourceVersion':'9'},'data':{'k':'v'}}}\n" },
		{ WATCH_PARTIAL, "ADDED", true,
		  "{'type':'ADDED','object':{'kind':'PartialObjectMetadata','apiVersion':'meta.k8s.io/v1','metadata':{"
		  "'name':'a','namespace':'n','resourceVersion':'5'}}}\n" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		auto_free char *line = line_of("configmaps", rows[i].form, rows[i].type, rows[i].with_body, false);

		CHECK_STR(line, rows[i].want);
	}
}

TEST("a table's columns come with its first row only")
{
	auto_free char *first = line_of("configmaps", WATCH_TABLE, "ADDED", true, true);
	auto_free char *second = line_of("configmaps", WATCH_TABLE, "ADDED", true, false);

	CHECK(strstr(first, "'columnDefinitions':[{'name':'Name'") != NULL);
	CHECK(strstr(second, "'columnDefinitions':[]") != NULL);
	CHECK(strstr(second, "'rows':[{'cells':['a',1,") != NULL);
}

TEST("a bookmark carries a revision, and the end of the list is marked")
{
	static const struct {
		enum watch_form form;
		bool list_end;
		const char *want;
	} rows[] = {
		{ WATCH_JSON, false,
		  "{'type':'BOOKMARK','object':{'kind':'ConfigMap','apiVersion':'v1','metadata':{'resourceVersion':'7',"
		  "'creationTimestamp':null}}}\n" },
		{ WATCH_JSON, true,
		  "{'type':'BOOKMARK','object':{'kind':'ConfigMap','apiVersion':'v1','metadata':{'resourceVersion':'7',"
		  "'creationTimestamp':null,'annotations':{'k8s.io/initial-events-end':'true'}}}}\n" },
		{ WATCH_TABLE, false,
		  "{'type':'BOOKMARK','object':{'kind':'Table','apiVersion':'meta.k8s.io/v1','metadata':{"
		  "'resourceVersion':'7'},'columnDefinitions':[],'rows':[]}}\n" },
	};
	struct registry *r = registry_new();

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct watch_shape shape = { registry_preferred(r, "", "configmaps"), rows[i].form, INCLUDE_NONE,
					     "v1" };
		auto_sbuf struct sbuf out = SBUF(4096);

		watch_line_bookmark(&shape, 7, rows[i].list_end, &out);
		for (size_t k = 0; k < out.n; k++)
			out.p[k] = out.p[k] == '"' ? '\'' : out.p[k];
		CHECK_STR(out.p, rows[i].want);
	}
	registry_free(r);
}

TEST("an error in a watch is a Status")
{
	auto_sbuf struct sbuf out = SBUF(4096);
	json_auto_t *event = NULL;
	struct err e = ERR_INIT;

	err_set(&e, ERR_EXPIRED, "too old resource version: 3 (8)");
	watch_line_error(&e, &out);
	event = json_loads(out.p, 0, NULL);
	CHECK_STR(jsonx_str(event, "type"), "ERROR");
	CHECK_STR(jsonx_str(event, "object.kind"), "Status");
	CHECK_INT(jsonx_int_or(event, "object.code", 0), 410);
	CHECK_STR(jsonx_str(event, "object.message"), "too old resource version: 3 (8)");
}
