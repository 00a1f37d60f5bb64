// SPDX-License-Identifier: Apache-2.0
/* deployment_status.c - what a Deployment says of itself: counts, and three conditions
 *
 * Available: whether enough pods are.  Progressing: how the roll-out goes; its lastUpdateTime is that of the last
 * progress, from which the deadline is counted.  ReplicaFailure: what stands in a ReplicaSet's way.
 */
#include <inttypes.h>

#include "base/clock.h"
#include "base/jsonx.h"
#include "base/mem.h"
#include "control/deployment_parts.h"
#include "control/pod_facts.h"
#include "kinds/condition.h"

#define AVAILABLE   "Available"
#define PROGRESSING "Progressing"
#define FAILURE     "ReplicaFailure"
#define DONE        "NewReplicaSetAvailable"
#define TIMED_OUT   "ProgressDeadlineExceeded"
#define PAUSED      "DeploymentPaused"

/* ---- conditions ---- */

static void condition_remove(json_t *list, const char *type)
{
	for (size_t i = json_array_size(list); i-- > 0;)
		if (str_same(jsonx_str(json_array_get(list, i), "type"), type))
			json_array_remove(list, i);
}

struct said {
	const char *type, *status, *reason, *message;
};

/* What was said already stays as it is, unless it is said `anew`. */
static void condition_set(json_t *list, int64_t now, const struct said *c, bool anew)
{
	json_auto_t *was = json_incref(condition_in(list, c->type));
	bool same = str_same(jsonx_str(was, "status"), c->status);
	char time[CLOCK_RFC3339_LEN];

	if (same && !anew && str_same(jsonx_str(was, "reason"), c->reason))
		return;
	clock_rfc3339(now, time);
	condition_remove(list, c->type);
	json_array_append_new(list, json_pack("{s:s, s:s, s:s, s:s, s:s, s:s}", "type", c->type, "status", c->status,
					      "lastUpdateTime", time, "lastTransitionTime",
					      same ? jsonx_str_or(was, "lastTransitionTime", time) : time, "reason",
					      c->reason, "message", c->message));
}

static bool progress_is(const json_t *list, const char *reason)
{
	return str_same(jsonx_str(condition_in(list, PROGRESSING), "reason"), reason);
}

/* ---- counts ---- */

static struct deployment_counts count(const struct rollout *r)
{
	struct deployment_counts c = { 0 };

	for (size_t i = 0; i < r->n; i++) {
		c.replicas += r->sets[i].have;
		c.ready += r->sets[i].ready;
		c.available += r->sets[i].available;
	}
	c.updated = r->fresh ? r->fresh->have : 0;
	c.unavailable = rollout_total(r) > c.available ? rollout_total(r) - c.available : 0;
	return c;
}

static struct deployment_counts counted(const json_t *deployment)
{
	return (struct deployment_counts){
		.replicas = jsonx_int_or(deployment, "status.replicas", 0),
		.updated = jsonx_int_or(deployment, "status.updatedReplicas", 0),
		.ready = jsonx_int_or(deployment, "status.readyReplicas", 0),
		.available = jsonx_int_or(deployment, "status.availableReplicas", 0),
	};
}

bool status_complete(const struct rollout *r)
{
	struct deployment_counts c = count(r);

	return c.updated == r->want && c.replicas == r->want && c.available == r->want;
}

/* Since the last status more new pods came, fewer old ones are left, or more of all are fit for work. */
static bool has_progressed(const struct rollout *r)
{
	struct deployment_counts c = count(r);
	struct deployment_counts was = counted(r->deployment);

	return c.updated > was.updated || c.replicas - c.updated < was.replicas - was.updated || c.ready > was.ready ||
	       c.available > was.available;
}

/* ---- progress ---- */

/* Seconds until the deadline has passed; 0: it has. */
static int64_t time_left(const struct rollout *r, const json_t *progressing)
{
	int64_t left = time_at(progressing, "lastUpdateTime") + r->deadline + 1 - r->now;

	return left > 0 ? left : 0;
}

static void judge_progress(const struct rollout *r, json_t *list, int64_t *again)
{
	const char *name = r->fresh ? r->fresh->name : jsonx_str_or(r->deployment, "metadata.name", "");
	const char *what = r->fresh ? "ReplicaSet" : "Deployment";
	struct deployment_counts c = count(r);
	const json_t *progressing = condition_in(list, PROGRESSING);
	auto_free char *done = xasprintf("%s \"%s\" has successfully progressed.", what, name);
	auto_free char *going = xasprintf("%s \"%s\" is progressing.", what, name);
	auto_free char *stuck = xasprintf("%s \"%s\" has timed out progressing.", what, name);

	/* Once it is done, pods that come and go are not a roll-out. */
	if (progress_is(list, DONE) && c.replicas == c.updated)
		return;
	if (status_complete(r))
		condition_set(list, r->now, &(struct said){ PROGRESSING, "True", DONE, done }, false);
	else if (has_progressed(r))
		condition_set(list, r->now, &(struct said){ PROGRESSING, "True", "ReplicaSetUpdated", going }, true);
	else if (progressing && !progress_is(list, DONE) && !time_left(r, progressing))
		condition_set(list, r->now, &(struct said){ PROGRESSING, "False", TIMED_OUT, stuck }, false);

	progressing = condition_in(list, PROGRESSING);
	if (progressing && !progress_is(list, DONE) && !progress_is(list, TIMED_OUT))
		*again = time_left(r, progressing);
}

