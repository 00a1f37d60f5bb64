// SPDX-License-Identifier: Apache-2.0
#include "kinds/pbs_account.h"

#include "base/mem.h"
#include "test.h"

TEST("a line of the accounts is about a job, or an element of it")
{
	static const struct {
		const char *line;
		int64_t sequence; /* 0: it is no such line */
		const char *elements;
	} rows[] = {
		{ "11/15/2025 12:00:00;S;380963.Ghead;user=ana queue=batch", 380963, "" },
		{ "11/15/2025 12:00:00;E;380963[7].Ghead;user=ana", 380963, "7" },
		{ "11/15/2025 12:00:00;Q;380963[].Ghead;queue=batch", 380963, "" },
		{ "11/15/2025 12:00:00;S;3809631.Ghead;user=ana", 3809631, "" },
		{ "11/15/2025 12:00:00;S;7.Ghead;user=ana jobname=;S;380963.Ghead", 7, "" },
		{ "11/15/2025 12:00:00;S;Ghead;user=ana", 0, "" },
		{ "380963.Ghead", 0, "" },
		{ "", 0, "" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct pbs_account_line l = { 0 };

		CHECK_INT(pbs_account_line(str_of(rows[i].line), &l), rows[i].sequence != 0);
		CHECK_INT(l.id.sequence, rows[i].sequence);
		CHECK_STR(l.id.elements, rows[i].elements);
	}
}
