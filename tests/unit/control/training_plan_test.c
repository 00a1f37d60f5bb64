// SPDX-License-Identifier: Apache-2.0
/* What a training job needs next, by table.  Pods are written in words:
 *
 *	worker-1:R  its pod is running (P pending, S succeeded, F failed)
 *	...         further letters: x somebody deletes it, u without a node, d stopped by deadline, c waits for its
 *	            next run in place, i it is its init container that ended
 *	...         further numbers: !7 exit code, *3 restarts in place, #2 made for that run, q9 silent for 9 seconds
 *
 * The answer: S+worker-1 a Service to make, +worker-1 a pod (+worker-1#2 for which run), -NAME a pod to delete, ~NAME
 *one to end, S-NAME a Service to delete; then what the status says that is new: conditions in order (Running- if
 *False), counters Worker=active/succeeded/failed, !Reason for events.
 */
#include "control/training_plan.h"

#include "base/clock.h"
#include "control/pod_template.h"
#include "control/training_sample.h"
#include "kinds/activity.h"

#define NOW      1000000000
#define MAX_PODS 20

struct scene {
	json_t *obj;
	json_t *pods, *services; /* arrays */
	struct pod_facts facts[MAX_PODS];
	const struct pod_facts *list[MAX_PODS];
	const json_t *service_list[MAX_PODS];
	struct training_job job;
};

static long number_after(const char *word, char mark, long fallback)
{
	const char *at = strchr(word, mark);

	return at ? strtol(at + 1, NULL, 10) : fallback;
}

static json_t *end_with(long code)
{
	char text[CLOCK_RFC3339_LEN];

	clock_rfc3339(NOW - 5, text);
	return json_pack("{s:I, s:s, s:s, s:s}", "exitCode", (json_int_t)code, "finishedAt", text, "reason",
			 code ? "Error" : "Completed", "message", code ? "one\ntwo\n" : "");
}

static void add_ends(json_t *pod, const char *c, const char *container)
{
	bool ended = *c == 'F' || *c == 'S';
	bool init = strchr(c, 'i') != NULL;
	long code = number_after(c, '!', *c == 'S' ? 0 : 1);
	long restarts = number_after(c, '*', 0);
	json_t *state =
		json_pack("{s:s, s:I}", "name", init ? "fetch" : container, "restartCount", (json_int_t)restarts);

	if (ended && code >= 0)
		jsonx_set_new(state, "state.terminated", end_with(code));
	if (strchr(c, 'c'))
		jsonx_set_new(state, "state.waiting.reason", json_string("CrashLoopBackOff"));
	if (!ended && (restarts || strchr(c, 'c')))
		jsonx_set_new(state, "lastState.terminated", end_with(code));
	if (code < 0) {
		jsonx_set_new(pod, "status.reason", json_string("Evicted"));
		jsonx_set_new(pod, "status.message", json_string("no memory"));
	}
	jsonx_set_new(pod, init ? "status.initContainerStatuses" : "status.containerStatuses", json_pack("[o]", state));
}

static void add_silence(json_t *pod, long seconds)
{
	char text[CLOCK_RFC3339_LEN];

	clock_rfc3339(NOW - seconds, text);
	jsonx_set_new(pod, "status.conditions",
		      json_pack("[{s:s, s:s, s:s, s:s}]", "type", POD_ACTIVE, "status", "False", "message",
				"no output and no CPU use for 10s; its last line: step 4", "lastTransitionTime", text));
}

static json_t *pod_of(const struct training_job *j, const char *word)
{
	static const struct {
		char letter;
		const char *phase;
	} phases[] = { { 'P', "Pending" }, { 'R', "Running" }, { 'S', "Succeeded" }, { 'F', "Failed" } };
	const char *c = strchr(word, ':') + 1;
	const char *dash = strrchr(word, '-') ? strchr(word, '-') : c;
	auto_free char *type = xstrndup(word, (size_t)(dash - word));
	const struct training_role *r = training_role(j, type);
	json_t *pod =
		training_pod(j, r ? r : &j->roles[0], (int)strtol(dash + 1, NULL, 10), (int)number_after(c, '#', 0));
	char text[CLOCK_RFC3339_LEN];

	jsonx_set_new(pod, "metadata.uid", json_string(word));
	for (size_t i = 0; i < ARRAY_SIZE(phases); i++)
		if (*c == phases[i].letter)
			jsonx_set_new(pod, "status.phase", json_string(phases[i].phase));
	if (!strchr(c, 'u'))
		jsonx_set_new(pod, "spec.nodeName", json_string("box"));
	if (strchr(c, 'q'))
		add_silence(pod, number_after(c, 'q', 0));
	if (strchr(c, 'd'))
		jsonx_set_new(pod, "spec.activeDeadlineSeconds", json_integer(1));
	clock_rfc3339(NOW - (strchr(c, 'y') ? 1 : 30), text);
	if (strchr(c, 'x') || strchr(c, 'y'))
		jsonx_set_new(pod, "metadata.deletionTimestamp", json_string(text));
	add_ends(pod, c, r ? r->container : "");
	return pod;
}

static void add_services(struct scene *s)
{
	for (size_t i = 0; i < s->job.n; i++)
		for (int k = 0; k < s->job.roles[i].replicas; k++)
			json_array_append_new(s->services, training_service(&s->job, &s->job.roles[i], k));
}

/* Adds pods and, but for "noservices", all Services. */
static void scene_set(struct scene *s, const char *words)
{
	struct str rest = str_of(words);
	struct str word;

	s->pods = json_array();
	s->services = json_array();
	if (!strstr(words, "noservices"))
		add_services(s);
	while (str_split(&rest, ' ', &word)) {
		auto_free char *text = xstrndup(word.p, word.n);

		if (strchr(text, ':'))
			json_array_append_new(s->pods, pod_of(&s->job, text));
	}
	for (size_t i = 0; i < json_array_size(s->pods); i++) {
		s->facts[i] = pod_facts(json_array_get(s->pods, i));
		s->list[i] = &s->facts[i];
	}
	for (size_t i = 0; i < json_array_size(s->services); i++)
		s->service_list[i] = json_array_get(s->services, i);
}

static void scene_done(struct scene *s)
{
	training_job_done(&s->job);
	json_decref(s->pods);
	json_decref(s->services);
	json_decref(s->obj);
}

/* "worker-1" of "j-worker-1". */
static const char *short_name(const char *name)
{
	return str_starts(name, "j-") ? name + 2 : name;
}

static void say_status(const json_t *status, struct sbuf *out)
{
	const json_t *counters = json_object_get(status, "replicaStatuses");
	const char *type;
	json_t *v;
	size_t i;

	json_array_foreach (json_object_get(status, "conditions"), i, v)
		sbuf_addf(out, " %s%s", jsonx_str(v, "type"), streq(jsonx_str(v, "status"), "True") ? "" : "-");
	json_object_foreach ((json_t *)counters, type, v)
		sbuf_addf(out, " %s=%d/%d/%d", type, (int)jsonx_int_or(v, "active", 0),
			  (int)jsonx_int_or(v, "succeeded", 0), (int)jsonx_int_or(v, "failed", 0));
}

