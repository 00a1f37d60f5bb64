// SPDX-License-Identifier: Apache-2.0
#include "cli/redraw.h"

#include "test.h"

static void check_bytes(struct redraw *r, const char *above, const char *block, int width, const char *want, int line)
{
	auto_sbuf struct sbuf out = SBUF(1024);

	redraw(r, str_of(above), str_of(block), width, &out);
	if (!streq(out.p, want))
		test_fail(__FILE__, line, "is %s", out.p);
}
#define CHECK_BYTES(above, block, width, want) check_bytes(&r, above, block, width, want, __LINE__)

TEST("lines are replaced in their place, and a narrower terminal has folded them")
{
	struct redraw r = { 0 };

	CHECK_BYTES("", "one\n\033[32mtwo two\033[0m\n", 80, "\rone\033[K\n\033[32mtwo two\033[0m\033[K\n\033[J");
	CHECK_BYTES("log\n", "three\n", 80, "\r\033[2Alog\033[K\nthree\033[K\n\033[J");
	CHECK_BYTES("", "12345678\n▁▂▃\n", 80, "\r\033[1A12345678\033[K\n▁▂▃\033[K\n\033[J");
	CHECK_BYTES("", "x\n", 3, "\r\033[4Ax\033[K\n\033[J"); /* 8 columns are three rows of 3 now */
	redraw_done(&r);
}
