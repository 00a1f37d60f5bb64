// SPDX-License-Identifier: Apache-2.0
/* block_test.c - nodes and GPUs that are only for some, for a time; and budgets */
#include <stdlib.h>
#include <time.h>

#include "sched/lab.h"

static char *anna[] = { "anna", NULL };

TEST("block: nodes are kept for those that they are for")
{
	struct lab l = lab_new(2, 4);
	char *nodes[] = { "n0", NULL };

	setenv("TZ", "UTC", 1);
	tzset();
	world_block_for(l.w, &(struct block){ .key = "class",
					      .nodes = nodes,
					      .start_ms = T0 + HOUR,
					      .end_ms = T0 + 2 * HOUR,
					      .users = anna });
	add(&l, &(struct job){ .name = "b1", .user = "ben", .pods = 1, .gpus = 4 });
	add(&l, &(struct job){ .name = "b2", .user = "ben", .pods = 1, .gpus = 4 });
	CHECK_STR(pass(&l), "b1");
	CHECK_WHY(&l, "b2",
		  "the room that is free is kept for reservation class from 01:00 to 02:00, and it says no walltime "
		  "(expected start 02:00)");
	add(&l, &(struct job){ .name = "a", .user = "anna", .pods = 1, .gpus = 4 });
	CHECK_STR(pass(&l), "a");
	end(&l, "a");
	l.now = T0 + HOUR + 1;
	CHECK_STR(pass(&l), "");
	CHECK_WHY(&l, "b2", "the room that is free is kept for reservation class until 02:00 (expected start 02:00)");
	/* Time alone lets it start. */
	CHECK_INT(l.d.next_ms, T0 + 2 * HOUR);
	l.now = T0 + 2 * HOUR;
	CHECK_STR(pass(&l), "b2");
	lab_done(&l);
}

TEST("block: it ends when it is taken back")
{
	struct lab l = lab_new(1, 4);
	char *nodes[] = { "n0", NULL };

	world_block_for(l.w, &(struct block){ .key = "drain", .nodes = nodes, .start_ms = T0, .end_ms = TIME_UNKNOWN });
	add(&l, &(struct job){ .name = "a", .pods = 1, .gpus = 1, .wall = 1 });
	CHECK_STR(pass(&l), "");
	world_unblock(l.w, "drain");
	CHECK_STR(pass(&l), "a");
	lab_done(&l);
}

TEST("block: so many GPUs are kept where most are free")
{
	struct lab l = lab_new(2, 4);

	world_block_for(
		l.w,
		&(struct block){
			.key = "deadline", .gpus = 4, .start_ms = T0 + HOUR, .end_ms = T0 + 9 * HOUR, .users = anna });
	for (int i = 0; i < 8; i++) {
		char name[8];

		snprintf(name, sizeof(name), "b%d", i);
		add(&l, &(struct job){ .name = name, .user = "ben", .pods = 1, .gpus = 1, .wall = 5 * HOUR });
	}
	CHECK_STR(pass(&l), "b0 b1 b2 b3");
	/* What ends before may use them. */
	add(&l, &(struct job){ .name = "short", .user = "ben", .pods = 1, .gpus = 2, .wall = HOUR });
	CHECK_STR(pass(&l), "short");
	/* Those that it is for use what they have of it: the others get no less, and no more. */
	l.now = T0 + HOUR;
	end(&l, "short");
	add(&l, &(struct job){ .name = "a", .user = "anna", .pods = 1, .gpus = 3, .wall = 5 * HOUR });
	CHECK_STR(pass(&l), "a");
	end(&l, "b0");
	CHECK_STR(pass(&l), "b4");
	CHECK_STR(pass(&l), "");
	lab_done(&l);
}

TEST("block: GPUs that are free by then count")
{
	struct lab l = lab_new(1, 4);

	add(&l, &(struct job){ .name = "r1", .user = "ben", .pods = 1, .gpus = 3, .wall = HOUR });
	CHECK_STR(pass(&l), "r1");
	world_block_for(l.w,
			&(struct block){ .key = "later", .gpus = 3, .start_ms = T0 + HOUR, .end_ms = T0 + 2 * HOUR });
	add(&l, &(struct job){ .name = "x", .user = "ben", .pods = 1, .gpus = 1 });
	CHECK_STR(pass(&l), "x");
	lab_done(&l);
}

