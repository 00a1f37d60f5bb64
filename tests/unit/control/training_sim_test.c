// SPDX-License-Identifier: Apache-2.0
/* A small world in which a controller of training jobs is killed after any of its writes, while pods end by chance.
 *
 * The world keeps its own books: which replica succeeded, how often each was started and how often it failed.  Whatever
 * happened on the way, nobody who has succeeded is started again, nobody runs twice at a time, every failure that is
 * tried again is counted once, and when the job has ended nobody is left running.
 */
#include "base/clock.h"
#include "control/training_plan.h"
#include "control/training_sample.h"

#define MAX_PODS 300
#define RUNS     30

struct sim_pod {
	json_t *obj;
	bool gone;
	bool taken; /* somebody deleted it while it ran */
};

struct world {
	unsigned seed;
	int64_t now;
	const char *kind;
	json_t *job, *services;
	struct sim_pod pods[MAX_PODS];
	size_t n;
	int fails; /* of 10 pods that end */
	int taken; /* of 100 moments, those in which somebody deletes a pod */
	bool gang;
	json_t *done; /* replicas that succeeded */
	const char *broken;
};

static unsigned dice(struct world *w, unsigned sides)
{
	return (unsigned)rand_r(&w->seed) % sides;
}

static bool in_phase(const json_t *pod, const char *phase)
{
	return streq(jsonx_str_or(pod, "status.phase", ""), phase);
}

static bool has_ended(const json_t *pod)
{
	return in_phase(pod, "Succeeded") || in_phase(pod, "Failed");
}

static void set_time(struct world *w, json_t *obj, const char *path)
{
	char text[CLOCK_RFC3339_LEN];

	clock_rfc3339(w->now, text);
	jsonx_set_new(obj, path, json_string(text));
}

static char *replica_name(const json_t *pod)
{
	const json_t *labels = jsonx_at(pod, "metadata.labels");

	return xasprintf("%s-%s", json_string_value(json_object_get(labels, LABEL_TRAINING_TYPE)),
			 json_string_value(json_object_get(labels, LABEL_TRAINING_INDEX)));
}

/* ---- the API ---- */

static bool has_service(const struct world *w, const char *name)
{
	json_t *s;
	size_t i;

	json_array_foreach (w->services, i, s)
		if (str_same(jsonx_str(s, "metadata.name"), name))
			return true;
	return false;
}

static void do_create(struct world *w, const struct training_job *j, const struct training_piece *p)
{
	json_t *pod = training_pod(j, p->role, p->index, p->attempt);
	auto_free char *host = training_host(j, p->role, p->index);
	auto_free char *name = replica_name(pod);

	for (size_t i = 0; i < w->n; i++) {
		auto_free char *other = replica_name(w->pods[i].obj);

		if (!w->pods[i].gone && streq(other, name))
			w->broken = "a replica ran twice at a time";
	}
	if (!has_service(w, host))
		w->broken = "a pod came before its name";
	if (json_object_get(w->done, name) && (!w->gang || jsonx_int_or(w->done, name, -1) == p->attempt))
		w->broken = "a replica that had succeeded was started again";
	if (training_finished(w->job))
		w->broken = "a pod came after the end";
	if (w->n == MAX_PODS) {
		json_decref(pod);
		return;
	}
	jsonx_set_new(pod, "metadata.uid", jsonx_stringf("pod-%zu", w->n));
	jsonx_set_new(pod, "status", json_pack("{s:s}", "phase", "Pending"));
	set_time(w, pod, "metadata.creationTimestamp");
	w->pods[w->n++] = (struct sim_pod){ .obj = pod };
}

static struct sim_pod *find_pod(struct world *w, const char *uid)
{
	for (size_t i = 0; i < w->n; i++)
		if (streq(jsonx_str(w->pods[i].obj, "metadata.uid"), uid))
			return &w->pods[i];
	return NULL;
}

static void do_delete(struct world *w, struct sim_pod *p)
{
	if (!jsonx_at(p->obj, "metadata.deletionTimestamp"))
		set_time(w, p->obj, "metadata.deletionTimestamp");
	p->gone = has_ended(p->obj);
}

static void do_drop(struct world *w, const json_t *service)
{
	json_t *s;
	size_t i;

	json_array_foreach (w->services, i, s)
		if (str_same(jsonx_str(s, "metadata.name"), jsonx_str(service, "metadata.name"))) {
			json_array_remove(w->services, i);
			return;
		}
}

