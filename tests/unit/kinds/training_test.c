// SPDX-License-Identifier: Apache-2.0
/* training_test.c - kubeflow.org and serving.kserve.io: both shapes of the same jobs, their defaults and rules */
#include "base/jsonx.h"
#include "kinds/activity.h"
#include "kinds/training.h"
#include "rest_test.h"

#define POD(name_) "'template':{'spec':{'containers':[{'name':'" name_ "','image':'i:1'}]}}"
#define TFJOB      "{'metadata':{'name':'t'},'spec':{'tfReplicaSpecs':{'Worker':{'replicas':2," POD("tensorflow") "}}}}"
#define PYTORCHJOB                                                                                                     \
	"{'metadata':{'name':'p'},'spec':{'pytorchReplicaSpecs':{'Master':{" POD(                                      \
		"pytorch") "},'Worker':{'replicas':3," POD("pytorch") "}}}}"
#define OLD_PYTORCHJOB                                                                                                 \
	"{'metadata':{'name':'p'},'spec':{'backend':'tcp','masterPort':'23457','mine':1,'replicaSpecs':["              \
	"{'replicaType':'MASTER'," POD("pytorch") "},{'replicas':3,'replicaType':'WORKER'," POD("pytorch") "}]}}"

static const json_t *worker(const json_t *obj)
{
	return jsonx_at(obj, "spec.tfReplicaSpecs.Worker");
}

TEST("a TFJob gets the defaults of its version")
{
	json_auto_t *v1 = test_json(TFJOB), *alpha = test_json(TFJOB);
	const json_t *port;
	struct err e = ERR_INIT;

	test_admit(&kind_tfjob, v1, &e);
	test_admit(&kind_tfjob_v1alpha2, alpha, &e);
	CHECK_INT(e.ncauses, 0);
	CHECK_STR(jsonx_str(v1, "spec.runPolicy.cleanPodPolicy"), "None");
	CHECK(json_is_false(jsonx_at(v1, "spec.runPolicy.suspend")));
	CHECK(!jsonx_at(alpha, "spec.runPolicy"));
	CHECK_STR(jsonx_str(alpha, "spec.cleanPodPolicy"), "Running");
	CHECK_STR(jsonx_str(worker(v1), "restartPolicy"), "Never");
	port = json_array_get(
		json_object_get(json_array_get(jsonx_at(worker(alpha), "template.spec.containers"), 0), "ports"), 0);
	CHECK_STR(jsonx_str(port, "name"), "tfjob-port");
	CHECK_INT(jsonx_int_or(port, "containerPort", 0), 2222);
	CHECK_STR(jsonx_str(port, "protocol"), "TCP");
}

TEST("a TFJob of 2019 with its policy in spec is left as it is")
{
	json_auto_t *obj = test_changed(TFJOB, "{'spec':{'backoffLimit':3,'ttlSecondsAfterFinished':60}}");
	struct err e = ERR_INIT;

	test_admit(&kind_tfjob, obj, &e);
	CHECK_INT(e.ncauses, 0);
	CHECK(!jsonx_at(obj, "spec.runPolicy"));
	CHECK_INT(jsonx_int_or(obj, "spec.backoffLimit", -1), 3);
}

TEST("replica types may be written with any capitals")
{
	json_auto_t *obj = test_json("{'metadata':{'name':'t'},'spec':{'tfReplicaSpecs':{'ps':{" POD(
		"tensorflow") "},'WORKER':{" POD("tensorflow") "},'Odd':{" POD("tensorflow") "}}}}");
	const json_t *specs;
	struct err e = ERR_INIT;

	test_admit(&kind_tfjob, obj, &e);
	CHECK_INT(e.ncauses, 0);
	specs = jsonx_at(obj, "spec.tfReplicaSpecs");
	CHECK(json_object_get(specs, "PS") && json_object_get(specs, "Worker") && json_object_get(specs, "Odd"));
	CHECK_INT(json_object_size(specs), 3);
	CHECK_INT(jsonx_int_or(specs, "PS.replicas", 0), 1);
}

TEST("a spelling of one's own takes the place of ours")
{
	json_auto_t *obj =
		test_changed(TFJOB, "{'spec':{'tfReplicaSpecs':{'worker':{'replicas':5," POD("tensorflow") "}}}}");
	struct err e = ERR_INIT;

	test_admit(&kind_tfjob, obj, &e);
	CHECK_INT(e.ncauses, 0);
	CHECK_INT(json_object_size(jsonx_at(obj, "spec.tfReplicaSpecs")), 1);
	CHECK_INT(jsonx_int_or(worker(obj), "replicas", 0), 5);
}