TEST("block: nobody is evicted for room that is not to be had")
{
	struct lab l = lab_new(1, 4);
	char *nodes[] = { "n0", NULL };

	add(&l, &(struct job){ .name = "low", .pods = 1, .gpus = 4, .wall = HOUR });
	CHECK_STR(pass(&l), "low");
	world_block_for(l.w,
			&(struct block){ .key = "m", .nodes = nodes, .start_ms = T0 + HOUR, .end_ms = TIME_UNKNOWN });
	add(&l, &(struct job){ .name = "top", .pods = 1, .gpus = 4, .priority = 10 });
	CHECK_STR(pass(&l), "");
	world_unblock(l.w, "m");
	CHECK_STR(pass(&l), "-low");
	lab_done(&l);
}

TEST("block: there may be more of them than are looked at, and those that begin first count")
{
	struct lab l = lab_new(1, 4);
	char *nodes[] = { "n0", NULL };

	for (int i = 99; i >= 0; i--) {
		char key[8];

		snprintf(key, sizeof(key), "k%d", i);
		world_block_for(l.w, &(struct block){ .key = key,
						      .nodes = nodes,
						      .start_ms = T0 + (i + 1) * HOUR,
						      .end_ms = T0 + (i + 2) * HOUR });
	}
	add(&l, &(struct job){ .name = "long", .pods = 1, .gpus = 1, .wall = HOUR + 1 });
	add(&l, &(struct job){ .name = "short", .pods = 1, .gpus = 1, .wall = HOUR });
	CHECK_STR(pass(&l), "short");
	lab_done(&l);
}

TEST("block: nobody is evicted from nodes that are kept, but beside GPUs that are kept")
{
	static const struct {
		int64_t gpus;
		bool evicted;
	} rows[] = { { 0, false }, { 2, true } };
	char *nodes[] = { "n0", NULL };

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct lab l = lab_new(1, 8);

		add(&l, &(struct job){ .name = "low", .pods = 1, .gpus = 6 });
		CHECK_STR(pass(&l), "low");
		world_block_for(l.w, &(struct block){ .key = "class",
						      .nodes = nodes,
						      .gpus = rows[i].gpus,
						      .start_ms = T0 + HOUR,
						      .end_ms = TIME_UNKNOWN });
		add(&l, &(struct job){ .name = "top", .pods = 1, .gpus = 6, .priority = 10 });
		pass(&l);
		CHECK_INT(world_find(l.w, "low")->evicted_for != NULL, rows[i].evicted);
		lab_done(&l);
	}
}

/* A budget that allows so many evictions at once. */
static bool at_most(void *arg, struct work *const *works, size_t n)
{
	size_t pods = 0;

	for (size_t i = 0; i < n; i++)
		pods += works[i]->key[0] == 'p' ? works[i]->n : 0; /* only those are protected */
	return pods <= *(const size_t *)arg;
}

TEST("budgets: no more are evicted together than a budget allows")
{
	static const struct {
		size_t allowed;
		const char *evicted;
	} rows[] = {
		{ 0, "" },
		{ 1, "-x -p1" },
		{ 3, "-p1 -p2" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct lab l = lab_new(1, 4);
		size_t allowed = rows[i].allowed;

		add(&l, &(struct job){ .name = "p1", .pods = 1, .gpus = 1 });
		add(&l, &(struct job){ .name = "p2", .pods = 1, .gpus = 1 });
		add(&l, &(struct job){ .name = "x", .pods = 1, .gpus = 1, .priority = 5 });
		add(&l, &(struct job){ .name = "y", .pods = 1, .gpus = 1, .priority = 20 });
		CHECK_STR(pass(&l), "y x p1 p2");
		world_set_budgets(l.w, at_most, &allowed);
		add(&l, &(struct job){ .name = "top", .pods = 1, .gpus = 2, .priority = 10 });
		pass(&l);
		for (int k = 1; k <= 2; k++) {
			/* In no order that matters. */
			char name[4] = { 'p', (char)('0' + k), 0 };

			CHECK_INT(world_find(l.w, name)->evicted_for != NULL, strstr(rows[i].evicted, name) != NULL);
		}
		CHECK_INT(world_find(l.w, "x")->evicted_for != NULL, strstr(rows[i].evicted, "x") != NULL);
		lab_done(&l);
	}
}
