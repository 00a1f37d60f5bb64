// SPDX-License-Identifier: Apache-2.0
#include "base/json_pool.h"

#include <stdint.h>
#include <string.h>

#include "test.h"

TEST("a pool gives blocks of every size that do not overlap, and takes them back")
{
	enum { N = 20000 };
	static unsigned char *blocks[N];
	static size_t sizes[N];
	size_t before = json_pool_bytes().used;
	uint32_t seed = 7;

	for (int round = 0; round < 4; round++) {
		for (size_t i = 0; i < N; i++) {
			seed = seed * 1664525 + 1013904223;
			if (blocks[i] && seed >> 31) { /* keeps about half, so that pieces have holes */
				for (size_t k = 0; k < sizes[i]; k++)
					CHECK(blocks[i][k] == (unsigned char)i);
				json_pool_free(blocks[i]);
				blocks[i] = NULL;
			}
			if (blocks[i])
				continue;
			sizes[i] = seed >> 8 & 511; /* half of them are malloc's */
			blocks[i] = json_pool_alloc(sizes[i]);
			CHECK((uintptr_t)blocks[i] % 8 == 0);
			memset(blocks[i], (int)i, sizes[i]);
		}
	}
	CHECK(json_pool_bytes().used > before);
	for (size_t i = 0; i < N; i++)
		json_pool_free(blocks[i]);
	CHECK_INT(json_pool_bytes().used, before);
	json_pool_free(NULL);
}

TEST("a pool gives memory back but for what it keeps for the next values")
{
	enum { N = 50000 };
	static void *blocks[N];
	size_t most;

	for (int round = 0; round < 3; round++) {
		for (size_t i = 0; i < N; i++)
			blocks[i] = json_pool_alloc(200);
		most = json_pool_bytes().used;
		CHECK(most > (size_t)N * 200);
		for (size_t i = 0; i < N; i++)
			json_pool_free(blocks[i]);
		CHECK(json_pool_bytes().used < most / 100);
		CHECK(json_pool_bytes().kept <= (size_t)1024 * 1024);
	}
}