#define TYPE_RULE "must consist of letters, digits or '-', and begin and end with a letter or digit"

TEST("rules of TFJobs")
{
	static const struct rule_row rows[] = {
		{ "{'spec':{'tfReplicaSpecs':null}}", "spec.tfReplicaSpecs: Required value: must be specified" },
		{ "{'spec':{'tfReplicaSpecs':{'Worker':{" POD("other") "}}}}",
		  "spec.tfReplicaSpecs[Worker].template.spec.containers: Required value: must have at least one "
		  "container with "
		  "name tensorflow" },
		{ "{'spec':{'tfReplicaSpecs':{'Chief':{" POD("tensorflow") "},'Master':{" POD("tensorflow") "}}}}",
		  "spec.tfReplicaSpecs: Forbidden: More than 1 chief/master found" },
		{ "{'spec':{'tfReplicaSpecs':{'Chief':{'replicas':2," POD("tensorflow") "}}}}",
		  "spec.tfReplicaSpecs: Forbidden: More than 1 chief/master found" },
		{ "{'spec':{'tfReplicaSpecs':{'Worker':{'replicas':9999," POD("tensorflow") "},'PS':{'replicas':2," POD(
			  "tensorflow") "}}}}",
		  "spec.tfReplicaSpecs[PS].replicas: Invalid value: 2: a job may have no more than 10000 replicas in "
		  "all" },
		{ "{'spec':{'tfReplicaSpecs':{'Worker':{'template':null}}}}",
		  "spec.tfReplicaSpecs[Worker].template: Required value" },
		{ "{'spec':{'tfReplicaSpecs':{'Worker':{'restartPolicy':'x'}}}}",
		  "spec.tfReplicaSpecs[Worker].restartPolicy: Unsupported value: \"x\": supported values: \"Always\", "
		  "\"OnFailure\", \"Never\", \"ExitCode\"" },
		{ "{'spec':{'runPolicy':{'cleanPodPolicy':'x'}}}",
		  "spec.runPolicy.cleanPodPolicy: Unsupported value: \"x\": supported values: \"All\", \"Running\", "
		  "\"None\"" },
		{ "{'spec':{'successPolicy':'AllWorkers'}}", "" },
		{ "{'spec':{'tfReplicaSpecs':{'My-Type2':{" POD("tensorflow") "}}}}", "" },
		{ "{'spec':{'tfReplicaSpecs':{'My_Type':{" POD("tensorflow") "}}}}",
		  "spec.tfReplicaSpecs[My_Type]: Invalid value: \"My_Type\": " TYPE_RULE },
		{ "{'spec':{'tfReplicaSpecs':{'a b':{" POD("tensorflow") "}}}}",
		  "spec.tfReplicaSpecs[a b]: Invalid value: \"a b\": " TYPE_RULE },
		{ "{'spec':{'tfReplicaSpecs':{'PS':{'replicas':0," POD("tensorflow") "}}}}",
		  "spec.tfReplicaSpecs[PS].replicas: Invalid value: 0: must be greater than or equal to 1" },
		{ "{'spec':{'tfReplicaSpecs':{'Worker':{'replicas':0}}}}",
		  "spec.tfReplicaSpecs[Worker].replicas: Invalid value: 0: must be greater than or equal to 1" },
		{ "{'spec':{'enableDynamicWorker':true,'tfReplicaSpecs':{'Worker':{'replicas':0}}}}", "" },
		{ "{'spec':{'successPolicy':''}}", "" },
	};

	test_rules(&kind_tfjob, TFJOB, rows, ARRAY_SIZE(rows));
	test_rules(&kind_tfjob_v1alpha2, TFJOB, rows, ARRAY_SIZE(rows));
}

TEST("an image is required in every container of a training job")
{
	json_auto_t *obj = test_json("{'metadata':{'name':'t'},'spec':{'tfReplicaSpecs':{'Worker':{'template':{'spec':"
				     "{'containers':[{'name':'tensorflow'}]}}}}}}");
	struct err e = ERR_INIT;

	test_admit(&kind_tfjob, obj, &e);
	CHECK_INT(e.ncauses, 1);
	CHECK_STR(err_cause_field(&e, 0), "spec.tfReplicaSpecs[Worker].template.spec.containers[0].image");
}

