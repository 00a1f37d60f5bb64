// SPDX-License-Identifier: Apache-2.0
/* fuzz_dockerfile.c - whatever a Dockerfile says, the names in it are texts, each once */
#include "base/mem.h"
#include "base/str.h"
#include "node/image_dockerfile.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	auto_free char *text = xstrndup((const char *)data, n);
	json_auto_t *args = json_pack("[s,s]", "V=1", "BASE=lab/x");
	json_auto_t *names = dockerfile_images(text, args);

	for (size_t i = 0; i < json_array_size(names); i++)
		for (size_t k = 0; k < i; k++)
			if (json_equal(json_array_get(names, i), json_array_get(names, k)))
				__builtin_trap();
	return 0;
}
