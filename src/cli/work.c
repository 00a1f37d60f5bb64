// SPDX-License-Identifier: Apache-2.0
/* work.c - see work.h
 *
 * The table at the end says for each kind which function reads its status.  What all share comes after: a deletion
 * under way, and what the pods can say about a wait or a failure that the object itself does not know.
 */
#include "cli/work.h"

#include <stdio.h>

#include "base/clock.h"
#include "base/jsonx.h"
#include "base/mem.h"
#include "kinds/condition.h"
#include "kinds/core.h"
#include "kinds/pod_templates.h"
#include "kinds/quantity.h"
#include "kinds/rest.h"
#include "kinds/workloads.h"

static const struct {
	const char *name;
	enum tint tint;
} phases[WORK__COUNT] = {
	[WORK_PENDING] = { "Pending", TINT_BUSY },
	[WORK_RUNNING] = { "Running", TINT_GOOD },
	[WORK_SUCCEEDED] = { "Succeeded", TINT_NONE },
	[WORK_FAILED] = { "Failed", TINT_BAD },
	[WORK_SUSPENDED] = { "Suspended", TINT_DIM },
	[WORK_SCHEDULED] = { "Scheduled", TINT_DIM },
	[WORK_STOPPED] = { "Stopped", TINT_DIM },
	[WORK_ENDING] = { "Ending", TINT_BUSY },
	[WORK_HELD] = { "Held", TINT_DIM },
};

const char *work_phase_name(enum work_phase p)
{
	return phases[p].name;
}

enum tint work_phase_tint(enum work_phase p)
{
	return phases[p].tint;
}

bool work_is_over(const struct work *w)
{
	return w->phase == WORK_SUCCEEDED || w->phase == WORK_FAILED;
}

static int64_t time_at(const json_t *obj, const char *path)
{
	int64_t us;

	return clock_parse_rfc3339(jsonx_str_or(obj, path, ""), &us) ? us / 1000000 : 0;
}

static void say(struct work *w, const char *reason, const char *message)
{
	bool both = *reason && *message;

	snprintf(w->reason, sizeof(w->reason), "%s%s%s", reason, both ? ": " : "", message);
}

static void say_condition(struct work *w, const json_t *obj, const char *type)
{
	const json_t *c = condition_of(obj, type);

	say(w, jsonx_str_or(c, "reason", ""), jsonx_str_or(c, "message", ""));
}

/* ---- pods ---- */

/* Calls for states that say nothing: every pod passes through them. */
static bool is_usual(const char *reason)
{
	return streq(reason, "ContainerCreating") || streq(reason, "PodInitializing");
}

static bool waits(const json_t *statuses, struct sbuf *out)
{
	json_t *s;
	size_t i;

	json_array_foreach ((json_t *)statuses, i, s) {
		const char *reason = jsonx_str_or(s, "state.waiting.reason", "");
		const char *message = jsonx_str_or(s, "state.waiting.message", "");

		if (!*reason || is_usual(reason))
			continue;
		sbuf_addf(out, "%s%s%s", reason, *message ? ": " : "", message);
		return true;
	}
	return false;
}

void work_pod_waits(const json_t *pod, struct sbuf *out)
{
	const json_t *placed = condition_of(pod, "PodScheduled");

	if (str_same(jsonx_str(placed, "status"), "False"))
		sbuf_adds(out, jsonx_str_or(placed, "message", jsonx_str_or(placed, "reason", "")));
	else if (!waits(jsonx_at(pod, "status.initContainerStatuses"), out))
		waits(jsonx_at(pod, "status.containerStatuses"), out);
}

/* The first container that failed. */
static const json_t *failed_container(const json_t *pod)
{
	static const char *const lists[] = { "status.initContainerStatuses", "status.containerStatuses" };

	for (size_t l = 0; l < ARRAY_SIZE(lists); l++) {
		json_t *s;
		size_t i;

		json_array_foreach (jsonx_at(pod, lists[l]), i, s) {
			const json_t *end = jsonx_at(s, "state.terminated");

			if (end && jsonx_int_or(end, "exitCode", 0) != 0)
				return end;
		}
	}
	return NULL;
}

/* What runtimes say of a command that they cannot execute, and what shells then end with. */
static const struct {
	const char *words;
	int status;
} start_errors[] = {
	{ "not found", 127 },         { "no such file", 127 },   { "permission denied", 126 },
	{ "exec format error", 126 }, { "is a directory", 126 }, { "operation not permitted", 126 },
};

