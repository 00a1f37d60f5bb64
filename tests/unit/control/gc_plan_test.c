// SPDX-License-Identifier: Apache-2.0
#include "base/mem.h"
#include "control/gc.h"
#include "test.h"

#define U GC_OWNER_UNKNOWN
#define P GC_OWNER_PRESENT
#define A GC_OWNER_ABSENT
#define W GC_OWNER_WAITING

TEST("an object goes with its last owner, and never on a doubt")
{
	static const struct {
		enum gc_owner owners[3];
		size_t n;
		enum gc_verdict want;
	} rows[] = {
		{ { 0 }, 0, GC_KEEP },         { { P }, 1, GC_KEEP },
		{ { A }, 1, GC_DELETE },       { { W }, 1, GC_DELETE_FOREGROUND },
		{ { U }, 1, GC_KEEP },         { { P, P }, 2, GC_KEEP },
		{ { A, A }, 2, GC_DELETE },    { { A, W }, 2, GC_DELETE_FOREGROUND },
		{ { P, A }, 2, GC_DROP_REFS }, { { W, P }, 2, GC_DROP_REFS },
		{ { A, U }, 2, GC_KEEP },      { { W, U }, 2, GC_KEEP },
		{ { P, U }, 2, GC_KEEP },      { { P, A, W }, 3, GC_DROP_REFS },
		{ { U, A, P }, 3, GC_KEEP },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		if (gc_plan(rows[i].owners, rows[i].n) != rows[i].want)
			test_fail(__FILE__, __LINE__, "row %zu gives %d", i, (int)gc_plan(rows[i].owners, rows[i].n));
}
