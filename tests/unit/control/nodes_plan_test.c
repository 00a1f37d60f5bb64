// SPDX-License-Identifier: Apache-2.0
#include "control/nodes_plan.h"

#include "api/sample_json.h"
#include "base/jsonx.h"
#include "base/mem.h"
#include "base/str.h"
#include "test.h"

#define READY(s) "{'type':'Ready','status':'" s "','lastHeartbeatTime':'2026-01-01T00:00:00Z'}"

/* "not-ready:NoSchedule unreachable:NoExecute" */
static const char *taints_text(const json_t *taints)
{
	static char out[500];
	auto_sbuf struct sbuf b = SBUF(sizeof(out) - 1);
	json_t *t;
	size_t i;

	json_array_foreach (taints, i, t) {
		const char *key = jsonx_str_or(t, "key", "");
		const char *slash = strrchr(key, '/');

		sbuf_addf(&b, "%s%s:%s", i ? " " : "", slash ? slash + 1 : key, jsonx_str_or(t, "effect", ""));
	}
	snprintf(out, sizeof(out), "%s", b.p ? b.p : "");
	return out;
}

#define K(name, effect) "{'key':'node.kubernetes.io/" name "','effect':'" effect "'}"

TEST("taints follow from conditions, and those of others stay")
{
	static const struct {
		const char *spec, *conditions;
		bool late;
		enum disruption disruption;
		const char *want; /* NULL: no change */
	} rows[] = {
		{ "", READY("True"), false, DISRUPTION_NONE, NULL },
		{ "", "", false, DISRUPTION_NONE, "not-ready:NoSchedule" },
		{ "", READY("False"), false, DISRUPTION_NONE, "not-ready:NoSchedule not-ready:NoExecute" },
		{ "", READY("Unknown"), false, DISRUPTION_NONE, "unreachable:NoSchedule unreachable:NoExecute" },
		{ "", READY("True"), true, DISRUPTION_NONE, "unreachable:NoSchedule unreachable:NoExecute" },
		{ "", READY("True"), true, DISRUPTION_FULL, "unreachable:NoSchedule" },
		{ "", READY("True"), true, DISRUPTION_PARTIAL, "unreachable:NoSchedule" },
		/* one that had lost its pods before most of the others went keeps the mark, until none is left */
		{ "'taints':[" K("unreachable", "NoSchedule") "," K("unreachable", "NoExecute") "]", READY("Unknown"),
		  true, DISRUPTION_PARTIAL, NULL },
		{ "'taints':[" K("unreachable", "NoSchedule") "," K("unreachable", "NoExecute") "]", READY("Unknown"),
		  true, DISRUPTION_FULL, "unreachable:NoSchedule" },
		/* it is heard again, and says how it is */
		{ "'taints':[" K("unreachable", "NoSchedule") "," K("unreachable", "NoExecute") "]", READY("False"),
		  false, DISRUPTION_NONE, "not-ready:NoSchedule not-ready:NoExecute" },
		{ "'taints':[" K("unreachable", "NoSchedule") "," K("unreachable", "NoExecute") "]", READY("True"),
		  false, DISRUPTION_NONE, "" },
		{ "'taints':[{'key':'gpu','effect':'NoExecute'}]", READY("True"), false, DISRUPTION_NONE, NULL },
		{ "'taints':[{'key':'gpu','effect':'NoExecute'}," K("not-ready", "NoSchedule") "]", READY("True"),
		  false, DISRUPTION_NONE, "gpu:NoExecute" },
		{ "'unschedulable':true", READY("True"), false, DISRUPTION_NONE, "unschedulable:NoSchedule" },
		{ "'taints':[" K("unschedulable", "NoSchedule") "]", READY("True"), false, DISRUPTION_NONE, "" },
		{ "",
		  READY("True") ",{'type':'MemoryPressure','status':'True'},{'type':'DiskPressure','status':'True'},"
				"{'type':'PIDPressure','status':'True'},{'type':'NetworkUnavailable','status':'True'}",
		  false, DISRUPTION_NONE,
		  "memory-pressure:NoSchedule disk-pressure:NoSchedule pid-pressure:NoSchedule "
		  "network-unavailable:NoSchedule" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		auto_free char *text = xasprintf("{'metadata':{'name':'n'},'spec':{%s},'status':{'conditions':[%s]}}",
						 rows[i].spec, rows[i].conditions);
		json_auto_t *node = sample_json(text);
		struct node_plan p;

		node_plan(&(struct node_health){ node, rows[i].late, rows[i].disruption, 1000 }, &p);
		CHECK_INT(p.taints != NULL, rows[i].want != NULL);
		if (rows[i].want)
			CHECK_STR(taints_text(p.taints), rows[i].want);
		node_plan_done(&p);
	}
}

TEST("a silent node's conditions become unknown, once, and say whether it ever spoke")
{
	json_auto_t *node = sample_json(
		"{'metadata':{'creationTimestamp':'2026-01-01T00:00:00Z'},"
		"'status':{'conditions':[" READY("True") ",{'type':'NetworkUnavailable','status':'False'}]}}");
	struct node_plan p;

	node_plan(&(struct node_health){ node, true, DISRUPTION_NONE, 0 }, &p);
	CHECK_JSON(json_array_get(p.conditions, 0),
		   "{'type':'Ready','status':'Unknown','lastHeartbeatTime':'2026-01-01T00:00:00Z',"
		   "'reason':'NodeStatusUnknown','message':'Kubelet stopped posting node status.',"
		   "'lastTransitionTime':'1970-01-01T00:00:00Z'}");
	CHECK_STR(jsonx_str(json_array_get(p.conditions, 1), "status"), "False");
	CHECK_STR(jsonx_str(json_array_get(p.conditions, 2), "reason"), "NodeStatusNeverUpdated");
	CHECK_INT(json_array_size(p.conditions), 5);
	jsonx_set_new(node, "status.conditions", json_incref(p.conditions));
	node_plan_done(&p);
	node_plan(&(struct node_health){ node, true, DISRUPTION_NONE, 9 }, &p);
	CHECK(!p.conditions);
	node_plan_done(&p);
}

TEST("when most nodes are silent the fault is likely not theirs")
{
	static const struct {
		size_t ready, not_ready;
		enum disruption want;
	} rows[] = {
		{ 0, 0, DISRUPTION_NONE }, { 1, 0, DISRUPTION_NONE },     { 0, 1, DISRUPTION_FULL },
		{ 1, 1, DISRUPTION_NONE }, { 1, 2, DISRUPTION_NONE },     { 2, 3, DISRUPTION_PARTIAL },
		{ 3, 3, DISRUPTION_NONE }, { 9, 11, DISRUPTION_PARTIAL }, { 0, 9, DISRUPTION_FULL },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		CHECK_INT(nodes_disruption(rows[i].ready, rows[i].not_ready), rows[i].want);
}

TEST("a pod leaves at once, after the shortest time it tolerates, or never")
{
	static const struct {
		const char *taints, *tolerations;
		int64_t want;
	} rows[] = {
		{ "[]", "[]", -1 },
		{ "[{'key':'a','effect':'NoSchedule'}]", "[]", -1 },
		{ "[{'key':'a','effect':'NoExecute'}]", "[]", 0 },
		{ "[{'key':'a','effect':'NoExecute'}]", "[{'operator':'Exists'}]", -1 },
		{ "[{'key':'a','effect':'NoExecute'}]", "[{'key':'a','operator':'Exists','tolerationSeconds':30}]",
		  30 },
		{ "[{'key':'a','effect':'NoExecute'}]", "[{'key':'a','operator':'Exists','tolerationSeconds':-3}]", 0 },
		{ "[{'key':'a','effect':'NoExecute'},{'key':'b','effect':'NoExecute'}]",
		  "[{'key':'a','operator':'Exists','tolerationSeconds':30}]", 0 },
		{ "[{'key':'a','effect':'NoExecute'},{'key':'b','effect':'NoExecute'}]",
		  "[{'key':'a','operator':'Exists','tolerationSeconds':30},{'key':'b','operator':'Exists'}]", 30 },
		{ "[{'key':'a','effect':'NoExecute'}]",
		  "[{'key':'a','operator':'Exists','tolerationSeconds':30},"
		  "{'key':'a','operator':'Exists','tolerationSeconds':5}]",
		  5 },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		json_auto_t *taints = sample_json(rows[i].taints);
		json_auto_t *tolerations = sample_json(rows[i].tolerations);

		CHECK_INT(taint_eviction_after(taints, tolerations), rows[i].want);
	}
}
