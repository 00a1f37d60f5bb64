// SPDX-License-Identifier: Apache-2.0
/* gc_plan.c - what becomes of an object, given its owners */
#include "control/gc.h"

enum gc_verdict gc_plan(const enum gc_owner *owners, size_t n)
{
	size_t count[GC_OWNER_WAITING + 1] = { 0 };

	for (size_t i = 0; i < n; i++)
		count[owners[i]]++;
	if (n == 0 || count[GC_OWNER_UNKNOWN])
		return GC_KEEP;
	if (count[GC_OWNER_PRESENT])
		return count[GC_OWNER_ABSENT] || count[GC_OWNER_WAITING] ? GC_DROP_REFS : GC_KEEP;
	return count[GC_OWNER_WAITING] ? GC_DELETE_FOREGROUND : GC_DELETE;
}
