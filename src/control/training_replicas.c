// SPDX-License-Identifier: Apache-2.0
/* training_replicas.c - which pod is which replica's, how each stands, and what they mean together
 *
 * A pod that somebody deletes says nothing about its program any more: whatever exit code follows came of the deletion.
 * Only an end from before it counts.
 */
#include "base/jsonx.h"
#include "base/mem.h"
#include "control/training_parts.h"

#define TAIL_MOST 400 /* bytes of a log in a message */

static int number_of(const json_t *map, const char *key, int fallback)
{
	const char *text = json_string_value(json_object_get(map, key));
	int64_t n;

	return text && str_int64(text, 0, INT32_MAX, &n) ? (int)n : fallback;
}

static int attempt_of(const struct pod_facts *p)
{
	return number_of(jsonx_at(p->obj, "metadata.annotations"), TRAINING_ATTEMPT, 0);
}

static struct replica *replica_of(struct training_work *w, const struct pod_facts *p)
{
	const json_t *labels = jsonx_at(p->obj, "metadata.labels");
	const char *type = json_string_value(json_object_get(labels, LABEL_TRAINING_TYPE));
	int index = number_of(labels, LABEL_TRAINING_INDEX, -1);

	for (size_t i = 0; type && i < w->job->n; i++) {
		const struct training_role *role = &w->job->roles[i];

		if (streq(role->lower, type) && index >= 0 && index < role->replicas)
			return &w->replicas[role->first_rank + index];
	}
	return NULL;
}

static bool ended_before_deletion(const struct pod_facts *p)
{
	int64_t asked = time_at(p->obj, "metadata.deletionTimestamp") -
			jsonx_int_or(p->obj, "metadata.deletionGracePeriodSeconds", 0);

	return pod_ended(p) && p->finished < asked;
}

/* Whether a container has failed and is not yet run again. */
static bool is_between_runs(const json_t *container)
{
	const json_t *end = jsonx_at(container, "state.terminated");

	if (str_same(jsonx_str(container, "state.waiting.reason"), "CrashLoopBackOff"))
		end = jsonx_at(container, "lastState.terminated");
	return end && jsonx_int_or(end, "exitCode", 0) != 0;
}

static int between_runs(const json_t *pod)
{
	static const char *const lists[] = { "status.initContainerStatuses", "status.containerStatuses" };
	int n = 0;
	json_t *c;
	size_t k;

	if (str_same(jsonx_str(pod, "spec.restartPolicy"), "Never"))
		return 0;
	for (size_t i = 0; i < ARRAY_SIZE(lists); i++)
		json_array_foreach (jsonx_at(pod, lists[i]), k, c)
			n += is_between_runs(c);
	return n;
}

static void judge(struct replica *r)
{
	static const enum replica_is by_phase[] = { [POD_IS_PENDING] = REPLICA_PENDING,
						    [POD_IS_RUNNING] = REPLICA_RUNNING,
						    [POD_IS_SUCCEEDED] = REPLICA_SUCCEEDED,
						    [POD_IS_FAILED] = REPLICA_FAILED,
						    [POD_IS_UNKNOWN] = REPLICA_RUNNING };

	if (attempt_of(r->pod) != r->attempt) {
		r->is = REPLICA_LEAVING;
		return;
	}
	r->deleted = r->pod->deleting && !ended_before_deletion(r->pod);
	r->is = r->deleted ? REPLICA_LEAVING : by_phase[r->pod->phase];
	if (r->is == REPLICA_RUNNING || r->is == REPLICA_PENDING) {
		int down = between_runs(r->pod->obj);

		r->failures = r->pod->restarts + down;
		r->is = down ? REPLICA_DOWN : r->is;
	}
}

static void make_replicas(struct training_work *w)
{
	const json_t *records = json_object_get(w->status, "replicas");
	int gang = (int)jsonx_int_or(w->status, "gangRestarts", 0);

	w->replicas = xcalloc((size_t)(w->job->total > 0 ? w->job->total : 0) + 1, sizeof(*w->replicas));
	for (size_t i = 0; i < w->job->n; i++)
		for (int k = 0; k < w->job->roles[i].replicas; k++) {
			struct replica *r = &w->replicas[w->n++];
			const json_t *record;

			*r = (struct replica){ .role = &w->job->roles[i],
					       .index = k,
					       .name = training_replica(&w->job->roles[i], k) };
			record = json_object_get(records, r->name);
			r->attempt = gang + (int)jsonx_int_or(record, "restarts", 0);
			/* A node's word on an earlier run may come late. */
			if (jsonx_bool_or(record, "succeeded", false) &&
			    jsonx_int_or(record, "run", r->attempt) == r->attempt)
				r->is = REPLICA_SUCCEEDED;
		}
}

