// SPDX-License-Identifier: Apache-2.0
/* split.c - slices, shards and batches */
#include "psgd/split.h"

#include "base/mem.h"

struct part slice_of(size_t n, size_t parts, size_t i)
{
	size_t each = n / parts, longer = n % parts;
	size_t before = i < longer ? i : longer;

	return (struct part){ each * i + before, each + (i < longer) };
}

/* splitmix64: one addition and a mixing of bits; good enough to shuffle with. */
uint64_t rng_next(struct rng *r)
{
	uint64_t z = r->state += 0x9e3779b97f4a7c15u;

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
	return z ^ (z >> 31);
}

size_t rng_below(struct rng *r, size_t n)
{
	return (size_t)(rng_next(r) % n);
}

float rng_unit(struct rng *r)
{
	return (float)(rng_next(r) >> 40) * 0x1p-24f;
}

static void shuffle(struct sampler *s)
{
	for (size_t i = s->n; i > 1; i--) {
		size_t j = rng_below(&s->rng, i);
		uint32_t swapped = s->order[i - 1];

		s->order[i - 1] = s->order[j];
		s->order[j] = swapped;
	}
	s->at = 0;
}

void sampler_init(struct sampler *s, size_t total, size_t ranks, size_t rank, uint64_t seed)
{
	*s = (struct sampler){ .n = slice_of(total, ranks, rank).n, .rng = { seed * 1000003 + rank } };
	s->order = xreallocarray(NULL, s->n, sizeof(*s->order));
	for (size_t i = 0; i < s->n; i++)
		s->order[i] = (uint32_t)(i * ranks + rank);
	shuffle(s);
}

void sampler_done(struct sampler *s)
{
	free(s->order);
	s->order = NULL;
}

void sampler_draw(struct sampler *s, uint32_t *ret, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		if (s->at == s->n)
			shuffle(s);
		ret[i] = s->order[s->at++];
	}
}
