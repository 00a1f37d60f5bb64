// SPDX-License-Identifier: Apache-2.0
/* fuzz_measures.c - what was read of a file of measurements is written and read again as the same */
#include "base/measures.h"

#include <stdint.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	auto_measures struct measures m = MEASURES, again = MEASURES;
	auto_sbuf struct sbuf first = SBUF(MEASURES_TEXT), second = SBUF(MEASURES_TEXT);

	if (measures_read(&m, (struct str){ (const char *)data, n }) > n)
		__builtin_trap();
	measures_write(&m, &first);
	if (measures_read(&again, sbuf_str(&first)) != first.n)
		__builtin_trap();
	measures_write(&again, &second);
	if (first.n != second.n || memcmp(first.p, second.p, first.n) != 0)
		__builtin_trap();
	return 0;
}
