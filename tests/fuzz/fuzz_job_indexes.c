// SPDX-License-Identifier: Apache-2.0
/* fuzz_job_indexes.c - any text as a set of indexes: what is read is written, and read again the same */
#include <stdlib.h>

#include "base/mem.h"
#include "control/job_indexes.h"

#define LIMIT 100000

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	auto_free char *text = xstrndup((const char *)data, n);
	auto_sbuf struct sbuf once = SBUF(1u << 24);
	auto_sbuf struct sbuf twice = SBUF(1u << 24);
	auto_index_set struct index_set a = { 0 };
	auto_index_set struct index_set b = { 0 };

	index_set_parse(&a, text, LIMIT);
	index_set_text(&a, &once);
	index_set_parse(&b, once.p, LIMIT);
	index_set_text(&b, &twice);
	if (index_set_count(&a) != index_set_count(&b) || !str_same(once.p, twice.p))
		abort();
	for (size_t i = 0; i < a.n; i++)
		if (a.spans[i].first < 0 || a.spans[i].first > a.spans[i].last || a.spans[i].last >= LIMIT ||
		    (i && a.spans[i - 1].last + 1 >= a.spans[i].first))
			abort();
	return 0;
}