/* A job may have thousands: each is looked up, never searched for. */
static void read_services(struct training_work *w)
{
	map_init(&w->hosts, NULL);
	for (size_t i = 0; i < w->n; i++) {
		auto_free char *host = training_host(w->job, w->replicas[i].role, w->replicas[i].index);

		map_set(&w->hosts, host, &w->replicas[i]);
	}
	for (size_t i = 0; i < w->v->nservices; i++) {
		const json_t *service = w->v->services[i];
		struct replica *r = map_find(&w->hosts, jsonx_str_or(service, "metadata.name", ""));

		if (r && !jsonx_at(service, "metadata.deletionTimestamp"))
			r->has_service = true;
	}
}

void replicas_read(struct training_work *w)
{
	size_t cap = 0;

	make_replicas(w);
	read_services(w);
	for (size_t i = 0; i < w->v->n; i++) {
		const struct pod_facts *p = w->v->pods[i];
		struct replica *r = replica_of(w, p);
		bool now = r && attempt_of(p) == r->attempt;

		/* The pod of the present run speaks for the replica; any other is only in its way. */
		if (r && (!r->pod || now))
			r->pod = p;
		if (!now)
			ARRAY_PUSH(w->surplus, w->nsurplus, cap, p);
	}
	for (size_t i = 0; i < w->n; i++)
		if (w->replicas[i].pod && w->replicas[i].is != REPLICA_SUCCEEDED)
			judge(&w->replicas[i]);
}

void replicas_done(struct training_work *w)
{
	for (size_t i = 0; i < w->n; i++)
		free(w->replicas[i].name);
	free(w->replicas);
	free(w->surplus);
	map_done(&w->hosts);
}

/* ---- together ---- */

static bool anybody_leads(const struct training_job *j)
{
	for (size_t i = 0; i < j->n; i++)
		if (j->roles[i].leads)
			return true;
	return false;
}

/* Whether it is among those who decide. */
static bool decides(const struct training_work *w, const struct replica *r)
{
	const struct training_role *members = training_members(w->job);

	if (anybody_leads(w->job))
		return r->role->leads;
	return !members || members->replicas == 0 || r->role == members;
}

bool replicas_succeeded(const struct training_work *w)
{
	bool first = w->job->form->first_decides && !str_same(jsonx_str(w->job->spec, "successPolicy"), "AllWorkers") &&
		     !anybody_leads(w->job);
	size_t all = 0;
	size_t done = 0;

	for (size_t i = 0; i < w->n; i++) {
		const struct replica *r = &w->replicas[i];

		if (!decides(w, r))
			continue;
		all++;
		if (r->is != REPLICA_SUCCEEDED)
			continue;
		done++;
		if (r->role == training_members(w->job) && ((first && r->index == 0) || w->job->elastic))
			return true;
	}
	return all && done == all;
}

bool replicas_running(const struct training_work *w)
{
	bool restarting = training_condition_of(w->status, "Restarting", "True") != NULL;
	bool running = false;

	for (size_t i = 0; i < w->n; i++) {
		const struct replica *r = &w->replicas[i];

		if (restarting && r->is != REPLICA_RUNNING && r->is != REPLICA_SUCCEEDED)
			return false;
		running = running || (r->is == REPLICA_RUNNING && decides(w, r));
	}
	return running;
}

int64_t replicas_restarts(const struct training_work *w)
{
	int64_t n = jsonx_int_or(w->status, "gangRestarts", 0);
	const char *name;
	json_t *record;

	json_object_foreach (json_object_get(w->status, "replicas"), name, record)
		n += jsonx_int_or(record, "restarts", 0);
	return n;
}

int64_t replicas_in_place(const struct training_work *w)
{
	int64_t n = 0;

	for (size_t i = 0; i < w->n; i++)
		n += w->replicas[i].failures;
	return n;
}

struct replica *replicas_last_failed(const struct training_work *w)
{
	struct replica *last = NULL;
	int64_t latest = -1;

	for (size_t i = 0; i < w->n; i++) {
		struct replica *r = &w->replicas[i];
		int64_t at = r->is == REPLICA_DOWN ? INT64_MAX : time_at(replica_end(r).end, "finishedAt");

		if (r->failures == 0 || at <= latest)
			continue;
		latest = at;
		last = r;
	}
	return last;
}

