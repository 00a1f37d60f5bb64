// SPDX-License-Identifier: Apache-2.0
/* walltime.c - how long a job may run, as people write it */
#include "kinds/walltime.h"

#include "base/clock.h"
#include "kinds/pbs_values.h"

bool walltime_parse(const char *text, int64_t *ret_seconds)
{
	int64_t seconds;

	if (pbs_time_parse(text, ret_seconds))
		return true;
	if (!clock_parse_duration(text, &seconds) || seconds < 0 || seconds > PBS_TIME_MOST)
		return false;
	*ret_seconds = seconds;
	return true;
}

void walltime_text(int64_t seconds, char out[WALLTIME_TEXT])
{
	_Static_assert(WALLTIME_TEXT == PBS_TEXT, "both are the same notation");
	pbs_time_text(seconds, out);
}
