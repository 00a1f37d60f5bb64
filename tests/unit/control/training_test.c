// SPDX-License-Identifier: Apache-2.0
/* Training jobs on a real API and scheduler, with a node whose containers do as they are told. */
#include "control/training.h"

#include "control/job_cluster.h"

struct place {
	struct cluster c;
	struct training_jobs *jobs;
};

static struct place place_new(const char *kind)
{
	struct place p = { .c = cluster_new(true) };

	p.jobs = training_jobs_new(p.c.client, p.c.owned, kind);
	server_settle(&p.c.s);
	return p;
}

static void place_done(struct place *p)
{
	training_jobs_free(p->jobs);
	cluster_done(&p->c);
}

/* The controller is killed and another begins. */
static void place_restart(struct place *p, const char *kind)
{
	training_jobs_free(p->jobs);
	p->jobs = training_jobs_new(p->c.client, p->c.owned, kind);
}

#define POD(container_, fake_)                                                                                         \
	"'template':{'metadata':{'annotations':{" fake_ "}},'spec':{'terminationGracePeriodSeconds':1,'containers':["  \
	"{'name':'" container_ "','image':'host','command':['x']}]}}"
#define ENDS(code_)                  "'stoker.dev/fake-seconds':'0.05','stoker.dev/fake-exit-code':'" #code_ "'"
#define FOREVER                      ""
#define TF_JOB(name_, more_, roles_) "{'metadata':{'name':'" name_ "'},'spec':{" more_ "'tfReplicaSpecs':{" roles_ "}}}"

static bool is_so(const json_t *job, const char *type, const char *state)
{
	json_t *c;
	size_t i;

	json_array_foreach (jsonx_at(job, "status.conditions"), i, c)
		if (str_same(jsonx_str(c, "type"), type))
			return str_same(jsonx_str(c, "status"), state);
	return false;
}

static bool wait_for(struct place *p, const char *plural, const char *type, const char *state)
{
	int64_t end = clock_mono_ms() + PATIENCE_MS;
	auto_free char *what = xasprintf("kubeflow.org/v1/%s", plural);

	while (clock_mono_ms() < end) {
		json_auto_t *job = server_ask(&p->c.s, VERB_GET, what, "default", "j", NULL);

		if (is_so(job, type, state))
			return true;
		server_turn(&p->c.s);
		usleep(500);
	}
	return false;
}

/* Names of all objects of a kind that begin with "j-", and phases of pods: "j-ps-0=Running". */
static const char *all_named(struct place *p, const char *what)
{
	static char out[1000];
	json_auto_t *list = all_of(&p->c, what);
	auto_sbuf struct sbuf text = SBUF(sizeof(out) - 1);
	json_t *obj;
	size_t i;

	json_array_foreach (list, i, obj) {
		const char *phase = jsonx_str(obj, "status.phase");

		if (str_starts(jsonx_str_or(obj, "metadata.name", ""), "j-"))
			sbuf_addf(&text, "%s%s%s%s", text.n ? " " : "", jsonx_str(obj, "metadata.name"),
				  phase ? "=" : "", phase ? phase : "");
	}
	snprintf(out, sizeof(out), "%s", text.p ? text.p : "");
	return out;
}

static bool wait_named(struct place *p, const char *what, const char *wanted)
{
	int64_t end = clock_mono_ms() + PATIENCE_MS;

	while (clock_mono_ms() < end && !streq(all_named(p, what), wanted)) {
		server_turn(&p->c.s);
		usleep(500);
	}
	CHECK_STR(all_named(p, what), wanted);
	return true;
}

