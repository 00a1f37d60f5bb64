// SPDX-License-Identifier: Apache-2.0
/* A slice of two blocks, driven by hand. */
#include "psgd/slice.h"

#include "base/mem.h"
#include "test.h"

#define N (SLICE_BLOCK + 10)

static void begin(struct slice *s, enum mode mode, uint32_t ranks, uint32_t backup)
{
	const struct hello h = { .mode = mode,
				 .ranks = ranks,
				 .servers = 1,
				 .params = N,
				 .backup = backup,
				 .staleness = 1,
				 .alpha = 0.5f,
				 .model = "1-1" };

	slice_init(s, &h, NULL);
	slice_begin(s, 0);
}

/* The block's gradient is `value` everywhere. */
static uint64_t take(struct slice *s, uint64_t round, size_t block, float value, float *room)
{
	const struct wire_head push = { .type = WIRE_PUSH, .round = round, .rate = 1 };

	for (size_t i = 0; i < SLICE_BLOCK; i++)
		room[i] = value;
	return slice_take(s, &push, block, room, false);
}

TEST("a synchronous round averages all gradients and ends block by block")
{
	auto_free float *room = xcalloc(SLICE_BLOCK, sizeof(float));
	struct slice s;

	begin(&s, MODE_SYNC, 3, 0);
	CHECK_INT(s.nblocks, 2);
	CHECK_INT(take(&s, 0, 0, 3, room), 1);
	CHECK_INT(take(&s, 0, 0, 6, room), 1);
	CHECK(s.weights[0] == 0);
	CHECK_INT(take(&s, 0, 0, 9, room), 1);
	CHECK(s.weights[0] == -6 && s.weights[SLICE_BLOCK - 1] == -6);
	CHECK(s.weights[SLICE_BLOCK] == 0);
	CHECK_INT(s.blocks[0].round, 1);
	CHECK_INT(slice_ticks(&s), 0); /* the other block is still in round 0 */
	for (int i = 0; i < 3; i++)
		take(&s, 0, 1, 1, room);
	CHECK_INT(slice_ticks(&s), 1);
	CHECK(s.weights[N - 1] == -1);
	slice_done(&s);
}

TEST("with a backup trainer the slowest gradient is dropped")
{
	auto_free float *room = xcalloc(SLICE_BLOCK, sizeof(float));
	struct slice s;

	begin(&s, MODE_SYNC, 3, 1);
	take(&s, 0, 0, 2, room);
	CHECK_INT(take(&s, 0, 0, 4, room), 1);
	CHECK(s.weights[0] == -3);
	CHECK_INT(take(&s, 0, 0, 1000, room), 1); /* answered at once with the new round's parameters */
	CHECK(s.weights[0] == -3);
	CHECK_INT(s.blocks[0].count, 0);
	slice_done(&s);
}

TEST("a trainer whose server went back to a checkpoint is not told to wait for rounds that never come")
{
	auto_free float *room = xcalloc(SLICE_BLOCK, sizeof(float));
	struct slice s;

	begin(&s, MODE_SYNC, 1, 0);
	CHECK_INT(take(&s, 500, 0, 1, room), 1);
	slice_done(&s);
}

TEST("a round goes on without trainers that are given up, and settles what they had left open")
{
	auto_free float *room = xcalloc(SLICE_BLOCK, sizeof(float));
	struct slice s;

	begin(&s, MODE_SYNC, 3, 0);
	take(&s, 0, 0, 2, room);
	take(&s, 0, 0, 4, room);
	slice_settle(&s, 1);
	CHECK(s.weights[0] == 0);
	slice_member_set(&s, 2, false);
	slice_settle(&s, 1);
	CHECK(s.weights[0] == -3);
	CHECK_INT(s.blocks[0].round, 1);
	take(&s, 1, 0, 1, room);
	take(&s, 1, 0, 1, room);
	CHECK_INT(s.blocks[0].round, 2);
	slice_done(&s);
}