static char *answer(const struct training_plan *p)
{
	auto_sbuf struct sbuf out = SBUF(8192);

	for (size_t i = 0; i < p->nservices; i++)
		sbuf_addf(&out, " S+%s-%d", p->services[i].role->lower, p->services[i].index);
	if (p->prepare)
		sbuf_adds(&out, " prepare");
	for (size_t i = 0; i < p->npods; i++) {
		sbuf_addf(&out, " +%s-%d", p->pods[i].role->lower, p->pods[i].index);
		if (p->pods[i].attempt)
			sbuf_addf(&out, "#%d", p->pods[i].attempt);
	}
	for (size_t i = 0; i < p->nremove; i++)
		sbuf_addf(&out, " -%s", short_name(p->remove[i]->name));
	for (size_t i = 0; i < p->nstop; i++)
		sbuf_addf(&out, " ~%s", short_name(p->stop[i]->name));
	for (size_t i = 0; i < p->ndrop; i++)
		sbuf_addf(&out, " S-%s", short_name(jsonx_str(p->drop[i], "metadata.name")));
	if (p->expired)
		sbuf_adds(&out, " expired");
	if (p->status)
		say_status(p->status, &out);
	for (size_t i = 0; i < p->nevents; i++)
		sbuf_addf(&out, " !%s", p->events[i].reason);
	return out.n ? xstrdup(out.p + 1) : xstrdup("");
}

struct row {
	const char *spec, *status, *pods, *wanted;
};

static struct training_plan plan_of(struct scene *s, const char *kind, const char *version, const struct row *r)
{
	struct training_view v = { .job = &s->job, .now = NOW, .create_most = 10 };
	struct training_plan p;
	json_t *notes;

	*s = (struct scene){ .obj = sample_job("j", version, r->spec) };
	notes = object_at(json_object_get(s->obj, "metadata"), "annotations");
	if (strstr(r->pods, "gang"))
		json_object_set_new(notes, TRAINING_RESTART, json_string("gang"));
	if (strstr(r->pods, "hang"))
		json_object_set_new(notes, HANG_AFTER, json_string("10s"));
	if (*r->status)
		json_object_set_new(s->obj, "status", sample_json(r->status));
	s->job = training_job(training_form(kind, s->obj), s->obj);
	scene_set(s, r->pods);
	v.pods = s->list;
	v.n = json_array_size(s->pods);
	v.services = s->service_list;
	v.nservices = json_array_size(s->services);
	v.refused = strstr(r->pods, "refused") ? "exceeded quota" : NULL;
	v.prepared = strstr(r->pods, "prepared") != NULL;
	training_plan(&v, &p);
	return p;
}

static void check_rows(const char *kind, const char *version, const struct row *rows, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		struct scene s;
		struct training_plan p = plan_of(&s, kind, version, &rows[i]);
		auto_free char *got = answer(&p);

		if (!streq(got, rows[i].wanted))
			test_fail(__FILE__, __LINE__, "row %zu (%s):\n    got    %s\n    wanted %s", i, rows[i].pods,
				  got, rows[i].wanted);
		training_plan_done(&p);
		scene_done(&s);
	}
}

/* clang-format off */
#define TF(roles_)     "'tfReplicaSpecs':{" roles_ "}"
#define CHIEF(p_)      TF_ROLE("Chief", 1, p_) "," TF_ROLE("PS", 1, p_) "," TF_ROLE("Worker", 2, p_)
#define PS(p_)         TF_ROLE("PS", 1, p_) "," TF_ROLE("Worker", 2, p_)
#define TORCH(p_)      "'pytorchReplicaSpecs':{" TORCH_ROLE("Master", 1, p_) "," TORCH_ROLE("Worker", 2, p_) "}"
#define C(type_)       "{'type':'" type_ "','status':'True','reason':'TFJob" type_ "','lastUpdateTime':'2001-09-09T01:46:40Z'}"
#define PC(type_)      "{'type':'" type_ "','status':'True','reason':'PyTorchJob" type_ "'}"
#define BEGUN          "{'startTime':'2001-09-09T01:46:00Z','conditions':[" C("Created") "]}"
#define RUNS           "{'startTime':'2001-09-09T01:46:00Z','conditions':[" C("Created") "," C("Running") "]}"
#define PRUNS          "{'startTime':'2001-09-09T01:46:00Z','conditions':[" PC("Created") "," PC("Running") "]}"
#define WITH(more_)    "{'startTime':'2001-09-09T01:46:00Z',"  more_ ",'conditions':[" C("Created") "," C("Running") "]}"
#define RESTARTS(more_) "{'startTime':'2001-09-09T01:46:00Z',"  more_ ",'conditions':[" C("Created") "," C("Restarting") "]}"
#define ENDED          "{'completionTime':'2001-09-09T01:46:30Z','conditions':[" C("Created") "," C("Succeeded") "]}"
#define FAILED         "{'completionTime':'2001-09-09T01:46:30Z','conditions':[" C("Created") "," C("Failed") "]}"
/* clang-format on */

TEST("a job begins with its names, then its pods")
{
	static const struct row rows[] = {
		/* clang-format off */
		{ TF(PS("Never")), "", "noservices", "S+ps-0 S+worker-0 S+worker-1 Created PS=0/0/0 Worker=0/0/0 !TFJobCreated" },
		{ TF(PS("Never")), BEGUN, "", "+ps-0 +worker-0 +worker-1 Created PS=0/0/0 Worker=0/0/0" },
		{ TF(PS("Never")), BEGUN, "ps-0:P worker-0:P worker-1:P", "Created PS=0/0/0 Worker=0/0/0" },
		{ TF(PS("Never")), BEGUN, "ps-0:R worker-0:P worker-1:P", "Created PS=1/0/0 Worker=0/0/0" },
		{ TF(PS("Never")), BEGUN, "ps-0:R worker-0:R worker-1:P", "Created Running PS=1/0/0 Worker=1/0/0 !TFJobRunning" },
		{ TF(CHIEF("Never")), BEGUN, "ps-0:R worker-0:R worker-1:R chief-0:P", "Created Chief=0/0/0 PS=1/0/0 Worker=2/0/0" },
		{ TF(CHIEF("Never")), BEGUN, "ps-0:R worker-0:P worker-1:P chief-0:R", "Created Running Chief=1/0/0 PS=1/0/0 Worker=0/0/0 !TFJobRunning" },
		/* a pod that somebody deleted comes back, and not before it is gone */
		{ TF(PS("Never")), RUNS, "ps-0:R worker-0:R worker-1:Rx", "Created Running PS=1/0/0 Worker=1/0/1" },
		{ TF(PS("Never")), RUNS, "ps-0:R worker-0:R", "+worker-1 Created Running PS=1/0/0 Worker=1/0/0" },
		/* what its program says while it is deleted does not count */
		{ TF(PS("Never")), RUNS, "ps-0:R worker-0:Sx worker-1:R", "Created Running PS=1/0/0 Worker=1/0/0" },
		{ TF(PS("Never")), RUNS, "ps-0:R worker-0:Sy worker-1:R", "Created Running- Succeeded PS=0/1/0 Worker=0/2/0 !TFJobSucceeded" },
		/* what cannot be made is told, until it can */
		{ TF(PS("Never")), BEGUN, "refused ps-0:P worker-0:P", "+worker-1 Created ReplicaFailure PS=0/0/0 Worker=0/0/0" },
		{ TF(PS("Never")), "{'startTime':'2001-09-09T01:46:00Z','conditions':[" C("Created") "," C("ReplicaFailure") "]}", "refused ps-0:P worker-0:P worker-1:P", "Created PS=0/0/0 Worker=0/0/0" },
		/* fewer than before */
		{ TF(PS("Never")), RUNS, "ps-0:R worker-0:R worker-1:R worker-2:R", "-worker-2 Created Running PS=1/0/0 Worker=2/0/0" },
		/* clang-format on */
	};

	check_rows("TFJob", NULL, rows, ARRAY_SIZE(rows));
}

