// SPDX-License-Identifier: Apache-2.0
#include "sched/fair.h"

#include <math.h>
#include <stdlib.h>

#include "base/mem.h"
#include "base/str.h"
#include "test.h"

#define DAY_MS ((int64_t)24 * 3600 * 1000)

/* Something that waits; its name is one letter. */
struct thing {
	struct turn turn;
	char name;
};

static struct share *user(struct fair *f, const char *queue, const char *group, const char *name)
{
	return fair_share(f, fair_share(f, fair_share(f, NULL, queue), group), name);
}

static void put(struct fair *f, struct thing *t, char name, struct share *leaf, int64_t rank)
{
	*t = (struct thing){ .name = name, .turn = { .rank = rank, .age = (uint64_t)name } };
	fair_enter(f, leaf, &t->turn);
}

/* What a walk hands out; each costs `cost` if it is not 0. */
static char *walk(struct fair *f, double cost)
{
	struct sbuf out = SBUF(1000);
	struct turn *t;

	fair_walk_begin(f);
	while ((t = fair_walk_next(f))) {
		struct share *leaf = t->leaf;

		sbuf_addc(&out, ((struct thing *)t)->name);
		if (cost > 0) {
			fair_leave(f, t);
			fair_run(f, leaf, cost);
		}
	}
	return out.p ? sbuf_steal(&out) : xstrdup("");
}

#define CHECK_WALK(f, cost, want)                                                                                      \
	do {                                                                                                           \
		auto_free char *walk_ = walk(f, cost);                                                                 \
		CHECK_STR(walk_, want);                                                                                \
	} while (0)

TEST("fair: without any use the oldest goes first")
{
	struct fair *f = fair_new(FAIR_HALF_LIFE);
	struct share *anna = user(f, "batch", "lab", "anna");
	struct share *ben = user(f, "batch", "lab", "ben");
	struct thing t[4];

	CHECK_WALK(f, 0, "");
	put(f, &t[0], 'c', anna, 0);
	put(f, &t[1], 'a', ben, 0);
	put(f, &t[2], 'b', anna, 0);
	put(f, &t[3], 'd', ben, 0);
	CHECK_WALK(f, 0, "abcd");
	CHECK_INT(fair_waiting(f), 4);
	fair_leave(f, &t[2].turn);
	CHECK_WALK(f, 0, "acd");
	fair_free(f);
}

TEST("fair: equals alternate as they start, and ranks come first")
{
	struct fair *f = fair_new(FAIR_HALF_LIFE);
	struct share *anna = user(f, "batch", "lab", "anna");
	struct share *ben = user(f, "batch", "lab", "ben");
	struct thing t[7];

	put(f, &t[0], 'a', anna, 0);
	put(f, &t[1], 'b', anna, 0);
	put(f, &t[2], 'c', anna, 0);
	put(f, &t[3], 'd', ben, 0);
	put(f, &t[4], 'e', ben, 0);
	put(f, &t[5], 'x', anna, 9);
	put(f, &t[6], 'y', anna, 9);
	CHECK_WALK(f, 0.1, "xydeabc");
	CHECK_INT(fair_waiting(f), 0);
	fair_free(f);
}

TEST("fair: weights of queues, then of groups, then of users")
{
	struct fair *f = fair_new(FAIR_HALF_LIFE);
	struct share *big = user(f, "big", "", "u");
	struct share *small = user(f, "small", "", "v");
	struct thing t[8];

	share_set_weight(f, fair_share(f, NULL, "big"), 3);
	for (int i = 0; i < 6; i++)
		put(f, &t[i], (char)('a' + i), big, 0);
	put(f, &t[6], 'x', small, 0);
	put(f, &t[7], 'y', small, 0);
	CHECK(fabs(share_due(f, big) - 0.75) < 1e-9);
	/* a, then small has less, then big has less for its weight until it is level again. */
	CHECK_WALK(f, 0.1, "axbcydef");
	fair_free(f);
}

TEST("fair: use is remembered and forgotten by halves")
{
	struct fair *f = fair_new(FAIR_HALF_LIFE);
	struct share *anna = user(f, "batch", "lab", "anna");
	struct share *ben = user(f, "batch", "lab", "ben");
	int64_t now = 1700000000000;
	struct thing t[2];

	fair_now(f, now);
	fair_run(f, anna, 0.5);
	fair_now(f, now += 3600 * 1000);
	fair_run(f, anna, -0.5);
	CHECK(fabs(share_use(f, anna) - 1800) < 10);
	CHECK(fabs(share_use(f, share_parent(anna)) - 1800) < 10);
	put(f, &t[0], 'a', anna, 0);
	put(f, &t[1], 'b', ben, 0);
	CHECK_WALK(f, 0, "ba");
	fair_now(f, now += 7 * DAY_MS);
	CHECK(fabs(share_use(f, anna) - 900) < 5);
	fair_now(f, now - DAY_MS); /* a clock that is set back */
	CHECK(fabs(share_use(f, anna) - 900) < 5);
	/* Long enough for all numbers to move to another epoch. */
	fair_now(f, now + 7 * DAY_MS * 50);
	CHECK(share_use(f, anna) < 1e-9);
	CHECK(isfinite(share_level(f, anna)));
	fair_free(f);
}