TEST("a TFJob of v1alpha2 succeeds with its master, and what only blocks is stopped and deleted")
{
	struct place p = place_new("TFJob");

	server_do(&p.c.s, VERB_CREATE, "kubeflow.org/v1alpha2/tfjobs", "default", NULL,
		  TF_JOB("j", "",
			 "'Master':{" POD("tensorflow", ENDS(0)) "},'PS':{'replicas':2," POD(
				 "tensorflow", FOREVER) "},'worker':{" POD("tensorflow", FOREVER) "}"));
	CHECK(wait_for(&p, "tfjobs", "Succeeded", "True"));
	wait_named(&p, "v1/pods", "j-master-0=Succeeded");
	wait_named(&p, "v1/services", "j-master-0");
	json_auto_t *job = server_ask(&p.c.s, VERB_GET, "kubeflow.org/v1alpha2/tfjobs", "default", "j", NULL);

	CHECK_INT(jsonx_int_or(job, "status.tfReplicaStatuses.Master.succeeded", 0), 1);
	CHECK_INT(jsonx_int_or(job, "status.tfReplicaStatuses.PS.succeeded", 0), 2);
	CHECK(jsonx_at(job, "status.completionTime"));
	CHECK(strstr(events_of(&p.c, "j"), "TFJobSucceeded;"));
	CHECK(strstr(events_of(&p.c, "j"), "SuccessfulCreateService;"));
	CHECK(strstr(events_of(&p.c, "j"), "SuccessfulCreatePod;"));
	place_done(&p);
}

TEST("with cleanPodPolicy None the others are ended, and their pods stay")
{
	struct place p = place_new("PyTorchJob");

	server_do(&p.c.s, VERB_CREATE, "kubeflow.org/v1/pytorchjobs", "default", NULL,
		  "{'metadata':{'name':'j'},'spec':{'pytorchReplicaSpecs':{'Master':{" POD(
			  "pytorch", ENDS(0)) "},'Worker':{" POD("pytorch", FOREVER) "}}}}");
	CHECK(wait_for(&p, "pytorchjobs", "Succeeded", "True"));
	wait_named(&p, "v1/pods", "j-master-0=Succeeded j-worker-0=Failed");
	json_auto_t *worker = server_ask(&p.c.s, VERB_GET, "v1/pods", "default", "j-worker-0", NULL);

	CHECK_STR(jsonx_str(worker, "status.reason"), "DeadlineExceeded");
	place_done(&p);
}

TEST("a worker that is killed is made again until the limit, and the job says who it was")
{
	struct place p = place_new("TFJob");

	server_do(&p.c.s, VERB_CREATE, "kubeflow.org/v1/tfjobs", "default", NULL,
		  TF_JOB("j", "'runPolicy':{'backoffLimit':1,'cleanPodPolicy':'All'},",
			 "'Chief':{" POD("tensorflow", FOREVER) "},'Worker':{'restartPolicy':'ExitCode'," POD(
				 "tensorflow", ENDS(137)) "}"));
	CHECK(wait_for(&p, "tfjobs", "Restarting", "True"));
	place_restart(&p, "TFJob");
	CHECK(wait_for(&p, "tfjobs", "Failed", "True"));
	json_auto_t *job = server_ask(&p.c.s, VERB_GET, "kubeflow.org/v1/tfjobs", "default", "j", NULL);
	const json_t *conditions = jsonx_at(job, "status.conditions");
	const char *message = jsonx_str_or(json_array_get(conditions, json_array_size(conditions) - 1), "message", "");

	CHECK_INT(jsonx_int_or(job, "status.replicas.worker-0.restarts", 0), 1);
	CHECK(strstr(message, "backoff limit. worker-0 exited with code 137"));
	CHECK_INT(jsonx_int_or(job, "status.replicaStatuses.Worker.failed", 0), 1);
	wait_named(&p, "v1/pods", "");
	wait_named(&p, "v1/services", "");
	place_done(&p);
}

static void patch(struct place *p, const char *plural, const char *body)
{
	auto_free char *what = xasprintf("kubeflow.org/v1/%s", plural);
	struct api_request req = server_request(&p->c.s, VERB_PATCH, what, "default", "j");

	req.patch = PATCH_MERGE;
	json_auto_t *done = server_call(&p->c.s, &req, body);

	CHECK(done != NULL);
}

static bool wait_gone(struct place *p)
{
	int64_t end = clock_mono_ms() + PATIENCE_MS;

	while (clock_mono_ms() < end) {
		json_auto_t *left = all_of(&p->c, "kubeflow.org/v1/tfjobs");

		if (json_array_size(left) == 0)
			return true;
		server_turn(&p->c.s);
		usleep(500);
	}
	return false;
}

