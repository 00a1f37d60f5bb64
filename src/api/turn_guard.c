// SPDX-License-Identifier: Apache-2.0
/* turn_guard.c - see turn_guard.h */
#include "api/turn_guard.h"

static void on_settled(void *arg, const struct err *e)
{
	struct turn_guard *g = arg;

	g->waiting = false;
	if (e->kind != ERR_NONE)
		g->lost(g->arg);
}

void turn_guard_watch(struct turn_guard *g, struct store *store)
{
	if (g->waiting)
		return;
	g->waiting = true;
	g->after = (struct store_after){ .fn = on_settled, .arg = g };
	store_after(store, &g->after);
}

void turn_guard_watch_read(struct turn_guard *g, struct store *store)
{
	if (store_dirty(store))
		turn_guard_watch(g, store);
}

void turn_guard_done(struct turn_guard *g)
{
	if (g->waiting)
		store_after_cancel(&g->after);
	g->waiting = false;
}
