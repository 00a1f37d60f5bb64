// SPDX-License-Identifier: Apache-2.0
/* fuzz_jsonpath.c - any text is a path or an error, and any path can be walked */
#include "kinds/jsonpath.h"

#include <stdint.h>

#include "base/jsonx.h"
#include "base/mem.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	static const char text[] =
		"{\"a\":{\"b\":[1,2,{\"c\":\"d\"}],\"c\":null},\"l\":[{\"t\":\"x\",\"n\":1.5},[[3]]]}";
	auto_free char *input = xstrndup((const char *)data, n);
	json_auto_t *doc = NULL;
	json_auto_t *all = NULL;
	struct jsonpath *p = NULL;
	struct err e = ERR_INIT;

	if (jsonpath_parse(input, &p, &e) < 0)
		return 0;
	if (jsonx_parse(text, sizeof(text) - 1, NULL, NULL, &doc, &e) < 0)
		__builtin_trap();
	all = jsonpath_all(p, doc);
	if (jsonpath_first(p, doc) != json_array_get(all, 0))
		__builtin_trap();
	jsonpath_free(p);
	return 0;
}
