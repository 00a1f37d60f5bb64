// SPDX-License-Identifier: Apache-2.0
#include "api/exchange.h"
#include "base/mem.h"
#include "test.h"

TEST("whose a job is stands in lines about its runs, before all that users may write")
{
	static const struct {
		const char *lines;
		bool want;
	} rows[] = {
		{ "t;Q;7.G;queue=batch\nt;S;7.G;user=ana group=lab jobname=x\n", true },
		{ "t;Q;7.G;queue=batch\n", false },
		{ "t;S;7.G;user=bo group=lab jobname=user=ana x\n", false },
		{ "t;S;7.G;user=bo jobname=a;E;7.G;user=ana x\n", false },
		{ "t;S;7.G;user=anab x\n", false },
		{ "t;D;7.G;requestor=ana@vm\n", false },
		{ "", false },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		CHECK_INT(rest_pbs_past_is_of(str_of(rows[i].lines), "ana"), rows[i].want);
}
