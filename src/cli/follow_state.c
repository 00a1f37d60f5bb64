// SPDX-License-Identifier: Apache-2.0
/* follow_state.c - see follow_state.h */
#include "cli/follow_state.h"

#include "base/clock.h"
#include "base/jsonx.h"
#include "base/mem.h"
#include "kinds/condition.h"
#include "kinds/core.h"

static const struct {
	const char *name;
	enum tint tint;
} phases[FOLLOW_PHASE__COUNT] = {
	[FOLLOW_PENDING] = { "Pending", TINT_BUSY },       [FOLLOW_RUNNING] = { "Running", TINT_GOOD },
	[FOLLOW_RESTARTING] = { "Restarting", TINT_BUSY }, [FOLLOW_SUCCEEDED] = { "Succeeded", TINT_NONE },
	[FOLLOW_FAILED] = { "Failed", TINT_BAD },          [FOLLOW_STOPPED] = { "Stopped", TINT_DIM },
};

const char *follow_phase_name(enum follow_phase p)
{
	return phases[p].name;
}

enum tint follow_phase_tint(enum follow_phase p)
{
	return phases[p].tint;
}

static void replace(char **text, const char *with)
{
	free(*text);
	*text = xstrdup(with ? with : "");
}

/* ---- the job ---- */

void follow_state_init(struct follow_state *s, const struct found *job)
{
	*s = (struct follow_state){ .kind = job->kind,
				    .title = xasprintf("%s/%s", job->kind->singular, job->name),
				    .name = xstrdup(job->name),
				    .ns = xstrdup(job->ns),
				    .obj = json_incref(job->obj),
				    .warning = xstrdup("") };
	work_read(s->kind, s->obj, NULL, &s->work);
}

static void replica_free(struct follow_replica *r)
{
	free(r->name);
	free(r->type);
	free(r->pod);
	free(r->uid);
	free(r->node);
	free(r->container);
	free(r->why);
	free(r->told_why);
	free(r);
}

void follow_state_done(struct follow_state *s)
{
	for (size_t i = 0; i < s->n; i++)
		replica_free(s->replicas[i]);
	free(s->replicas);
	free(s->title);
	free(s->name);
	free(s->ns);
	free(s->warning);
	json_decref(s->obj);
}

void follow_state_job(struct follow_state *s, const json_t *obj)
{
	if (!obj || !str_same(jsonx_str(obj, "metadata.uid"), jsonx_str(s->obj, "metadata.uid"))) {
		s->deleted = !follow_is_over(s);
		return;
	}
	json_decref(s->obj);
	s->obj = json_incref((json_t *)obj);
	work_read(s->kind, obj, NULL, &s->work);
}

void follow_state_warning(struct follow_state *s, const char *message)
{
	replace(&s->warning, message);
}

bool follow_is_over(const struct follow_state *s)
{
	return s->deleted || work_is_over(&s->work);
}

bool follow_timed_out(const struct follow_state *s)
{
	const json_t *failed = condition_of(s->obj, "Failed");

	/* Jobs say it by their reason, training jobs in the words of their operators. */
	return s->work.phase == WORK_FAILED &&
	       (str_same(jsonx_str(failed, "reason"), "DeadlineExceeded") ||
		strstr(jsonx_str_or(failed, "message", ""), "active longer than specified deadline"));
}

/* ---- who it is ---- */

/* Those whose end is the job's, then those who work, then those who serve them. */
static const char *const types[] = { "launcher", "chief", "master", "worker", "ps", "evaluator" };

static size_t type_rank(const char *type)
{
	size_t i = 0;

	while (i < ARRAY_SIZE(types) && !streq(types[i], type))
		i++;
	return i;
}

static const char *label(const json_t *pod, const char *key)
{
	return json_string_value(json_object_get(jsonx_at(pod, "metadata.labels"), key));
}

/* The index of a pod of an Indexed Job, or NULL. */
static const char *completion_index(const json_t *pod)
{
	return json_string_value(
		json_object_get(jsonx_at(pod, "metadata.annotations"), "batch.kubernetes.io/job-completion-index"));
}

static bool is_ours(const struct follow_state *s, const json_t *pod)
{
	const char *uid = jsonx_str_or(s->obj, "metadata.uid", "");

	return str_same(s->kind == &kind_pod ? jsonx_str(pod, "metadata.uid") : jsonx_str(find_controller(pod), "uid"),
			uid);
}

