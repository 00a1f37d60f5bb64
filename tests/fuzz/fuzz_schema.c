// SPDX-License-Identifier: Apache-2.0
/* fuzz_schema.c - a schema and, after a NUL byte, an object: compile, prune, default, validate */
#include <stdint.h>

#include "base/jsonx.h"
#include "kinds/schema.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	const uint8_t *nul = n ? memchr(data, '\0', n) : NULL;
	size_t first = nul ? (size_t)(nul - data) : n;
	struct decode_report report = { 0 };
	struct schema *s = NULL;
	struct err e = ERR_INIT;
	json_auto_t *js = NULL;
	json_auto_t *obj = NULL;

	if (jsonx_parse((const char *)data, first, NULL, NULL, &js, &e) < 0 || schema_compile(js, NULL, &s, &e) < 0)
		return 0;
	if (nul && jsonx_parse((const char *)nul + 1, n - first - 1, NULL, NULL, &obj, &e) == 0) {
		schema_prune(s, obj, &report);
		schema_default(s, obj);
		schema_validate(s, obj, &e);
		json_decref(report.unknown);
	}
	schema_free(s);
	return 0;
}