const char *work_start_error(const json_t *pod)
{
	const json_t *end = failed_container(pod);
	const char *message = jsonx_str_or(end, "message", "");
	const char *why = strstr(message, "\": ");

	if (!str_same(jsonx_str(end, "reason"), "StartError"))
		return NULL;
	return str_starts(message, "failed to start container") && why ? why + 3 : message;
}

/* Other things than the command can keep a container from starting; the node's own number is right for those. */
static int start_status(const char *why, int otherwise)
{
	for (size_t i = 0; strcasestr(why, "exec") && i < ARRAY_SIZE(start_errors); i++)
		if (strcasestr(why, start_errors[i].words))
			return start_errors[i].status;
	return otherwise;
}

int work_exit_status(const json_t *pod)
{
	const char *phase = jsonx_str_or(pod, "status.phase", "");
	const char *why = work_start_error(pod);
	const json_t *end = failed_container(pod);
	int64_t code = jsonx_int_or(end, "exitCode", 1);

	if (why)
		code = start_status(why, (int)code);
	if (end)
		return code > 0 && code < 256 ? (int)code : 1;
	return streq(phase, "Succeeded") ? 0 : streq(phase, "Failed") ? 1 : -1;
}

static const char *memory_limit(const json_t *pod, const char *container)
{
	json_t *c;
	size_t i;

	json_array_foreach (jsonx_at(pod, "spec.containers"), i, c)
		if (str_same(jsonx_str(c, "name"), container))
			return jsonx_str(c, "resources.limits.memory");
	return NULL;
}

void work_out_of_memory(const json_t *pod, struct sbuf *out)
{
	json_t *s;
	size_t i;

	json_array_foreach (jsonx_at(pod, "status.containerStatuses"), i, s) {
		const char *limit = memory_limit(pod, jsonx_str_or(s, "name", ""));

		if (!str_same(jsonx_str(s, "state.terminated.reason"), "OOMKilled"))
			continue;
		sbuf_adds(out, "out of memory");
		if (limit)
			sbuf_addf(out, " (limit %s)", limit);
		return;
	}
}

/* Why it failed, in few words. */
static void pod_failure(const json_t *pod, struct sbuf *out)
{
	const char *reason = jsonx_str_or(pod, "status.reason", "");
	const char *message = jsonx_str_or(pod, "status.message", "");
	const json_t *end = failed_container(pod);
	const char *how = jsonx_str_or(end, "reason", "");
	const char *start = work_start_error(pod);
	int64_t code = jsonx_int_or(end, "exitCode", 0);

	if (*reason)
		sbuf_addf(out, "%s%s%s", reason, *message ? ": " : "", message);
	else if (start && *start)
		sbuf_addf(out, "could not start: %s", start);
	else if (end && *how && !streq(how, "Error"))
		sbuf_addf(out, "%s (exit status %lld)", how, (long long)code);
	else if (end && code > 128 && code <= 128 + 64)
		sbuf_addf(out, "exit status %lld (signal %lld)", (long long)code, (long long)code - 128);
	else if (end)
		sbuf_addf(out, "exit status %lld", (long long)code);
}

static int64_t pod_end(const json_t *pod)
{
	int64_t last = 0;
	json_t *s;
	size_t i;

	json_array_foreach (jsonx_at(pod, "status.containerStatuses"), i, s) {
		int64_t t = time_at(s, "state.terminated.finishedAt");

		last = t > last ? t : last;
	}
	return last;
}

static void read_pod(const json_t *pod, struct work *w)
{
	const char *phase = jsonx_str_or(pod, "status.phase", "Pending");
	auto_sbuf struct sbuf text = SBUF(WORK_REASON);

	w->wanted = 1;
	w->ready = condition_holds(pod, "Ready") || streq(phase, "Succeeded");
	w->started = time_at(pod, "status.startTime");
	w->phase = streq(phase, "Running")     ? WORK_RUNNING
		   : streq(phase, "Succeeded") ? WORK_SUCCEEDED
		   : streq(phase, "Failed")    ? WORK_FAILED
					       : WORK_PENDING;
	if (work_is_over(w))
		w->ended = pod_end(pod);
	if (w->phase == WORK_FAILED)
		pod_failure(pod, &text);
	else if (w->phase != WORK_SUCCEEDED)
		work_pod_waits(pod, &text);
	say(w, "", text.n ? text.p : "");
}

/* ---- jobs ---- */

