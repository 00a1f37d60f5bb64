// SPDX-License-Identifier: Apache-2.0
/* fuzz_patch_json.c - a document and a JSON patch; a failed patch must leave the document alone */
#include <stdlib.h>

#include "api/patch.h"
#include "base/jsonx.h"
#include "two_documents.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	json_t *doc, *ops, *before;
	struct err e = ERR_INIT;

	if (!two_documents(data, n, &doc, &ops))
		return 0;
	before = jsonx_copy(doc);
	if (patch_json(&doc, ops, &e) < 0 && !jsonx_equal(doc, before))
		abort();
	json_decref(before);
	json_decref(doc);
	json_decref(ops);
	return 0;
}
