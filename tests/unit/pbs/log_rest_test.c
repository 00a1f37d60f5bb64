// SPDX-License-Identifier: Apache-2.0
/* log_rest_test.c - where the rest of a container's output begins */
#include "pbs/log_rest.h"

#include "base/mem.h"
#include "client/terminal.h"
#include "test.h"

TEST("the rest of a short log is found by its length, that of a long one by its time")
{
	static const struct {
		struct terminal_told told;
		int stream;
		uint64_t skip;
		const char *want;
	} rows[] = {
		{ { { 0, 0 }, 0 }, 1, 0, "/log?follow=true&stream=Stdout&container=main" },
		{ { { 5, 7 }, 9000000 }, 1, 5, "/log?follow=true&stream=Stdout&container=main" },
		{ { { 5, 7 }, 9000000 }, 2, 7, "/log?follow=true&stream=Stderr&container=main" },
		{ { { 5 << 20, 7 }, 9000000 },
		  2,
		  0,
		  "/log?follow=true&stream=Stderr&container=main&sinceTime=1970-01-01T00%3A00%3A09.000001Z" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		auto_sbuf struct sbuf out = SBUF(4096);

		CHECK_INT(log_rest_query(&out, "main", rows[i].stream, &rows[i].told), rows[i].skip);
		CHECK_STR(out.p, rows[i].want);
	}
}