static void read_job(const json_t *job, struct work *w)
{
	const json_t *failed = condition_of(job, "Failed");
	int64_t parallelism = jsonx_int_or(job, "spec.parallelism", 1);

	w->wanted = jsonx_int_or(job, "spec.completions", parallelism);
	w->ready = jsonx_int_or(job, "status.ready", 0) + jsonx_int_or(job, "status.succeeded", 0);
	w->started = time_at(job, "status.startTime");
	w->ended = time_at(job, "status.completionTime");
	if (condition_holds(job, "Complete")) {
		w->phase = WORK_SUCCEEDED;
	} else if (condition_holds(job, "Failed")) {
		w->phase = WORK_FAILED;
		w->ended = time_at(failed, "lastTransitionTime");
		say_condition(w, job, "Failed");
	} else if (jsonx_bool_or(job, "spec.suspend", false)) {
		w->phase = WORK_SUSPENDED;
	} else if (jsonx_at(job, "status.ready") ? jsonx_int_or(job, "status.ready", 0) > 0
						 : jsonx_int_or(job, "status.active", 0) > 0) {
		w->phase = WORK_RUNNING; /* before Kubernetes 1.24 nobody counts those that are ready */
	}
}

static void read_cron_job(const json_t *obj, struct work *w)
{
	bool active = json_array_size(jsonx_at(obj, "status.active")) > 0;

	w->wanted = -1; /* as many as there are */
	w->phase = active ? WORK_RUNNING : jsonx_bool_or(obj, "spec.suspend", false) ? WORK_SUSPENDED : WORK_SCHEDULED;
	if (w->phase == WORK_SCHEDULED)
		say(w, "", jsonx_str_or(obj, "spec.schedule", ""));
}

static const struct {
	const char *type;
	enum work_phase phase;
} training_phases[] = {
	{ "Succeeded", WORK_SUCCEEDED }, { "Failed", WORK_FAILED },   { "Suspended", WORK_SUSPENDED },
	{ "Restarting", WORK_PENDING },  { "Running", WORK_RUNNING },
};

/* Each part of the job with how many pods it has. */
static const json_t *replica_specs(const json_t *obj)
{
	const json_t *spec = json_object_get(obj, "spec");
	const char *key;
	json_t *v;

	json_object_foreach ((json_t *)spec, key, v)
		if (str_ends(key, "ReplicaSpecs") || streq(key, "replicaSpecs"))
			return v;
	return NULL;
}

/* Why an operator holds it back, whose pods are made only then: what follows after "waits: ", without the full stop. */
static void say_queued(struct work *w, const json_t *obj)
{
	const char *message = jsonx_str_or(condition_of(obj, "Queued"), "message", "");
	const char *at = strstr(message, " waits: ");
	size_t n;

	if (!condition_holds(obj, "Queued"))
		return;
	say(w, "", at ? at + strlen(" waits: ") : message);
	n = strlen(w->reason);
	if (n && w->reason[n - 1] == '.')
		w->reason[n - 1] = '\0';
}

static void read_training(const json_t *obj, struct work *w)
{
	const char *key;
	json_t *v;

	w->started = time_at(obj, "status.startTime");
	w->ended = time_at(obj, "status.completionTime");
	json_object_foreach ((json_t *)replica_specs(obj), key, v)
		w->wanted += jsonx_int_or(v, "replicas", 1);
	json_object_foreach (jsonx_at(obj, "status.replicaStatuses"), key, v)
		w->ready += jsonx_int_or(v, "active", 0) + jsonx_int_or(v, "succeeded", 0);
	for (size_t i = 0; i < ARRAY_SIZE(training_phases); i++) {
		if (!condition_holds(obj, training_phases[i].type))
			continue;
		w->phase = training_phases[i].phase;
		if (w->phase == WORK_FAILED || w->phase == WORK_PENDING)
			say_condition(w, obj, training_phases[i].type);
		return;
	}
	say_queued(w, obj);
}

/* Of a job's comment what its phase does not say: qstat shows the whole, also when the job has ended. */
static const char *pbs_reason(const char *comment)
{
	if (str_starts(comment, "Job started on "))
		return "";
	return comment + (str_starts(comment, "Not Running: ") ? strlen("Not Running: ") : 0);
}

