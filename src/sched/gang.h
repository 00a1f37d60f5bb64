// SPDX-License-Identifier: Apache-2.0
/* gang.h - pods that get nodes together or not at all
 *
 * Whoever makes them says so in two annotations: stoker.dev/gang names the gang within its namespace, and
 * stoker.dev/gang-size how many of its pods must have room at once.  Until then none of them is bound, so that two
 * gangs cannot hold one half of a machine each and wait for the other for ever.
 *
 * A gang of which a pod has a node has begun.  What it lacks, because the server was killed between two bindings or a
 * replica runs again, comes before everything else that waits: its other pods hold their room until it is complete.
 * What joins it beyond its size is placed like any pod.  A pod that is being deleted is of no gang any more.
 */
#ifndef STOKER_SCHED_GANG_H
#define STOKER_SCHED_GANG_H

#include "base/map.h"
#include "sched/first_fit.h"
#include "sched/queue.h"

struct gang {
	char *key; /* "namespace/name" */
	size_t size;
	struct waiting **waiting; /* as they came */
	size_t n, cap;
	size_t bound;    /* pods with a node */
	uint64_t failed; /* the epoch of the fit in which there was no room, 0: not tried */
	char *why;
};

struct gangs {
	struct map by_key;   /* -> struct gang */
	struct map by_bound; /* uid of a pod with a node -> its struct gang */
};

void gangs_init(struct gangs *g);
void gangs_done(struct gangs *g);
/* A pod waits: w->gang is set, or stays NULL if it is in none. */
void gangs_wait(struct gangs *g, const json_t *pod, struct waiting *w);
/* It does not any more. */
void gangs_leave(struct gangs *g, struct waiting *w);
/* A pod has a node; a pod is gone.  Neither need be in a gang. */
void gangs_bound(struct gangs *g, const json_t *pod, const char *uid);
void gangs_gone(struct gangs *g, const char *uid);

/* Counts pods that gangs lack which have begun at nodes (w->placed), where there is room. */
void gangs_complete(struct gangs *g, struct fit *f);
/* True if its pods may be bound: it has begun, or they have just been placed, each counted at its node (w->placed).
 * False: there is not room for all; gang->why says it in words. */
bool gang_place(struct gang *g, struct fit *f);
/* Why its pods wait, or NULL: each for itself. */
const char *gang_why(const struct gang *g);

#endif
