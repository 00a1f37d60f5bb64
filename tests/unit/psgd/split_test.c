// SPDX-License-Identifier: Apache-2.0
#include "base/mem.h"
#include "psgd/split.h"
#include "test.h"

TEST("slices follow each other without gap and differ by one at most")
{
	static const size_t cases[][2] = { { 10, 3 }, { 7, 7 }, { 101770, 2 }, { 101770, 7 }, { 1, 1 }, { 256, 256 } };

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		size_t n = cases[i][0], parts = cases[i][1], at = 0;

		for (size_t p = 0; p < parts; p++) {
			struct part s = slice_of(n, parts, p);

			CHECK_INT(s.start, at);
			CHECK(s.n == n / parts || s.n == n / parts + 1);
			at += s.n;
		}
		CHECK_INT(at, n);
	}
}

TEST("every sample is in one shard, and one pass draws each of a shard once")
{
	enum { TOTAL = 103, RANKS = 4 };
	unsigned seen[TOTAL] = { 0 };

	for (size_t rank = 0; rank < RANKS; rank++) {
		struct sampler s;
		uint32_t one;

		sampler_init(&s, TOTAL, RANKS, rank, 7);
		for (size_t i = 0; i < s.n; i++) {
			sampler_draw(&s, &one, 1);
			CHECK(one < TOTAL && one % RANKS == rank);
			seen[one < TOTAL ? one : 0]++;
		}
		sampler_done(&s);
	}
	for (size_t i = 0; i < TOTAL; i++)
		CHECK_INT(seen[i], 1);
}

TEST("a batch longer than the shard begins another pass, in another order")
{
	struct sampler s;
	uint32_t first[50], second[50];

	sampler_init(&s, 50, 1, 0, 1);
	sampler_draw(&s, first, 50);
	sampler_draw(&s, second, 50);
	CHECK(memcmp(first, second, sizeof(first)) != 0);
	sampler_done(&s);
}

TEST("random numbers stay in their range and repeat with their seed")
{
	struct rng a = { 42 }, b = { 42 };

	for (int i = 0; i < 1000; i++) {
		float f = rng_unit(&a);

		CHECK(f >= 0 && f < 1);
		CHECK(f == rng_unit(&b));
		CHECK(rng_below(&a, 3) < 3);
		rng_next(&b);
	}
}
