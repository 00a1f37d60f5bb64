// SPDX-License-Identifier: Apache-2.0
/* fuzz_after.c - what workloads wait for: what is accepted names a kind that ends, and means the same when written
 * again
 */
#include <stdlib.h>

#include "base/mem.h"
#include "kinds/after.h"
#include "kinds/workloads.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	auto_free char *text = xstrndup((const char *)data, n);
	auto_sbuf struct sbuf again = SBUF(1 << 20);
	auto_free struct after *a = NULL;
	auto_free struct after *b = NULL;
	struct err e = ERR_INIT;
	size_t na, nb;

	if (after_parse(text, &a, &na, &e) < 0)
		return 0;
	for (size_t i = 0; i < na; i++) {
		if (!workload_ends(a[i].kind))
			abort();
		sbuf_addf(&again, "%s%s:%s/%s", i ? "," : "", after_how_name(a[i].how), a[i].kind->singular, a[i].name);
	}
	if (after_parse(again.p ? again.p : "", &b, &nb, &e) < 0 || na != nb)
		abort();
	for (size_t i = 0; i < na; i++)
		if (a[i].how != b[i].how || a[i].kind != b[i].kind || !streq(a[i].name, b[i].name))
			abort();
	return 0;
}
