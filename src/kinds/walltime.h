// SPDX-License-Identifier: Apache-2.0
/* walltime.h - how long a job may run, as people write it: 168:00:00, 30:00, 7d, 1h30m, 3600 */
#ifndef STOKER_KINDS_WALLTIME_H
#define STOKER_KINDS_WALLTIME_H

#include <stdbool.h>
#include <stdint.h>

#define WALLTIME_TEXT 32

/* [[DD:]HH:]MM:SS as PBS writes it, or a duration as clock_parse_duration() takes it; a bare number is seconds. */
bool walltime_parse(const char *text, int64_t *ret_seconds);
/* HH:MM:SS with as many hours as there are. */
void walltime_text(int64_t seconds, char out[WALLTIME_TEXT]);

#endif