/* ---- one that failed ---- */

/* Where the end of a program stands, in the order of what it tells. */
static const struct place {
	const char *list, *end;
	bool init, before; /* before: of an earlier run, which says nothing about a pod that has ended */
} places[] = {
	{ "status.containerStatuses", "state.terminated", false, false },
	{ "status.initContainerStatuses", "state.terminated", true, false },
	{ "status.containerStatuses", "lastState.terminated", false, true },
	{ "status.initContainerStatuses", "lastState.terminated", true, true },
};

/* The framework's own container comes first; of earlier runs the latest. */
static bool is_better(const struct replica *r, const struct place *p, const json_t *container, const json_t *end,
		      const json_t *found)
{
	if (jsonx_int_or(end, "exitCode", 0) == 0)
		return false;
	if (!found)
		return true;
	return p->before ? time_at(end, "finishedAt") > time_at(found, "finishedAt")
			 : str_same(jsonx_str(container, "name"), r->role->container);
}

static struct replica_end find_end(const struct replica *r, const struct place *p)
{
	struct replica_end found = { .code = -1 };
	json_t *c;
	size_t i;

	json_array_foreach (jsonx_at(r->pod->obj, p->list), i, c) {
		const json_t *end = jsonx_at(c, p->end);

		if (is_better(r, p, c, end, found.end))
			found = (struct replica_end){ .code = (int)jsonx_int_or(end, "exitCode", -1),
						      .end = end,
						      .init = p->init ? jsonx_str(c, "name") : NULL };
	}
	return found;
}

struct replica_end replica_end(const struct replica *r)
{
	struct replica_end found = { .code = -1 };

	for (size_t i = 0; i < ARRAY_SIZE(places) && r->pod && !found.end; i++)
		if (!places[i].before || !pod_ended(r->pod))
			found = find_end(r, &places[i]);
	return found;
}

static bool code_is_worth_it(const struct training_form *f, int code)
{
	static const int listed[] = { 130, 137, 138, 143 };

	if (code < 0)
		return true; /* it was taken away, and did nothing wrong itself */
	if (!f->codes_listed)
		return code >= 128;
	for (size_t i = 0; i < ARRAY_SIZE(listed); i++)
		if (code == listed[i])
			return true;
	return false;
}

bool replica_may_restart(const struct training_work *w, const struct replica *r)
{
	if (w->job->form->replaces_failed)
		return !r->role->leads;
	switch (r->role->restart) {
	case RESTART_NEVER:
		return false;
	case RESTART_EXIT_CODE:
		return code_is_worth_it(w->job->form, replica_end(r).code);
	case RESTART_ON_FAILURE:
	case RESTART_ALWAYS:
		break;
	}
	return true;
}

/* The end of the text, from the beginning of a line if there is one. */
static const char *tail_of(const char *text)
{
	size_t n = strlen(text);
	const char *from = n > TAIL_MOST ? text + n - TAIL_MOST : text;
	const char *line = from > text ? strchr(from, '\n') : NULL;

	if (line && line[1])
		return line + 1;
	while ((*from & 0xc0) == 0x80) /* not in the middle of a letter */
		from++;
	return from;
}

void replica_blame(const struct replica *r, struct sbuf *out)
{
	struct replica_end e = replica_end(r);
	const char *why = jsonx_str_or(e.end, "reason", "Error");
	struct str said = str_trim(str_of(tail_of(jsonx_str_or(e.end, "message", ""))));

	if (e.code < 0 && r->failures) {
		sbuf_addf(out, "%s exited with code 0", r->name); /* and was run again, as its policy says */
		return;
	}
	if (e.code < 0) {
		sbuf_addf(out, "%s was ended: %s%s%s", r->name, jsonx_str_or(r->pod->obj, "status.reason", "unknown"),
			  jsonx_str(r->pod->obj, "status.message") ? ": " : "",
			  jsonx_str_or(r->pod->obj, "status.message", ""));
		return;
	}
	sbuf_adds(out, r->name);
	if (e.init)
		sbuf_addf(out, "'s init container %s", e.init);
	sbuf_addf(out, " exited with code %d", e.code);
	if (!streq(why, "Error"))
		sbuf_addf(out, " (%s)", why);
	if (said.n)
		sbuf_addf(out, "; its last lines: %.*s", STR_FMT(said));
}