/* What is left of the pod's name without the job's; the name of a pod that is followed itself. */
static const char *rest_of_name(const struct follow_state *s, const json_t *pod)
{
	const char *name = jsonx_str_or(pod, "metadata.name", "");
	size_t n = strlen(s->name);

	return strncmp(name, s->name, n) == 0 && name[n] == '-' && name[n + 1] ? name + n + 1 : name;
}

static char *name_of(const struct follow_state *s, const json_t *pod, const char *type, int64_t index)
{
	if (streq(type, "launcher"))
		return xstrdup(type);
	return *type ? xasprintf("%s-%lld", type, (long long)index) : xstrdup(rest_of_name(s, pod));
}

static int by_rank(const void *va, const void *vb)
{
	const struct follow_replica *a = *(struct follow_replica *const *)va;
	const struct follow_replica *b = *(struct follow_replica *const *)vb;
	size_t ra = type_rank(a->type);
	size_t rb = type_rank(b->type);

	if (ra != rb)
		return ra < rb ? -1 : 1;
	if (a->index != b->index)
		return a->index < b->index ? -1 : 1;
	return strcmp(a->name, b->name);
}

static struct follow_replica *replica_of(struct follow_state *s, const json_t *pod)
{
	const char *worker = completion_index(pod);
	const char *type = worker ? "worker" : label(pod, "training.kubeflow.org/replica-type");
	const char *number = worker ? worker : label(pod, "training.kubeflow.org/replica-index");
	int64_t index = 0;
	auto_free char *name = NULL;
	struct follow_replica *r;

	str_int64(number ? number : "", 0, INT32_MAX, &index);
	name = name_of(s, pod, type ? type : "", index);
	for (size_t i = 0; i < s->n; i++)
		if (streq(s->replicas[i]->name, name))
			return s->replicas[i];
	r = xcalloc(1, sizeof(*r));
	*r = (struct follow_replica){ .name = TAKE(name),
				      .type = xstrdup(type ? type : ""),
				      .index = index,
				      .pod = xstrdup(""),
				      .uid = xstrdup(""),
				      .node = xstrdup(""),
				      .container = xstrdup(""),
				      .why = xstrdup(""),
				      .told_why = xstrdup(""),
				      .status = -1,
				      .numbers = FOLLOW_NUMBERS };
	ARRAY_PUSH(s->replicas, s->n, s->cap, r);
	qsort(s->replicas, s->n, sizeof(struct follow_replica *), by_rank);
	return r;
}

/* ---- how it stands ---- */

/* The framework's own container, or the first. */
static const char *main_container(const json_t *pod)
{
	static const char *const names[] = { "tensorflow", "pytorch", "paddle", "mpi" };
	const json_t *containers = jsonx_at(pod, "spec.containers");
	json_t *c;
	size_t i;

	json_array_foreach (containers, i, c)
		for (size_t k = 0; k < ARRAY_SIZE(names); k++)
			if (str_same(jsonx_str(c, "name"), names[k]))
				return names[k];
	return jsonx_str_or(json_array_get(containers, 0), "name", "");
}

static const json_t *container_status(const json_t *pod, const char *name)
{
	json_t *s;
	size_t i;

	json_array_foreach (jsonx_at(pod, "status.containerStatuses"), i, s)
		if (str_same(jsonx_str(s, "name"), name))
			return s;
	return NULL;
}

static int64_t time_at(const json_t *obj, const char *path)
{
	int64_t us = 0;

	return clock_parse_rfc3339(jsonx_str_or(obj, path, ""), &us) ? us : 0;
}

/* A pod that its job ends has a deadline that has passed, or is being deleted. */
static bool is_stopped(const json_t *pod, bool gone)
{
	return gone || jsonx_at(pod, "metadata.deletionTimestamp") ||
	       (streq(jsonx_str_or(pod, "status.reason", ""), "DeadlineExceeded") &&
		jsonx_int_or(pod, "spec.activeDeadlineSeconds", 0) == 1);
}

static enum follow_phase phase_of(const struct work *w, const json_t *pod, const json_t *container, bool gone)
{
	if (w->phase == WORK_SUCCEEDED)
		return FOLLOW_SUCCEEDED;
	if (w->phase == WORK_FAILED)
		return is_stopped(pod, gone) ? FOLLOW_STOPPED : FOLLOW_FAILED;
	if (gone)
		return FOLLOW_STOPPED;
	if (w->phase != WORK_RUNNING && w->phase != WORK_ENDING)
		return FOLLOW_PENDING;
	return jsonx_at(container, "state.running") ? FOLLOW_RUNNING : FOLLOW_RESTARTING;
}

