// SPDX-License-Identifier: Apache-2.0
/* fuzz_regex.c - a pattern and, after a NUL byte, a text */
#include <stdint.h>

#include "base/mem.h"
#include "kinds/regex.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	auto_free char *text = xstrndup((const char *)data, n);
	size_t first = strlen(text);
	struct regex *re = NULL;
	struct err e = ERR_INIT;
	int64_t steps = 1000000;

	if (regex_compile(text, &re, &e) < 0)
		return 0;
	if (first < n)
		regex_match(re, (const char *)data + first + 1, n - first - 1, &steps);
	regex_free(re);
	return 0;
}