TEST("who decides that a job has succeeded")
{
	static const struct row tf[] = {
		/* clang-format off */
		{ TF(CHIEF("Never")), RUNS, "chief-0:S ps-0:R worker-0:R worker-1:R", "Created Running- Succeeded Chief=0/1/0 PS=0/1/0 Worker=0/2/0 !TFJobSucceeded" },
		{ TF(CHIEF("Never")), RUNS, "chief-0:R ps-0:R worker-0:S worker-1:S", "Created Running Chief=1/0/0 PS=1/0/0 Worker=0/2/0" },
		{ TF(PS("Never")), RUNS, "ps-0:R worker-0:S worker-1:R", "Created Running- Succeeded PS=0/1/0 Worker=0/2/0 !TFJobSucceeded" },
		{ TF(PS("Never")), RUNS, "ps-0:R worker-0:R worker-1:S", "Created Running PS=1/0/0 Worker=1/1/0" },
		{ "'successPolicy':'AllWorkers'," TF(PS("Never")), RUNS, "ps-0:R worker-0:S worker-1:R", "Created Running PS=1/0/0 Worker=1/1/0" },
		{ "'successPolicy':'AllWorkers'," TF(PS("Never")), RUNS, "ps-0:R worker-0:S worker-1:S", "Created Running- Succeeded PS=0/1/0 Worker=0/2/0 !TFJobSucceeded" },
		/* one that succeeded is not run again, and not counted again, when its pod is gone */
		{ "'successPolicy':'AllWorkers'," TF(PS("Never")), WITH("'replicas':{'worker-1':{'succeeded':true}}"), "ps-0:R worker-0:R", "Created Running PS=1/0/0 Worker=1/1/0" },
		{ "'successPolicy':'AllWorkers'," TF(PS("Never")), WITH("'replicas':{'worker-1':{'succeeded':true}}"), "ps-0:R worker-0:S", "Created Running- Succeeded PS=0/1/0 Worker=0/2/0 !TFJobSucceeded" },
		/* others fail because the one who decides has gone */
		{ TF(CHIEF("Never")), RUNS, "chief-0:S ps-0:R worker-0:F worker-1:R", "Created Running- Succeeded Chief=0/1/0 PS=0/1/0 Worker=0/1/1 !TFJobSucceeded" },
		/* nobody to decide: all */
		{ TF(TF_ROLE("PS", 2, "Never")), RUNS, "ps-0:S ps-1:S", "Created Running- Succeeded PS=0/2/0 !TFJobSucceeded" },
		/* clang-format on */
	};
	static const struct row torch[] = {
		/* clang-format off */
		{ TORCH("Never"), PRUNS, "master-0:S worker-0:R worker-1:R", "Created Running- Succeeded Master=0/1/0 Worker=0/2/0 !PyTorchJobSucceeded" },
		{ TORCH("Never"), PRUNS, "master-0:R worker-0:S worker-1:S", "Created Running Master=1/0/0 Worker=0/2/0" },
		{ "'pytorchReplicaSpecs':{" TORCH_ROLE("Worker", 2, "Never") "}", PRUNS, "worker-0:S worker-1:R", "Created Running Worker=1/1/0" },
		{ "'pytorchReplicaSpecs':{" TORCH_ROLE("Worker", 2, "Never") "}", PRUNS, "worker-0:S worker-1:S", "Created Running- Succeeded Worker=0/2/0 !PyTorchJobSucceeded" },
		{ "'elasticPolicy':{'minReplicas':1},'pytorchReplicaSpecs':{" TORCH_ROLE("Worker", 2, "Never") "}", PRUNS, "worker-0:R worker-1:S", "Created Running- Succeeded Worker=0/2/0 !PyTorchJobSucceeded" },
		/* clang-format on */
	};

	check_rows("TFJob", NULL, tf, ARRAY_SIZE(tf));
	check_rows("PyTorchJob", NULL, torch, ARRAY_SIZE(torch));
}

