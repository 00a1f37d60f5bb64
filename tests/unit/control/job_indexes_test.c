// SPDX-License-Identifier: Apache-2.0
#include "control/job_indexes.h"

#include <stdlib.h>

#include "base/mem.h"
#include "control/job_policy.h"
#include "test.h"

static const char *text_of(const struct index_set *s)
{
	static char out[200];
	auto_sbuf struct sbuf text = SBUF(199);

	index_set_text(s, &text);
	snprintf(out, sizeof(out), "%s", text.p ? text.p : "");
	return out;
}

TEST("sets of indexes are read and written as Kubernetes does")
{
	static const struct {
		const char *text, *want;
		int limit, count, gap;
	} rows[] = {
		{ "", "", 10, 0, 0 },
		{ "0", "0", 10, 1, 1 },
		{ "3", "3", 10, 1, 0 },
		{ "0,1", "0,1", 10, 2, 2 },
		{ "0-1", "0,1", 10, 2, 2 },
		{ "0-2", "0-2", 10, 3, 3 },
		{ "1,3-5,7", "1,3-5,7", 10, 5, 0 },
		{ "7,3-5,1", "1,3-5,7", 10, 5, 0 },
		{ "3-5,4-8", "3-8", 10, 6, 0 },
		{ "0,2,1", "0-2", 10, 3, 3 },
		{ "1,3-5,7", "1,3", 4, 2, 0 },
		{ "0-100", "0-4", 5, 5, 5 },
		{ "9", "", 5, 0, 0 },
		{ "x,2,-,5-x", "2", 10, 1, 0 },
		{ "99999999999999999999", "", 10, 0, 0 },
		{ "5-3", "", 10, 0, 0 },
		{ ",,", "", 10, 0, 0 },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		auto_index_set struct index_set s = { 0 };

		index_set_parse(&s, rows[i].text, rows[i].limit);
		CHECK_STR(text_of(&s), rows[i].want);
		CHECK_INT(index_set_count(&s), rows[i].count);
		CHECK_INT(index_set_gap(&s, 0), rows[i].gap);
	}
}

TEST("a set behaves as an array of flags does")
{
	enum { SIZE = 200 };
	auto_index_set struct index_set s = { 0 };
	bool flags[SIZE] = { false };
	unsigned seed = 7;

	for (int n = 0; n < 150; n++) {
		int i = (int)(rand_r(&seed) % SIZE);
		int count = 0;

		index_set_add(&s, i);
		flags[i] = true;
		for (int k = 0; k < SIZE; k++) {
			int gap = k;

			CHECK_INT(index_set_has(&s, k), flags[k]);
			while (gap < SIZE && flags[gap])
				gap++;
			CHECK_INT(index_set_gap(&s, k), gap);
			count += flags[k];
		}
		CHECK_INT(index_set_count(&s), count);
		for (size_t k = 1; k < s.n; k++)
			CHECK(s.spans[k - 1].last + 1 < s.spans[k].first);
	}
}
