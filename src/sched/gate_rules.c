// SPDX-License-Identifier: Apache-2.0
/* gate_rules.c - see gate_rules.h */
#include "sched/gate_rules.h"

#include "base/clock.h"
#include "base/jsonx.h"
#include "base/map.h"
#include "base/mem.h"
#include "kinds/work_rules.h"
#include "sched/pod_work.h"
#include "sched/waiters.h"
#include "sched/why.h"

struct gate_rules {
	struct waiters *waiters;
	struct map keys;   /* uid -> "namespace/plural/name", of those that wait for others */
	struct sbuf words; /* of the last answer */
	void (*changed)(void *arg, const char *key);
	void *arg;
};

static void on_waiter(void *arg, const char *uid)
{
	struct gate_rules *r = arg;
	const char *key = map_find(&r->keys, uid);
	auto_free char *own = key ? xstrdup(key) : NULL;

	if (own)
		r->changed(r->arg, own);
}

struct gate_rules *gate_rules_new(struct client *c, void (*changed)(void *arg, const char *key), void *arg)
{
	struct gate_rules *r = xcalloc(1, sizeof(*r));

	*r = (struct gate_rules){ .changed = changed, .arg = arg, .words = SBUF(4096) };
	map_init(&r->keys, free);
	r->waiters = waiters_new(c, on_waiter, r);
	return r;
}

void gate_rules_free(struct gate_rules *r)
{
	if (!r)
		return;
	waiters_free(r->waiters);
	map_done(&r->keys);
	sbuf_done(&r->words);
	free(r);
}

static void remember(struct gate_rules *r, const char *plural, const json_t *job)
{
	const char *uid = jsonx_str_or(job, "metadata.uid", "");

	if (!map_find(&r->keys, uid))
		map_set(&r->keys, uid,
			xasprintf("%s/%s/%s", jsonx_str_or(job, "metadata.namespace", ""), plural,
				  jsonx_str_or(job, "metadata.name", "")));
}

static bool waits_for_others(struct gate_rules *r, const char *plural, const json_t *job, const char **ret_why)
{
	bool stuck;

	if (!*work_note(job, AFTER_ANNOTATION)) {
		gate_rules_forget(r, jsonx_str_or(job, "metadata.uid", ""));
		return false;
	}
	remember(r, plural, job);
	return !waiters_ask(r->waiters, job, ret_why, &stuck);
}

bool gate_rules_held(struct gate_rules *r, const char *plural, const json_t *job, int64_t now_ms, struct gate_rule *ret)
{
	int64_t not_before = work_not_before(job);
	unsigned holds = work_holds(job);
	const char *after = NULL;
	char text[CLOCK_SHORT_LEN];

	sbuf_reset(&r->words);
	if (waits_for_others(r, plural, job, &after))
		holds |= HOLD_AFTER;
	why_held(holds, after, &r->words);
	if (not_before > now_ms) {
		clock_short(not_before / 1000, now_ms / 1000, text);
		sbuf_addf(&r->words, "%snot to start before %s", holds ? "; " : "", text);
	}
	*ret = (struct gate_rule){ .why = r->words.p, .until_ms = not_before > now_ms ? not_before : 0 };
	return holds || not_before > now_ms;
}

void gate_rules_forget(struct gate_rules *r, const char *uid)
{
	if (!map_find(&r->keys, uid))
		return;
	waiters_forget(r->waiters, uid);
	map_remove(&r->keys, uid);
}
