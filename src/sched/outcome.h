// SPDX-License-Identifier: Apache-2.0
/* outcome.h - what came of a simulated run: waits, use of the machine, and each user's share; pure */
#ifndef STOKER_SCHED_OUTCOME_H
#define STOKER_SCHED_OUTCOME_H

#include "sched/workload.h"

struct outcome_waits {
	double mean, median, p95, most; /* seconds */
};

struct outcome_user {
	const char *name; /* borrowed from the jobs */
	size_t jobs;
	struct outcome_waits waits;
	double used; /* GPU-seconds; CPU-seconds on a machine without GPUs */
	double had;  /* 0..1 of what all used */
	double due;  /* 0..1: equal parts for all who had work at the time */
	/* While the run goes on. */
	size_t left; /* jobs that have arrived and not ended */
	double promised;
};

struct outcome {
	bool gpus; /* what is counted: GPUs, or else CPUs */
	double capacity;
	int64_t from_ms, to_ms; /* the first arrival, the last end */
	size_t jobs, never;     /* never: could not start */
	size_t evictions;
	double utilisation; /* 0..1 */
	struct outcome_waits waits;
	struct outcome_user *users; /* by name */
	size_t nusers;
	/* While the run goes on. */
	size_t done;
};

struct outcome_progress {
	/* Now and then; false ends the run. */
	bool (*tell)(void *arg, size_t ended, size_t jobs, int64_t now_ms);
	void *arg;
};
/* Plays the workload's jobs, which are filled in, on a machine of such nodes. */
void outcome_run(struct outcome *o, struct workload *w, const json_t *nodes, const struct world_config *config,
		 const struct outcome_progress *progress);
void outcome_done(struct outcome *o);
/* For programs. */
json_t *outcome_json(const struct outcome *o);

#endif