TEST("a replica that fails is run again or ends the job, as its policy says")
{
	static const struct row v1[] = {
		/* clang-format off */
		{ TF(PS("Never")), RUNS, "ps-0:R worker-0:R worker-1:F", "Created Running- Failed PS=0/0/0 Worker=0/0/1 !ExitedWithCode !TFJobFailed" },
		{ TF(PS("Never")), RUNS, "ps-0:F worker-0:R worker-1:R", "Created Running- Failed PS=0/0/1 Worker=0/0/0 !ExitedWithCode !TFJobFailed" },
		{ TF(PS("Never")), RUNS, "ps-0:R worker-0:R worker-1:F!-1", "Created Running- Failed PS=0/0/0 Worker=0/0/1 !TFJobFailed" },
		{ TF(PS("OnFailure")), RUNS, "ps-0:R worker-0:R worker-1:F", "Created Restarting PS=1/0/0 Worker=1/0/1 !ExitedWithCode !TFJobRestarting" },
		{ TF(PS("Always")), RUNS, "ps-0:R worker-0:R worker-1:F!-1", "Created Restarting PS=1/0/0 Worker=1/0/1 !TFJobRestarting" },
		/* exit codes of v1: 128 and above */
		{ TF(PS("ExitCode")), RUNS, "ps-0:R worker-0:R worker-1:F!1", "Created Running- Failed PS=0/0/0 Worker=0/0/1 !ExitedWithCode !TFJobFailed" },
		{ TF(PS("ExitCode")), RUNS, "ps-0:R worker-0:R worker-1:F!127", "Created Running- Failed PS=0/0/0 Worker=0/0/1 !ExitedWithCode !TFJobFailed" },
		{ TF(PS("ExitCode")), RUNS, "ps-0:R worker-0:R worker-1:F!128", "Created Restarting PS=1/0/0 Worker=1/0/1 !ExitedWithCode !TFJobRestarting" },
		{ TF(PS("ExitCode")), RUNS, "ps-0:R worker-0:R worker-1:F!139", "Created Restarting PS=1/0/0 Worker=1/0/1 !ExitedWithCode !TFJobRestarting" },
		{ TF(PS("ExitCode")), RUNS, "ps-0:R worker-0:R worker-1:F!255", "Created Restarting PS=1/0/0 Worker=1/0/1 !ExitedWithCode !TFJobRestarting" },
		{ TF(PS("ExitCode")), RUNS, "ps-0:R worker-0:R worker-1:F!-1", "Created Restarting PS=1/0/0 Worker=1/0/1 !TFJobRestarting" },
		{ TF(PS("ExitCode")), RUNS, "ps-0:R worker-0:R worker-1:Fi!1", "Created Running- Failed PS=0/0/0 Worker=0/0/1 !ExitedWithCode !TFJobFailed" },
		{ TF(PS("ExitCode")), RUNS, "ps-0:R worker-0:R worker-1:Fi!137", "Created Restarting PS=1/0/0 Worker=1/0/1 !ExitedWithCode !TFJobRestarting" },
		/* workers that come and go */
		{ "'enableDynamicWorker':true," TF(PS("Never")), RUNS, "ps-0:R worker-0:R worker-1:F", "Created Running PS=1/0/0 Worker=1/0/1" },
		{ "'enableDynamicWorker':true," TF(PS("Never")), RUNS, "ps-0:R worker-0:F worker-1:F", "Created Running- Failed PS=0/0/0 Worker=0/0/2 !ExitedWithCode !TFJobFailed" },
		{ "'enableDynamicWorker':true," TF(PS("Never")), RUNS, "ps-0:F worker-0:R worker-1:R", "Created Running- Failed PS=0/0/1 Worker=0/0/0 !ExitedWithCode !TFJobFailed" },
		/* once counted, the pod goes, and another comes when it is gone */
		{ TF(PS("OnFailure")), RESTARTS("'replicas':{'worker-1':{'restarts':1}}"), "ps-0:R worker-0:R worker-1:F", "-worker-1 Created Restarting PS=1/0/0 Worker=1/0/0" },
		{ TF(PS("OnFailure")), RESTARTS("'replicas':{'worker-1':{'restarts':1}}"), "ps-0:R worker-0:R worker-1:Fx", "Created Restarting PS=1/0/0 Worker=1/0/0" },
		{ TF(PS("OnFailure")), RESTARTS("'replicas':{'worker-1':{'restarts':1}}"), "ps-0:R worker-0:R", "+worker-1#1 Created Restarting PS=1/0/0 Worker=1/0/0" },
		/* a success counts for the run that it was */
		{ TF(PS("OnFailure")), RESTARTS("'replicas':{'worker-1':{'restarts':1,'succeeded':true,'run':0}}"), "ps-0:R worker-0:R", "+worker-1#1 Created Restarting PS=1/0/0 Worker=1/0/0" },
		{ TF(PS("OnFailure")), RESTARTS("'replicas':{'worker-1':{'restarts':1,'succeeded':true,'run':1}}"), "ps-0:R worker-0:R", "Created Running PS=1/0/0 Worker=1/1/0 !TFJobRunning" },
		{ TF(PS("OnFailure")), RESTARTS("'replicas':{'worker-1':{'restarts':1}}"), "ps-0:R worker-0:R worker-1:P#1", "Created Restarting PS=1/0/0 Worker=1/0/0" },
		{ TF(PS("OnFailure")), RESTARTS("'replicas':{'worker-1':{'restarts':1}}"), "ps-0:R worker-0:R worker-1:R#1", "Created Running PS=1/0/0 Worker=2/0/0 !TFJobRunning" },
		/* restarted in place, it is not at work meanwhile */
		{ TF(PS("OnFailure")), RUNS, "ps-0:R worker-0:R worker-1:R*2c", "Created Restarting PS=1/0/0 Worker=1/0/1 !ExitedWithCode !TFJobRestarting" },
		{ TF(PS("OnFailure")), RUNS, "ps-0:R worker-0:R worker-1:Pci", "Created Restarting PS=1/0/0 Worker=1/0/1 !ExitedWithCode !TFJobRestarting" },
		{ TF(PS("OnFailure")), RESTARTS("'replicas':{}"), "ps-0:R worker-0:R worker-1:R*3c", "Created Restarting PS=1/0/0 Worker=1/0/1" },
		{ TF(PS("OnFailure")), RESTARTS("'replicas':{}"), "ps-0:R worker-0:R worker-1:R*4", "Created Running PS=1/0/0 Worker=2/0/0 !TFJobRunning" },
		/* the next time it waits a little */
		{ TF(PS("OnFailure")), RESTARTS("'replicas':{'worker-1':{'restarts':5}}"), "ps-0:R worker-0:R", "Created Restarting PS=1/0/0 Worker=1/0/0" },
		/* clang-format on */
	};
	static const struct row v1alpha2[] = {
		/* clang-format off */
		{ TF(PS("ExitCode")), RUNS, "ps-0:R worker-0:R worker-1:F!130", "Created Restarting PS=1/0/0 Worker=1/0/1 !ExitedWithCode !TFJobRestarting" },
		{ TF(PS("ExitCode")), RUNS, "ps-0:R worker-0:R worker-1:F!137", "Created Restarting PS=1/0/0 Worker=1/0/1 !ExitedWithCode !TFJobRestarting" },
		{ TF(PS("ExitCode")), RUNS, "ps-0:R worker-0:R worker-1:F!138", "Created Restarting PS=1/0/0 Worker=1/0/1 !ExitedWithCode !TFJobRestarting" },
		{ TF(PS("ExitCode")), RUNS, "ps-0:R worker-0:R worker-1:F!143", "Created Restarting PS=1/0/0 Worker=1/0/1 !ExitedWithCode !TFJobRestarting" },
		{ TF(PS("ExitCode")), RUNS, "ps-0:R worker-0:R worker-1:F!139", "Created Running- Failed PS=0/0/0 Worker=0/0/1 !ExitedWithCode !TFJobFailed" },
		{ TF(PS("ExitCode")), RUNS, "ps-0:R worker-0:R worker-1:F!128", "Created Running- Failed PS=0/0/0 Worker=0/0/1 !ExitedWithCode !TFJobFailed" },
		{ TF(PS("ExitCode")), RUNS, "ps-0:R worker-0:R worker-1:F!1", "Created Running- Failed PS=0/0/0 Worker=0/0/1 !ExitedWithCode !TFJobFailed" },
		/* a Master decides here too */
		{ TF(TF_ROLE("Master", 1, "Never") "," PS("Never")), RUNS, "master-0:S ps-0:R worker-0:R worker-1:R", "Created Running- Succeeded Master=0/1/0 PS=0/1/0 Worker=0/2/0 !TFJobSucceeded" },
		/* clang-format on */
	};
	static const struct row torch[] = {
		/* clang-format off */
		{ TORCH("Never"), PRUNS, "master-0:R worker-0:F worker-1:R", "Created Running- Failed Master=0/0/0 Worker=0/0/1 !ExitedWithCode !PyTorchJobFailed" },
		{ TORCH("OnFailure"), PRUNS, "master-0:F worker-0:R worker-1:R", "Created Restarting Master=0/0/1 Worker=2/0/0 !ExitedWithCode !PyTorchJobRestarting" },
		/* clang-format on */
	};

	check_rows("TFJob", NULL, v1, ARRAY_SIZE(v1));
	check_rows("TFJob", "kubeflow.org/v1alpha2", v1alpha2, ARRAY_SIZE(v1alpha2));
	check_rows("PyTorchJob", NULL, torch, ARRAY_SIZE(torch));
}

