// SPDX-License-Identifier: Apache-2.0
/* quota_status.c - telling in a quota's status what the account says
 *
 * The status is written before the turn's commit, into the transaction of the writes that changed it: once for each
 * quota, however many objects came and went in the turn.  So it is never behind what a client can see, also after a
 * crash.  After a start, and after a commit that failed, every namespace that has quotas is counted and told anew, some
 * of them a turn.
 *
 * A pod that is being deleted and has not gone when its grace period is over, say because its node is lost, counts no
 * longer.  No write tells of that moment: a timer has the namespace counted again.
 */
#include "api/object.h"
#include "api/quota_parts.h"
#include "api/verbs.h"
#include "base/clock.h"
#include "base/jsonx.h"
#include "base/log.h"
#include "base/mem.h"

#define COUNT_NS ((int64_t)10 * 1000 * 1000) /* of a turn, for counting namespaces */
#define RETRY_MS 5000                        /* a full disk does not heal in a turn */

static int tell_quota(struct quotas *qs, const struct quota_space *s, const struct quota *q, struct err *e)
{
	const struct kind *k = qs->kinds[QUOTA_OWN_KIND].kind;
	struct api_request req = { .caller = &caller_system,
				   .verb = VERB_UPDATE,
				   .kind = k,
				   .subresource = "status",
				   .ns = s->ns,
				   .name = q->name };
	struct api_result written = { 0 };
	json_auto_t *status = quota_status(q);
	json_auto_t *old = NULL;
	json_auto_t *obj = NULL;
	int r;

	if (verb_load(qs->api, k, s->ns, q->name, &old, e) < 0)
		return -1;
	if (jsonx_equal(status, json_object_get(old, "status")))
		return 0;
	obj = jsonx_copy(old);
	json_object_set(obj, "status", status);
	r = write_store(qs->api, &req, old, obj, 200, &written, e);
	api_result_done(&written);
	return r;
}

static int tell_space(struct quotas *qs, struct quota_space *s, struct err *e)
{
	if (quota_space_count(qs, s, e) < 0)
		return -1;
	for (size_t i = 0; i < s->n; i++)
		if (tell_quota(qs, s, s->quotas[i], e) < 0)
			return err_prefix(e, "namespace %s, quota %s", s->ns, s->quotas[i]->name);
	return 0;
}

static void on_before_commit(void *arg)
{
	struct quotas *qs = arg;
	int64_t until = clock_mono_ns() + COUNT_NS;
	struct quota_space *waiting;
	struct err e = ERR_INIT;
	bool failed;

	if (loop_timer_pending(&qs->retry))
		return;
	failed = quotas_load(qs, &e) < 0;
	waiting = qs->queue;
	qs->queue = NULL;
	while (waiting) {
		struct quota_space *s = waiting;

		waiting = s->next;
		s->queued = false;
		if (failed || (!s->counted && clock_mono_ns() > until)) {
			quota_status_queue(qs, s);
			continue;
		}
		failed = tell_space(qs, s, &e) < 0;
		if (failed)
			quota_status_queue(qs, s);
	}
	if (!failed)
		return;
	log_warn("tell what quotas have left: %s, trying again", e.text);
	loop_unschedule(api_loop(qs->api), &qs->hook);
	loop_timer_set(api_loop(qs->api), &qs->retry, RETRY_MS);
}

static void on_retry(void *arg)
{
	struct quotas *qs = arg;

	loop_schedule(api_loop(qs->api), &qs->hook);
}

static void arm(struct quotas *qs)
{
	int64_t first = 0;
	const char *ns;
	size_t pos = 0;
	void *v;

	while (map_next(&qs->spaces, &pos, &ns, &v)) {
		const struct quota_space *s = v;

		if (s->deadline && (!first || s->deadline < first))
			first = s->deadline;
	}
	if (first)
		loop_timer_set(api_loop(qs->api), &qs->deadline, clock_ms_of(first - clock_wall()));
}

static void on_deadline(void *arg)
{
	struct quotas *qs = arg;
	const char *ns;
	size_t pos = 0;
	void *v;

	while (map_next(&qs->spaces, &pos, &ns, &v)) {
		struct quota_space *s = v;

		if (!s->deadline || s->deadline > clock_wall())
			continue;
		s->deadline = 0;
		if (!s->leaving) /* they have all gone in time */
			continue;
		s->counted = false;
		quota_status_queue(qs, s);
	}
	arm(qs);
}

void quota_status_init(struct quotas *qs)
{
	qs->hook = (struct loop_hook){ .run = on_before_commit, .arg = qs, .phase = LOOP_BEFORE_COMMIT };
	qs->retry = (struct loop_timer){ .fire = on_retry, .arg = qs };
	qs->deadline = (struct loop_timer){ .fire = on_deadline, .arg = qs };
	loop_schedule(api_loop(qs->api), &qs->hook);
}

void quota_status_done(struct quotas *qs)
{
	loop_unschedule(api_loop(qs->api), &qs->hook);
	loop_timer_done(&qs->retry);
	loop_timer_done(&qs->deadline);
}

void quota_status_queue(struct quotas *qs, struct quota_space *s)
{
	if (!s->queued) {
		s->queued = true;
		s->next = qs->queue;
		qs->queue = s;
	}
	loop_schedule(api_loop(qs->api), &qs->hook);
}

void quota_status_forget(struct quotas *qs, struct quota_space *s)
{
	struct quota_space **at = &qs->queue;

	if (!s) {
		qs->queue = NULL;
		return;
	}
	while (*at && *at != s)
		at = &(*at)->next;
	if (*at)
		*at = s->next;
	s->queued = false;
}

void quota_status_wake(struct quotas *qs, struct quota_space *s, int64_t deadline)
{
	if (deadline <= s->as_of || (s->deadline && s->deadline <= deadline))
		return;
	s->deadline = deadline;
	arm(qs);
}
