// SPDX-License-Identifier: Apache-2.0
/* What programs are told about each other, by framework and version; names, labels and Services. */
#include "control/training_sample.h"

/* A variable of the pod's container, or "-". */
static const char *env_of(const json_t *pod, size_t container, const char *name)
{
	json_t *v;
	size_t i;

	json_array_foreach (jsonx_at(json_array_get(jsonx_at(pod, "spec.containers"), container), "env"), i, v)
		if (str_same(jsonx_str(v, "name"), name))
			return jsonx_str_or(v, "value", "ref");
	return "-";
}

static json_t *pod_of(const char *kind, const json_t *obj, const char *type, int index, int attempt)
{
	struct training_job j = training_job(training_form(kind, obj), obj);
	const struct training_role *r = training_role(&j, type);
	json_t *pod = r ? training_pod(&j, r, index, attempt) : NULL;

	CHECK(pod);
	training_job_done(&j);
	return pod;
}

static json_t *service_of(const char *kind, const json_t *obj, const char *type, int index)
{
	struct training_job j = training_job(training_form(kind, obj), obj);
	json_t *service = training_service(&j, training_role(&j, type), index);

	training_job_done(&j);
	return service;
}

static const char *label_of(const json_t *obj, const char *key)
{
	const char *v = json_string_value(json_object_get(jsonx_at(obj, "metadata.labels"), key));

	return v ? v : "-";
}

static const char *note_of(const json_t *obj, const char *key)
{
	const char *v = json_string_value(json_object_get(jsonx_at(obj, "metadata.annotations"), key));

	return v ? v : "-";
}

#define SEED     TF_ROLE("Master", 1, "Never") "," TF_ROLE("Worker", 1, "Never") "," TF_ROLE("PS", 2, "Never")
#define V1ALPHA2 "kubeflow.org/v1alpha2"
#define V1ALPHA1 "kubeflow.org/v1alpha1"