TEST("gradients that stay where they are give the same as copied ones, also when their memory goes away")
{
	auto_free float *lent = xcalloc(3 * SLICE_BLOCK, sizeof(float)), *room = xcalloc(SLICE_BLOCK, sizeof(float));
	const struct wire_head push = { .type = WIRE_PUSH, .rate = 1 };
	float *a = lent, *b = lent + SLICE_BLOCK, *c = b + SLICE_BLOCK;
	struct slice s;

	a[0] = 3, b[0] = 6, c[0] = 9;
	begin(&s, MODE_SYNC, 3, 0);
	CHECK_INT(slice_take(&s, &push, 0, a, true), 1);
	CHECK(s.blocks[0].first == a);
	CHECK_INT(slice_take(&s, &push, 0, b, true), 1);
	CHECK(s.blocks[0].first == NULL);
	CHECK_INT(slice_take(&s, &push, 0, c, true), 1);
	CHECK(s.weights[0] == -6);
	slice_done(&s);

	begin(&s, MODE_SYNC, 2, 0);
	slice_take(&s, &push, 0, a, true);
	slice_forget(&s, b); /* another's */
	CHECK(s.blocks[0].first == a);
	slice_forget(&s, a);
	CHECK(s.blocks[0].first == NULL);
	a[0] = 1000;
	slice_take(&s, &push, 0, c, true);
	CHECK(s.weights[0] == -6);
	slice_done(&s);

	begin(&s, MODE_SYNC, 2, 0);
	slice_take(&s, &push, 0, c, true);
	slice_member_set(&s, 1, false);
	slice_settle(&s, 1);
	CHECK(s.weights[0] == -9);
	CHECK(s.blocks[0].first == NULL);
	slice_done(&s);
}

TEST("parameters may lie in memory that is lent")
{
	auto_free float *lent = xcalloc(N, sizeof(float));
	const struct hello h = { .mode = MODE_SYNC, .ranks = 1, .servers = 1, .params = N, .model = "1-1" };
	struct slice s;

	slice_init(&s, &h, lent);
	CHECK(s.weights == lent);
	slice_done(&s);
}

TEST("asynchronous gradients count at once")
{
	auto_free float *room = xcalloc(SLICE_BLOCK, sizeof(float));
	const struct wire_head push = { .type = WIRE_PUSH };
	struct slice s;

	begin(&s, MODE_ASYNC, 2, 0);
	CHECK_INT(take(&s, 0, 0, 1, room), 0);
	CHECK_INT(take(&s, 0, 0, 1, room), 0);
	CHECK(s.weights[0] == -2);
	slice_taken(&s, 1, &push);
	CHECK_INT(slice_ticks(&s), 1);
	slice_done(&s);
}

TEST("bounded staleness holds back who is too far ahead of the slowest that is present")
{
	struct slice s;

	begin(&s, MODE_SSP, 3, 0);
	slice_taken(&s, 0, &(struct wire_head){ .round = 7 });
	slice_taken(&s, 1, &(struct wire_head){ .round = 6 });
	slice_taken(&s, 2, &(struct wire_head){ .round = 5 });
	CHECK_INT(slice_clock(&s), 5);
	CHECK(slice_near(&s, 5));
	CHECK(slice_near(&s, 6));
	CHECK(!slice_near(&s, 7));
	slice_member_set(&s, 2, false);
	CHECK(slice_near(&s, 7));
	slice_done(&s);
}

TEST("an elastic exchange changes the center and answers with the trainer's new parameters")
{
	auto_free float *room = xcalloc(SLICE_BLOCK, sizeof(float));
	struct slice s;

	begin(&s, MODE_EASGD, 2, 0);
	take(&s, 0, 1, 8, room);
	CHECK(s.weights[N - 1] == 4);
	CHECK(room[9] == 4);
	CHECK(s.weights[0] == 0);
	slice_done(&s);
}
