// SPDX-License-Identifier: Apache-2.0
/* fuzz_cron.c - any text as a schedule and as a running time: read or refused, and what is read makes sense */
#include <stdlib.h>

#include "base/mem.h"
#include "kinds/cron_schedule.h"
#include "kinds/walltime.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	const int64_t now = 1700000000;
	auto_free char *text = xstrndup((const char *)data, n);
	struct cron_schedule schedule;
	struct err e = ERR_INIT;
	int64_t seconds, next;

	if (cron_schedule_parse(text, &schedule, &e) == 0) {
		next = cron_schedule_next(&schedule, now, 3600);
		if (next != -1 && next <= now)
			abort();
	} else if (!e.text[0]) {
		abort();
	}
	if (walltime_parse(text, &seconds) && seconds < 0)
		abort();
	return 0;
}
