// SPDX-License-Identifier: Apache-2.0
/* fuzz_proto.c - any bytes as a protobuf request body */
#include <stdint.h>

#include "api/wire.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	static struct registry *r; /* of constants; made once */
	json_auto_t *got = NULL;
	struct err e = ERR_INIT;

	if (!r)
		r = registry_new();
	proto_decode(r, (struct str){ (const char *)data, n }, &got, &e);
	return 0;
}
