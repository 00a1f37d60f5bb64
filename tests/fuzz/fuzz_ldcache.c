// SPDX-License-Identifier: Apache-2.0
/* fuzz_ldcache.c - names and paths of a loader cache end within it, whatever its bytes are */
#include "base/mem.h"
#include "base/str.h"
#include "node/gpu_parts.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

static void found(void *arg, const char *name, const char *path)
{
	size_t *total = arg;

	*total += strlen(name) + strlen(path);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	auto_free char *copy = xmemdup(data, n);
	size_t total = 0;

	gpu_ldcache_walk(copy, n, found, &total);
	return 0;
}