TEST("a job is suspended and resumed, and goes when its time after the end is over")
{
	struct place p = place_new("TFJob");

	server_do(&p.c.s, VERB_CREATE, "kubeflow.org/v1/tfjobs", "default", NULL,
		  TF_JOB("j", "", "'Worker':{'replicas':2," POD("tensorflow", FOREVER) "}"));
	CHECK(wait_for(&p, "tfjobs", "Running", "True"));
	patch(&p, "tfjobs", "{'spec':{'runPolicy':{'suspend':true}}}");
	CHECK(wait_for(&p, "tfjobs", "Suspended", "True"));
	wait_named(&p, "v1/pods", "");
	wait_named(&p, "v1/services", "");
	patch(&p, "tfjobs", "{'spec':{'runPolicy':{'suspend':false}}}");
	CHECK(wait_for(&p, "tfjobs", "Suspended", "False"));
	CHECK(wait_for(&p, "tfjobs", "Running", "True"));
	patch(&p, "tfjobs", "{'spec':{'runPolicy':{'activeDeadlineSeconds':0,'ttlSecondsAfterFinished':0}}}");
	CHECK(wait_gone(&p));
	place_done(&p);
}

TEST("a PyTorchJob of v1alpha1 has an id in its names and one word for its state")
{
	struct place p = place_new("PyTorchJob");

	server_do(
		&p.c.s, VERB_CREATE, "kubeflow.org/v1alpha1/pytorchjobs", "default", NULL,
		"{'metadata':{'name':'j'},'spec':{'backend':'tcp','masterPort':'23456','replicaSpecs':[{'replicaType':"
		"'MASTER'," POD("pytorch", ENDS(0)) "},{'replicas':2,'replicaType':'WORKER'," POD("pytorch",
												  FOREVER) "}]}}");
	CHECK(wait_for(&p, "pytorchjobs", "Succeeded", "True"));
	json_auto_t *job = server_ask(&p.c.s, VERB_GET, "kubeflow.org/v1alpha1/pytorchjobs", "default", "j", NULL);
	auto_free char *prefix = xasprintf("j-master-%s-0-", jsonx_str_or(job, "spec.RuntimeId", "?"));

	CHECK_STR(jsonx_str(job, "status.state"), "Succeeded");
	CHECK_STR(jsonx_str(job, "status.phase"), "Done");
	CHECK_INT(strlen(jsonx_str_or(job, "spec.RuntimeId", "")), 4);
	CHECK(str_starts(all_named(&p, "v1/pods"), prefix));
	place_done(&p);
}

TEST("an MPIJob has its rights and its hostfile before its pods")
{
	struct place p = place_new("MPIJob");

	server_do(&p.c.s, VERB_CREATE, "kubeflow.org/v1/mpijobs", "default", NULL,
		  "{'metadata':{'name':'j'},'spec':{'mpiReplicaSpecs':{'Launcher':{" POD(
			  "mpi", FOREVER) "},'Worker':{'replicas':2," POD("mpi", FOREVER) "}}}}");
	CHECK(wait_for(&p, "mpijobs", "Running", "True"));
	CHECK_STR(all_named(&p, "v1/serviceaccounts"), "j-launcher");
	CHECK_STR(all_named(&p, "rbac.authorization.k8s.io/v1/roles"), "j-launcher");
	CHECK_STR(all_named(&p, "rbac.authorization.k8s.io/v1/rolebindings"), "j-launcher");
	CHECK_STR(all_named(&p, "v1/configmaps"), "j-config");
	wait_named(&p, "v1/pods", "j-launcher=Running j-worker-0=Running j-worker-1=Running");
	place_done(&p);
}

TEST("a job that another manages is left alone")
{
	struct place p = place_new("TFJob");

	server_do(&p.c.s, VERB_CREATE, "kubeflow.org/v1/tfjobs", "default", NULL,
		  TF_JOB("j", "'runPolicy':{'managedBy':'kueue.x-k8s.io/multikueue'},",
			 "'Worker':{" POD("tensorflow", FOREVER) "}"));
	for (int i = 0; i < 5; i++)
		server_settle(&p.c.s);
	CHECK_STR(all_named(&p, "v1/services"), "");
	CHECK_STR(all_named(&p, "v1/pods"), "");
	place_done(&p);
}