/* All writes of a plan in order, or only the first `most` of them. */
static void apply(struct world *w, const struct training_job *j, const struct training_plan *p, size_t most)
{
	size_t done = 0;

	for (size_t i = 0; i < p->nservices && done++ < most; i++)
		json_array_append_new(w->services, training_service(j, p->services[i].role, p->services[i].index));
	for (size_t i = 0; i < p->npods && done++ < most; i++)
		do_create(w, j, &p->pods[i]);
	for (size_t i = 0; i < p->nremove && done++ < most; i++)
		do_delete(w, find_pod(w, p->remove[i]->uid));
	for (size_t i = 0; i < p->nstop && done++ < most; i++)
		jsonx_set_new(find_pod(w, p->stop[i]->uid)->obj, "spec.activeDeadlineSeconds", json_integer(1));
	for (size_t i = 0; i < p->ndrop && done++ < most; i++)
		do_drop(w, p->drop[i]);
	if (p->status && done++ < most)
		json_object_set(w->job, "status", p->status);
}

static size_t writes_in(const struct training_plan *p)
{
	return p->nservices + p->npods + p->nremove + p->nstop + p->ndrop + (p->status != NULL);
}

/* Returns false if there was nothing to do. */
static bool control(struct world *w, bool crash)
{
	json_auto_t *seen = jsonx_copy(w->job); /* the plan must not see its own writes */
	json_auto_t *services = jsonx_copy(w->services);
	json_auto_t *copies = json_array();
	struct pod_facts facts[MAX_PODS];
	const struct pod_facts *pods[MAX_PODS];
	const json_t *names[MAX_PODS];
	struct training_job j = training_job(training_form(w->kind, seen), seen);
	struct training_view v = { .job = &j, .pods = pods, .services = names, .now = w->now, .create_most = 100 };
	struct training_plan p;
	size_t writes;

	for (size_t i = 0; i < w->n; i++)
		if (!w->pods[i].gone) {
			json_t *copy = jsonx_copy(w->pods[i].obj);

			json_array_append_new(copies, copy);
			facts[v.n] = pod_facts(copy);
			pods[v.n] = &facts[v.n];
			v.n++;
		}
	for (; v.nservices < json_array_size(services); v.nservices++)
		names[v.nservices] = json_array_get(services, v.nservices);
	training_plan(&v, &p);
	writes = writes_in(&p);
	apply(w, &j, &p, crash ? dice(w, (unsigned)writes + 1) : writes + 1);
	w->now += p.again > 0 && !writes ? p.again : 1;
	training_plan_done(&p);
	training_job_done(&j);
	return writes > 0;
}

/* ---- the pods ---- */

static void end_pod(struct world *w, struct sim_pod *p, int code)
{
	json_t *state = json_pack("{s:s, s:{s:{s:i}}}", "name", "pytorch", "state", "terminated", "exitCode", code);
	auto_free char *name = replica_name(p->obj);
	const json_t *notes = jsonx_at(p->obj, "metadata.annotations");
	const char *attempt = json_string_value(json_object_get(notes, TRAINING_ATTEMPT));

	set_time(w, state, "state.terminated.finishedAt");
	jsonx_set_new(p->obj, "status.phase", json_string(code ? "Failed" : "Succeeded"));
	jsonx_set_new(p->obj, "status.containerStatuses", json_pack("[o]", state));
	if (!code)
		json_object_set_new(w->done, name, json_integer(attempt ? strtol(attempt, NULL, 10) : 0));
}

static void live(struct world *w)
{
	struct sim_pod *p = w->n ? &w->pods[dice(w, (unsigned)w->n)] : NULL;

	if (!p || p->gone)
		return;
	if (jsonx_at(p->obj, "metadata.deletionTimestamp")) {
		if (!has_ended(p->obj))
			end_pod(w, p, 143);
		p->gone = true;
	} else if (has_ended(p->obj)) {
		return;
	} else if (jsonx_int_or(p->obj, "spec.activeDeadlineSeconds", 0)) {
		end_pod(w, p, 137);
	} else if (in_phase(p->obj, "Pending")) {
		jsonx_set_new(p->obj, "spec.nodeName", json_string("box"));
		jsonx_set_new(p->obj, "status.phase", json_string("Running"));
	} else if ((int)dice(w, 100) < w->taken) {
		p->taken = true;
		do_delete(w, p);
	} else if (dice(w, 3) == 0) {
		end_pod(w, p, (int)dice(w, 10) < w->fails ? 137 : 0);
	}
}

static struct world run(const char *kind, const char *spec, unsigned seed, int fails, int taken, bool gang)
{
	struct world w = {
		.seed = seed, .now = 1000000000, .kind = kind, .fails = fails, .taken = taken, .gang = gang
	};
	int quiet = 0;

