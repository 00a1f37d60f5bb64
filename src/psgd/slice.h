// SPDX-License-Identifier: Apache-2.0
/* slice.h - one server's part of the model and the rules by which it changes.  No sockets, no clock of its own
 *
 * A slice is worked on in blocks of SLICE_BLOCK floats.  A block is used as soon as it has arrived, while the rest of
 *the push is still on its way, and its new value may travel back at the same time; a trainer that dies in the middle
 *leaves whole blocks behind and nothing else.  So each block has its own round and its own count of gradients:
 *
 *	sync    a block's round ends when enough trainers have given a gradient for it; gradients of earlier rounds are
 *	        dropped; the answer waits for the round's end
 *	async   every gradient counts at once
 *	ssp     as async, but the answer waits while the trainer is too far ahead of the slowest
 *	easgd   the push is the trainer's own parameters; it and the center move towards each other, in the push's
 *memory, eamsgd  which is also the answer
 *
 * Ticks measure progress: rounds in sync mode, whole pushes in the others.
 */
#ifndef STOKER_PSGD_SLICE_H
#define STOKER_PSGD_SLICE_H

#include "psgd/wire.h"

#define SLICE_BLOCK WIRE_BLOCK

struct slice_block {
	uint64_t round;
	unsigned count;     /* gradients in `sum` */
	const float *first; /* the only one is still where its trainer has put it, not in `sum` */
};

struct slice_member {
	bool present; /* expected, connected, or not away for long enough to be given up */
	uint64_t clock;
};

struct slice {
	struct hello agreed; /* ranks == 0: nobody has said hello yet */
	size_t n;            /* floats */
	size_t nblocks;
	float *weights;
	float *sum; /* sync only */
	struct slice_block *blocks;
	struct slice_member *members; /* agreed.ranks */
	uint64_t pushes;
	bool ready; /* has parameters */
	bool lent;  /* the weights' memory is somebody else's */
};

/* Room for what the first trainer wants.  `weights` is memory for the parameters, or NULL. */
void slice_init(struct slice *s, const struct hello *agreed, float *weights);
void slice_done(struct slice *s);
struct part slice_block_part(const struct slice *s, size_t block);

/* Parameters have been put into `weights`; progress goes on from `ticks`. */
void slice_begin(struct slice *s, uint64_t ticks);
uint64_t slice_ticks(const struct slice *s);

/* A trainer is there (again), or given up.  Its absence may end rounds: see slice_settle(). */
void slice_member_set(struct slice *s, uint32_t rank, bool present);
/* The clock at which a trainer that has none begins: the slowest one's. */
uint64_t slice_clock(const struct slice *s);

/* A block of a push has arrived in g, which is changed in elastic modes.  Returns the round that the block must have
 * reached before it is sent back.  `lasting`: until then g stays as it is, or slice_forget() is called. */
uint64_t slice_take(struct slice *s, const struct wire_head *push, size_t block, float *g, bool lasting);
/* The memory of a lasting push goes away.  It began at g, where the slice begins. */
void slice_forget(struct slice *s, const float *g);
/* The last block of a push has arrived. */
void slice_taken(struct slice *s, uint32_t rank, const struct wire_head *push);
/* Whether a trainer of this clock is near enough to the slowest to get its answer. */
bool slice_near(const struct slice *s, uint64_t clock);
/* Ends rounds that have all the gradients they can still get.  `rate` is that of their step. */
void slice_settle(struct slice *s, float rate);

#endif
