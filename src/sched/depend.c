// SPDX-License-Identifier: Apache-2.0
/* depend.c - see depend.h */
#include "sched/depend.h"

#include "base/mem.h"
#include "kinds/workloads.h"

enum depend_state depend_seen(enum depend_state before, const struct kind *k, const json_t *obj)
{
	/* A record that is gone does not change how it ended. */
	if (!obj)
		return before == DEPEND_RUNS ? DEPEND_DELETED : before == DEPEND_UNKNOWN ? DEPEND_MISSING : before;
	switch (workload_end(k, obj)) {
	case WORKLOAD_ENDED_WELL:
		return DEPEND_OK;
	case WORKLOAD_ENDED_BADLY:
		return DEPEND_NOTOK;
	case WORKLOAD_GOES_ON:
		break;
	}
	return DEPEND_RUNS;
}

enum depend_verdict depend_one(enum depend_state s, enum after_how how)
{
	switch (s) {
	case DEPEND_UNKNOWN:
	case DEPEND_MISSING:
	case DEPEND_RUNS:
		return DEPEND_WAITS;
	case DEPEND_NEVER:
		return DEPEND_STUCK;
	case DEPEND_OK:
		return how == AFTER_NOTOK ? DEPEND_STUCK : DEPEND_MET;
	case DEPEND_NOTOK:
	case DEPEND_DELETED:
		return how == AFTER_OK ? DEPEND_STUCK : DEPEND_MET;
	}
	return DEPEND_WAITS;
}

static void say_waits(const struct after *a, struct sbuf *out)
{
	static const char *const ends[] = {
		[AFTER_OK] = "has succeeded", [AFTER_NOTOK] = "has failed", [AFTER_ANY] = "has ended"
	};

	sbuf_addf(out, "waits until %s/%s %s", a->kind->singular, a->name, ends[a->how]);
}

static void say_stuck(const struct after *a, enum depend_state s, struct sbuf *out)
{
	const char *kind = a->kind->singular;

	if (s == DEPEND_NEVER)
		sbuf_addf(out, "waits for %s/%s, but there is no such workload in its namespace", kind, a->name);
	else if (s == DEPEND_OK)
		sbuf_addf(out, "can never start: it waits for %s/%s to fail, which has succeeded", kind, a->name);
	else
		sbuf_addf(out, "can never start: it waits for %s/%s to succeed, which %s", kind, a->name,
			  s == DEPEND_DELETED ? "was deleted before it had ended" : "has failed");
}

static void say_all(const struct after *items, const enum depend_state *states, size_t n, enum depend_verdict which,
		    struct sbuf *words)
{
	for (size_t i = 0; i < n; i++) {
		if (depend_one(states[i], items[i].how) != which)
			continue;
		sbuf_adds(words, words->n ? "; " : "");
		if (which == DEPEND_STUCK)
			say_stuck(&items[i], states[i], words);
		else
			say_waits(&items[i], words);
	}
}

enum depend_verdict depend_all(const struct after *items, const enum depend_state *states, size_t n, struct sbuf *words)
{
	enum depend_verdict all = DEPEND_MET;

	for (size_t i = 0; i < n; i++) {
		enum depend_verdict one = depend_one(states[i], items[i].how);

		all = one == DEPEND_STUCK || all == DEPEND_MET ? one : all;
		if (all == DEPEND_STUCK)
			break;
	}
	say_all(items, states, n, DEPEND_STUCK, words);
	say_all(items, states, n, DEPEND_WAITS, words);
	return all;
}
