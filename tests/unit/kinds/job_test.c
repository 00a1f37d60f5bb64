// SPDX-License-Identifier: Apache-2.0
/* job_test.c - batch: Job, CronJob and their rules */
#include "base/jsonx.h"
#include "kinds/job.h"
#include "rest_test.h"

#define TEMPLATE "'template':{'spec':{'restartPolicy':'Never','containers':[{'name':'c','image':'i:1'}]}}"
#define JOB      "{'metadata':{'name':'j'},'spec':{" TEMPLATE "}}"
#define CRON     "{'metadata':{'name':'j'},'spec':{'schedule':'*/5 * * * *','jobTemplate':{'spec':{" TEMPLATE "}}}}"

TEST("a Job's fields go together")
{
	static const struct rule_row rows[] = {
		{ "{}", "" },
		{ "{'spec':{'parallelism':-1}}",
		  "spec.parallelism: Invalid value: -1: must be greater than or equal to 0" },
		{ "{'spec':{'completions':-1}}",
		  "spec.completions: Invalid value: -1: must be greater than or equal to 0" },
		{ "{'spec':{'backoffLimit':-1}}",
		  "spec.backoffLimit: Invalid value: -1: must be greater than or equal to 0" },
		{ "{'spec':{'template':{'spec':{'restartPolicy':null}}}}",
		  "spec.template.spec.restartPolicy: Required value: valid values: \"OnFailure\", \"Never\"" },
		{ "{'spec':{'completionMode':'Indexed','parallelism':2}}",
		  "spec.completions: Required value: when completion mode is Indexed" },
		{ "{'spec':{'completionMode':'Indexed','completions':2,'parallelism':100001}}",
		  "spec.parallelism: Invalid value: 100001: must be less than or equal to 100000 when completion mode "
		  "is "
		  "Indexed" },
		{ "{'spec':{'backoffLimitPerIndex':1}}",
		  "spec.backoffLimitPerIndex: Invalid value: 1: requires indexed completion mode" },
		{ "{'spec':{'completionMode':'Indexed','completions':2,'maxFailedIndexes':1}}",
		  "spec.backoffLimitPerIndex: Required value: when maxFailedIndexes is specified" },
		{ "{'spec':{'completionMode':'x'}}",
		  "spec.completionMode: Unsupported value: \"x\": supported values: \"Indexed\", \"NonIndexed\"" },
		{ "{'spec':{'managedBy':'kueue.x-k8s.io/multikueue'}}", "" },
		{ "{'spec':{'managedBy':''}}", "spec.managedBy: Required value" },
		{ "{'spec':{'managedBy':'x y'}}",
		  "spec.managedBy: Invalid value: \"x y\": must be a domain-prefixed path "
		  "(such as \"acme.io/foo\")" },
		{ "{'spec':{'managedBy':'a.b/x y'}}",
		  "spec.managedBy: Invalid value: \"a.b/x y\": Invalid path (regex used for validation is "
		  "'[A-Za-z0-9/\\-._~%!$&'()*+,;=:]+')" },
		{ "{'spec':{'managedBy':'a.b/cd23456789-c23456789-c23456789-c23456789-c23456789-c23456789'}}",
		  "spec.managedBy: Too long: may not be more than 63 bytes" },
		{ "{'spec':{'template':null}}", "spec.template: Required value" },
		{ "{'spec':{'manualSelector':true}}", "spec.selector: Required value" },
		{ "{'spec':{'manualSelector':true,'selector':{'matchLabels':{'a':'b'}}}}",
		  "spec.template.metadata.labels: Invalid value: {}: `selector` does not match template `labels`" },
		{ "{'spec':{'selector':{'matchLabels':{'a':'b'}},'template':{'metadata':{'labels':{'a':'b'}}}}}",
		  "spec.selector: Invalid value: {\"matchLabels\":{\"a\":\"b\","
		  "\"batch.kubernetes.io/controller-uid\":\"u-1\"}}: `selector` not auto-generated" },
		{ "{'metadata':{'name':'a23456789-b23456789-c23456789-d23456789-e23456789-f23456789-123'},"
		  "'spec':{'completionMode':'Indexed','completions':1}}",
		  "metadata.name: Invalid value: "
		  "\"a23456789-b23456789-c23456789-d23456789-e23456789-f23456789-123\": will not able to create pod "
		  "with invalid DNS label: a23456789-b23456789-c23456789-d23456789-e23456789-f23456789-123-0" },
		{ "{'spec':{'template':{'metadata':{'labels':{'job-name':'x'}}}}}",
		  "spec.template.metadata.labels[job-name]: Invalid value: \"x\": must be 'j'" },
	};

	test_rules(&kind_job, JOB, rows, ARRAY_SIZE(rows));
}

