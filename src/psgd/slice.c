// SPDX-License-Identifier: Apache-2.0
/* slice.c - blocks, rounds and clocks
 *
 * In sync mode a block divides by the number of gradients it has really got.  A trainer that was cut off in the middle
 * of a push and sends it again may give some blocks two gradients: those average one more sample, which is as good.
 */
#include "psgd/slice.h"

#include "base/mem.h"
#include "psgd/split.h"
#include "psgd/update.h"

void slice_init(struct slice *s, const struct hello *agreed, float *weights)
{
	*s = (struct slice){ .agreed = *agreed, .n = slice_of(agreed->params, agreed->servers, agreed->server).n };
	s->nblocks = wire_blocks(s->n);
	s->lent = weights;
	s->weights = weights ? weights : xcalloc(s->n, sizeof(float));
	if (agreed->mode == MODE_SYNC)
		s->sum = xcalloc(s->n, sizeof(float));
	s->blocks = xcalloc(s->nblocks, sizeof(*s->blocks));
	s->members = xcalloc(agreed->ranks, sizeof(*s->members));
	for (size_t i = 0; i < agreed->ranks; i++)
		s->members[i].present = true; /* they are still to come */
}

void slice_done(struct slice *s)
{
	if (!s->lent)
		free(s->weights);
	free(s->sum);
	free(s->blocks);
	free(s->members);
	*s = (struct slice){ 0 };
}

struct part slice_block_part(const struct slice *s, size_t block)
{
	size_t start = block * SLICE_BLOCK;

	return (struct part){ start, s->n - start < SLICE_BLOCK ? s->n - start : SLICE_BLOCK };
}

void slice_begin(struct slice *s, uint64_t ticks)
{
	for (size_t b = 0; b < s->nblocks; b++)
		s->blocks[b] = (struct slice_block){ .round = ticks };
	s->pushes = ticks;
	s->ready = true;
}

uint64_t slice_ticks(const struct slice *s)
{
	uint64_t least = UINT64_MAX;

	if (s->agreed.mode != MODE_SYNC)
		return s->pushes;
	for (size_t b = 0; b < s->nblocks; b++)
		least = s->blocks[b].round < least ? s->blocks[b].round : least;
	return s->nblocks ? least : 0;
}

void slice_member_set(struct slice *s, uint32_t rank, bool present)
{
	s->members[rank].present = present;
}

uint64_t slice_clock(const struct slice *s)
{
	uint64_t least = UINT64_MAX;

	for (size_t i = 0; i < s->agreed.ranks; i++)
		if (s->members[i].present && s->members[i].clock < least)
			least = s->members[i].clock;
	return least == UINT64_MAX ? 0 : least;
}

bool slice_near(const struct slice *s, uint64_t clock)
{
	uint64_t slowest = slice_clock(s);

	return s->agreed.mode != MODE_SSP || clock <= slowest || clock - slowest <= s->agreed.staleness;
}

/* How many gradients end a round: all trainers but the backups, or as many as there still are. */
static unsigned needed(const struct slice *s)
{
	unsigned present = 0, want = s->agreed.ranks - s->agreed.backup;

	for (size_t i = 0; i < s->agreed.ranks; i++)
		present += s->members[i].present;
	return present < want ? (present ? present : 1) : want;
}

/* One more gradient of a round that is not its last. */
static void gather(struct slice_block *b, float *sum, const float *g, size_t n, bool lasting)
{
	if (b->count == 0 && lasting)
		b->first = g;
	else if (b->count == 0)
		memcpy(sum, g, n * sizeof(float));
	else if (b->first)
		update_sum(sum, b->first, g, n);
	else
		update_add(sum, g, n);
	if (b->count++ > 0)
		b->first = NULL;
}

/* The first gradient of a round is kept, further ones are added to it, the last one goes into the parameters with the
 * sum: no pass over memory only to clear or to divide. */
static uint64_t take_sync(struct slice *s, const struct wire_head *push, size_t block, const float *g, bool lasting)
{
	struct slice_block *b = &s->blocks[block];
	struct part p = slice_block_part(s, block);
	float *w = s->weights + p.start, *sum = s->sum + p.start;

	if (push->round < b->round)
		return b->round; /* too late: the round is over */
	if (b->count + 1 < needed(s)) {
		gather(b, sum, g, p.n, lasting);
		return b->round + 1;
	}
	if (b->count == 0)
		update_descend(w, g, p.n, push->rate);
	else
		update_average(w, b->first ? b->first : sum, g, p.n, push->rate, b->count + 1);
	*b = (struct slice_block){ .round = b->round + 1 };
	return b->round;
}

uint64_t slice_take(struct slice *s, const struct wire_head *push, size_t block, float *g, bool lasting)
{
	struct part p = slice_block_part(s, block);

	if (s->agreed.mode == MODE_SYNC)
		return take_sync(s, push, block, g, lasting);
	if (mode_is_elastic(s->agreed.mode))
		update_elastic(g, s->weights + p.start, p.n, s->agreed.alpha);
	else
		update_descend(s->weights + p.start, g, p.n, push->rate);
	return 0;
}

void slice_forget(struct slice *s, const float *g)
{
	for (size_t i = 0; s->sum && i < s->nblocks; i++) {
		struct slice_block *b = &s->blocks[i];
		struct part p = slice_block_part(s, i);

		if (b->first != g + p.start)
			continue;
		memcpy(s->sum + p.start, b->first, p.n * sizeof(float));
		b->first = NULL;
	}
}

void slice_taken(struct slice *s, uint32_t rank, const struct wire_head *push)
{
	s->pushes++;
	s->members[rank].clock = push->round;
}

void slice_settle(struct slice *s, float rate)
{
	unsigned need = needed(s);

	for (size_t i = 0; s->sum && i < s->nblocks; i++) {
		struct slice_block *b = &s->blocks[i];
		struct part p = slice_block_part(s, i);

		if (b->count == 0 || b->count < need)
			continue;
		update_descend(s->weights + p.start, b->first ? b->first : s->sum + p.start, p.n,
			       rate / (float)b->count);
		*b = (struct slice_block){ .round = b->round + 1 };
	}
}