TEST("TF_CONFIG is what each version writes")
{
	static const struct {
		const char *version, *spec, *type;
		int index;
		const char *wanted;
	} rows[] = {
		/* the log of the first source document */
		{ V1ALPHA2, "'tfReplicaSpecs':{" SEED "}", "Master", 0,
		  "{\"cluster\":{\"master\":[\"example-job-master-0.default.svc.cluster.local:2222\"],\"ps\":["
		  "\"example-job-"
		  "ps-0.default.svc.cluster.local:2222\",\"example-job-ps-1.default.svc.cluster.local:2222\"],"
		  "\"worker\":["
		  "\"example-job-worker-0.default.svc.cluster.local:2222\"]},\"task\":{\"type\":\"master\",\"index\":0}"
		  "}" },
		{ NULL, "'tfReplicaSpecs':{" SEED "}", "PS", 1,
		  "{\"cluster\":{\"master\":[\"example-job-master-0.default.svc:2222\"],\"ps\":[\"example-job-ps-0."
		  "default."
		  "svc:2222\",\"example-job-ps-1.default.svc:2222\"],\"worker\":[\"example-job-worker-0.default.svc:"
		  "2222\"]},"
		  "\"task\":{\"type\":\"ps\",\"index\":1},\"environment\":\"cloud\"}" },
		/* an evaluator: not in the cluster of v1alpha2, but in v1's */
		{ V1ALPHA2, "'tfReplicaSpecs':{" TF_ROLE("Chief", 1, "Never") "," TF_ROLE("Evaluator", 1, "Never") "}",
		  "Evaluator", 0,
		  "{\"cluster\":{\"chief\":[\"example-job-chief-0.default.svc.cluster.local:2222\"]},\"task\":{"
		  "\"type\":"
		  "\"evaluator\",\"index\":0}}" },
		{ NULL, "'tfReplicaSpecs':{" TF_ROLE("Chief", 1, "Never") "," TF_ROLE("Evaluator", 1, "Never") "}",
		  "Evaluator", 0,
		  "{\"cluster\":{\"chief\":[\"example-job-chief-0.default.svc:2222\"],\"evaluator\":[\"example-job-"
		  "evaluator-0.default.svc:2222\"]},\"task\":{\"type\":\"evaluator\",\"index\":0},\"environment\":"
		  "\"cloud\"}" },
		/* workers that come and go */
		{ NULL,
		  "'enableDynamicWorker':true,'tfReplicaSpecs':{" TF_ROLE("Worker", 2,
									  "Never") "," TF_ROLE("PS", 1, "Never") "}",
		  "Worker", 1,
		  "{\"cluster\":{\"worker\":{\"1\":\"example-job-worker-1.default.svc:2222\"},\"ps\":[\"example-job-ps-"
		  "0."
		  "default.svc:2222\"]},\"task\":{\"type\":\"worker\",\"index\":1}}" },
		{ NULL,
		  "'enableDynamicWorker':true,'tfReplicaSpecs':{" TF_ROLE("Worker", 2,
									  "Never") "," TF_ROLE("PS", 1, "Never") "}",
		  "PS", 0,
		  "{\"cluster\":{\"worker\":{},\"ps\":[\"example-job-ps-0.default.svc:2222\"]},\"task\":{\"type\":"
		  "\"ps\","
		  "\"index\":0}}" },
		/* one replica in all: v1 says nothing, v1alpha2 always does */
		{ NULL, "'tfReplicaSpecs':{" TF_ROLE("Worker", 1, "Never") "}", "Worker", 0, "-" },
		{ V1ALPHA2, "'tfReplicaSpecs':{" TF_ROLE("Worker", 1, "Never") "}", "Worker", 0,
		  "{\"cluster\":{\"worker\":[\"example-job-worker-0.default.svc.cluster.local:2222\"]},\"task\":{"
		  "\"type\":"
		  "\"worker\",\"index\":0}}" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		json_auto_t *obj = sample_job("example-job", rows[i].version, rows[i].spec);
		json_auto_t *pod = pod_of("TFJob", obj, rows[i].type, rows[i].index, 0);

		CHECK_STR(env_of(pod, 0, "TF_CONFIG"), rows[i].wanted);
		/* v1alpha2 tells every container, v1 only TensorFlow's */
		CHECK_STR(env_of(pod, 1, "TF_CONFIG"), rows[i].version ? rows[i].wanted : "-");
	}
}

#define TORCH                                                                                                          \
	"'nprocPerNode':'auto','pytorchReplicaSpecs':{" TORCH_ROLE("Master", 1, "OnFailure") "," TORCH_ROLE(           \
		"Worker", 3, "OnFailure") "}"
#define TORCH_PROCS                                                                                                    \
	"'nprocPerNode':'4','pytorchReplicaSpecs':{" TORCH_ROLE("Master", 1, "OnFailure") "," TORCH_ROLE(              \
		"Worker", 3, "OnFailure") "}"
#define TORCH_LONE "'nprocPerNode':'auto','pytorchReplicaSpecs':{" TORCH_ROLE("Worker", 3, "OnFailure") "}"
#define TORCH_SPREAD                                                                                                   \
	"'nprocPerNode':'auto','elasticPolicy':{'minReplicas':1,'maxReplicas':3,'maxRestarts':5,'rdzvConf':[{'key':'"  \
	"a','value':'b'},{'key':'c','value':'d'}]},'pytorchReplicaSpecs':{" TORCH_ROLE("Worker", 3, "OnFailure") "}"
#define TORCH_MEET                                                                                                     \
	"'elasticPolicy':{'minReplicas':1,'maxReplicas':3,'rdzvBackend':'etcd','rdzvHost':'h','rdzvPort':7,'rdzvId':'" \
	"x','standalone':true},'pytorchReplicaSpecs':{" TORCH_ROLE("Worker", 3, "OnFailure") "}"
#define PADDLE "'paddleReplicaSpecs':{" PADDLE_ROLE("Worker", 2, "OnFailure") "}"
#define PADDLE_PS                                                                                                      \
	"'paddleReplicaSpecs':{" PADDLE_ROLE("Master", 1, "OnFailure") "," PADDLE_ROLE("Worker", 2, "OnFailure") "}"
#define MPI                                                                                                            \
	"'slotsPerWorker':2,'mpiReplicaSpecs':{" MPI_ROLE("Launcher", 1, "OnFailure") "," MPI_ROLE("Worker", 2,        \
												   "Never") "}"

TEST("variables of PyTorch, Paddle and MPI")
{
	static const struct {
		const char *kind, *version, *spec, *type;
		int index;
		const char *name, *wanted;
	} rows[] = {
		/* clang-format off */
		{ "PyTorchJob", NULL, TORCH, "Master", 0, "PYTHONUNBUFFERED", "1" },
		{ "PyTorchJob", NULL, TORCH, "Master", 0, "MASTER_ADDR", "j-master-0" },
		{ "PyTorchJob", NULL, TORCH, "Worker", 2, "MASTER_ADDR", "j-master-0" },
		{ "PyTorchJob", NULL, TORCH, "Worker", 2, "MASTER_PORT", "23456" },
		{ "PyTorchJob", NULL, TORCH, "Worker", 2, "PET_MASTER_ADDR", "j-master-0" },
		{ "PyTorchJob", NULL, TORCH, "Worker", 2, "PET_MASTER_PORT", "23456" },
		{ "PyTorchJob", NULL, TORCH, "Master", 0, "RANK", "0" },
		{ "PyTorchJob", NULL, TORCH, "Worker", 0, "RANK", "1" },
		{ "PyTorchJob", NULL, TORCH, "Worker", 2, "RANK", "3" },
		{ "PyTorchJob", NULL, TORCH, "Worker", 2, "PET_NODE_RANK", "3" },
		{ "PyTorchJob", NULL, TORCH, "Worker", 2, "WORLD_SIZE", "4" },
		{ "PyTorchJob", NULL, TORCH, "Worker", 2, "PET_NNODES", "4" },
		{ "PyTorchJob", NULL, TORCH, "Worker", 2, "PET_NPROC_PER_NODE", "auto" },
		{ "PyTorchJob", NULL, TORCH ",'nprocPerNode':'auto','elasticPolicy':{'nProcPerNode':2}", "Worker", 0, "PET_NPROC_PER_NODE", "2" },
		{ "PyTorchJob", NULL, TORCH ",'nprocPerNode':'auto','elasticPolicy':{'nProcPerNode':2}", "Worker", 0, "WORLD_SIZE", "8" },
		{ "PyTorchJob", NULL, TORCH ",'nprocPerNode':'3','elasticPolicy':{'nProcPerNode':2}", "Worker", 0, "PET_NPROC_PER_NODE", "3" },
		{ "PyTorchJob", NULL, TORCH, "Worker", 2, "PET_RDZV_ENDPOINT", "-" },
		{ "PyTorchJob", NULL, TORCH_PROCS, "Worker", 2, "WORLD_SIZE", "16" },
		{ "PyTorchJob", NULL, TORCH_PROCS, "Worker", 2, "PET_NPROC_PER_NODE", "4" },
		{ "PyTorchJob", NULL, TORCH_PROCS, "Worker", 2, "RANK", "3" },
		{ "PyTorchJob", NULL, TORCH_LONE, "Worker", 0, "RANK", "0" },
		{ "PyTorchJob", NULL, TORCH_LONE, "Worker", 2, "RANK", "2" },
		{ "PyTorchJob", NULL, TORCH_LONE, "Worker", 2, "MASTER_ADDR", "j-worker-0" },
		{ "PyTorchJob", NULL, TORCH_LONE, "Worker", 2, "PET_MASTER_ADDR", "-" },
		{ "PyTorchJob", NULL, TORCH_LONE, "Worker", 2, "PET_NODE_RANK", "-" },
		{ "PyTorchJob", NULL, TORCH_SPREAD, "Worker", 2, "PET_NNODES", "1:3" },
		{ "PyTorchJob", NULL, TORCH_SPREAD, "Worker", 2, "PET_RDZV_ENDPOINT", "j-worker-0:23456" },
		{ "PyTorchJob", NULL, TORCH_SPREAD, "Worker", 2, "PET_RDZV_BACKEND", "c10d" },
		{ "PyTorchJob", NULL, TORCH_SPREAD, "Worker", 2, "PET_RDZV_CONF", "a=b,c=d" },
		{ "PyTorchJob", NULL, TORCH_SPREAD, "Worker", 2, "PET_MAX_RESTARTS", "5" },
		{ "PyTorchJob", NULL, TORCH_SPREAD, "Worker", 2, "PET_RDZV_ID", "-" },
		{ "PyTorchJob", NULL, TORCH_MEET, "Worker", 2, "PET_RDZV_ENDPOINT", "h:7" },
		{ "PyTorchJob", NULL, TORCH_MEET, "Worker", 2, "PET_RDZV_BACKEND", "etcd" },
		{ "PyTorchJob", NULL, TORCH_MEET, "Worker", 2, "PET_RDZV_ID", "x" },
		{ "PyTorchJob", NULL, TORCH_MEET, "Worker", 2, "PET_STANDALONE", "" },
		{ "PyTorchJob", V1ALPHA1, OLD_TORCH(3), "MASTER", 0, "MASTER_ADDR", "localhost" },
		{ "PyTorchJob", V1ALPHA1, OLD_TORCH(3), "WORKER", 2, "MASTER_ADDR", "j-master-849d-0" },
		{ "PyTorchJob", V1ALPHA1, OLD_TORCH(3), "WORKER", 2, "MASTER_PORT", "23456" },
		{ "PyTorchJob", V1ALPHA1, OLD_TORCH(3), "WORKER", 2, "WORLD_SIZE", "4" },
		{ "PyTorchJob", V1ALPHA1, OLD_TORCH(3), "WORKER", 2, "RANK", "3" },
		{ "PyTorchJob", V1ALPHA1, OLD_TORCH(3), "WORKER", 2, "PYTHONUNBUFFERED", "0" },
		{ "PyTorchJob", V1ALPHA1, OLD_TORCH(1), "WORKER", 0, "TF_CONFIG", "{\"cluster\":{\"master\":[\"j-master-849d-0:23456\"],\"worker\":[\"j-worker-849d-0:23456\"]},\"task\":{\"type\":\"worker\",\"index\":0},\"environment\":\"cloud\"}" },
		{ "PaddleJob", NULL, PADDLE, "Worker", 0, "PADDLE_MASTER", "$(POD_IP_DUMMY):36543" },
		{ "PaddleJob", NULL, PADDLE, "Worker", 0, "POD_IP_DUMMY", "ref" },
		{ "PaddleJob", NULL, PADDLE, "Worker", 1, "PADDLE_MASTER", "j-worker-0:36543" },
		{ "PaddleJob", NULL, PADDLE, "Worker", 1, "PADDLE_NNODES", "2" },
		{ "PaddleJob", NULL, PADDLE, "Worker", 1, "PADDLE_JOB_ID", "j" },
		{ "PaddleJob", NULL, PADDLE, "Worker", 1, "PADDLE_TRAINER_NUM", "-" },
		{ "PaddleJob", NULL, PADDLE, "Worker", 1, "PYTHONUNBUFFERED", "1" },
		{ "PaddleJob", NULL, PADDLE_PS, "Master", 0, "PADDLE_MASTER", "$(POD_IP_DUMMY):36543" },
		{ "PaddleJob", NULL, PADDLE_PS, "Master", 0, "PADDLE_SERVER_NUM", "1" },
		{ "PaddleJob", NULL, PADDLE_PS, "Worker", 0, "PADDLE_MASTER", "j-master-0:36543" },
		{ "PaddleJob", NULL, PADDLE_PS, "Worker", 0, "PADDLE_TRAINER_NUM", "1" },
		{ "MPIJob", NULL, MPI, "Launcher", 0, "OMPI_MCA_plm_rsh_agent", "/etc/mpi/kubexec.sh" },
		{ "MPIJob", NULL, MPI, "Launcher", 0, "OMPI_MCA_orte_default_hostfile", "/etc/mpi/hostfile" },
		{ "MPIJob", NULL, MPI, "Launcher", 0, "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1" },
		{ "MPIJob", NULL, MPI, "Launcher", 0, "OMPI_MCA_hwloc_base_binding_policy", "none" },
		{ "MPIJob", NULL, MPI, "Worker", 0, "OMPI_MCA_plm_rsh_agent", "-" },
		/* clang-format on */
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		json_auto_t *obj = sample_job("j", rows[i].version, rows[i].spec);
		json_auto_t *pod = pod_of(rows[i].kind, obj, rows[i].type, rows[i].index, 0);
		const char *got = env_of(pod, 0, rows[i].name);

		if (!streq(got, rows[i].wanted))
			test_fail(__FILE__, __LINE__, "row %zu: %s is %s, not %s", i, rows[i].name, got,
				  rows[i].wanted);
	}
}

TEST("pods have the names and the labels of every version of their framework")
{
	static const struct {
		const char *kind, *version, *spec, *type;
		int index;
		const char *name; /* with * for what is made up */
		const char *labels;
	} rows[] = {
		/* clang-format off */
		{ "TFJob", V1ALPHA2, "'tfReplicaSpecs':{" SEED "}", "Master", 0, "j-master-0", "group_name=kubeflow.org tf_job_name=j tf-replica-type=master tf-replica-index=0 mine=1" },
		{ "TFJob", NULL, "'tfReplicaSpecs':{" SEED "}", "PS", 1, "j-ps-1", "group-name=kubeflow.org tf-job-name=j tf-replica-type=ps tf-replica-index=1 job-name=j replica-type=ps replica-index=1 training.kubeflow.org/job-name=j training.kubeflow.org/operator-name=tfjob-controller training.kubeflow.org/replica-type=ps training.kubeflow.org/replica-index=1 job-role=- tf-job-role=-" },
		{ "TFJob", NULL, "'tfReplicaSpecs':{" SEED "}", "Master", 0, "j-master-0", "job-role=master tf-job-role=master training.kubeflow.org/job-role=master" },
		{ "TFJob", NULL, "'tfReplicaSpecs':{" SEED "}", "Worker", 0, "j-worker-0", "job-role=-" },
		{ "TFJob", NULL, "'tfReplicaSpecs':{" TF_ROLE("Worker", 2, "Never") "}", "Worker", 0, "j-worker-0", "job-role=master" },
		{ "TFJob", NULL, "'tfReplicaSpecs':{" TF_ROLE("Worker", 2, "Never") "}", "Worker", 1, "j-worker-1", "job-role=-" },
		{ "PyTorchJob", NULL, TORCH, "Worker", 2, "j-worker-2", "pytorch-job-name=j pytorch-replica-type=worker pytorch-replica-index=2 pytorch_job_name=j task_index=3 training.kubeflow.org/operator-name=pytorchjob-controller runtime_id=-" },
		{ "PyTorchJob", V1ALPHA1, OLD_TORCH(3), "MASTER", 0, "j-master-849d-0-*****", "kubeflow.org= job_type=MASTER runtime_id=849d pytorch_job_name=j task_index=0" },
		{ "PyTorchJob", V1ALPHA1, OLD_TORCH(3), "WORKER", 2, "j-worker-849d-3-*****", "job_type=WORKER task_index=3" },
		{ "PaddleJob", NULL, PADDLE, "Worker", 0, "j-worker-0", "training.kubeflow.org/operator-name=paddlejob-controller job-role=master" },
		{ "MPIJob", NULL, MPI, "Launcher", 0, "j-launcher", "mpi-job-name=j training.kubeflow.org/job-role=launcher" },
		{ "MPIJob", NULL, MPI, "Worker", 1, "j-worker-1", "training.kubeflow.org/job-role=worker" },
		/* clang-format on */
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		json_auto_t *obj = sample_job("j", rows[i].version, rows[i].spec);
		json_auto_t *pod = pod_of(rows[i].kind, obj, rows[i].type, rows[i].index, 0);
		const char *name = jsonx_str_or(pod, "metadata.name", "");
		struct str rest = str_of(rows[i].labels);
		struct str word;

		CHECK_INT(strlen(name), strlen(rows[i].name));
		CHECK_INT(strncmp(name, rows[i].name, strcspn(rows[i].name, "*")), 0);
		while (str_split(&rest, ' ', &word)) {
			auto_free char *pair = xstrndup(word.p, word.n);
			char *value = strchr(pair, '=');

			*value++ = '\0';
			CHECK_STR(label_of(pod, pair), value);
		}
		CHECK_STR(jsonx_str(json_array_get(jsonx_at(pod, "metadata.ownerReferences"), 0), "apiVersion"),
			  "kubeflow.org/v1");
	}
}

TEST("a pod runs again as its replica's policy says, and its end is told with its last lines")
{
	static const struct {
		const char *policy, *wanted;
		bool gang;
	} rows[] = {
		{ "Never", "Never", false },    { "OnFailure", "OnFailure", false },
		{ "Always", "Always", false },  { "ExitCode", "Never", false }, /* the controller decides */
		{ "OnFailure", "Never", true },                                 /* and about gangs */
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		json_auto_t *obj = sample_job("j", NULL, "'tfReplicaSpecs':{" TF_ROLE("Worker", 2, "Never") "}");
		json_auto_t *pod = NULL;

		jsonx_set_new(obj, "spec.tfReplicaSpecs.Worker.restartPolicy", json_string(rows[i].policy));
		if (rows[i].gang)
			jsonx_set_new(obj, "metadata.annotations", json_pack("{s:s}", TRAINING_RESTART, "gang"));
		jsonx_set_new(obj, "spec.tfReplicaSpecs.Worker.template.spec.initContainers",
			      json_pack("[{s:s}]", "name", "fetch"));
		pod = pod_of("TFJob", obj, "Worker", 1, 0);
		CHECK_STR(jsonx_str(pod, "spec.restartPolicy"), rows[i].wanted);
		CHECK_STR(
			jsonx_str(json_array_get(jsonx_at(pod, "spec.initContainers"), 0), "terminationMessagePolicy"),
			"FallbackToLogsOnError");
		CHECK_STR(jsonx_str(json_array_get(jsonx_at(pod, "spec.containers"), 0), "terminationMessagePolicy"),
			  "FallbackToLogsOnError");
	}
}

TEST("pods say which gang they belong to, and of which run they are")
{
	json_auto_t *obj = sample_job("j", NULL, TORCH);
	json_auto_t *lone = sample_job("j", NULL, "'tfReplicaSpecs':{" TF_ROLE("Worker", 1, "Never") "}");
	json_auto_t *elastic = sample_job("j", NULL, TORCH_SPREAD);
	json_auto_t *pod = pod_of("PyTorchJob", obj, "Worker", 2, 0);
	json_auto_t *again = pod_of("PyTorchJob", obj, "Worker", 2, 3);
	json_auto_t *single = pod_of("TFJob", lone, "Worker", 0, 0);
	json_auto_t *some = pod_of("PyTorchJob", elastic, "Worker", 0, 0);
	json_auto_t *fewer = NULL;

	CHECK_STR(note_of(pod, TRAINING_GANG), "pytorchjobs/j");
	CHECK_STR(note_of(pod, TRAINING_GANG_SIZE), "4");
	CHECK_STR(note_of(pod, TRAINING_ATTEMPT), "-");
	CHECK_STR(note_of(again, TRAINING_ATTEMPT), "3");
	CHECK_STR(note_of(single, TRAINING_GANG_SIZE), "1");
	CHECK_STR(note_of(some, TRAINING_GANG_SIZE), "1"); /* one worker is enough to begin with */
	jsonx_set_new(obj, "spec.runPolicy.schedulingPolicy.minAvailable", json_integer(2));
	fewer = pod_of("PyTorchJob", obj, "Worker", 2, 0);
	CHECK_STR(note_of(fewer, TRAINING_GANG_SIZE), "2");
}

TEST("what a template says about a variable stays")
{
	json_auto_t *obj = sample_job("j", NULL, TORCH);
	json_t *c = json_array_get(jsonx_at(obj, "spec.pytorchReplicaSpecs.Worker.template.spec.containers"), 0);
	json_auto_t *pod = NULL;

	json_object_set_new(c, "env", json_pack("[{s:s, s:s}]", "name", "MASTER_PORT", "value", "1"));
	pod = pod_of("PyTorchJob", obj, "Worker", 0, 0);
	CHECK_STR(env_of(pod, 0, "MASTER_PORT"), "1");
	CHECK_STR(env_of(pod, 0, "RANK"), "1");
}

TEST("each replica has a Service of its name, headless where the version's are")
{
	json_auto_t *tf = sample_job("j", NULL, "'tfReplicaSpecs':{" SEED "}");
	json_auto_t *old = sample_job("j", V1ALPHA1, OLD_TORCH(2));
	json_auto_t *ps = service_of("TFJob", tf, "PS", 1);
	json_auto_t *worker = service_of("PyTorchJob", old, "WORKER", 1);
	json_auto_t *pod = pod_of("PyTorchJob", old, "WORKER", 1, 0);
	const json_t *port = json_array_get(jsonx_at(ps, "spec.ports"), 0);
	const char *key;
	json_t *v;

	CHECK_STR(jsonx_str(ps, "metadata.name"), "j-ps-1");
	CHECK_STR(jsonx_str(ps, "spec.clusterIP"), "None");
	CHECK(jsonx_bool_or(ps, "spec.publishNotReadyAddresses", false));
	CHECK_STR(jsonx_str(port, "name"), "tfjob-port");
	CHECK_INT(jsonx_int_or(port, "port", 0), 2222);
	CHECK_STR(jsonx_str(worker, "metadata.name"), "j-worker-849d-1");
	CHECK(!jsonx_at(worker, "spec.clusterIP"));
	CHECK_STR(jsonx_str(json_array_get(jsonx_at(worker, "spec.ports"), 0), "name"), "tf-port");
	json_object_foreach (jsonx_at(worker, "spec.selector"), key, v)
		CHECK_STR(label_of(pod, key), json_string_value(v));
}

TEST("mpirun finds a hostfile, and rights for its workers before it")
{
	json_auto_t *obj = sample_job("j", NULL, MPI);
	struct training_job j = training_job(training_form("MPIJob", obj), obj);
	const char *version;
	const char *plural;
	json_auto_t *account = mpi_need(&j, 0, &version, &plural);
	json_auto_t *role = mpi_need(&j, 1, &version, &plural);
	json_auto_t *config = mpi_need(&j, 3, &version, &plural);
	json_auto_t *none = mpi_need(&j, 4, &version, &plural);
	json_auto_t *launcher = pod_of("MPIJob", obj, "Launcher", 0, 0);
	json_auto_t *worker = pod_of("MPIJob", obj, "Worker", 0, 0);
	const json_t *rule = json_array_get(json_object_get(role, "rules"), 1);

	CHECK_STR(jsonx_str(account, "metadata.name"), "j-launcher");
	CHECK_STR(json_string_value(json_array_get(json_object_get(rule, "resources"), 0)), "pods/exec");
	CHECK_STR(json_string_value(json_array_get(json_object_get(rule, "resourceNames"), 1)), "j-worker-1");
	CHECK_STR(jsonx_str(config, "metadata.name"), "j-config");
	CHECK_STR(plural, "configmaps");
	CHECK_STR(jsonx_str(config, "data.hostfile"), "j-worker-0 slots=2\nj-worker-1 slots=2\n");
	CHECK(!none);
	CHECK_STR(jsonx_str(launcher, "spec.serviceAccountName"), "j-launcher");
	CHECK(!jsonx_at(worker, "spec.serviceAccountName"));
	CHECK_STR(json_string_value(json_array_get(
			  json_object_get(json_array_get(jsonx_at(worker, "spec.containers"), 0), "command"), 0)),
		  "sleep");
	training_job_done(&j);
}

TEST("the run policy is read from both of its places")
{
	static const struct {
		const char *version, *spec;
		int clean, backoff;
	} rows[] = {
		{ NULL, "'runPolicy':{'cleanPodPolicy':'All','backoffLimit':3},'cleanPodPolicy':'None'", CLEAN_ALL, 3 },
		{ NULL, "'cleanPodPolicy':'None','backoffLimit':2", CLEAN_NONE, 2 },
		{ NULL, "'backoffLimit':2", CLEAN_RUNNING, 2 }, /* 2019 */
		{ V1ALPHA2, "'x':1", CLEAN_RUNNING, -1 },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		json_auto_t *obj = sample_job("j", rows[i].version, rows[i].spec);
		struct training_job j = training_job(training_form("TFJob", obj), obj);

		CHECK_INT(j.clean, rows[i].clean);
		CHECK_INT(j.backoff, rows[i].backoff);
		training_job_done(&j);
	}
}