TEST("a pod failure policy makes sense")
{
#define POLICY(rules_) "{'spec':{'podFailurePolicy':{'rules':[" rules_ "]}}}"
	static const struct rule_row rows[] = {
		{ POLICY("{'action':'FailJob','onExitCodes':{'operator':'In','values':[1,42]}}"), "" },
		{ POLICY("{'action':'FailJob'}"), "spec.podFailurePolicy.rules[0]: Invalid value: "
						  "{\"action\":\"FailJob\"}: specifying one of OnExitCodes and "
						  "OnPodConditions is required" },
		{ POLICY("{'action':'Count','onExitCodes':{'operator':'In','values':[0]}}"),
		  "spec.podFailurePolicy.rules[0].onExitCodes.values[0]: Invalid value: 0: must not be 0 for the In "
		  "operator" },
		{ POLICY("{'action':'Count','onExitCodes':{'operator':'NotIn','values':[2,1]}}"),
		  "spec.podFailurePolicy.rules[0].onExitCodes.values: Invalid value: [2,1]: must be ordered" },
		{ POLICY("{'action':'FailIndex','onExitCodes':{'operator':'In','values':[1]}}"),
		  "spec.podFailurePolicy.rules[0].action: Invalid value: \"FailIndex\": requires the "
		  "backoffLimitPerIndex to "
		  "be set" },
		{ POLICY("{'action':'Count','onExitCodes':{'containerName':'c','operator':'In','values':[1]}}"), "" },
		{ POLICY("{'action':'Count','onExitCodes':{'containerName':'d','operator':'In','values':[1]}}"),
		  "spec.podFailurePolicy.rules[0].onExitCodes.containerName: Invalid value: \"d\": must be one of the "
		  "container or initContainer names in the pod template" },
		{ "{'spec':{'podFailurePolicy':{'rules':[]},'template':{'spec':{'restartPolicy':'OnFailure'}}}}",
		  "spec.template.spec.restartPolicy: Invalid value: \"OnFailure\": only \"Never\" is supported when "
		  "podFailurePolicy is specified" },
		{ "{'spec':{'podFailurePolicy':{'rules':[]},'podReplacementPolicy':'TerminatingOrFailed'}}",
		  "spec.podReplacementPolicy: Unsupported value: \"TerminatingOrFailed\": supported values: "
		  "\"Failed\"" },
	};

	test_rules(&kind_job, JOB, rows, ARRAY_SIZE(rows));
}

TEST("a success policy asks for indexes that the Job has")
{
#define SUCCESS(rule_) "{'spec':{'completionMode':'Indexed','completions':5,'successPolicy':{'rules':[{" rule_ "}]}}}"
#define INDEXES        "spec.successPolicy.rules[0].succeededIndexes: Invalid value: "
#define COUNT          "spec.successPolicy.rules[0].succeededCount: Invalid value: "
#define PARSING        "error parsing succeededIndexes: "
	static const struct rule_row rows[] = {
		{ SUCCESS("'succeededIndexes':''"), "" },
		{ SUCCESS("'succeededIndexes':'0,2-4'"), "" },
		{ SUCCESS("'succeededIndexes':'0,2-4','succeededCount':4"), "" },
		{ SUCCESS("'succeededIndexes':'5'"), INDEXES "\"5\": " PARSING "too large index: \"5\"" },
		{ SUCCESS("'succeededIndexes':'1-9'"), INDEXES "\"1-9\": " PARSING "too large index: \"9\"" },
		{ SUCCESS("'succeededIndexes':'18446744073709551616'"),
		  INDEXES "\"18446744073709551616\": " PARSING "too large index: \"18446744073709551616\"" },
		{ SUCCESS("'succeededIndexes':'first'"),
		  INDEXES "\"first\": " PARSING "cannot convert string to integer for index: \"first\"" },
		{ SUCCESS("'succeededIndexes':'1,'"),
		  INDEXES "\"1,\": " PARSING "cannot convert string to integer for index: \"\"" },
		{ SUCCESS("'succeededIndexes':'2,1'"),
		  INDEXES "\"2,1\": " PARSING "non-increasing order, previous: 2, current: 1" },
		{ SUCCESS("'succeededIndexes':'3-3'"),
		  INDEXES "\"3-3\": " PARSING "non-increasing order, previous: 3, current: 3" },
		{ SUCCESS("'succeededIndexes':'1-2-3'"),
		  INDEXES "\"1-2-3\": " PARSING "the fragment \"1-2-3\" violates the requirement that an index "
			  "interval can have at most two parts separated by '-'" },
		{ SUCCESS("'succeededCount':6"),
		  COUNT "6: must be less than or equal to 5 (the number of specified completions)" },
		{ SUCCESS("'succeededIndexes':'0,2-4','succeededCount':5"),
		  COUNT "5: must be less than or equal to 4 (the number of indexes in the specified succeededIndexes "
			"field)" },
	};

	test_rules(&kind_job, JOB, rows, ARRAY_SIZE(rows));
}

