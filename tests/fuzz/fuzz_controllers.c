// SPDX-License-Identifier: Apache-2.0
/* fuzz_controllers.c - any text as a list of controllers */
#include "base/mem.h"
#include "control/control.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	auto_free char *list = xstrndup((const char *)data, size);
	struct err e = ERR_INIT;
	control_set set;

	control_choose(list, &set, &e);
	return 0;
}
