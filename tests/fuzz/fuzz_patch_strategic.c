// SPDX-License-Identifier: Apache-2.0
/* fuzz_patch_strategic.c - an object and a strategic merge patch over the sample types of the unit tests */
#include "../unit/api/sample_types.h"
#include "api/patch.h"
#include "two_documents.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	json_t *obj, *patch;
	struct err e = ERR_INIT;

	if (!two_documents(data, n, &obj, &patch))
		return 0;
	if (json_is_object(obj))
		patch_strategic(&sample, obj, patch, &e);
	json_decref(obj);
	json_decref(patch);
	return 0;
}
