// SPDX-License-Identifier: Apache-2.0
/* time_zone.h - clocks on walls elsewhere, from this machine's time zone database */
#ifndef STOKER_BASE_TIME_ZONE_H
#define STOKER_BASE_TIME_ZONE_H

#include <stdbool.h>
#include <stdint.h>

/* "Asia/Shanghai"; UTC is always known. */
bool time_zone_known(const char *name);
/* What to add to UTC at that time (seconds since 1970) to get the clock on the wall; NULL: on this machine's wall. */
int64_t time_zone_offset(const char *name, int64_t at);

#endif