TEST("a Job gets its defaults, a selector and labels")
{
	json_auto_t *obj = test_json(JOB);
	struct err e = ERR_INIT;
	const json_t *labels;

	test_admit(&kind_job, obj, &e);
	CHECK_INT(e.ncauses, 0);
	CHECK_INT(jsonx_int_or(obj, "spec.parallelism", -1), 1);
	CHECK_INT(jsonx_int_or(obj, "spec.completions", -1), 1);
	CHECK_INT(jsonx_int_or(obj, "spec.backoffLimit", -1), 6);
	CHECK_STR(jsonx_str(obj, "spec.completionMode"), "NonIndexed");
	CHECK_STR(jsonx_str(obj, "spec.podReplacementPolicy"), "TerminatingOrFailed");
	CHECK(json_is_false(jsonx_at(obj, "spec.suspend")));
	labels = jsonx_at(obj, "spec.template.metadata.labels");
	CHECK_STR(json_string_value(json_object_get(labels, LABEL_CONTROLLER_UID)), "u-1");
	CHECK_STR(json_string_value(json_object_get(labels, LABEL_CONTROLLER_UID_LEGACY)), "u-1");
	CHECK_STR(json_string_value(json_object_get(labels, LABEL_JOB_NAME)), "j");
	CHECK_STR(json_string_value(json_object_get(labels, LABEL_JOB_NAME_LEGACY)), "j");
	CHECK(jsonx_equal(jsonx_at(obj, "metadata.labels"), labels));
	CHECK_STR(json_string_value(json_object_get(jsonx_at(obj, "spec.selector.matchLabels"), LABEL_CONTROLLER_UID)),
		  "u-1");
}

TEST("a Job with parallelism alone has no completions, and takes its author's labels")
{
	json_auto_t *obj = test_changed(JOB, "{'spec':{'parallelism':3,'template':{'metadata':{'labels':{'a':'b'}}}}}");
	json_auto_t *want = test_json("{'a':'b'}");
	struct err e = ERR_INIT;

	test_admit(&kind_job, obj, &e);
	CHECK_INT(e.ncauses, 0);
	CHECK(!jsonx_at(obj, "spec.completions"));
	CHECK(jsonx_equal(jsonx_at(obj, "metadata.labels"), want));
}

TEST("a Job's selector, template and completions stay")
{
	static const struct rule_row rows[] = {
		{ "{'spec':{'parallelism':3,'suspend':true}}", "" },
		{ "{'spec':{'completions':3}}", "spec.completions: Invalid value: 3: field is immutable" },
		{ "{'spec':{'completionMode':'Indexed'}}",
		  "spec.completionMode: Invalid value: \"Indexed\": field is immutable" },
	};
	json_auto_t *old = test_changed(JOB, "{'spec':{'suspend':true}}"), *placed = NULL, *other = NULL;
	struct err e = ERR_INIT;

	test_updates(&kind_job, JOB, rows, ARRAY_SIZE(rows));
	test_admit(&kind_job, old, &e);
	placed = jsonx_copy(old);
	jsonx_set_new(placed, "spec.template.spec.nodeSelector", test_json("{'a':'b'}"));
	CHECK_INT(kind_validate_update(&kind_job, placed, old, &e), 0);
	other = jsonx_copy(old);
	jsonx_set_new(other, "spec.template.spec.hostNetwork", json_true());
	CHECK_INT(kind_validate_update(&kind_job, other, old, &e), -1);
	CHECK_STR(err_cause_field(&e, 0), "spec.template");
	/* Once started, placement is fixed too. */
	err_clear(&e);
	jsonx_set_new(old, "status.startTime", json_string("2001-09-09T00:46:40Z"));
	CHECK_INT(kind_validate_update(&kind_job, placed, old, &e), -1);
}

