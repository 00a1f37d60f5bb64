// SPDX-License-Identifier: Apache-2.0
/* split.h - who has which part: slices of the model, shards of the data, mini-batches of a shard.  Pure */
#ifndef STOKER_PSGD_SPLIT_H
#define STOKER_PSGD_SPLIT_H

#include <stddef.h>
#include <stdint.h>

struct part {
	size_t start;
	size_t n;
};

/* Part i of `parts` neighbouring parts of n items whose sizes differ by one at most. */
struct part slice_of(size_t n, size_t parts, size_t i);

/* A small generator of random numbers; the same seed gives the same numbers everywhere. */
struct rng {
	uint64_t state;
};

uint64_t rng_next(struct rng *r);
size_t rng_below(struct rng *r, size_t n); /* n > 0 */
float rng_unit(struct rng *r);             /* in [0, 1) */

/* One worker's shard: samples are dealt out like cards, rank, rank + ranks, ..., so that a file that is sorted by class
 * still gives every worker all classes. */
struct sampler {
	uint32_t *order; /* samples of the shard, shuffled anew for each pass */
	size_t n;
	size_t at;
	struct rng rng;
};

/* `total` samples, at least `ranks` of them. */
void sampler_init(struct sampler *s, size_t total, size_t ranks, size_t rank, uint64_t seed);
void sampler_done(struct sampler *s);
/* The next `n` samples; each is drawn once in a pass over the shard. */
void sampler_draw(struct sampler *s, uint32_t *ret, size_t n);

#endif
