// SPDX-License-Identifier: Apache-2.0
/* training_status.c - what a training job says of itself: conditions, and counters in each version's form
 *
 * Counters are written while the job runs and stay as they are when it has ended.
 */
#include "base/clock.h"
#include "base/jsonx.h"
#include "base/mem.h"
#include "control/status.h"
#include "control/training_parts.h"
#include "kinds/condition.h"

const json_t *training_condition_of(const json_t *status, const char *type, const char *state)
{
	const json_t *c = condition_in(json_object_get(status, "conditions"), type);

	return str_same(jsonx_str(c, "status"), state) ? c : NULL;
}

const json_t *training_finished(const json_t *job)
{
	const json_t *status = json_object_get(job, "status");
	const json_t *c = training_condition_of(status, "Succeeded", "True");

	return c ? c : training_condition_of(status, "Failed", "True");
}

void training_set_time(json_t *status, const char *key, int64_t now)
{
	char text[CLOCK_RFC3339_LEN];

	clock_rfc3339(now, text);
	json_object_set_new(status, key, json_string(text));
}

/* Which conditions go when one comes, and which only turn False. */
static const struct {
	const char *comes, *other;
	bool goes;
} drives_out[] = {
	{ "Running", "Restarting", true }, { "Restarting", "Running", true },    { "Succeeded", "Running", false },
	{ "Failed", "Running", false },    { "Succeeded", "Restarting", false }, { "Failed", "Restarting", false },
	{ "Suspended", "Running", false }, { "Suspended", "Restarting", true },  { "Suspended", "Queued", true },
	{ "Succeeded", "Queued", false },  { "Failed", "Queued", false },
};

/* 0: it stays, 1: it turns False, 2: it goes. */
static int fate(const char *other, const char *comes)
{
	for (size_t i = 0; i < ARRAY_SIZE(drives_out); i++)
		if (streq(drives_out[i].comes, comes) && streq(drives_out[i].other, other))
			return drives_out[i].goes ? 2 : 1;
	return 0;
}

static void turn_false(json_t *c, const char *now)
{
	if (str_same(jsonx_str(c, "status"), "False"))
		return;
	json_object_set_new(c, "status", json_string("False"));
	json_object_set_new(c, "lastUpdateTime", json_string(now));
	json_object_set_new(c, "lastTransitionTime", json_string(now));
}

void training_set_condition(struct training_work *w, const char *type, bool on, const char *word, const char *message)
{
	json_auto_t *next = json_array();
	auto_free char *reason = xasprintf("%s%s", w->job->form->kind, word);
	const char *state = on ? "True" : "False";
	char now[CLOCK_RFC3339_LEN];
	const char *since = now;
	json_t *c;
	size_t i;

	clock_rfc3339(w->v->now, now);
	json_array_foreach (json_object_get(w->status, "conditions"), i, c) {
		const char *other = jsonx_str_or(c, "type", "");
		int what = on ? fate(other, type) : 0;

		if (streq(other, type)) {
			if (str_same(jsonx_str(c, "status"), state)) {
				/* The same again is no news, but for a restart: when it was, decides what follows; and
				 * for what keeps it waiting. */
				if (str_same(jsonx_str(c, "reason"), reason) && !streq(type, "Restarting") &&
				    !streq(type, "Queued"))
					return;
				since = jsonx_str_or(c, "lastTransitionTime", now);
			}
			continue;
		}
		if (what == 2)
			continue;
		json_array_append_new(next, jsonx_copy(c));
		if (what == 1)
			turn_false(json_array_get(next, json_array_size(next) - 1), now);
	}
	json_array_append_new(next, json_pack("{s:s, s:s, s:s, s:o, s:s, s:s}", "type", type, "status", state, "reason",
					      reason, "message", jsonx_string(message), "lastUpdateTime", now,
					      "lastTransitionTime", since));
	json_object_set(w->status, "conditions", next);
}

/* ---- counters ---- */

struct count {
	int64_t active, succeeded, failed;
};

static struct count count_role(const struct training_work *w, const struct training_role *role)
{
	struct count n = { 0 };

