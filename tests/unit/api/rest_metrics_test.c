// SPDX-License-Identifier: Apache-2.0
/* rest_metrics_test.c - `kubectl top`'s questions, with a kubelet that knows one pod and one node */
#include "base/jsonx.h"
#include "front.h"

#define GROUP "/apis/metrics.k8s.io/v1beta1"
#define PODS  GROUP "/namespaces/default/pods"

struct meter {
	struct kubelet base;
	char uid[64];
	json_t *asked; /* containers of the last question */
};

static int pod_usage(struct kubelet *k, const char *uid, const json_t *containers, json_t **ret, struct err *e)
{
	struct meter *m = (struct meter *)k;

	if (!streq(uid, m->uid))
		return err_set(e, ERR_NOT_FOUND, "no container of the pod runs");
	json_decref(m->asked);
	m->asked = jsonx_copy(containers);
	*ret = json_pack("{s:s, s:i, s:[{s:s, s:i, s:i}]}", "timestamp", "2026-01-02T03:04:05Z", "window", 15,
			 "containers", "name", "c", "cpu_nano", 1500000, "memory_bytes", 3 << 20);
	return 0;
}

static int node_usage(struct kubelet *k, const char *node, json_t **ret, struct err *e)
{
	(void)k;
	if (!streq(node, "here"))
		return err_set(e, ERR_NOT_FOUND, "another machine");
	*ret = json_pack("{s:s, s:i, s:I, s:I, s:i}", "timestamp", "2026-01-02T03:04:05Z", "window", 10, "cpu_nano",
			 (json_int_t)2000000000, "memory_bytes", (json_int_t)4 << 30, "load_milli", 17250);
	return 0;
}

static struct front measured(struct meter *m)
{
	static const struct kubelet_ops ops = { .pod_usage = pod_usage, .node_usage = node_usage };
	struct front f = front_new();

	*m = (struct meter){ .base.ops = &ops };
	rest_set_kubelet(f.rest, &m->base);
	server_do(&f.s, VERB_CREATE, "v1/nodes", "", NULL, "{'metadata':{'name':'here'}}");
	server_do(&f.s, VERB_CREATE, "v1/nodes", "", NULL, "{'metadata':{'name':'there'}}");
	json_auto_t *pod =
		server_ask(&f.s, VERB_CREATE, "v1/pods", "default", NULL,
			   "{'metadata':{'name':'busy','labels':{'app':'a'}},'spec':{'initContainers':[{'name':'i',"
			   "'image':'host'}],'containers':[{'name':'c','image':'host'}]}}");
	snprintf(m->uid, sizeof(m->uid), "%s", jsonx_str_or(pod, "metadata.uid", ""));
	json_auto_t *idle =
		server_ask(&f.s, VERB_CREATE, "v1/pods", "default", NULL,
			   "{'metadata':{'name':'idle','labels':{'app':'a'}},'spec':{'containers':[{'name':'c',"
			   "'image':'host'}]}}");
	CHECK(pod && idle);
	return f;
}

static void measured_done(struct front *f, struct meter *m)
{
	front_done(f);
	json_decref(m->asked);
}

