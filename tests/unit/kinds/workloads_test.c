// SPDX-License-Identifier: Apache-2.0
/* workloads_test.c - apps/v1: rules, defaults and columns */
#include "kinds/core.h"
#include "rest_test.h"

#define TEMPLATE   "'template':{'metadata':{'labels':{'a':'b'}},'spec':{'containers':[{'name':'c','image':'i:1'}]}}"
#define SELECTOR   "'selector':{'matchLabels':{'a':'b'}}"
#define CONTROLLER "{'metadata':{'name':'w'},'spec':{" TEMPLATE "}}"
#define WORKLOAD   "{'metadata':{'name':'w'},'spec':{" SELECTOR "," TEMPLATE "}}"
#define NO_MATCH                                                                                                       \
	"spec.template.metadata.labels: Invalid value: {\"a\":\"c\"}: `selector` does not match template `labels`"
#define RESTART   "spec.template.spec.restartPolicy: Unsupported value: \"Never\": supported values: \"Always\""
#define ANOTHER   "{'spec':{'template':{'metadata':{'labels':{'a':'c'}}}}}"
#define IMMUTABLE "Invalid value: {\"matchLabels\":{\"a\":\"x\"}}: field is immutable"

TEST("a controller's selector is there, says something and matches its template")
{
	static const struct {
		const struct kind *kind;
		const char *word;
	} kinds[] = {
		{ &kind_deployment, "deployment" },
		{ &kind_replica_set, "replicaset" },
		{ &kind_stateful_set, "statefulset" },
		{ &kind_daemon_set, "daemonset" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++) {
		auto_free char *empty =
			xasprintf("spec.selector: Invalid value: {}: empty selector is invalid for %s", kinds[i].word);
		const struct rule_row rows[] = {
			{ "{}", "" },
			{ "{'spec':{'selector':null}}", "spec.selector: Required value" },
			{ "{'spec':{'selector':{'matchLabels':null}}}", empty },
			{ ANOTHER, NO_MATCH },
			{ "{'spec':{'template':{'spec':{'restartPolicy':'Never'}}}}", RESTART },
			{ "{'spec':null}", "spec.selector: Required value\nspec.template: Required value" },
			{ "{'spec':{'minReadySeconds':-1}}",
			  "spec.minReadySeconds: Invalid value: -1: must be greater than or equal to 0" },
		};

		test_rules(kinds[i].kind, WORKLOAD, rows, ARRAY_SIZE(rows));
	}
}

TEST("a ReplicaSet's and a ReplicationController's numbers make sense, and their pods have no deadline")
{
	static const struct {
		const struct kind *kind;
		const char *name, *base;
	} kinds[] = {
		{ &kind_replica_set, "ReplicaSet", WORKLOAD },
		{ &kind_replication_controller, "ReplicationController", CONTROLLER },
	};

	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++) {
		auto_free char *deadline = xasprintf("spec.template.spec.activeDeadlineSeconds: Forbidden: "
						     "activeDeadlineSeconds in %s is not Supported",
						     kinds[i].name);
		const struct rule_row rows[] = {
			{ "{'spec':{'replicas':-1}}",
			  "spec.replicas: Invalid value: -1: must be greater than or equal to 0" },
			{ "{'spec':{'template':{'spec':{'activeDeadlineSeconds':5}}}}", deadline },
			{ "{'spec':{'template':{'spec':{'restartPolicy':'Never'}}}}", RESTART },
		};

		test_rules(kinds[i].kind, kinds[i].base, rows, ARRAY_SIZE(rows));
	}
}

