// SPDX-License-Identifier: Apache-2.0
/* tally.h - what runs now and how much it has used: pods as the API has them become lines of the accounts; pure
 *
 * A pod counts from its start at its node to the end of its last container.  Pods of a gang are one record, which is
 * written when the last of them has ended.
 *
 * Lines gather in two buffers for whoever writes them down: `records`, once for each workload, and `journal`, a line
 * for each pod that has begun or ended.  The journal is what a tally is made of again after a crash: it has the pods
 * that are gone from the API.
 */
#ifndef STOKER_SCHED_TALLY_H
#define STOKER_SCHED_TALLY_H

#include <jansson.h>

#include "base/map.h"
#include "sched/account.h"

struct tally_amounts {
	double gpus;
	int64_t cpus_milli, memory_bytes;
};

struct tally {
	struct map
		pods; /* beginning of the uid -> struct tally_pod: those that have a node, and those of their gangs */
	struct map works; /* key -> struct tally_work */
	struct sbuf records, journal;
	struct map recorded; /* while recovering: uids, and keys of gangs -> when the last record of it ended */
	bool recovering;
	/* What a pod has, of everything. */
	void (*amounts)(void *arg, const json_t *pod, struct tally_amounts *ret);
	void *arg;
};

void tally_init(struct tally *t);
void tally_done(struct tally *t);

/* A pod as it is now. */
void tally_see(struct tally *t, const json_t *pod, int64_t now);
/* It was deleted; that was its last state. */
void tally_gone(struct tally *t, const json_t *pod, int64_t now);

/* Recovering: first what is recorded, then the lines of the journal, then the pods of the API (tally_see_all()).  What
 * began then and is not in the API any more ended at `alive`. */
void tally_recorded(struct tally *t, const struct account_record *r);
void tally_replay(struct tally *t, const struct account_record *r);
/* `since`: what ended before is recorded already. */
void tally_see_all(struct tally *t, const json_t *pods, int64_t since, int64_t alive, int64_t now);

/* What is open as a journal, for a new file. */
void tally_journal(const struct tally *t, struct sbuf *out);
size_t tally_open(const struct tally *t);
/* Every pod that runs, and those that have run beside one that does: a record each, of `pods` 1 for one of a
 * workload and 0 for the others, so that sums count workloads. */
void tally_each_pod(const struct tally *t, void (*each)(void *arg, const struct account_record *r), void *arg);

#endif
