// SPDX-License-Identifier: Apache-2.0
/* sim.h - the plan run forward in time, without a machine; pure
 *
 * Jobs arrive and end, and at each such moment the world is asked for passes until it has nothing more to decide: what
 * the server does, as fast as the processor can.  `stoker simulate` plays whole months, and expected starts come from a
 * run of what is there now.
 */
#ifndef STOKER_SCHED_SIM_H
#define STOKER_SCHED_SIM_H

#include "sched/world.h"

struct sim_job {
	const char *key, *queue, *user, *group; /* borrowed for the whole run */
	int64_t submit_ms;
	int64_t run_ms;      /* how long it takes; TIME_UNKNOWN: for ever */
	int64_t walltime_ms; /* it is ended then; WALLTIME_NONE */
	int64_t priority;
	size_t members;                  /* pods, all or none */
	int64_t cpu_milli, memory, gpus; /* of each */
	const char *model;               /* of GPU, or NULL */
	/* What became of it. */
	int64_t start_ms, end_ms; /* TIME_UNKNOWN: it did not */
	unsigned evictions;
	double gpu_seconds; /* also of runs that were cut off */
};

struct sim;

/* The world has nodes and queues, and may have works that run already; it stays the caller's. */
struct sim *sim_new(struct world *w, int64_t now_ms);
void sim_free(struct sim *s);
/* To be submitted at its time; the row is kept by reference and filled in. */
void sim_add(struct sim *s, struct sim_job *j);
/* A work that is in the world already: running ones end at end_ms, waiting ones run_ms after their start. */
void sim_adopt(struct sim *s, struct work *work, struct sim_job *j);

struct sim_watch {
	/* After each moment at which something was decided; false ends the run. */
	bool (*moment)(void *arg, struct sim *s, int64_t now_ms);
	void *arg;
};
/* Asked now and then while a moment is decided: true ends sim_run() in the middle of it; the next call goes on there.
 */
void sim_set_stop(struct sim *s, bool (*stop)(void *arg), void *arg);
/* Those that have ended at the present moment, first to last. */
size_t sim_ended(const struct sim *s, const struct sim_job *const **ret);
/* Until nothing is left to happen, `until_ms`, or the watch ends it; returns the last moment. */
int64_t sim_run(struct sim *s, int64_t until_ms, const struct sim_watch *watch);

#endif
