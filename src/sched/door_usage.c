// SPDX-License-Identifier: Apache-2.0
/* door_usage.c - see door_usage.h */
#include "sched/door_usage.h"

#include "base/clock.h"
#include "base/jsonx.h"
#include "base/mem.h"

/* The levels of the tree. */
static const char *const lists[] = { "queues", "groups", "users" };

struct children {
	const struct share **items;
	size_t n, cap;
};

static void collect(void *arg, const struct share *s)
{
	struct children *c = arg;

	ARRAY_PUSH(c->items, c->n, c->cap, s);
}

/* Who waits comes first, by whose turn it is; then who had least. */
static int by_turn(const void *a, const void *b, void *arg)
{
	const struct share *x = *(const struct share *const *)a;
	const struct share *y = *(const struct share *const *)b;
	const struct fair *f = arg;
	double d = share_level(f, x) - share_level(f, y);

	if (!share_waiting(x) != !share_waiting(y))
		return share_waiting(x) ? -1 : 1;
	return d < 0 ? -1 : d > 0 ? 1 : strcmp(share_name(x), share_name(y));
}

/* What has no use, no work and no children to speak of is not worth a line. */
static bool is_idle(const struct fair *f, const struct share *s)
{
	return share_use(f, s) < 0.001 && share_running(s) <= 0 && !share_waiting(s);
}

static json_t *share_json(const struct fair *f, const struct share *s, double all)
{
	bool active = share_waiting(s) || share_running(s) > 1e-12;

	return json_pack("{s:o, s:f, s:f, s:f, s:f, s:f, s:I}", "name", jsonx_string(share_name(s)), "weight",
			 share_weight(s), "use", share_use(f, s), "had", all > 0 ? share_use(f, s) / all : 0.0, "due",
			 active ? share_due(f, s) : 0.0, "running", share_running(s), "waiting",
			 (json_int_t)share_waiting(s));
}

static json_t *level_json(const struct fair *f, const struct share *parent, double all, size_t level)
{
	struct children c = { 0 };
	json_t *list = json_array();
	json_int_t turn = 0;

	fair_each(f, parent, collect, &c);
	if (c.n)
		qsort_r(c.items, c.n, sizeof(const struct share *), by_turn, (void *)(uintptr_t)f);
	for (size_t i = 0; i < c.n; i++) {
		json_t *one;

		if (level > 0 && is_idle(f, c.items[i]))
			continue;
		one = share_json(f, c.items[i], all);
		if (share_waiting(c.items[i]))
			json_object_set_new(one, "turn", json_integer(++turn));
		if (level + 1 < ARRAY_SIZE(lists))
			json_object_set_new(one, lists[level + 1], level_json(f, c.items[i], all, level + 1));
		json_array_append_new(list, one);
	}
	free(c.items);
	return list;
}

struct total {
	const struct fair *fair;
	double sum;
};

static void add_use(void *arg, const struct share *s)
{
	struct total *t = arg;

	t->sum += share_use(t->fair, s);
}

json_t *door_shares(struct world *w)
{
	struct fair *f = world_fair(w);
	struct total t = { .fair = f };

	fair_now(f, clock_wall_micros() / 1000);
	fair_each(f, NULL, add_use, &t);
	return json_pack("{s:o}", lists[0], level_json(f, NULL, t.sum, 0));
}

int door_usage(struct books *b, const char *by, int64_t from, int64_t to, const char *user, json_t **ret, struct err *e)
{
	if (!b || !books_ready(b))
		return err_set(e, ERR_UNAVAILABLE, b ? "the accounts are not open yet" : "no accounts are kept here");
	return books_usage(b, by, from, to, user, ret, e);
}
