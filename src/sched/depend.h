// SPDX-License-Identifier: Apache-2.0
/* depend.h - whether what a workload waits for has come true, and if not, in words; pure */
#ifndef STOKER_SCHED_DEPEND_H
#define STOKER_SCHED_DEPEND_H

#include "base/str.h"
#include "kinds/after.h"

/* How one that is waited for stands. */
enum depend_state {
	DEPEND_UNKNOWN, /* nobody has looked yet */
	DEPEND_MISSING, /* there is none, but it may come any moment */
	DEPEND_NEVER,   /* there is none, and was none for some time */
	DEPEND_RUNS,    /* it waits or runs */
	DEPEND_OK,
	DEPEND_NOTOK,
	DEPEND_DELETED, /* before it had ended: it did not end well */
};

/* How it stands after it was seen, or (NULL) was gone. */
enum depend_state depend_seen(enum depend_state before, const struct kind *k, const json_t *obj);

enum depend_verdict { DEPEND_WAITS, DEPEND_MET, DEPEND_STUCK /* it cannot come true any more by itself */ };
enum depend_verdict depend_one(enum depend_state s, enum after_how how);
/* All of them; words for what is not met yet, those that are stuck first. */
enum depend_verdict depend_all(const struct after *items, const enum depend_state *states, size_t n,
			       struct sbuf *words);

#endif
