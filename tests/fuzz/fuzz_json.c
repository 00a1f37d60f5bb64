// SPDX-License-Identifier: Apache-2.0
/* fuzz_json.c - whatever jsonx_parse() accepts, it also prints and reads again as the same value */
#include "base/jsonx.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

static void ignore(void *arg, const char *path)
{
	(void)arg, (void)path;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	auto_sbuf struct sbuf text = SBUF(1 << 24);
	json_auto_t *v = NULL;
	json_auto_t *again = NULL;
	struct err e = ERR_INIT;

	if (jsonx_parse((const char *)data, n, ignore, NULL, &v, &e) < 0)
		return 0;
	jsonx_dump(v, &text);
	if (!text.over && (jsonx_parse(text.p, text.n, NULL, NULL, &again, &e) < 0 || !jsonx_equal(v, again)))
		__builtin_trap();
	return 0;
}