TEST("fair: the record survives a restart")
{
	struct fair *f = fair_new(FAIR_HALF_LIFE);
	struct fair *g = fair_new(FAIR_HALF_LIFE);
	int64_t now = 1700000000000;
	json_t *saved;

	fair_now(f, now);
	fair_run(f, user(f, "batch", "lab", "anna"), 0.25);
	fair_now(f, now += DAY_MS);
	saved = fair_save(f);
	fair_load(g, saved, now + 7 * DAY_MS);
	CHECK(fabs(share_use(g, user(g, "batch", "lab", "anna")) * 2 - share_use(f, user(f, "batch", "lab", "anna"))) <
	      1);
	CHECK(fabs(share_use(g, fair_share(g, NULL, "batch")) - share_use(g, user(g, "batch", "lab", "anna"))) < 1);
	json_decref(saved);
	fair_free(f);
	fair_free(g);
}

TEST("fair: what is skipped is not asked, and comes in the next walk")
{
	struct fair *f = fair_new(FAIR_HALF_LIFE);
	struct share *anna = user(f, "batch", "lab", "anna");
	struct share *ben = user(f, "batch", "lab", "ben");
	struct thing t[5];
	struct turn *turn;

	put(f, &t[0], 'a', anna, 1);
	put(f, &t[1], 'b', anna, 1);
	put(f, &t[2], 'c', anna, 0);
	put(f, &t[3], 'd', ben, 1);
	put(f, &t[4], 'e', ben, 0);
	fair_walk_begin(f);
	turn = fair_walk_next(f);
	CHECK(turn == &t[0].turn);
	fair_walk_skip(f, anna, false);
	CHECK(fair_walk_next(f) == &t[3].turn);
	CHECK(fair_walk_next(f) == &t[2].turn);
	fair_walk_skip(f, fair_share(f, NULL, "batch"), true);
	CHECK(fair_walk_next(f) == NULL);
	CHECK_WALK(f, 0, "abdce");
	fair_free(f);
}

TEST("fair: a walk goes on whatever enters, leaves and begins meanwhile")
{
	struct fair *f = fair_new(FAIR_HALF_LIFE);
	struct share *users[8];
	struct thing t[400];
	unsigned seed = 7;
	size_t seen = 0;

	for (size_t i = 0; i < 8; i++) {
		char name[2] = { (char)('a' + i), 0 };

		users[i] = user(f, i % 2 ? "one" : "two", i % 3 ? "g" : "h", name);
	}
	for (size_t i = 0; i < 400; i++) {
		t[i] = (struct thing){ .turn = { .rank = rand_r(&seed) % 4, .age = i } };
		fair_enter(f, users[rand_r(&seed) % 8], &t[i].turn);
	}
	fair_walk_begin(f);
	for (struct turn *turn; (turn = fair_walk_next(f));) {
		struct thing *any = &t[rand_r(&seed) % 400];

		seen++;
		if (rand_r(&seed) % 3 == 0)
			fair_leave(f, turn);
		if (rand_r(&seed) % 5 == 0)
			fair_leave(f, &any->turn);
		if (rand_r(&seed) % 7 == 0)
			fair_run(f, users[rand_r(&seed) % 8], 0.01);
		if (rand_r(&seed) % 50 == 0)
			fair_walk_skip(f, users[rand_r(&seed) % 8], rand_r(&seed) % 2);
	}
	CHECK(seen > 50 && seen <= 400);
	fair_free(f);
}

TEST("what ran in the past counts as if it had been charged then")
{
	struct fair *then = fair_new(100);
	struct fair *now = fair_new(100);
	struct share *a = fair_share(then, NULL, "a");
	struct share *b = fair_share(now, NULL, "b");
	const int64_t start = 1000000, end = 1250000, asked = 1400000;

	fair_now(then, start);
	fair_run(then, a, 0.5);
	fair_now(then, end);
	fair_run(then, a, -0.5);
	fair_now(then, asked);
	fair_now(now, asked);
	fair_ran(now, b, 0.5, start, end);
	CHECK(share_use(then, a) > 1);
	CHECK(fabs(share_use(then, a) - share_use(now, b)) < 1e-6);
	fair_free(then);
	fair_free(now);
}