#define LIMIT(n_) "'runPolicy':{'backoffLimit':" #n_ "},"

TEST("the backoff limit counts new pods and restarts in place")
{
	static const struct row rows[] = {
		/* clang-format off */
		{ LIMIT(0) TF(PS("OnFailure")), RUNS, "ps-0:R worker-0:R worker-1:F", "Created Running- Failed PS=0/0/0 Worker=0/0/1 !ExitedWithCode !TFJobFailed" },
		{ LIMIT(1) TF(PS("OnFailure")), RUNS, "ps-0:R worker-0:R worker-1:F", "Created Restarting PS=1/0/0 Worker=1/0/1 !ExitedWithCode !TFJobRestarting" },
		{ LIMIT(1) TF(PS("OnFailure")), RUNS, "ps-0:R worker-0:F worker-1:F", "Created Running- Failed PS=0/0/0 Worker=0/0/2 !ExitedWithCode !TFJobFailed" },
		{ LIMIT(2) TF(PS("ExitCode")), WITH("'replicas':{'worker-1':{'restarts':2}}"), "ps-0:R worker-0:R worker-1:F!137#2", "Created Running- Failed PS=0/0/0 Worker=0/0/1 !ExitedWithCode !TFJobFailed" },
		{ LIMIT(2) TF(PS("ExitCode")), WITH("'replicas':{'worker-0':{'restarts':1},'worker-1':{'restarts':1}}"), "ps-0:R worker-0:R#1 worker-1:F!137#1", "Created Running- Failed PS=0/0/0 Worker=0/0/1 !ExitedWithCode !TFJobFailed" },
		{ LIMIT(0) TF(PS("OnFailure")), RUNS, "ps-0:R worker-0:R worker-1:R*1", "Created Running- Failed PS=0/0/0 Worker=0/0/1 !ExitedWithCode !TFJobFailed" },
		{ LIMIT(3) TF(PS("OnFailure")), RUNS, "ps-0:R worker-0:R*1 worker-1:R*1", "Created Running PS=1/0/0 Worker=2/0/0" },
		{ LIMIT(3) TF(PS("OnFailure")), RUNS, "ps-0:R worker-0:R*1 worker-1:R*2", "Created Running PS=1/0/0 Worker=2/0/0" },
		{ LIMIT(3) TF(PS("OnFailure")), RUNS, "ps-0:R worker-0:R*1 worker-1:R*2c", "Created Running- Failed PS=0/0/0 Worker=0/0/1 !ExitedWithCode !TFJobFailed" },
		{ LIMIT(3) TF(PS("OnFailure")), RUNS, "ps-0:R worker-0:R*1 worker-1:R*3", "Created Running- Failed PS=0/0/0 Worker=0/0/1 !ExitedWithCode !TFJobFailed" },
		{ LIMIT(0) TF(PS("OnFailure")), RUNS, "ps-0:R worker-0:R worker-1:Rc", "Created Running- Failed PS=0/0/0 Worker=0/0/1 !ExitedWithCode !TFJobFailed" },
		/* a pod that is lost takes its restarts with it */
		{ LIMIT(3) TF(PS("OnFailure")), RUNS, "ps-0:R worker-0:R worker-1:F!-1*2", "Created Restarting PS=1/0/0 Worker=1/0/1 !TFJobRestarting" },
		{ LIMIT(3) TF(PS("OnFailure")), RUNS, "ps-0:R worker-0:R worker-1:F!-1*3", "Created Running- Failed PS=0/0/0 Worker=0/0/1 !TFJobFailed" },
		{ LIMIT(3) TF(PS("OnFailure")), WITH("'replicas':{'worker-0':{'restarts':2}}"), "ps-0:R worker-0:R#2 worker-1:R*1", "Created Running PS=1/0/0 Worker=2/0/0" },
		{ LIMIT(3) TF(PS("OnFailure")), WITH("'replicas':{'worker-0':{'restarts':2}}"), "ps-0:R worker-0:R#2 worker-1:R*1c", "Created Running- Failed PS=0/0/0 Worker=0/0/1 !ExitedWithCode !TFJobFailed" },
		{ LIMIT(3) TF(PS("OnFailure")), WITH("'replicas':{'worker-0':{'restarts':3}}"), "ps-0:R worker-0:R#3 worker-1:R", "Created Running PS=1/0/0 Worker=2/0/0" },
		/* clang-format on */
	};

	check_rows("TFJob", NULL, rows, ARRAY_SIZE(rows));
}

TEST("the exit code that ended a job is remembered")
{
	static const struct row rows[] = {
		/* clang-format off */
		{ TF(PS("Never")), RUNS, "ps-0:R worker-0:R worker-1:F!3", NULL },
		{ LIMIT(0) TF(PS("OnFailure")), RUNS, "ps-0:R worker-0:R worker-1:R*1!3", NULL },
		{ LIMIT(0) TF(PS("ExitCode")), RUNS, "ps-0:R worker-0:R worker-1:F!131", NULL },
		/* clang-format on */
	};
	static const int codes[] = { 3, 3, 131 };

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct scene s;
		struct training_plan p = plan_of(&s, "TFJob", NULL, &rows[i]);

		CHECK_INT(jsonx_int_or(p.status, "replicas.worker-1.exitCode", -1), codes[i]);
		training_plan_done(&p);
		scene_done(&s);
	}
}

