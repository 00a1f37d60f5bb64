// SPDX-License-Identifier: Apache-2.0
/* when.h - the time of -a: [[[[CC]YY]MM]DD]hhmm[.SS] in local time; pure but for the time zone */
#ifndef STOKER_PBS_WHEN_H
#define STOKER_PBS_WHEN_H

#include <stdbool.h>
#include <stdint.h>

/* What is left out is taken from `now`, one unit on if that is past. */
bool pbs_when_parse(const char *text, int64_t now, int64_t *ret_seconds);

#endif
