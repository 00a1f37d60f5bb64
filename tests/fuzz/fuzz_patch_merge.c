// SPDX-License-Identifier: Apache-2.0
/* fuzz_patch_merge.c - an object and a merge patch; patching twice must change nothing more */
#include <stdlib.h>

#include "api/patch.h"
#include "base/jsonx.h"
#include "two_documents.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	json_t *obj, *patch;

	if (!two_documents(data, n, &obj, &patch))
		return 0;
	if (json_is_object(obj) && json_is_object(patch)) {
		json_t *once;

		patch_merge(obj, patch);
		once = jsonx_copy(obj);
		patch_merge(obj, patch);
		if (!jsonx_equal(obj, once))
			abort();
		json_decref(once);
	}
	json_decref(obj);
	json_decref(patch);
	return 0;
}