TEST("a gang restarts together")
{
	static const struct row rows[] = {
		/* clang-format off */
		{ TF(PS("OnFailure")), RUNS, "gang ps-0:R worker-0:R worker-1:F", "Created Restarting PS=1/0/0 Worker=1/0/1 !ExitedWithCode !TFJobRestarting" },
		/* counted: all go, and none comes before all have gone */
		{ TF(PS("OnFailure")), RESTARTS("'gangRestarts':1"), "gang ps-0:R worker-0:R worker-1:F", "-ps-0 -worker-0 -worker-1 Created Restarting PS=0/0/0 Worker=0/0/0" },
		{ TF(PS("OnFailure")), RESTARTS("'gangRestarts':1"), "gang ps-0:Rx", "Created Restarting PS=0/0/0 Worker=0/0/0" },
		{ TF(PS("OnFailure")), RESTARTS("'gangRestarts':1"), "gang", "+ps-0#1 +worker-0#1 +worker-1#1 Created Restarting PS=0/0/0 Worker=0/0/0" },
		{ TF(PS("OnFailure")), RESTARTS("'gangRestarts':1"), "gang ps-0:R#1 worker-0:R#1 worker-1:P#1", "Created Restarting PS=1/0/0 Worker=1/0/0" },
		{ TF(PS("OnFailure")), RESTARTS("'gangRestarts':1"), "gang ps-0:R#1 worker-0:R#1 worker-1:R#1", "Created Running PS=1/0/0 Worker=2/0/0 !TFJobRunning" },
		/* also when a pod is taken from it */
		{ TF(PS("OnFailure")), RUNS, "gang ps-0:R worker-0:R worker-1:Rx", "Created Restarting PS=1/0/0 Worker=1/0/1 !TFJobRestarting" },
		/* but not what is not to be tried again */
		{ TF(PS("Never")), RUNS, "gang ps-0:R worker-0:R worker-1:F", "Created Running- Failed PS=0/0/0 Worker=0/0/1 !ExitedWithCode !TFJobFailed" },
		{ TF(PS("ExitCode")), RUNS, "gang ps-0:R worker-0:R worker-1:F!3", "Created Running- Failed PS=0/0/0 Worker=0/0/1 !ExitedWithCode !TFJobFailed" },
		/* two that fail at once are one restart */
		{ LIMIT(1) TF(PS("OnFailure")), RUNS, "gang ps-0:R worker-0:F worker-1:F", "Created Restarting PS=1/0/0 Worker=0/0/2 !ExitedWithCode !TFJobRestarting" },
		{ LIMIT(1) TF(PS("OnFailure")), WITH("'gangRestarts':1"), "gang ps-0:R#1 worker-0:F#1 worker-1:R#1", "Created Running- Failed PS=0/0/0 Worker=0/0/1 !ExitedWithCode !TFJobFailed" },
		/* clang-format on */
	};

	check_rows("TFJob", NULL, rows, ARRAY_SIZE(rows));
}

TEST("a job hangs when nobody who runs does anything")
{
	static const struct row rows[] = {
		/* clang-format off */
		{ TF(PS("Never")), RUNS, "hang ps-0:Rq30 worker-0:Rq12 worker-1:Rq11", "Created Running- Failed PS=0/0/0 Worker=0/0/0 !TFJobHung" },
		{ TF(PS("Never")), RUNS, "hang ps-0:Rq30 worker-0:Rq12 worker-1:Rq10", "Created Running- Failed PS=0/0/0 Worker=0/0/0 !TFJobHung" },
		/* one who works is enough, and so is nobody's asking */
		{ TF(PS("Never")), RUNS, "hang ps-0:Rq30 worker-0:Rq12 worker-1:R", "Created Running PS=1/0/0 Worker=2/0/0" },
		{ TF(PS("Never")), RUNS, "ps-0:Rq30 worker-0:Rq12 worker-1:Rq11", "Created Running PS=1/0/0 Worker=2/0/0" },
		/* the job has more patience than when its pods were made */
		{ TF(PS("Never")), RUNS, "hang ps-0:Rq30 worker-0:Rq12 worker-1:Rq4", "Created Running PS=1/0/0 Worker=2/0/0" },
		/* those who have ended, or have not begun, say nothing */
		{ TF(PS("Never")), RUNS, "hang ps-0:Rq30 worker-0:Rq12 worker-1:S", "Created Running- Failed PS=0/0/0 Worker=0/1/0 !TFJobHung" },
		{ TF(PS("Never")), RUNS, "hang ps-0:Rq30 worker-0:Rq12 worker-1:P", "Created Running- Failed PS=0/0/0 Worker=0/0/0 !TFJobHung" },
		{ TF(PS("Never")), BEGUN, "hang ps-0:P worker-0:P worker-1:P", "Created PS=0/0/0 Worker=0/0/0" },
		/* for one who is on his way the others may wait */
		{ TF(PS("Never")), RUNS, "hang ps-0:Rq30 worker-0:Rq12", "+worker-1 Created Running PS=1/0/0 Worker=1/0/0" },
		{ TF(PS("Never")), RUNS, "hang ps-0:Rq30 worker-0:Rq12 worker-1:Rxq30", "Created Running PS=1/0/0 Worker=1/0/1" },
		/* success comes first */
		{ TF(CHIEF("Never")), RUNS, "hang chief-0:S ps-0:Rq30 worker-0:Rq30 worker-1:Rq30", "Created Running- Succeeded Chief=0/1/0 PS=0/1/0 Worker=0/2/0 !TFJobSucceeded" },
		/* a gang is restarted, and that counts */
		{ TF(PS("Never")), RUNS, "gang hang ps-0:Rq30 worker-0:Rq12 worker-1:Rq11", "Created Restarting PS=1/0/0 Worker=2/0/0 !TFJobHung" },
		{ TF(PS("Never")), RESTARTS("'gangRestarts':1"), "gang hang ps-0:Rq30 worker-0:Rq12 worker-1:Rq11", "-ps-0 -worker-0 -worker-1 Created Restarting PS=0/0/0 Worker=0/0/0" },
		{ LIMIT(1) TF(PS("Never")), RUNS, "gang hang ps-0:Rq30 worker-0:Rq12 worker-1:Rq11", "Created Restarting PS=1/0/0 Worker=2/0/0 !TFJobHung" },
		{ LIMIT(1) TF(PS("Never")), WITH("'gangRestarts':1"), "gang hang ps-0:Rq30#1 worker-0:Rq12#1 worker-1:Rq11#1", "Created Running- Failed PS=0/0/0 Worker=0/0/0 !TFJobHung" },
		/* clang-format on */
	};
	struct row soon = { TF(PS("Never")), RUNS, "hang ps-0:Rq30 worker-0:Rq12 worker-1:Rq4", NULL };
	struct row late = { TF(PS("Never")), RUNS, "hang ps-0:Rq12 worker-0:Rq30 worker-1:Rq11", NULL };
	struct scene s;
	struct training_plan p;

	check_rows("TFJob", NULL, rows, ARRAY_SIZE(rows));
	p = plan_of(&s, "TFJob", NULL, &soon);
	CHECK_INT(p.again, 6);
	training_plan_done(&p);
	scene_done(&s);
	p = plan_of(&s, "TFJob", NULL, &late);
	CHECK_STR(p.events[0].message, "TFJob default/j has failed because it hangs. worker-0 was silent longest: no "
				       "output and no CPU use for 10s; its last line: step 4");
	training_plan_done(&p);
	scene_done(&s);
}

