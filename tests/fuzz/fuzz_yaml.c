// SPDX-License-Identifier: Apache-2.0
/* fuzz_yaml.c - whatever yamlx_parse_all() accepts, yamlx_dump() writes so that it reads as the same value */
#include "base/yamlx.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

static void ignore(void *arg, const char *path)
{
	(void)arg, (void)path;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	auto_sbuf struct sbuf text = SBUF(1 << 24);
	json_auto_t *docs = NULL;
	json_auto_t *again = NULL;
	struct err e = ERR_INIT;

	if (yamlx_parse_all((const char *)data, n, ignore, NULL, &docs, &e) < 0)
		return 0;
	yamlx_dump(docs, &text);
	/* The list around the documents may be one level too deep. */
	if (yamlx_parse(text.p, text.n, NULL, NULL, &again, &e) < 0) {
		if (!strstr(e.text, "nested too deeply") && !strstr(e.text, "too many values"))
			__builtin_trap();
	} else if (!jsonx_equal(docs, again)) {
		__builtin_trap();
	}
	return 0;
}