static void read_pbs(const json_t *obj, struct work *w)
{
	char state = *jsonx_str_or(obj, "status.state", "Q");
	bool ran = jsonx_at(obj, "status.exitStatus") != NULL;
	int64_t status = jsonx_int_or(obj, "status.exitStatus", 0);
	const char *comment = pbs_reason(jsonx_str_or(obj, "status.comment", ""));

	w->wanted = -1;
	w->started = time_at(obj, "status.startTime");
	w->ended = time_at(obj, "status.completionTime");
	w->phase = state == 'C'                   ? (status || !ran ? WORK_FAILED : WORK_SUCCEEDED)
		   : state == 'R' || state == 'E' ? WORK_RUNNING
		   : state == 'H'                 ? WORK_HELD
		   : state == 'S'                 ? WORK_SUSPENDED
						  : WORK_PENDING;
	say(w, "", comment);
	if (w->phase == WORK_FAILED && ran)
		snprintf(w->reason, sizeof(w->reason), *comment ? "%s (exit status %lld)" : "%sexit status %lld",
			 comment, (long long)status);
}

static void read_build(const json_t *obj, struct work *w)
{
	const char *phase = jsonx_str_or(obj, "status.phase", "Pending");

	w->wanted = -1;
	w->started = time_at(obj, "status.startTime");
	w->ended = time_at(obj, "status.completionTime");
	for (enum work_phase p = WORK_PENDING; p <= WORK_FAILED; p++)
		if (streq(phases[p].name, phase))
			w->phase = p;
	say(w, "", jsonx_str_or(obj, "status.message", ""));
}

/* ---- what runs on and on ---- */

static void set_by_counts(struct work *w)
{
	w->phase = w->wanted == 0 ? WORK_STOPPED : w->ready >= w->wanted ? WORK_RUNNING : WORK_PENDING;
}

static void read_replicas(const json_t *obj, struct work *w)
{
	w->wanted = jsonx_int_or(obj, "spec.replicas", 1);
	w->ready = jsonx_int_or(obj, "status.readyReplicas", 0);
	set_by_counts(w);
	if (condition_holds(obj, "ReplicaFailure"))
		say_condition(w, obj, "ReplicaFailure");
}

static void read_daemon_set(const json_t *obj, struct work *w)
{
	w->wanted = jsonx_int_or(obj, "status.desiredNumberScheduled", 0);
	w->ready = jsonx_int_or(obj, "status.numberReady", 0);
	set_by_counts(w);
}

static void read_notebook(const json_t *obj, struct work *w)
{
	bool stopped = json_object_get(jsonx_at(obj, "metadata.annotations"), "kubeflow-resource-stopped");

	w->wanted = !stopped;
	w->ready = jsonx_int_or(obj, "status.readyReplicas", 0);
	set_by_counts(w);
}

static void read_inference(const json_t *obj, struct work *w)
{
	w->wanted = -1;
	w->phase = condition_holds(obj, "Ready") ? WORK_RUNNING : WORK_PENDING;
	if (w->phase == WORK_PENDING)
		say_condition(w, obj, "Ready");
}

/* ---- all of them ---- */

static const struct reader {
	const struct kind *kind;
	void (*read)(const json_t *obj, struct work *w);
} readers[] = {
	{ &kind_pod, read_pod },
	{ &kind_job, read_job },
	{ &kind_tfjob, read_training },
	{ &kind_pytorchjob, read_training },
	{ &kind_paddlejob, read_training },
	{ &kind_mpijob, read_training },
	{ &kind_pbsjob, read_pbs },
	{ &kind_build, read_build },
	{ &kind_cron_job, read_cron_job },
	{ &kind_deployment, read_replicas },
	{ &kind_replica_set, read_replicas },
	{ &kind_replication_controller, read_replicas },
	{ &kind_stateful_set, read_replicas },
	{ &kind_daemon_set, read_daemon_set },
	{ &kind_notebook, read_notebook },
	{ &kind_inference_service, read_inference },
};

static const struct reader *reader_of(const struct kind *k)
{
	for (size_t i = 0; i < ARRAY_SIZE(readers); i++)
		if (readers[i].kind == k)
			return &readers[i];
	return NULL;
}

bool work_ends(const struct kind *k)
{
	return workload_ends(k);
}

/* ---- GPUs ---- */

static int64_t container_gpus(const json_t *container)
{
	static const char *const names[] = { "nvidia.com/gpu", "alpha.kubernetes.io/nvidia-gpu" };
	const json_t *limits = jsonx_at(container, "resources.limits");
	int64_t n = 0;

	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		const json_t *v = json_object_get(limits, names[i]);
		struct quantity q;

		if (json_is_integer(v))
			n += json_integer_value(v);
		else if (v && quantity_parse(json_string_value(v) ? json_string_value(v) : "", &q))
			n += quantity_value(&q);
	}
	return n;
}