#define TARGET                                                                                                         \
	"{'startTime':'2001-09-09T01:46:00Z','conditions':[" C("Created") "," C(                                       \
		"Running") ",{'type':'FailureTarget',"                                                                 \
			   "'status':'True','reason':'GPUIdle','message':'ended by the policy of its queue: why'}]}"

TEST("a job that somebody decided to end fails for that reason, and makes no pods")
{
	struct row runs = { TF(PS("OnFailure")), TARGET, "gang ps-0:R worker-0:R worker-1:F1", NULL };
	struct scene s;
	struct training_plan p = plan_of(&s, "TFJob", NULL, &runs);

	CHECK_INT(p.npods, 0);
	CHECK_STR(p.events[0].reason, "TFJobGPUIdle");
	CHECK_STR(p.events[0].message, "TFJob default/j has failed. It was ended by the policy of its queue: why");
	CHECK_STR(jsonx_str(json_array_get(json_object_get(p.status, "conditions"), 3), "type"), "Failed");
	training_plan_done(&p);
	scene_done(&s);
}

#define CLEAN(p_) "'runPolicy':{'cleanPodPolicy':'" p_ "'},"

TEST("after the end all are stopped, and cleanPodPolicy decides about their pods")
{
	static const struct row rows[] = {
		/* clang-format off */
		{ CLEAN("None") TF(PS("Never")), ENDED, "ps-0:R worker-0:S worker-1:R", "~ps-0 ~worker-1" },
		{ CLEAN("None") TF(PS("Never")), ENDED, "ps-0:Rd worker-0:S worker-1:F", "" },
		{ CLEAN("None") TF(PS("Never")), ENDED, "ps-0:P worker-0:S worker-1:Pu", "-worker-1 ~ps-0" },
		{ CLEAN("Running") TF(PS("Never")), ENDED, "ps-0:R worker-0:S worker-1:P", "-ps-0 -worker-1 S-ps-0 S-worker-1" },
		{ CLEAN("Running") TF(PS("Never")), ENDED, "ps-0:Rx worker-0:S worker-1:F", "S-ps-0" },
		{ CLEAN("All") TF(PS("Never")), ENDED, "ps-0:R worker-0:S worker-1:R", "-ps-0 -worker-0 -worker-1 S-ps-0 S-worker-0 S-worker-1" },
		{ CLEAN("None") TF(PS("Never")), FAILED, "ps-0:R worker-0:F worker-1:R", "~ps-0 ~worker-1" },
		{ CLEAN("Running") TF(PS("Never")), FAILED, "ps-0:R worker-0:F worker-1:R", "-ps-0 -worker-1 S-ps-0 S-worker-1" },
		/* nobody is missed any more */
		{ CLEAN("None") TF(PS("Never")), ENDED, "noservices", "" },
		/* and in the end the job itself goes */
		{ "'runPolicy':{'cleanPodPolicy':'None','ttlSecondsAfterFinished':100}," TF(PS("Never")), ENDED, "noservices", "" },
		{ "'runPolicy':{'cleanPodPolicy':'None','ttlSecondsAfterFinished':10}," TF(PS("Never")), ENDED, "noservices", "expired" },
		{ "'cleanPodPolicy':'None','ttlSecondsAfterFinished':0," TF(PS("Never")), ENDED, "noservices", "expired" },
		/* clang-format on */
	};

	check_rows("TFJob", NULL, rows, ARRAY_SIZE(rows));
}

#define SUSPEND "'runPolicy':{'suspend':true},"

TEST("suspended, resumed, late")
{
	static const struct row rows[] = {
		/* clang-format off */
		{ SUSPEND TF(PS("Never")), "", "noservices", "Created Suspended !TFJobCreated !TFJobSuspended" },
		{ SUSPEND TF(PS("Never")), RUNS, "ps-0:R worker-0:R", "-ps-0 -worker-0 S-ps-0 S-worker-0 S-worker-1 Created Running- Suspended !TFJobSuspended" },
		{ SUSPEND TF(PS("Never")), "{'conditions':[" C("Created") "," C("Suspended") "]}", "noservices", "" },
		{ TF(PS("Never")), "{'conditions':[" C("Created") "," C("Suspended") "]}", "", "+ps-0 +worker-0 +worker-1 Created Suspended- PS=0/0/0 Worker=0/0/0 !TFJobResumed" },
		{ "'activeDeadlineSeconds':50," TF(PS("Never")), RUNS, "ps-0:R worker-0:R worker-1:R", "Created Running PS=1/0/0 Worker=2/0/0" },
		{ "'activeDeadlineSeconds':40," TF(PS("Never")), RUNS, "ps-0:R worker-0:R worker-1:R", "Created Running- Failed PS=0/0/0 Worker=0/0/0 !TFJobFailed" },
		{ "'runPolicy':{'activeDeadlineSeconds':40}," TF(PS("Never")), RUNS, "ps-0:R worker-0:S worker-1:R", "Created Running- Succeeded PS=0/1/0 Worker=0/2/0 !TFJobSucceeded" },
		/* clang-format on */
	};

	check_rows("TFJob", NULL, rows, ARRAY_SIZE(rows));
}

TEST("MPI: the hostfile comes before the launcher, and the launcher decides")
{
	static const struct row rows[] = {
		/* clang-format off */
		{ "'mpiReplicaSpecs':{" MPI_ROLE("Launcher", 1, "Never") "," MPI_ROLE("Worker", 1, "Never") "}", "", "", "prepare Created Launcher=0/0/0 Worker=0/0/0 !MPIJobCreated" },
		{ "'mpiReplicaSpecs':{" MPI_ROLE("Launcher", 1, "Never") "," MPI_ROLE("Worker", 1, "Never") "}", "", "prepared", "+launcher-0 +worker-0 Created Launcher=0/0/0 Worker=0/0/0 !MPIJobCreated" },
		{ "'mpiReplicaSpecs':{" MPI_ROLE("Launcher", 1, "Never") "," MPI_ROLE("Worker", 1, "Never") "}", "", "prepared launcher-0:S worker-0:R", "Created Succeeded Launcher=0/1/0 Worker=0/1/0 !MPIJobCreated !MPIJobSucceeded" },
		/* clang-format on */
	};

	check_rows("MPIJob", NULL, rows, ARRAY_SIZE(rows));
}

