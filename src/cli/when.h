// SPDX-License-Identifier: Apache-2.0
/* when.h - a time to come, as people type it; pure but for the time zone */
#ifndef STOKER_CLI_WHEN_H
#define STOKER_CLI_WHEN_H

#include <stdint.h>

#include "base/err.h"

/* "14:00" (today, or tomorrow if that is over), "2026-11-20 09:00", "2026-11-20", "tomorrow 9:00", "+2h", "now", or
 * RFC3339.  ERR_BAD_REQUEST says what is allowed; `what` is the option's name. */
int when_parse(const char *what, const char *text, int64_t now, int64_t *ret_seconds, struct err *e);

#endif
