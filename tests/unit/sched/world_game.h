// SPDX-License-Identifier: Apache-2.0
/* world_game.h - what the player (world_random_test.c) and the judge (world_judge_test.c) both know */
#ifndef STOKER_TEST_WORLD_GAME_H
#define STOKER_TEST_WORLD_GAME_H

#include "sched/parts.h"
#include "sched/world_parts.h"
#include "test.h"

#define NODES  5
#define CARDS  4
#define QUEUES 3
#define USERS  4
#define GROUPS 2
#define JOBS   24 /* at a time */
#define MINUTE ((int64_t)60 * 1000)
#define T0     ((int64_t)1767225600000) /* 2026-01-01 */

struct host {
	bool there, cordoned;
	int64_t cpu; /* thousandths */
	int64_t gpus;
};

struct line {
	bool there, started, borrowing, even;         /* only nodes of even numbers */
	int64_t priority, weight, walltime;           /* minutes; 0: none */
	int64_t running, user_gpus, gpus, group_cpus; /* limits; -1: none */
	int64_t quota, borrow;                        /* GPUs, all in one cohort; -1: none */
	unsigned reclaim;                             /* Any, LowerPriority, Never */
};

struct job {
	char key[16];
	struct work *work;
	int64_t lasts;    /* once it has begun */
	int64_t end_ms;   /* TIME_UNKNOWN: it has not begun */
	int64_t evict_ms; /* the eviction is carried out then; TIME_UNKNOWN */
	bool begun;       /* as of the last look */
	int64_t promise;  /* the reservation it had, while nothing may move it */
};

struct game {
	uint64_t random, seed;
	bool calm; /* first come, first served, all promises are kept: the first reservation stands */
	bool fair; /* as calm, but by shares: all jobs are of one card, and each start is held against what users had */
	struct world *w;
	struct world_config config;
	int64_t now;
	struct host hosts[NODES];
	struct line lines[QUEUES];
	struct job jobs[JOBS]; /* work NULL: nobody */
	unsigned long keys, ids, starts, evictions, step;
	struct decisions d;
	bool blocked;
	int64_t block_from, block_to;
	unsigned block_hosts; /* bits */
	double used[USERS];   /* card-seconds that count; fair rounds */
	int64_t used_ms;      /* until then */
	bool failed;
};

#define JUDGE(cond, ...)                                                                                               \
	do {                                                                                                           \
		if (!(cond) && !g->failed) {                                                                           \
			test_fail(__FILE__, __LINE__, __VA_ARGS__);                                                    \
			printf("  seed %llu, step %lu\n", (unsigned long long)g->seed, g->step);                       \
			g->failed = true;                                                                              \
		}                                                                                                      \
	} while (0)

/* --- world_judge_test.c --- */
const char *host_name(size_t i);
const char *user_name(size_t i);
/* Time has passed, and nobody has begun or ended in it. */
void judge_time(struct game *g);
/* A decision as it was made; all of them before the first is carried out. */
void judge_start(struct game *g, struct work *work);
void judge_eviction(struct game *g, const struct decision *d);
/* After every slice. */
void judge_sums(struct game *g);
/* After every pass. */
void judge_who_waits(struct game *g);
void judge_reservations(struct game *g);
void judge_promises(struct game *g);

#endif
