// SPDX-License-Identifier: Apache-2.0
#include "base/lru.h"

#include <string.h>

#include "test.h"

static void on_drop(void *arg, void *value)
{
	strncat(arg, value, 1);
}

TEST("the one that was not used for the longest time goes first")
{
	char gone[16] = "";
	struct lru l;

	lru_init(&l, 3, on_drop, gone);
	lru_add(&l, "a", "a");
	lru_add(&l, "b", "b");
	lru_add(&l, "c", "c");
	CHECK_STR(lru_use(&l, "a"), "a");
	lru_add(&l, "d", "d");
	CHECK_STR(gone, "b");
	CHECK(!lru_use(&l, "b"));
	lru_add(&l, "e", "e");
	CHECK_STR(gone, "bc");
	CHECK_STR(lru_use(&l, "a"), "a");
	lru_done(&l);
	CHECK_STR(gone, "bcdea");
}