static int64_t restarts_of(const struct follow_state *s, const struct follow_replica *r, const json_t *container)
{
	const json_t *record = json_object_get(jsonx_at(s->obj, "status.replicas"), r->name);
	int64_t recorded = jsonx_int_or(record, "restarts", 0);
	int64_t here = jsonx_int_or(container, "restartCount", 0);

	return recorded > here ? recorded : here;
}

/* How the container ended, this time or the last; or NULL. */
static const json_t *last_end(const json_t *container)
{
	const json_t *end = jsonx_at(container, "state.terminated");

	return end ? end : jsonx_at(container, "lastState.terminated");
}

static void set_times(struct follow_replica *r, const json_t *container)
{
	r->started = time_at(container, "state.running.startedAt");
	r->ended = 0;
	if (r->started)
		return;
	r->started = time_at(last_end(container), "startedAt");
	r->ended = time_at(last_end(container), "finishedAt");
}

/* A container that is between two runs says how the last one ended. */
static void set_why(struct follow_replica *r, const json_t *container, const char *reason)
{
	const json_t *end = last_end(container);
	auto_free char *text = NULL;

	if (r->phase == FOLLOW_RESTARTING && !*reason && end)
		text = xasprintf("exit status %lld", (long long)jsonx_int_or(end, "exitCode", 0));
	replace(&r->why, r->phase == FOLLOW_STOPPED ? "" : text ? text : reason);
}

/* The one whose failure ended the job: if its program ran again and again in its pod, the pod was stopped with the
 * others. */
static void recall_failure(const struct follow_state *s, struct follow_replica *r)
{
	const json_t *record = json_object_get(jsonx_at(s->obj, "status.replicas"), r->name);
	int64_t code = jsonx_int_or(record, "exitCode", 0);
	auto_free char *text = xasprintf("exit status %lld", (long long)code);

	if (code <= 0)
		return;
	r->phase = FOLLOW_FAILED;
	r->status = (int)code;
	replace(&r->why, text);
}

struct follow_replica *follow_state_pod(struct follow_state *s, const json_t *pod, bool gone)
{
	const char *uid = jsonx_str_or(pod, "metadata.uid", "");
	struct follow_replica *r;
	const json_t *container;
	int64_t restarts;
	struct work w;

	if (!is_ours(s, pod))
		return NULL;
	r = replica_of(s, pod);
	if (gone && *r->uid && !streq(r->uid, uid)) /* an older one of its pods */
		return r;
	container = container_status(pod, main_container(pod));
	restarts = restarts_of(s, r, container);
	work_read(&kind_pod, pod, NULL, &w);
	if (*r->uid && (!streq(r->uid, uid) || restarts != r->restarts))
		r->numbers.restarted = true;
	replace(&r->uid, uid);
	replace(&r->pod, jsonx_str(pod, "metadata.name"));
	replace(&r->node, jsonx_str(pod, "spec.nodeName"));
	replace(&r->container, main_container(pod));
	r->phase = phase_of(&w, pod, container, gone);
	set_why(r, container, w.reason);
	r->gpus = w.gpus;
	r->restarts = restarts > r->restarts ? restarts : r->restarts;
	r->status = r->phase == FOLLOW_SUCCEEDED || r->phase == FOLLOW_FAILED ? work_exit_status(pod) : -1;
	recall_failure(s, r);
	r->gone = gone;
	r->run = jsonx_int_or(container, "restartCount", 0);
	r->log_ends = gone || !jsonx_at(container, "state.running");
	r->log_ready = !r->log_ends || (jsonx_at(container, "state.terminated") && !work_start_error(pod));
	set_times(r, container);
	return r;
}

/* ---- who matters ---- */

const struct follow_replica *follow_decider(const struct follow_state *s)
{
	return s->n ? s->replicas[0] : NULL;
}

const struct follow_replica *follow_speaker(const struct follow_state *s)
{
	for (size_t i = 0; i < s->n; i++)
		if (s->replicas[i]->numbers.any)
			return s->replicas[i];
	return NULL;
}

const struct follow_replica *follow_cause(const struct follow_state *s)
{
	const struct follow_replica *cause = NULL;

	for (size_t i = 0; i < s->n; i++) {
		const struct follow_replica *r = s->replicas[i];

		if (r->phase == FOLLOW_FAILED && r->status > 0 && (!cause || r->ended < cause->ended))
			cause = r;
	}
	return cause;
}
