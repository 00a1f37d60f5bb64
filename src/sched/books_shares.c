// SPDX-License-Identifier: Apache-2.0
/* books_shares.c - see books_shares.h
 *
 * The accounts are the truth.  What is saved stands for everything before a moment, "untilMs", and only what ran after
 * it is added from the accounts and the tally, so nothing counts twice.  Sums that were made with another half-life are
 * of no use.
 */
#include "sched/books_shares.h"

#include <stdio.h>

#include "base/clock.h"
#include "base/jsonx.h"
#include "base/log.h"
#include "base/mem.h"
#include "sched/parts.h"

#define HALF_LIVES 10 /* before that, a thousandth is left */
#define GIB        ((double)(1 << 30))

static int64_t now_ms(void)
{
	return clock_wall_micros() / 1000;
}

void books_shares_save(struct world *w, const struct account_file *f, int64_t half_life)
{
	struct fair *fair = world_fair(w);
	int64_t now = now_ms();
	struct err e = ERR_INIT;
	json_auto_t *saved = NULL;

	fair_now(fair, now);
	saved = fair_save(fair);
	json_object_set_new(saved, "untilMs", json_integer(now));
	json_object_set_new(saved, "halfLife", json_integer(half_life));
	if (account_file_save_shares(f, saved, &e) < 0)
		log_warn("save the shares: %s, ignoring", e.text);
}

struct recalling {
	struct world *world;
	double cpus_milli, memory, gpus; /* of the machine */
	int64_t from_ms, now_ms;
};

static struct share *named(struct fair *f, struct share *parent, struct str name)
{
	char text[ACCOUNT_LINE_MAX];

	snprintf(text, sizeof(text), "%.*s", STR_FMT(name));
	return fair_share(f, parent, text);
}

/* As world_cost(), from what it used. */
static double cost_of(const struct recalling *c, const struct account_use *use, double seconds)
{
	double parts[] = { c->gpus > 0 ? use->gpu / c->gpus : 0,
			   c->cpus_milli > 0 ? use->cpu * 1000 / c->cpus_milli : 0,
			   c->memory > 0 ? use->memory * GIB / c->memory : 0 };
	double most = 0;

	for (size_t i = 0; i < ARRAY_SIZE(parts); i++)
		most = parts[i] > most ? parts[i] : most;
	return seconds > 0 ? most / seconds : 0;
}

static void add(void *arg, const struct account_record *r)
{
	const struct recalling *c = arg;
	struct fair *f = world_fair(c->world);
	int64_t ended = r->ended ? r->ended : c->now_ms / 1000;
	struct account_use use = r->ended ? r->use : account_use_for(r, ended - r->started);
	int64_t start = r->started * 1000 > c->from_ms ? r->started * 1000 : c->from_ms;
	int64_t end = r->ended ? ended * 1000 : c->now_ms;

	if (end > c->now_ms)
		end = c->now_ms;
	if (end > start)
		fair_ran(f, named(f, named(f, named(f, NULL, r->queue), r->group), r->user),
			 cost_of(c, &use, (double)(ended - r->started)), start, end);
}

bool books_shares_load(struct world *w, const struct account_file *f, const struct tally *t, int64_t half_life)
{
	const struct space *space = world_space(w);
	struct recalling c = { .world = w,
			       .cpus_milli = (double)space_total(space, RESOURCE_CPU),
			       .memory = (double)space_total(space, RESOURCE_MEMORY),
			       .gpus = (double)space_total(space, RESOURCE_GPU),
			       .now_ms = now_ms() };
	json_auto_t *saved = account_file_shares(f);
	int64_t until = jsonx_int_or(saved, "untilMs", 0);

	if (c.cpus_milli <= 0 && c.gpus <= 0)
		return false;
	fair_now(world_fair(w), c.now_ms);
	c.from_ms = c.now_ms - HALF_LIVES * half_life * 1000;
	if (until > c.from_ms && until <= c.now_ms && jsonx_int_or(saved, "halfLife", 0) == half_life) {
		fair_load(world_fair(w), saved, c.now_ms);
		c.from_ms = until;
	}
	account_file_since(f, c.from_ms > 0 ? c.from_ms / 1000 : 0, add, &c);
	tally_each_pod(t, add, &c);
	return true;
}