static void tell_paused(const struct rollout *r, json_t *list)
{
	static const struct said paused = { PROGRESSING, "Unknown", PAUSED, "Deployment is paused" };
	static const struct said resumed = { PROGRESSING, "Unknown", "DeploymentResumed", "Deployment is resumed" };
	bool is = jsonx_bool_or(r->deployment, "spec.paused", false);

	/* Time does not run while it is paused, but what has failed has failed. */
	if (!progress_is(list, TIMED_OUT) && is != progress_is(list, PAUSED))
		condition_set(list, r->now, is ? &paused : &resumed, false);
}

static void tell_found(const struct rollout *r, json_t *list)
{
	auto_free char *message = NULL;

	if (!r->fresh || condition_in(list, PROGRESSING))
		return;
	message = xasprintf("Found new replica set \"%s\"", r->fresh->name);
	condition_set(list, r->now, &(struct said){ PROGRESSING, "True", "FoundNewReplicaSet", message }, false);
}

/* ---- the other two ---- */

static void tell_available(const struct rollout *r, json_t *list)
{
	static const struct said yes = { AVAILABLE, "True", "MinimumReplicasAvailable",
					 "Deployment has minimum availability." };
	static const struct said no = { AVAILABLE, "False", "MinimumReplicasUnavailable",
					"Deployment does not have minimum availability." };

	condition_set(list, r->now, count(r).available >= r->want - r->unavailable ? &yes : &no, false);
}

static const json_t *failure_of(const struct replica_set *s)
{
	return condition_of(s->obj, FAILURE);
}

static void tell_failure(const struct rollout *r, json_t *list)
{
	const json_t *found = r->fresh ? failure_of(r->fresh) : NULL;

	for (size_t i = 0; !found && i < r->n; i++)
		found = failure_of(&r->sets[i]);
	if (found)
		condition_set(list, r->now,
			      &(struct said){ FAILURE, jsonx_str_or(found, "status", "True"),
					      jsonx_str_or(found, "reason", ""), jsonx_str_or(found, "message", "") },
			      false);
	else
		condition_remove(list, FAILURE);
}

/* ---- all of it ---- */

static json_t *conditions_of(const json_t *deployment)
{
	json_t *list = jsonx_copy(jsonx_at(deployment, "status.conditions"));

	return list ? list : json_array();
}

static void put(json_t *status, const char *name, int64_t n)
{
	if (n)
		json_object_set_new(status, name, json_integer(n));
}

json_t *status_make(const struct rollout *r, bool rolls, int64_t *again)
{
	struct deployment_counts c = count(r);
	json_t *list = conditions_of(r->deployment);
	json_t *status = json_object();
	const json_t *collisions = jsonx_at(r->deployment, "status.collisionCount");

	if (r->deadline >= 0) {
		tell_paused(r, list);
		tell_found(r, list);
	} else if (rolls) {
		condition_remove(list, PROGRESSING);
	}
	tell_available(r, list);
	if (rolls && r->deadline >= 0)
		judge_progress(r, list, again);
	if (rolls)
		tell_failure(r, list);
	put(status, "observedGeneration", jsonx_int_or(r->deployment, "metadata.generation", 0));
	put(status, "replicas", c.replicas);
	put(status, "updatedReplicas", c.updated);
	put(status, "readyReplicas", c.ready);
	put(status, "availableReplicas", c.available);
	put(status, "unavailableReplicas", c.unavailable);
	if (collisions)
		json_object_set(status, "collisionCount", (json_t *)collisions);
	json_object_set_new(status, "conditions", list);
	return status;
}

/* ---- after the creation of a ReplicaSet ---- */

json_t *deployment_told(const json_t *deployment, int64_t now, bool good, const char *reason, const char *message)
{
	json_t *status = json_copy(json_object_get(deployment, "status"));
	json_t *list = conditions_of(deployment);

	if (!status)
		status = json_object();
	if (jsonx_int_or(deployment, "spec.progressDeadlineSeconds", INT32_MAX) != INT32_MAX)
		condition_set(list, now, &(struct said){ PROGRESSING, good ? "True" : "False", reason, message },
			      false);
	if (json_array_size(list))
		json_object_set(status, "conditions", list);
	json_decref(list);
	return status;
}

json_t *deployment_collided(const json_t *deployment)
{
	json_t *status = json_copy(json_object_get(deployment, "status"));

	if (!status)
		status = json_object();
	json_object_set_new(status, "collisionCount",
			    json_integer(jsonx_int_or(deployment, "status.collisionCount", 0) + 1));
	return status;
}
