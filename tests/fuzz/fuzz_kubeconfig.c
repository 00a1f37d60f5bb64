// SPDX-License-Identifier: Apache-2.0
/* fuzz_kubeconfig.c - any text as a kubeconfig: a server, or an error that says something */
#include <stdlib.h>

#include "client/kubeconfig.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	static const char *const contexts[] = { NULL, "a" };

	for (size_t i = 0; i < 2; i++) {
		struct kubeconfig k = { 0 };
		struct err e = ERR_INIT;

		/* Names of files lead nowhere: the folder is not there. */
		if (kubeconfig_parse((struct str){ (const char *)data, n }, "/nowhere/at/all/config", contexts[i], &k,
				     &e) < 0) {
			if (e.kind == ERR_NONE || !e.text[0])
				abort();
			continue;
		}
		if (!k.server)
			abort();
		kubeconfig_done(&k);
	}
	return 0;
}
