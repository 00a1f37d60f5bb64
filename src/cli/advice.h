// SPDX-License-Identifier: Apache-2.0
/* advice.h - what to do next about something that waits or has failed.  Pure */
#ifndef STOKER_CLI_ADVICE_H
#define STOKER_CLI_ADVICE_H

#include "cli/about.h"

#define ADVICE_AT_MOST 5

/* Sentences, the most useful first; empty where all is well.  A new array. */
json_t *advice_for(const struct about *a);
/* Adds a sentence that is not there yet, unless there are enough. */
void advice_say(json_t *out, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

#endif
