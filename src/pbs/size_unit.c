// SPDX-License-Identifier: Apache-2.0
/* size_unit.c - see size_unit.h */
#include "pbs/size_unit.h"

#include <stdio.h>

const char *size_in_unit(const char *size, char unit, char text[PBS_TEXT])
{
	int64_t one = unit == 'G' ? 1ll << 30 : 8ll << 20;
	int64_t bytes;

	if (unit && pbs_size_parse(size, &bytes))
		snprintf(text, PBS_TEXT, "%lld%s", (long long)(bytes / one + (bytes % one > 0)),
			 unit == 'G' ? "gb" : "mw");
	else
		snprintf(text, PBS_TEXT, "%s", size);
	return text;
}
