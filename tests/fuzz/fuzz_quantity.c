// SPDX-License-Identifier: Apache-2.0
/* fuzz_quantity.c - the canonical text of a quantity is a fixed point with the same value */
#include "kinds/quantity.h"

#include <string.h>

#include "base/mem.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	auto_free char *input = xstrndup((const char *)data, n);
	char text[QUANTITY_TEXT];
	char twice[QUANTITY_TEXT];
	struct quantity q, again;

	if (!quantity_parse(input, &q))
		return 0;
	quantity_text(&q, text);
	if (!quantity_parse(text, &again) || quantity_cmp(&q, &again) != 0)
		__builtin_trap();
	again.format = q.format;
	quantity_text(&again, twice);
	if (strcmp(text, twice) != 0)
		__builtin_trap();
	quantity_value(&q);
	quantity_milli(&q);
	return 0;
}