static int64_t spec_gpus(const json_t *spec)
{
	int64_t n = 0;
	json_t *c;
	size_t i;

	json_array_foreach (json_object_get(spec, "containers"), i, c)
		n += container_gpus(c);
	return n;
}

static void add_template_gpus(void *arg, const json_t *tpl)
{
	*(int64_t *)arg += spec_gpus(json_object_get(tpl, "spec"));
}

/* What it would hold with all its pods. */
static int64_t wanted_gpus(const struct kind *k, const json_t *obj, const struct work *w)
{
	const json_t *parts = replica_specs(obj);
	int64_t n = 0;
	const char *key;
	json_t *v;

	if (k == &kind_pod)
		return spec_gpus(json_object_get(obj, "spec"));
	json_object_foreach ((json_t *)parts, key, v)
		n += jsonx_int_or(v, "replicas", 1) * spec_gpus(jsonx_at(v, "template.spec"));
	if (parts)
		return n;
	pod_templates_each(k, obj, add_template_gpus, &n);
	return n * (k == &kind_job ? jsonx_int_or(obj, "spec.parallelism", 1) : w->wanted > 0 ? w->wanted : 1);
}

/* ---- what pods add ---- */

struct pod_facts {
	int64_t alive, running, ready, gpus;
	const json_t *waiting, *failed; /* the first of each, or NULL */
};

static void count_pods(const json_t *pods, struct pod_facts *f)
{
	json_t *pod;
	size_t i;

	json_array_foreach ((json_t *)pods, i, pod) {
		struct work w = { 0 };

		read_pod(pod, &w);
		f->ready += w.ready;
		if (w.phase == WORK_FAILED && !f->failed)
			f->failed = pod;
		if (work_is_over(&w))
			continue;
		f->alive++;
		f->gpus += spec_gpus(json_object_get(pod, "spec"));
		f->running += w.phase == WORK_RUNNING;
		if (w.reason[0] && !f->waiting)
			f->waiting = pod;
	}
}

/* Jobs that only say that they failed leave it to their pods to say how. */
static bool is_vague(const struct work *w)
{
	return !w->reason[0] || str_starts(w->reason, "BackoffLimitExceeded");
}

static void add_pods(const struct kind *k, const json_t *pods, struct work *w)
{
	auto_sbuf struct sbuf text = SBUF(WORK_REASON);
	struct pod_facts f = { 0 };

	count_pods(pods, &f);
	if (w->wanted < 0) {
		w->wanted = (int64_t)json_array_size(pods);
		w->ready = f.ready;
	}
	if (f.alive)
		w->gpus = f.gpus;
	if (w->phase == WORK_PENDING && f.running && work_ends(k))
		w->phase = WORK_RUNNING;
	if (w->phase == WORK_RUNNING && work_ends(k) && !f.running)
		w->phase = WORK_PENDING;
	if (w->phase == WORK_FAILED && is_vague(w) && f.failed)
		pod_failure(f.failed, &text);
	if ((w->phase == WORK_PENDING || w->phase == WORK_RUNNING) && f.waiting)
		work_pod_waits(f.waiting, &text);
	if (text.n)
		say(w, "", text.p);
}

void work_read(const struct kind *k, const json_t *obj, const json_t *pods, struct work *ret)
{
	const struct reader *r = reader_of(k);
	struct work w = { .phase = WORK_PENDING, .created = time_at(obj, "metadata.creationTimestamp") };

	if (r)
		r->read(obj, &w);
	w.gpus = wanted_gpus(k, obj, &w);
	if (k != &kind_pod && pods)
		add_pods(k, pods, &w);
	if (w.wanted < 0)
		w.wanted = 0;
	if (jsonx_at(obj, "metadata.deletionTimestamp") && !work_is_over(&w)) {
		w.phase = WORK_ENDING;
		w.reason[0] = '\0';
	}
	*ret = w;
}

void work_sentence(const struct work *w, struct sbuf *out)
{
	static const char *const words[WORK__COUNT] = {
		[WORK_PENDING] = "is pending",    [WORK_RUNNING] = "is running",     [WORK_SUCCEEDED] = "succeeded",
		[WORK_FAILED] = "failed",         [WORK_SUSPENDED] = "is suspended", [WORK_SCHEDULED] = "is scheduled",
		[WORK_STOPPED] = "wants no pods", [WORK_ENDING] = "is being ended",  [WORK_HELD] = "is held",
	};

	sbuf_adds(out, words[w->phase]);
	if (w->reason[0])
		sbuf_addf(out, ": %s", w->reason);
}
