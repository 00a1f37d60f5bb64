// SPDX-License-Identifier: Apache-2.0
/* counter_test.c - numbers that outlive restarts, and go back with a turn that fails */
#include "util.h"

static int64_t counter(struct fixture *f, const char *name)
{
	int64_t n = -1;

	CHECK_INT(store_counter(f->s, name, &n, &f->e), 0);
	return n;
}

TEST("a counter begins at 0 and keeps what was set, through a restart")
{
	struct fixture f = util_new();

	CHECK_INT(counter(&f, "a"), 0);
	CHECK_INT(store_counter_set(f.s, "a", 7, &f.e), 0);
	CHECK_INT(store_counter_set(f.s, "b", 1, &f.e), 0);
	CHECK_INT(counter(&f, "a"), 7);
	util_turn(&f);
	CHECK_INT(store_counter_set(f.s, "a", 8, &f.e), 0);
	util_turn(&f);
	util_close(&f);
	CHECK_INT(util_open(&f), 0);
	CHECK_INT(counter(&f, "a"), 8);
	CHECK_INT(counter(&f, "b"), 1);
	CHECK_INT(counter(&f, "floor"), 0); /* what the store says of itself is none of them */
	util_done(&f);
}

TEST("a turn that fails takes its counters back")
{
	struct fixture f = util_new();

	CHECK_INT(store_counter_set(f.s, "a", 7, &f.e), 0);
	util_turn(&f);
	CHECK_INT(store_counter_set(f.s, "a", 8, &f.e), 0);
	txn_fail(f.s, SQLITE_NOMEM, "testing", &f.e);
	util_turn(&f);
	CHECK_INT(counter(&f, "a"), 7);
	util_done(&f);
}