TEST("an object written through an older version is marked in store, and only there")
{
	json_auto_t *obj = test_json(TFJOB), *before = NULL;

	before = jsonx_copy(obj);
	kind_tfjob_v1alpha2.to_storage(obj, NULL);
	CHECK_STR(json_string_value(json_object_get(jsonx_at(obj, "metadata.annotations"), TRAINING_WRITTEN_AS)),
		  "kubeflow.org/v1alpha2");
	kind_tfjob_v1alpha2.from_storage(obj);
	CHECK(jsonx_equal(obj, before));
}

TEST("an object stays of the version it was created through")
{
	json_auto_t *plain = test_json(TFJOB), *marked = test_json(TFJOB);
	json_auto_t *a = jsonx_copy(plain), *b = jsonx_copy(plain), *c = jsonx_copy(plain), *d = NULL;

	kind_tfjob_v1alpha2.to_storage(marked, NULL);
	d = jsonx_copy(marked);
	kind_tfjob_v1alpha2.to_storage(a, plain);
	CHECK(jsonx_equal(a, plain));
	kind_tfjob_v1alpha2.to_storage(b, marked);
	CHECK(jsonx_equal(b, marked));
	kind_tfjob.prepare_update(c, marked);
	CHECK(jsonx_equal(c, marked));
	kind_tfjob.prepare_update(d, plain);
	CHECK(jsonx_equal(d, plain));
}

TEST("rules and defaults of PyTorchJobs")
{
	static const struct rule_row rows[] = {
		{ "{}", "" },
		{ "{'spec':{'pytorchReplicaSpecs':{'Master':{'replicas':2}}}}",
		  "spec.pytorchReplicaSpecs[Master].replicas: Forbidden: must be 1" },
		{ "{'spec':{'pytorchReplicaSpecs':{'Extra':{" POD("pytorch") "}}}}",
		  "spec.pytorchReplicaSpecs[Extra]: Unsupported value: \"Extra\": supported values: \"Master\", "
		  "\"Worker\"" },
		{ "{'spec':{'pytorchReplicaSpecs':{'Worker':null},'elasticPolicy':{'maxReplicas':2}}}",
		  "spec.pytorchReplicaSpecs[Worker]: Required value: must be specified with elasticPolicy" },
		{ "{'spec':{'elasticPolicy':{'minReplicas':3,'maxReplicas':2}}}",
		  "spec.elasticPolicy.maxReplicas: Invalid value: 2: must be greater than or equal to minReplicas" },
		{ "{'spec':{'nprocPerNode':'gpu'}}", "" },
		{ "{'spec':{'nprocPerNode':'8'}}", "" },
		{ "{'spec':{'nprocPerNode':'many'}}",
		  "spec.nprocPerNode: Invalid value: \"many\": must be auto, cpu, gpu or a number from 1 to 65536" },
		{ "{'spec':{'pytorchReplicaSpecs':null}}",
		  "spec.pytorchReplicaSpecs: Required value: must be specified" },
		{ "{'metadata':{'name':'1a'}}",
		  "metadata.name: Invalid value: \"1a\": a DNS-1035 label must consist of lower case alphanumeric "
		  "characters "
		  "or '-', start with an alphabetic character, and end with an alphanumeric character (e.g. 'my-name', "
		  " or "
		  "'abc-123', regex used for validation is '[a-z]([-a-z0-9]*[a-z0-9])?')" },
	};
	json_auto_t *obj = test_changed(PYTORCHJOB, "{'spec':{'elasticPolicy':{'maxReplicas':5}}}");
	struct err e = ERR_INIT;

	test_rules(&kind_pytorchjob, PYTORCHJOB, rows, ARRAY_SIZE(rows));
	test_admit(&kind_pytorchjob, obj, &e);
	CHECK_STR(jsonx_str(obj, "spec.nprocPerNode"), "auto");
	CHECK_STR(jsonx_str(obj, "spec.pytorchReplicaSpecs.Worker.restartPolicy"), "OnFailure");
	CHECK_INT(jsonx_int_or(obj, "spec.elasticPolicy.minReplicas", 0), 5);
}