TEST("the use of pods is listed by namespace, everywhere and by label")
{
	static const struct {
		const char *path;
		size_t n;
	} rows[] = {
		{ PODS, 1 },
		{ GROUP "/pods", 1 },
		{ PODS "?labelSelector=app%3Da", 1 },
		{ PODS "?labelSelector=app%3Db", 0 },
		{ PODS "?fieldSelector=metadata.name%3Dbusy", 1 },
		{ PODS "?fieldSelector=metadata.name%3Didle", 0 },
		{ GROUP "/namespaces/other/pods", 0 },
	};
	struct meter m;
	struct front f = measured(&m);

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		auto_free char *line = xasprintf("GET %s", rows[i].path);

		CHECK_INT(front_ask(&f, line, "Accept: application/vnd.kubernetes.protobuf, */*\r\n", NULL), 200);
		json_auto_t *list = front_json(&f);
		const json_t *item = json_array_get(json_object_get(list, "items"), 0);

		CHECK_STR(jsonx_str(list, "kind"), "PodMetricsList");
		CHECK_STR(jsonx_str(list, "apiVersion"), "metrics.k8s.io/v1beta1");
		CHECK_INT(json_array_size(json_object_get(list, "items")), rows[i].n);
		if (!rows[i].n)
			continue;
		CHECK_STR(jsonx_str(item, "metadata.name"), "busy");
		CHECK_STR(jsonx_str(item, "metadata.namespace"), "default");
		CHECK_STR(jsonx_str(item, "metadata.labels.app"), "a");
		CHECK_STR(jsonx_str(item, "timestamp"), "2026-01-02T03:04:05Z");
		CHECK_STR(jsonx_str(item, "window"), "15s");
		item = json_array_get(json_object_get(item, "containers"), 0);
		CHECK_STR(jsonx_str(item, "name"), "c");
		CHECK_STR(jsonx_str(item, "usage.cpu"), "1500u");
		CHECK_STR(jsonx_str(item, "usage.memory"), "3Mi");
	}
	CHECK_INT(json_array_size(m.asked), 2);
	measured_done(&f, &m);
}

TEST("the use of one pod or node is told by name, and what has no figures is not found")
{
	struct meter m;
	struct front f = measured(&m);

	CHECK_INT(front_ask(&f, "GET " PODS "/busy", "", NULL), 200);
	json_auto_t *pod = front_json(&f);
	CHECK_STR(jsonx_str(pod, "kind"), "PodMetrics");
	CHECK_STR(jsonx_str(pod, "window"), "15s");
	CHECK_INT(front_ask(&f, "GET " PODS "/idle", "", NULL), 404);
	json_auto_t *none = front_json(&f);
	CHECK_STR(jsonx_str(none, "message"), "pods.metrics.k8s.io \"idle\" not found");
	CHECK_INT(front_ask(&f, "GET " PODS "/nothing", "", NULL), 404);
	CHECK_INT(front_ask(&f, "GET " GROUP "/nodes/here", "", NULL), 200);
	json_auto_t *node = front_json(&f);
	CHECK_STR(jsonx_str(node, "kind"), "NodeMetrics");
	CHECK_STR(jsonx_str(node, "usage.cpu"), "2");
	CHECK_STR(json_string_value(json_object_get(json_object_get(node, "usage"), "stoker.dev/load")), "17250m");
	CHECK_STR(jsonx_str(node, "usage.memory"), "4Gi");
	CHECK_INT(front_ask(&f, "GET " GROUP "/nodes/there", "", NULL), 404);
	CHECK_INT(front_ask(&f, "GET " GROUP "/nodes", "", NULL), 200);
	json_auto_t *nodes = front_json(&f);
	CHECK_INT(json_array_size(json_object_get(nodes, "items")), 1);
	CHECK_INT(front_ask(&f, "DELETE " PODS "/busy", "", NULL), 405);
	measured_done(&f, &m);
}

TEST("use has a table too, and a server without pods has an empty list")
{
	struct meter m;
	struct front f = measured(&m);
	const json_t *row;

	CHECK_INT(front_ask(&f, "GET " PODS, "Accept: application/json;as=Table;v=v1;g=meta.k8s.io\r\n", NULL), 200);
	json_auto_t *table = front_json(&f);
	CHECK_STR(jsonx_str(table, "kind"), "Table");
	row = json_array_get(json_object_get(table, "rows"), 0);
	CHECK_STR(json_string_value(json_array_get(json_object_get(row, "cells"), 0)), "busy");
	CHECK_STR(json_string_value(json_array_get(json_object_get(row, "cells"), 1)), "1500u");
	rest_set_kubelet(f.rest, NULL);
	CHECK_INT(front_ask(&f, "GET " PODS, "", NULL), 200);
	json_auto_t *empty = front_json(&f);
	CHECK_INT(json_array_size(json_object_get(empty, "items")), 0);
	CHECK_INT(front_ask(&f, "GET " PODS "/busy", "", NULL), 404);
	measured_done(&f, &m);
}