TEST("columns of Jobs")
{
	static const struct {
		const char *change, *want;
	} rows[] = {
		{ "{}", "j|Running|0/1||60m|c|i:1|<none>" },
		{ "{'spec':{'completions':3},'status':{'succeeded':1,'startTime':'2001-09-09T01:45:40Z'}}",
		  "j|Running|1/3|60s|60m|c|i:1|<none>" },
		{ "{'spec':{'parallelism':3}}", "j|Running|0/1 of 3||60m|c|i:1|<none>" },
		{ "{'status':{'conditions':[{'type':'Failed','status':'True'}]}}", "j|Failed|0/1||60m|c|i:1|<none>" },
		{ "{'status':{'conditions':[{'type':'Suspended','status':'True'}]}}",
		  "j|Suspended|0/1||60m|c|i:1|<none>" },
		{ "{'status':{'conditions':[{'type':'Suspended','status':'False'},{'type':'Complete','status':'True'}],"
		  "'startTime':'2001-09-09T01:00:00Z','completionTime':'2001-09-09T01:00:05Z'}}",
		  "j|Complete|0/1|5s|60m|c|i:1|<none>" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		json_auto_t *obj = test_changed(JOB, rows[i].change);
		auto_free char *cells = NULL;

		jsonx_set_new(obj, "metadata.creationTimestamp", json_string("2001-09-09T00:46:40Z"));
		cells = test_cells(&kind_job, obj);
		CHECK_STR(cells, rows[i].want);
	}
}

TEST("a CronJob's schedule, zone and template are checked")
{
	static const struct rule_row rows[] = {
		{ "{}", "" },
		{ "{'spec':{'schedule':'@hourly','timeZone':'Asia/Shanghai'}}", "" },
		{ "{'spec':{'schedule':''}}", "spec.schedule: Required value" },
		{ "{'spec':{'schedule':'soon'}}",
		  "spec.schedule: Invalid value: \"soon\": expected exactly 5 fields, found 1: [soon]" },
		{ "{'spec':{'schedule':'TZ=UTC 0 * * * *'}}", "spec.schedule: Invalid value: \"TZ=UTC 0 * * * *\": "
							      "cannot use TZ or CRON_TZ in schedule, use timeZone "
							      "field instead" },
		{ "{'spec':{'timeZone':''}}",
		  "spec.timeZone: Invalid value: \"\": timeZone must be nil or non-empty string" },
		{ "{'spec':{'timeZone':'../etc'}}", "spec.timeZone: Invalid value: \"../etc\": unknown time zone" },
		{ "{'spec':{'concurrencyPolicy':'x'}}", "spec.concurrencyPolicy: Unsupported value: \"x\": supported "
							"values: \"Allow\", \"Forbid\", \"Replace\"" },
		{ "{'spec':{'jobTemplate':{'spec':{'selector':{'matchLabels':{'a':'b'}}}}}}",
		  "spec.jobTemplate.spec.selector: Invalid value: {\"matchLabels\":{\"a\":\"b\"}}: `selector` will be "
		  "auto-generated" },
		{ "{'spec':{'jobTemplate':{'spec':{'template':{'spec':{'restartPolicy':null}}}}}}",
		  "spec.jobTemplate.spec.template.spec.restartPolicy: Required value: valid values: \"OnFailure\", "
		  "\"Never\"" },
		{ "{'metadata':{'name':'a234567890123456789012345678901234567890123456789012x'}}",
		  "metadata.name: Invalid value: \"a234567890123456789012345678901234567890123456789012x\": must be no "
		  "more "
		  "than 52 characters" },
	};

	test_rules(&kind_cron_job, CRON, rows, ARRAY_SIZE(rows));
	test_rules(&kind_cron_job_v1beta1, CRON, rows, ARRAY_SIZE(rows));
}

TEST("a CronJob gets its defaults and columns")
{
	json_auto_t *obj = test_json(CRON);
	struct err e = ERR_INIT;
	auto_free char *cells = NULL;

	test_admit(&kind_cron_job, obj, &e);
	CHECK_INT(e.ncauses, 0);
	CHECK_STR(jsonx_str(obj, "spec.concurrencyPolicy"), "Allow");
	CHECK_INT(jsonx_int_or(obj, "spec.successfulJobsHistoryLimit", -1), 3);
	CHECK_INT(jsonx_int_or(obj, "spec.failedJobsHistoryLimit", -1), 1);
	CHECK_INT(jsonx_int_or(obj, "spec.jobTemplate.spec.backoffLimit", -1), 6);
	cells = test_cells(&kind_cron_job, obj);
	CHECK_STR(cells, "j|*/5 * * * *|<none>|False|0|<none>|60m|c|i:1|<none>");
}