TEST("a PyTorchJob of v1alpha1 keeps everything it came with")
{
	json_auto_t *obj = test_json(OLD_PYTORCHJOB), *before = NULL;
	struct err e = ERR_INIT;
	auto_free char *causes = NULL;

	test_admit(&kind_pytorchjob_v1alpha1, obj, &e);
	causes = test_causes(&e);
	CHECK_STR(causes, "");
	CHECK_STR(jsonx_str(obj, "spec.backend"), "tcp");
	CHECK_STR(jsonx_str(obj, "spec.masterPort"), "23457");
	CHECK_INT(jsonx_int_or(obj, "spec.mine", 0), 1);
	CHECK_INT(jsonx_int_or(json_array_get(jsonx_at(obj, "spec.replicaSpecs"), 0), "masterPort", 0), 23457);
	CHECK_INT(jsonx_int_or(json_array_get(jsonx_at(obj, "spec.replicaSpecs"), 0), "replicas", 0), 1);
	CHECK_STR(jsonx_str(obj, "spec.terminationPolicy.master.replicaName"), "MASTER");
	before = jsonx_copy(obj);
	/* The stored form passes the rules of v1, through which controllers write. */
	kind_pytorchjob_v1alpha1.to_storage(obj, NULL);
	err_clear(&e);
	CHECK_INT(kind_decode(&kind_pytorchjob, obj, NULL, &e), 0);
	kind_default(&kind_pytorchjob, obj);
	CHECK_INT(kind_validate(&kind_pytorchjob, obj, &e), 0);
	CHECK(!jsonx_at(obj, "spec.runPolicy") && !jsonx_at(obj, "spec.nprocPerNode"));
	kind_pytorchjob_v1alpha1.from_storage(obj);
	CHECK(jsonx_equal(jsonx_at(obj, "spec.mine"), jsonx_at(before, "spec.mine")));
	CHECK(!jsonx_at(obj, "spec.otherFields") && !jsonx_at(obj, "metadata.annotations"));
}

TEST("rules of PyTorchJobs of v1alpha1")
{
	static const struct rule_row rows[] = {
		{ "{'spec':{'replicaSpecs':null}}", "spec.replicaSpecs: Required value" },
		{ "{'spec':{'replicaSpecs':[{'replicaType':'MASTER'," POD("pytorch") "},{'replicaType':'WORKER'," POD(
			  "pytorch") "},{'replicaType':'WORKER'," POD("pytorch") "}]}}",
		  "spec.replicaSpecs[2].replicaType: Duplicate value: \"WORKER\"" },
		{ "{'spec':{'replicaSpecs':[{'replicaType':'WORKER'," POD("pytorch") "}]}}",
		  "spec.replicaSpecs: Required value: invalid job spec: Missing ReplicaSpec for MASTER" },
		{ "{'spec':{'replicaSpecs':[{'replicas':2," POD("pytorch") "}]}}",
		  "spec.replicaSpecs[0].replicas: Invalid value: 2: invalid job spec: The MASTER must have replicas = "
		  "1" },
		{ "{'spec':{'replicaSpecs':[{" POD("x") "}]}}",
		  "spec.replicaSpecs[0].template.spec.containers: Required value: invalid job spec: Replica type is "
		  "missing a "
		  "container named pytorch" },
		{ "{'spec':{'replicaSpecs':[{'replicaType':'PS'," POD("pytorch") "},{" POD("pytorch") "}]}}",
		  "spec.replicaSpecs[0].replicaType: Unsupported value: \"PS\": supported values: \"MASTER\", "
		  "\"WORKER\"" },
		{ "{'spec':{'masterPort':'abc'}}",
		  "spec.masterPort: Invalid value: \"abc\": must be a number from 1 to 65535" },
		{ "{'spec':{'masterPort':70000}}",
		  "spec.masterPort: Invalid value: 70000: must be a number from 1 to 65535" },
		{ "{'spec':{'masterPort':8080}}", "" },
		{ "{'spec':{'replicaSpecs':[7]}}",
		  "spec: Invalid value: null: json: cannot unmarshal number 7 into Go struct field "
		  "PyTorchJobSpec.spec.replicaSpecs[0] of type v1alpha1.PyTorchReplicaSpec" },
	};

	test_rules(&kind_pytorchjob_v1alpha1, OLD_PYTORCHJOB, rows, ARRAY_SIZE(rows));
}