	for (size_t i = 0; i < w->n; i++) {
		const struct replica *r = &w->replicas[i];

		if (r->role != role)
			continue;
		n.active += r->is == REPLICA_RUNNING;
		n.succeeded += r->is == REPLICA_SUCCEEDED;
		n.failed += r->is == REPLICA_FAILED || r->is == REPLICA_DOWN ||
			    (r->deleted && r->pod->phase == POD_IS_RUNNING);
	}
	return n;
}

static json_t *counters(const struct training_work *w)
{
	json_t *all = json_object();

	for (size_t i = 0; i < w->job->n; i++) {
		const struct training_role *role = &w->job->roles[i];
		auto_free char *selector = training_selector(w->job, role);
		struct count n = count_role(w, role);
		json_t *one = json_object();

		status_set_count(one, "active", n.active);
		status_set_count(one, "succeeded", n.succeeded);
		status_set_count(one, "failed", n.failed);
		json_object_set_new(one, "selector", jsonx_string(selector));
		json_object_set_new(all, role->type, one);
	}
	return all;
}

/* v1alpha1: a list with words. */
static json_t *counters_listed(const struct training_work *w)
{
	json_t *all = json_array();

	for (size_t i = 0; i < w->job->n; i++) {
		const struct training_role *role = &w->job->roles[i];
		struct count n = count_role(w, role);
		const char *state = n.failed                        ? "Failed"
				    : n.active                      ? "Running"
				    : n.succeeded == role->replicas ? "Succeeded"
								    : "Unknown";
		json_t *states = json_object();

		status_set_count(states, "Running", n.active);
		status_set_count(states, "Succeeded", n.succeeded);
		status_set_count(states, "Failed", n.failed);
		json_array_append_new(all, json_pack("{s:s, s:s, s:o}", "replica_type", role->type, "state", state,
						     "ReplicasStates", states));
	}
	return all;
}

void training_count(struct training_work *w)
{
	const struct training_form *f = w->job->form;

	if (!f->listed) {
		json_object_set_new(w->status, "replicaStatuses", counters(w));
		if (f->written_as)
			json_object_set_new(w->status, "tfReplicaStatuses", counters(w));
		return;
	}
	json_object_set_new(w->status, "replicaStatuses", counters_listed(w));
	if (!json_object_get(w->status, "phase"))
		json_object_set_new(w->status, "phase", json_string("Creating"));
	json_object_set_new(w->status, "state",
			    json_string(training_condition_of(w->status, "Running", "True") ? "Running" : "Unknown"));
}

static void freeze_map(json_t *map, bool succeeded)
{
	const char *type;
	json_t *one;

	json_object_foreach (map, type, one) {
		int64_t active = jsonx_int_or(one, "active", 0);

		if (succeeded)
			status_set_count(one, "succeeded", jsonx_int_or(one, "succeeded", 0) + active);
		json_object_del(one, "active");
	}
}

static void freeze_list(json_t *list, bool succeeded)
{
	json_t *one;
	size_t i;

	json_array_foreach (list, i, one) {
		json_t *states = json_object_get(one, "ReplicasStates");
		int64_t active = jsonx_int_or(states, "Running", 0);

		if (succeeded)
			status_set_count(states, "Succeeded", jsonx_int_or(states, "Succeeded", 0) + active);
		json_object_del(states, "Running");
		if (str_same(jsonx_str(one, "state"), "Running"))
			json_object_set_new(one, "state", json_string(succeeded ? "Succeeded" : "Unknown"));
	}
}

/* Written by training_count() a moment ago: the maps are this status' own. */
void training_freeze(struct training_work *w, bool succeeded)
{
	freeze_map(json_object_get(w->status, "replicaStatuses"), succeeded);
	freeze_map(json_object_get(w->status, "tfReplicaStatuses"), succeeded);
	if (!w->job->form->listed)
		return;
	freeze_list(json_object_get(w->status, "replicaStatuses"), succeeded);
	json_object_set_new(w->status, "phase", json_string("Done"));
	json_object_set_new(w->status, "state", json_string(succeeded ? "Succeeded" : "Failed"));
}

void training_forget(json_t *status)
{
	static const char *const keys[] = { "startTime",         "replicas", "gangRestarts", "replicaStatuses",
					    "tfReplicaStatuses", "phase",    "state" };

	for (size_t i = 0; i < ARRAY_SIZE(keys); i++)
		json_object_del(status, keys[i]);
}