static void check_words(const char *kind, const char *version, const struct row *r, const char *path,
			const char *wanted)
{
	struct scene s;
	struct training_plan p = plan_of(&s, kind, version, r);
	const json_t *conditions = json_object_get(p.status, "conditions");
	const json_t *last = json_array_get(conditions, json_array_size(conditions) - 1);

	CHECK_STR(jsonx_str(str_starts(path, "status.") ? p.status : last,
			    str_starts(path, "status.") ? path + strlen("status.") : path),
		  wanted);
	training_plan_done(&p);
	scene_done(&s);
}

TEST("messages are the operators' own, and say whose fault it was")
{
	static const struct {
		const char *kind, *version;
		struct row row;
		const char *wanted;
	} rows[] = {
		/* clang-format off */
		{ "TFJob", NULL, { TF(PS("Never")), "", "", NULL }, "TFJob default/j is created." },
		{ "TFJob", NULL, { TF(PS("Never")), RUNS, "worker-0:S", NULL }, "TFJob default/j successfully completed." },
		{ "TFJob", NULL, { TF(PS("Never")), RUNS, "ps-0:F!3", NULL }, "TFJob default/j has failed because 1 PS replica(s) failed. ps-0 exited with code 3; its last lines: one\ntwo" },
		{ "TFJob", NULL, { TF(PS("ExitCode")), RUNS, "ps-0:Fi!1", NULL }, "TFJob default/j has failed because 1 PS replica(s) failed. ps-0's init container fetch exited with code 1; its last lines: one\ntwo" },
		{ "TFJob", NULL, { TF(PS("Never")), RUNS, "ps-0:F!-1", NULL }, "TFJob default/j has failed because 1 PS replica(s) failed. ps-0 was ended: Evicted: no memory" },
		{ "TFJob", NULL, { LIMIT(0) TF(PS("ExitCode")), RUNS, "ps-0:F!137", NULL }, "Job j has failed because it has reached the specified backoff limit. ps-0 exited with code 137; its last lines: one\ntwo" },
		{ "PyTorchJob", NULL, { LIMIT(2) TORCH("OnFailure"), PRUNS, "master-0:R worker-0:R worker-1:R*2c!3", NULL }, "Job j has failed because it has reached the specified backoff limit. worker-1 exited with code 3; its last lines: one\ntwo" },
		{ "PyTorchJob", NULL, { LIMIT(0) TORCH("OnFailure"), PRUNS, "master-0:R worker-0:R worker-1:R*1!4", NULL }, "Job j has failed because it has reached the specified backoff limit. worker-1 exited with code 4; its last lines: one\ntwo" },
		{ "PyTorchJob", NULL, { LIMIT(0) TORCH("OnFailure"), PRUNS, "master-0:R worker-0:R worker-1:Pci!4", NULL }, "Job j has failed because it has reached the specified backoff limit. worker-1's init container fetch exited with code 4; its last lines: one\ntwo" },
		{ "PyTorchJob", NULL, { LIMIT(0) TORCH("Always"), PRUNS, "master-0:R worker-0:R worker-1:R*1!0", NULL }, "Job j has failed because it has reached the specified backoff limit. worker-1 exited with code 0" },
		{ "TFJob", NULL, { "'activeDeadlineSeconds':1," TF(PS("Never")), RUNS, "ps-0:R", NULL }, "Job j has failed because it was active longer than specified deadline" },
		{ "TFJob", "kubeflow.org/v1alpha2", { TF(PS("Never")), RUNS, "worker-0:S", NULL }, "TFJob j is successfully completed." },
		{ "TFJob", "kubeflow.org/v1alpha2", { TF(PS("Never")), RUNS, "ps-0:F!3", NULL }, "TFJob j is failed. ps-0 exited with code 3; its last lines: one\ntwo" },
		{ "TFJob", "kubeflow.org/v1alpha2", { TF(PS("ExitCode")), RUNS, "ps-0:F!137", NULL }, "TFJob j is restarting. ps-0 exited with code 137; its last lines: one\ntwo" },
		{ "PyTorchJob", NULL, { TORCH("Never"), PRUNS, "master-0:S", NULL }, "PyTorchJob j is successfully completed." },
		{ "PyTorchJob", NULL, { TORCH("Never"), PRUNS, "worker-1:F!2", NULL }, "PyTorchJob j is failed because 1 Worker replica(s) failed. worker-1 exited with code 2; its last lines: one\ntwo" },
		{ "PyTorchJob", NULL, { TORCH("OnFailure"), PRUNS, "worker-1:F!2", NULL }, "PyTorchJob j is restarting because 1 Worker replica(s) failed. worker-1 exited with code 2; its last lines: one\ntwo" },
		/* clang-format on */
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		check_words(rows[i].kind, rows[i].version, &rows[i].row, "message", rows[i].wanted);
}

TEST("v1alpha1 says it in one word, and replaces who failed but for the master")
{
	static const struct {
		struct row row;
		const char *path, *wanted;
	} rows[] = {
		/* clang-format off */
		{ { OLD_TORCH(2), "", "", NULL }, "status.phase", "Creating" },
		{ { OLD_TORCH(2), "", "", NULL }, "status.state", "Unknown" },
		{ { OLD_TORCH(2), PRUNS, "master-0:R worker-0:R", NULL }, "status.state", "Running" },
		{ { OLD_TORCH(2), PRUNS, "master-0:S worker-0:R", NULL }, "status.state", "Succeeded" },
		{ { OLD_TORCH(2), PRUNS, "master-0:S worker-0:R", NULL }, "status.phase", "Done" },
		{ { OLD_TORCH(2), PRUNS, "master-0:F!4 worker-0:R", NULL }, "status.state", "Failed" },
		{ { OLD_TORCH(2), PRUNS, "master-0:F!4 worker-0:R", NULL }, "status.reason", "PyTorchJob j is failed. master-0 exited with code 4; its last lines: one\ntwo" },
		{ { OLD_TORCH(2), PRUNS, "master-0:R worker-0:F", NULL }, "type", "Restarting" },
		/* clang-format on */
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		check_words("PyTorchJob", "kubeflow.org/v1alpha1", &rows[i].row, rows[i].path, rows[i].wanted);
}

TEST("v1alpha2 has its counters under its own name too")
{
	struct row r = { TF(PS("Never")), RUNS, "ps-0:R worker-0:R worker-1:R", NULL };
	struct scene s;
	struct training_plan p = plan_of(&s, "TFJob", "kubeflow.org/v1alpha2", &r);

	CHECK_INT(jsonx_int_or(p.status, "tfReplicaStatuses.Worker.active", 0), 2);
	CHECK_STR(jsonx_str(p.status, "replicaStatuses.Worker.selector"),
		  "training.kubeflow.org/job-name=j,training.kubeflow.org/operator-name=tfjob-controller,"
		  "training.kubeflow.org/replica-type=worker");
	training_plan_done(&p);
	scene_done(&s);
}
