// SPDX-License-Identifier: Apache-2.0
#include "base/map.h"

#include "base/mem.h"
#include "test.h"

TEST("a map finds what was set, replaces and removes")
{
	struct map m;

	map_init(&m, free);
	CHECK(map_find(&m, "a") == NULL);
	CHECK(!map_remove(&m, "a"));
	map_set(&m, "a", xstrdup("1"));
	map_set(&m, "b", xstrdup("2"));
	map_set(&m, "a", xstrdup("3"));
	CHECK_INT(m.n, 2);
	CHECK_STR(map_find(&m, "a"), "3");
	CHECK_STR(map_find_n(&m, "bxx", 1), "2");
	CHECK(map_find_n(&m, "bxx", 2) == NULL);
	CHECK(map_remove(&m, "a"));
	CHECK(map_find(&m, "a") == NULL);
	CHECK_STR(map_find(&m, "b"), "2");
	map_done(&m);
	CHECK(map_find(&m, "b") == NULL);
}

TEST("a map keeps thousands of keys through growth and removal")
{
	struct map m;
	char key[16];
	size_t pos = 0, seen = 0;
	const char *k;
	void *v;

	map_init(&m, NULL);
	for (long round = 0; round < 3; round++) {
		for (long i = 0; i < 3000; i++) {
			snprintf(key, sizeof(key), "k%ld", i);
			map_set(&m, key, (void *)(i + 1));
		}
		for (long i = 0; i < 3000; i += 2) {
			snprintf(key, sizeof(key), "k%ld", i);
			CHECK(map_remove(&m, key));
		}
	}
	CHECK_INT(m.n, 1500);
	for (long i = 0; i < 3000; i++) {
		snprintf(key, sizeof(key), "k%ld", i);
		CHECK_INT((long)map_find(&m, key), i % 2 ? i + 1 : 0);
	}
	while (map_next(&m, &pos, &k, &v)) {
		seen++;
		map_remove(&m, k);
	}
	CHECK_INT(seen, 1500);
	CHECK_INT(m.n, 0);
	map_done(&m);
}