	w.job = sample_job("j", NULL, spec);
	w.services = json_array();
	w.done = json_object();
	if (gang)
		jsonx_set_new(w.job, "metadata.annotations", json_pack("{s:s}", TRAINING_RESTART, "gang"));
	for (int step = 0; step < 20000 && !training_finished(w.job) && !w.broken; step++) {
		if (dice(&w, 2))
			live(&w);
		else
			control(&w, dice(&w, 2) == 0);
	}
	for (int step = 0; step < 20000 && quiet < 20 && !w.broken; step++) {
		for (size_t i = 0; i < 2 * w.n; i++)
			live(&w);
		quiet = control(&w, dice(&w, 2) == 0) ? 0 : quiet + 1;
	}
	return w;
}

static void end(struct world *w)
{
	for (size_t i = 0; i < w->n; i++)
		json_decref(w->pods[i].obj);
	json_decref(w->job);
	json_decref(w->services);
	json_decref(w->done);
}

/* Pods made beyond the first of each replica, but for those that somebody took away. */
static int64_t restarted(const struct world *w, int64_t replicas)
{
	int64_t n = (int64_t)w->n - replicas;

	for (size_t i = 0; i < w->n; i++)
		n -= w->pods[i].taken;
	return n;
}

static int64_t counted(const struct world *w)
{
	int64_t n = 0;
	const char *name;
	json_t *v;

	json_object_foreach (jsonx_at(w->job, "status.replicas"), name, v)
		n += jsonx_int_or(v, "restarts", 0);
	return n;
}

static void check_end(const struct world *w, unsigned seed, const char *type)
{
	int running = 0;

	for (size_t i = 0; i < w->n; i++)
		running += !w->pods[i].gone && !has_ended(w->pods[i].obj);
	if (w->broken || running || !str_same(jsonx_str(training_finished(w->job), "type"), type))
		test_fail(__FILE__, __LINE__, "seed %u: %s; %d are left running; it ended as %s", seed,
			  w->broken ? w->broken : "nothing broke", running,
			  jsonx_str_or(training_finished(w->job), "type", "nothing"));
}

#define TORCH(p_) "'pytorchReplicaSpecs':{" TORCH_ROLE("Master", 1, p_) "," TORCH_ROLE("Worker", 3, p_) "}"
#define ALL(p_)   "'pytorchReplicaSpecs':{" TORCH_ROLE("Worker", 4, p_) "}"

TEST("however often the controller is killed, a job of a master succeeds once and nobody is left running")
{
	for (unsigned seed = 1; seed <= RUNS; seed++) {
		struct world w = run("PyTorchJob", TORCH("OnFailure"), seed, (int)(seed % 6), 0, false);

		check_end(&w, seed, "Succeeded");
		CHECK(json_object_get(w.done, "master-0"));
		CHECK_INT(jsonx_int_or(w.job, "status.replicaStatuses.Master.succeeded", 0), 1);
		end(&w);
	}
}

TEST("where all decide, each success and each restart is counted once, whoever deletes pods meanwhile")
{
	for (unsigned seed = 1; seed <= RUNS; seed++) {
		struct world w = run("PyTorchJob", ALL("ExitCode"), seed, (int)(seed % 7), seed % 2 ? 5 : 0, false);

		check_end(&w, seed, "Succeeded");
		CHECK_INT(json_object_size(w.done), 4);
		CHECK_INT(jsonx_int_or(w.job, "status.replicaStatuses.Worker.succeeded", 0), 4);
		CHECK_INT(counted(&w), restarted(&w, 4));
		end(&w);
	}
}

TEST("a limit is reached after so many new pods, and not one later")
{
	for (unsigned seed = 1; seed <= RUNS; seed++) {
		struct world w =
			run("PyTorchJob", "'runPolicy':{'backoffLimit':3}," TORCH("OnFailure"), seed, 10, 0, false);

		check_end(&w, seed, "Failed");
		CHECK(counted(&w) <= 3);
		/* The last of them may not have come to it. */
		CHECK(counted(&w) - restarted(&w, 4) >= 0 && restarted(&w, 4) >= counted(&w) - 3);
		end(&w);
	}
}

TEST("a gang restarts whole")
{
	for (unsigned seed = 1; seed <= RUNS; seed++) {
		struct world w = run("PyTorchJob", ALL("OnFailure"), seed, (int)(seed % 4), 0, true);

		check_end(&w, seed, "Succeeded");
		CHECK_INT(w.n, 4 * (jsonx_int_or(w.job, "status.gangRestarts", 0) + 1));
		end(&w);
	}
}

TEST("a job that may not restart fails with its first failure")
{
	for (unsigned seed = 1; seed <= RUNS; seed++) {
		struct world w = run("PyTorchJob", "'runPolicy':{'cleanPodPolicy':'Running'}," TORCH("Never"), seed, 10,
				     0, false);

		check_end(&w, seed, "Failed");
		CHECK_INT(counted(&w), 0);
		CHECK(w.n <= 4);
		end(&w);
	}
}
