// SPDX-License-Identifier: Apache-2.0
/* events_limit.c - see events_limit.h
 *
 * A text that was told on its own stays on its own: only new ones are combined.  What an object may write is one
 * number, the time at which it would have used up all that it has written, had it been given the right bit by bit.
 */
#include "client/events_limit.h"

#include "base/mem.h"

#define REMEMBERED 1024 /* of each; who is forgotten begins anew */

struct group {
	uint64_t texts[EVENTS_SIMILAR - 1];
	size_t n;
	int64_t last_ms;
};

struct object {
	int64_t used_up_ms;
};

static void drop(void *arg, void *value)
{
	(void)arg;
	free(value);
}

void events_limit_init(struct events_limit *l)
{
	lru_init(&l->groups, REMEMBERED, drop, NULL);
	lru_init(&l->objects, REMEMBERED, drop, NULL);
}

void events_limit_done(struct events_limit *l)
{
	lru_done(&l->groups);
	lru_done(&l->objects);
}

static uint64_t hash(const char *text)
{
	uint64_t h = 1469598103934665603ull; /* FNV-1a */

	for (; *text; text++)
		h = (h ^ (unsigned char)*text) * 1099511628211ull;
	return h;
}

bool events_limit_combines(struct events_limit *l, const char *group, const char *text, int64_t now_ms)
{
	struct group *g = lru_use(&l->groups, group);
	uint64_t h = hash(text);

	if (!g) {
		g = xcalloc(1, sizeof(*g));
		lru_add(&l->groups, group, g);
	}
	if (now_ms - g->last_ms > EVENTS_SIMILAR_MS)
		g->n = 0;
	g->last_ms = now_ms;
	for (size_t i = 0; i < g->n; i++)
		if (g->texts[i] == h)
			return false;
	if (g->n == ARRAY_SIZE(g->texts))
		return true;
	g->texts[g->n++] = h;
	return false;
}

int64_t events_limit_take(struct events_limit *l, const char *object, int64_t now_ms)
{
	struct object *o = lru_use(&l->objects, object);
	int64_t wait;

	if (!o) {
		o = xcalloc(1, sizeof(*o));
		o->used_up_ms = now_ms;
		lru_add(&l->objects, object, o);
	}
	if (o->used_up_ms < now_ms)
		o->used_up_ms = now_ms;
	wait = o->used_up_ms - now_ms - (int64_t)(EVENTS_BURST - 1) * EVENTS_REFILL_MS;
	if (wait > 0)
		return wait;
	o->used_up_ms += EVENTS_REFILL_MS;
	return 0;
}