TEST("a status counts no more of the ready than there are")
{
	static const struct kind *const kinds[] = { &kind_replica_set, &kind_replication_controller, &kind_deployment,
						    &kind_stateful_set };
	static const struct rule_row rows[] = {
		{ "{'replicas':2,'readyReplicas':2,'availableReplicas':1}", "" },
		{ "{'replicas':-1}", "status.replicas: Invalid value: -1: must be greater than or equal to 0" },
		{ "{'replicas':1,'readyReplicas':2}",
		  "status.readyReplicas: Invalid value: 2: cannot be greater than status.replicas" },
		{ "{'replicas':2,'readyReplicas':1,'availableReplicas':2}",
		  "status.availableReplicas: Invalid value: 2: cannot be greater than readyReplicas" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(kinds) * ARRAY_SIZE(rows); i++) {
		const struct rule_row *row = &rows[i % ARRAY_SIZE(rows)];
		const struct kind *kind = kinds[i / ARRAY_SIZE(rows)];
		json_auto_t *obj = test_json(kind == &kind_replication_controller ? CONTROLLER : WORKLOAD);
		struct err e = ERR_INIT;

		test_admit(kind, obj, &e);
		json_object_set_new(obj, "status", test_json(row->change));
		kind_validate(kind, obj, &e);
		auto_free char *got = test_causes(&e);

		CHECK_STR(got, row->want);
	}
}

TEST("a Deployment's strategy makes sense")
{
	static const struct rule_row rows[] = {
		{ "{'spec':{'strategy':{'type':'Recreate'}}}", "" },
		{ "{'spec':{'strategy':{'type':'Recreate','rollingUpdate':{'maxSurge':1}}}}",
		  "spec.strategy.rollingUpdate: Forbidden: may not be specified when strategy `type` is 'Recreate'" },
		{ "{'spec':{'strategy':{'type':'x'}}}",
		  "spec.strategy.type: Unsupported value: \"x\": supported values: \"Recreate\", \"RollingUpdate\"" },
		{ "{'spec':{'strategy':{'rollingUpdate':{'maxSurge':0,'maxUnavailable':0}}}}",
		  "spec.strategy.rollingUpdate.maxUnavailable: Invalid value: 0: may not be 0 when `maxSurge` is 0" },
		{ "{'spec':{'strategy':{'rollingUpdate':{'maxSurge':0,'maxUnavailable':'101%'}}}}",
		  "spec.strategy.rollingUpdate.maxUnavailable: Invalid value: \"101%\": must not be greater than "
		  "100%" },
		{ "{'spec':{'strategy':{'rollingUpdate':{'maxSurge':'many'}}}}",
		  "spec.strategy.rollingUpdate.maxSurge: Invalid value: \"many\": a valid percent string must be a "
		  "numeric "
		  "string followed by an ending '%' (e.g. '1%',  or '93%', regex used for validation is '[0-9]+%')" },
		{ "{'spec':{'progressDeadlineSeconds':5,'minReadySeconds':5}}",
		  "spec.progressDeadlineSeconds: Invalid value: 5: must be greater than minReadySeconds" },
		{ "{'spec':{'replicas':0}}", "" },
		{ "{'spec':{'replicas':-1}}", "spec.replicas: Invalid value: -1: must be greater than or equal to 0" },
	};

	test_rules(&kind_deployment, WORKLOAD, rows, ARRAY_SIZE(rows));
}

TEST("a Deployment's new pods are among its pods, and its collisions are never fewer than before")
{
	static const struct rule_row rows[] = {
		{ "{'replicas':2,'updatedReplicas':2,'collisionCount':3}", "" },
		{ "{'replicas':1,'updatedReplicas':2,'collisionCount':2}",
		  "status.updatedReplicas: Invalid value: 2: cannot be greater than status.replicas" },
		{ "{'collisionCount':1}", "status.collisionCount: Invalid value: 1: cannot be decremented" },
		{ "{}", "status.collisionCount: Invalid value: null: cannot be decremented" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		json_auto_t *old = test_json(WORKLOAD);
		struct err e = ERR_INIT;

		test_admit(&kind_deployment, old, &e);
		json_object_set_new(old, "status", test_json("{'collisionCount':2}"));
		json_auto_t *obj = json_copy(old);

		json_object_set_new(obj, "status", test_json(rows[i].change));
		kind_validate(&kind_deployment, obj, &e);
		kind_validate_update(&kind_deployment, obj, old, &e);
		auto_free char *got = test_causes(&e);

		CHECK_STR(got, rows[i].want);
	}
}

TEST("a Deployment gets Kubernetes' defaults, and keeps a zero that was meant")
{
	json_auto_t *obj = test_changed(WORKLOAD, "{'spec':{'revisionHistoryLimit':0}}");
	struct err e = ERR_INIT;

	test_admit(&kind_deployment, obj, &e);
	CHECK_INT(e.ncauses, 0);
	CHECK_INT(jsonx_int_or(obj, "spec.replicas", -1), 1);
	CHECK_INT(jsonx_int_or(obj, "spec.revisionHistoryLimit", -1), 0);
	CHECK_INT(jsonx_int_or(obj, "spec.progressDeadlineSeconds", -1), 600);
	CHECK_STR(jsonx_str(obj, "spec.strategy.type"), "RollingUpdate");
	CHECK_STR(jsonx_str(obj, "spec.strategy.rollingUpdate.maxSurge"), "25%");
	CHECK_STR(jsonx_str(obj, "spec.strategy.rollingUpdate.maxUnavailable"), "25%");
	CHECK_STR(jsonx_str(obj, "spec.template.spec.restartPolicy"), "Always");
	CHECK(json_is_object(json_object_get(obj, "status")));
}

TEST("a StatefulSet's and a DaemonSet's update strategies make sense")
{
	static const struct rule_row stateful[] = {
		{ "{'spec':{'updateStrategy':{'type':'OnDelete'}}}", "" },
		{ "{'spec':{'updateStrategy':{'type':'OnDelete','rollingUpdate':{'partition':1}}}}",
		  "spec.updateStrategy.rollingUpdate: Invalid value: {\"partition\":1}: only allowed for "
		  "updateStrategy "
		  "'RollingUpdate'" },
		{ "{'spec':{'updateStrategy':{'rollingUpdate':{'partition':-1}}}}",
		  "spec.updateStrategy.rollingUpdate.partition: Invalid value: -1: must be greater than or equal to "
		  "0" },
		{ "{'spec':{'podManagementPolicy':'x'}}", "spec.podManagementPolicy: Unsupported value: \"x\": "
							  "supported values: \"OrderedReady\", \"Parallel\"" },
	};
	static const struct rule_row daemon[] = {
		{ "{'spec':{'updateStrategy':{'rollingUpdate':{'maxUnavailable':0,'maxSurge':1}}}}", "" },
		{ "{'spec':{'updateStrategy':{'rollingUpdate':{'maxUnavailable':0}}}}",
		  "spec.updateStrategy.rollingUpdate.maxUnavailable: Required value: cannot be 0 when maxSurge is 0" },
		{ "{'spec':{'updateStrategy':{'rollingUpdate':{'maxSurge':1}}}}",
		  "spec.updateStrategy.rollingUpdate.maxSurge: Invalid value: 1: may not be set when maxUnavailable is "
		  "non-zero" },
	};

	test_rules(&kind_stateful_set, WORKLOAD, stateful, ARRAY_SIZE(stateful));
	test_rules(&kind_daemon_set, WORKLOAD, daemon, ARRAY_SIZE(daemon));
}

TEST("a claim template of a StatefulSet is a whole claim")
{
	json_auto_t *obj = test_changed(
		WORKLOAD,
		"{'spec':{'volumeClaimTemplates':[{'metadata':{'name':'d'},'spec':{'accessModes':['ReadWriteOnce'],"
		"'resources':{'requests':{'storage':'1Gi'}}}}]}}");
	struct err e = ERR_INIT;
	auto_free char *causes = NULL;
	const json_t *claim;

	test_admit(&kind_stateful_set, obj, &e);
	causes = test_causes(&e);
	CHECK_STR(causes, "");
	claim = json_array_get(jsonx_at(obj, "spec.volumeClaimTemplates"), 0);
	CHECK_STR(jsonx_str(claim, "kind"), "PersistentVolumeClaim");
	CHECK_STR(jsonx_str(claim, "spec.volumeMode"), "Filesystem");
	CHECK_STR(jsonx_str(claim, "status.phase"), "Pending");
	CHECK_INT(jsonx_int_or(obj, "spec.updateStrategy.rollingUpdate.partition", -1), 0);
}

#define CLAIM(name)                                                                                                    \
	"{'metadata':{" name "},'spec':{'accessModes':['ReadWriteOnce'],'resources':{'requests':{'storage':'1Gi'}}}}"
#define MOUNTS(of)                                                                                                     \
	"'template':{'spec':{'containers':[{'name':'c','image':'i:1','volumeMounts':[{'name':'" of                     \
	"','mountPath':'/d'}]}]}}"

TEST("a StatefulSet's containers mount claims of its templates, and those have names")
{
	static const struct rule_row rows[] = {
		{ "{'spec':{'volumeClaimTemplates':[" CLAIM("'name':'d'") "]," MOUNTS("d") "}}", "" },
		{ "{'spec':{'volumeClaimTemplates':[" CLAIM("'name':'d'") "]," MOUNTS("e") "}}",
		  "spec.template.spec.containers[0].volumeMounts[0].name: Not found: \"e\"" },
		{ "{'spec':{'volumeClaimTemplates':[" CLAIM("") "]}}",
		  "spec.volumeClaimTemplates[0].metadata.name: Required value" },
		{ "{'spec':{'volumeClaimTemplates':[" CLAIM("'name':'d'") "," CLAIM("'name':'d'") "]}}",
		  "spec.volumeClaimTemplates[1].metadata.name: Duplicate value: \"d\"" },
		{ "{'spec':{'replicas':-1,'ordinals':{'start':-1},'minReadySeconds':-1,'revisionHistoryLimit':-1}}",
		  "spec.replicas: Invalid value: -1: must be greater than or equal to 0\n"
		  "spec.ordinals.start: Invalid value: -1: must be greater than or equal to 0\n"
		  "spec.minReadySeconds: Invalid value: -1: must be greater than or equal to 0\n"
		  "spec.revisionHistoryLimit: Invalid value: -1: must be greater than or equal to 0" },
		{ "{'spec':{'persistentVolumeClaimRetentionPolicy':{'whenDeleted':'x'}}}",
		  "spec.persistentVolumeClaimRetentionPolicy.whenDeleted: Unsupported value: \"x\": supported values: "
		  "\"Retain\", \"Delete\"" },
		{ "{'spec':{'template':{'spec':{'restartPolicy':'Never'}}}}",
		  "spec.template.spec.restartPolicy: Unsupported value: \"Never\": supported values: \"Always\"" },
	};

	test_rules(&kind_stateful_set, WORKLOAD, rows, ARRAY_SIZE(rows));
}

TEST("what may not change does not")
{
	static const struct rule_row selector[] = {
		{ "{'spec':{'replicas':5}}", "" },
		{ "{'spec':{'selector':{'matchLabels':{'a':'x'}}}}", "spec.selector: " IMMUTABLE },
	};
	static const struct rule_row stateful[] = {
		{ "{'spec':{'replicas':5,'minReadySeconds':3}}", "" },
		{ "{'spec':{'serviceName':'x'}}",
		  "spec: Forbidden: updates to statefulset spec for fields other than 'replicas', 'ordinals', "
		  "'template', "
		  "'updateStrategy', 'revisionHistoryLimit', 'persistentVolumeClaimRetentionPolicy' and "
		  "'minReadySeconds' are forbidden" },
	};

	test_updates(&kind_deployment, WORKLOAD, selector, ARRAY_SIZE(selector));
	test_updates(&kind_replica_set, WORKLOAD, selector, ARRAY_SIZE(selector));
	test_updates(&kind_stateful_set, WORKLOAD, stateful, ARRAY_SIZE(stateful));
}

TEST("columns of the workload kinds are kubectl's")
{
	static const struct {
		const struct kind *kind;
		const char *change, *want;
	} rows[] = {
		{ &kind_deployment, "{'spec':{'replicas':3},'status':{'readyReplicas':1,'updatedReplicas':2}}",
		  "w|1/3|2|0|60m|c|i:1|a=b" },
		{ &kind_replica_set, "{'spec':{'replicas':3},'status':{'replicas':2}}", "w|3|2|0|60m|c|i:1|a=b" },
		{ &kind_stateful_set, "{'spec':{'replicas':3}}", "w|0/3|60m|c|i:1" },
		{ &kind_daemon_set, "{'status':{'desiredNumberScheduled':4,'numberReady':1}}",
		  "w|4|0|1|0|0|<none>|60m|c|i:1|a=b" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		json_auto_t *obj = test_changed(WORKLOAD, rows[i].change);
		auto_free char *cells = NULL;

		jsonx_set_new(obj, "metadata.creationTimestamp", json_string("2001-09-09T00:46:40Z"));
		cells = test_cells(rows[i].kind, obj);
		CHECK_STR(cells, rows[i].want);
	}
}