TEST("rules of PaddleJobs, MPIJobs, Notebooks and InferenceServices")
{
	static const struct {
		const struct kind *kind;
		const char *object, *want;
	} rows[] = {
		{ &kind_paddlejob, "'paddleReplicaSpecs':{'Worker':{" POD("paddle") "}}", "" },
		{ &kind_paddlejob, "'paddleReplicaSpecs':{'PS':{" POD("paddle") "}}",
		  "spec.paddleReplicaSpecs[PS]: Unsupported value: \"PS\": supported values: \"Master\", \"Worker\"" },
		{ &kind_mpijob, "'mpiReplicaSpecs':{'Launcher':{" POD("x") "}}", "" },
		{ &kind_mpijob, "'mpiReplicaSpecs':{'Worker':{" POD("x") "}}",
		  "spec.mpiReplicaSpecs[Launcher]: Required value: must be specified" },
		{ &kind_mpijob, "'mpiReplicaSpecs':{'Launcher':{'replicas':2," POD("x") "}}",
		  "spec.mpiReplicaSpecs[Launcher].replicas: Forbidden: must be 1" },
		{ &kind_notebook, POD("nb"), "" },
		{ &kind_notebook, "", "spec.template: Required value" },
		{ &kind_inference_service,
		  "'predictor':{'model':{'modelFormat':{'name':'onnx'},'storageUri':'pvc://c/m'}}", "" },
		{ &kind_inference_service, "'predictor':{'containers':[{'image':'i:1'}]}", "" },
		{ &kind_inference_service, "'predictor':{}",
		  "spec.predictor: Required value: a model or containers must be specified" },
		{ &kind_inference_service, "'predictor':{'sklearn':{},'minReplicas':3,'maxReplicas':2}",
		  "spec.predictor.maxReplicas: Invalid value: 2: must be greater than or equal to minReplicas" },
		{ &kind_inference_service, "", "spec.predictor: Required value" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		auto_free char *text = xasprintf("{'metadata':{'name':'x'},'spec':{%s}}", rows[i].object);
		json_auto_t *obj = test_json(text);
		struct err e = ERR_INIT;
		auto_free char *causes = NULL;

		test_admit(rows[i].kind, obj, &e);
		causes = test_causes(&e);
		CHECK_STR(causes, rows[i].want);
	}
}

#define CONDITION(type_, status_) "{'type':'" type_ "','status':'" status_ "'}"

TEST("columns of training jobs")
{
	static const struct {
		const struct kind *kind;
		const char *change, *want;
	} rows[] = {
		{ &kind_tfjob,
		  "{'status':{'conditions':[" CONDITION("Created", "True") "," CONDITION("Running", "True") "]}}",
		  "t|Running|60m" },
		{ &kind_tfjob,
		  "{'status':{'conditions':[" CONDITION("Created", "True") "," CONDITION("Suspended", "False") "]}}",
		  "t|Created|60m" },
		{ &kind_tfjob, "{}", "t|null|60m" },
		{ &kind_tfjob_v1alpha2, "{'status':{'conditions':[{'type':'Created'}]}}", "t|60m" },
		{ &kind_pytorchjob, "{'status':{'state':'Succeeded'}}", "t|Succeeded|60m" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		json_auto_t *obj = test_changed(TFJOB, rows[i].change);
		auto_free char *cells = NULL;

		jsonx_set_new(obj, "metadata.creationTimestamp", json_string("2001-09-09T00:46:40Z"));
		cells = test_cells(rows[i].kind, obj);
		CHECK_STR(cells, rows[i].want);
	}
}

TEST("a name that is too long for its replicas' names is refused")
{
	static const struct rule_row rows[] = {
		{ "{'metadata':{'name':'a2345678901234567890123456789012345678901234567890abcd'}}", "" },
		{ "{'metadata':{'name':'a2345678901234567890123456789012345678901234567890abcde'}}",
		  "metadata.name: Invalid value: \"a2345678901234567890123456789012345678901234567890abcde\": must be "
		  "no more "
		  "than 54 characters, because the names of its Worker replicas must be no more than 63" },
	};

	test_rules(&kind_tfjob, TFJOB, rows, ARRAY_SIZE(rows));
	test_rules(&kind_tfjob_v1alpha2, TFJOB, rows, ARRAY_SIZE(rows));
}

#define LONG_NAME "a234567890123456789012345678901234567890123456789012345678901234567890123"
#define LABEL_1035_RULE                                                                                                \
	"a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic "        \
	"character, and end with an alphanumeric character (e.g. 'my-name',  or 'abc-123', regex used for "            \
	"validation is '[a-z]([-a-z0-9]*[a-z0-9])?')"

TEST("a name that the stored version would refuse is refused in every version")
{
	static const struct rule_row rows[] = {
		{ "{'metadata':{'name':'a.b'}}", "metadata.name: Invalid value: \"a.b\": " LABEL_1035_RULE },
		{ "{'metadata':{'name':'" LONG_NAME "'}}",
		  "metadata.name: Invalid value: \"" LONG_NAME "\": must be no more than 63 characters" }
	};

	test_rules(&kind_pytorchjob_v1alpha1, OLD_PYTORCHJOB, rows, ARRAY_SIZE(rows));
	test_rules(&kind_tfjob_v1alpha2, TFJOB, rows, 1);
}

TEST("annotations that mean something are checked, in every version")
{
	static const struct rule_row rows[] = {
		{ "{'metadata':{'annotations':{'stoker.dev/restart':'gang','stoker.dev/hang-after':'10m'}}}", "" },
		{ "{'metadata':{'annotations':{'stoker.dev/hang-after':'00:10:00'}}}", "" },
		{ "{'metadata':{'annotations':{'stoker.dev/hang-after':'1s'}}}", "" },
		{ "{'metadata':{'annotations':{'stoker.dev/restart':'all'}}}",
		  "metadata.annotations[stoker.dev/restart]: Unsupported value: \"all\": supported values: \"gang\"" },
		{ "{'metadata':{'annotations':{'stoker.dev/hang-after':'soon'}}}",
		  "metadata.annotations[stoker.dev/hang-after]: Invalid value: \"soon\": " HANG_AFTER_RULE },
		{ "{'metadata':{'annotations':{'stoker.dev/hang-after':'0'}}}",
		  "metadata.annotations[stoker.dev/hang-after]: Invalid value: \"0\": " HANG_AFTER_RULE },
		{ "{'metadata':{'annotations':{'stoker.dev/hang-after':'-5m'}}}",
		  "metadata.annotations[stoker.dev/hang-after]: Invalid value: \"-5m\": " HANG_AFTER_RULE },
		{ "{'metadata':{'annotations':{'stoker.dev/hang-after':''}}}",
		  "metadata.annotations[stoker.dev/hang-after]: Invalid value: \"\": " HANG_AFTER_RULE },
	};

	test_rules(&kind_tfjob, TFJOB, rows, ARRAY_SIZE(rows));
	test_rules(&kind_tfjob_v1alpha2, TFJOB, rows, ARRAY_SIZE(rows));
	test_rules(&kind_pytorchjob, PYTORCHJOB, rows, ARRAY_SIZE(rows));
	test_rules(&kind_pytorchjob_v1alpha1, OLD_PYTORCHJOB, rows, ARRAY_SIZE(rows));
}

TEST("since when a pod is silent")
{
	static const struct {
		const char *conditions;
		int64_t since;
	} rows[] = {
		{ "[]", 0 },
		{ "[{'type':'Ready','status':'False','lastTransitionTime':'2001-09-09T01:46:40Z'}]", 0 },
		{ "[{'type':'stoker.dev/Active','status':'True','lastTransitionTime':'2001-09-09T01:46:40Z'}]", 0 },
		{ "[{'type':'stoker.dev/Active','status':'False','lastTransitionTime':'2001-09-09T01:46:40Z'}]",
		  1000000000 },
		{ "[{'type':'stoker.dev/Active','status':'False','lastTransitionTime':'yesterday'}]", 0 },
		{ "[{'type':'stoker.dev/Active','status':'False'}]", 0 },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		json_auto_t *list = test_json(rows[i].conditions);
		json_auto_t *pod = json_pack("{s:{s:O}}", "status", "conditions", list);

		CHECK_INT(pod_silent_since(pod), rows[i].since);
	}
}

TEST("an elastic job is scaled within its range")
{
	json_auto_t *old = test_changed(PYTORCHJOB, "{'spec':{'elasticPolicy':{'minReplicas':2,'maxReplicas':4}}}");

	for (int n = 1; n <= 5; n++) {
		json_auto_t *obj = jsonx_copy(old);
		struct err e = ERR_INIT;

		jsonx_set_new(obj, "spec.pytorchReplicaSpecs.Worker.replicas", json_integer(n));
		kind_pytorchjob.validate_update(obj, old, &e);
		CHECK_INT(e.ncauses, n < 2 || n > 4);
		if (n == 5) {
			auto_free char *causes = test_causes(&e);

			CHECK_STR(causes, "spec.pytorchReplicaSpecs[Worker].replicas: Invalid value: 5: must be "
					  "between elasticPolicy.minReplicas (2) and elasticPolicy.maxReplicas (4)");
		}
	}
}
