// SPDX-License-Identifier: Apache-2.0
/* forecast.h - who is where in the line, and when each is expected to start: the same plan run forward; pure
 *
 * A forecast is made in steps, for it can take long: the line is walked, a second world is filled from the first (all
 * that runs, and the first of what waits), and time runs on in it (sim.h).  Everything lasts as long as its walltime
 * allows, what has none never ends, and nothing new comes.  So a start comes earlier than foretold when work ends
 * before its time, and later when work of a higher rank is submitted.
 *
 * While a new one is made, the last one answers.
 */
#ifndef STOKER_SCHED_FORECAST_H
#define STOKER_SCHED_FORECAST_H

#include "sched/world.h"

#define FORECAST_MOST  500   /* works whose start is foretold */
#define FORECAST_PLACE 20000 /* works whose place is known */

struct forecast;

/* Where objects are found; the world is the true one. */
struct forecast_source {
	struct world *world;
	struct world_config config;
	bool (*next_node)(void *arg, size_t *pos, const json_t **ret);
	bool (*next_queue)(void *arg, size_t *pos, const json_t **ret);
	const json_t *(*pod)(void *arg, const char *id); /* of a member; NULL if it has gone */
	void *arg;
};

struct forecast *forecast_new(const struct forecast_source *source);
void forecast_free(struct forecast *f);

/* Something has begun, ended, come or changed: what is known is out of date. */
void forecast_touch(struct forecast *f);
bool forecast_is_old(const struct forecast *f);
/* When the last one was begun; 0: there is none. */
int64_t forecast_made_ms(const struct forecast *f);

/* Goes on with the one under way, or begins one, until it is whole or `stop` says so.  True: it is whole. */
bool forecast_step(struct forecast *f, int64_t now_ms, bool (*stop)(void *arg), void *arg);
bool forecast_is_busy(const struct forecast *f);

/* From 1, in its queue; 0: not in line, or far behind. */
size_t forecast_position(const struct forecast *f, const char *key);
/* TIME_UNKNOWN: it cannot be told. */
int64_t forecast_start(const struct forecast *f, const char *key);
/* Whose end lets it start then; NULL: nobody's, or it cannot be told.  A key: the work may have gone since. */
const char *forecast_after(const struct forecast *f, const char *key);
/* The first of those that wait to start and then, without a walltime, never end as far as is known: what waits behind
 * it may wait for ever.  NULL. */
const char *forecast_behind(const struct forecast *f, const char *key);
/* Whether it was among those whose start was looked for to the end. */
bool forecast_covers(const struct forecast *f, const char *key);
/* The line, first to last; works may have gone since. */
size_t forecast_count(const struct forecast *f);
const char *forecast_key(const struct forecast *f, size_t i);

#endif
