// SPDX-License-Identifier: Apache-2.0
/* fuzz_image_name.c - a normal name is a fixed point, and no name is an option or a path */
#include "base/mem.h"
#include "node/image.h"
#include "node/image_name.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	auto_free char *input = xstrndup((const char *)data, n);
	auto_sbuf struct sbuf once = SBUF(16384);
	auto_sbuf struct sbuf twice = SBUF(16384);
	auto_sbuf struct sbuf repository = SBUF(16384);
	struct err e = ERR_INIT;

	image_digest_valid(input);
	if (image_normalize(input, &once, &e) < 0) {
		if (e.kind != ERR_INVALID)
			__builtin_trap();
		return 0;
	}
	if (image_normalize(once.p, &twice, &e) < 0 || !streq(once.p, twice.p))
		__builtin_trap();
	if (once.p[0] == '-' || once.p[0] == '/' || strchr(once.p, ' '))
		__builtin_trap();
	image_name_repository(once.p, &repository);
	if (!repository.n || !str_starts(once.p, repository.p) || strstr(repository.p, ".."))
		__builtin_trap();
	image_name_is_loopback(once.p);
	return 0;
}
