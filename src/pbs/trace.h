// SPDX-License-Identifier: Apache-2.0
/* trace.h - the life of a job as lines of a log.  Pure */
#ifndef STOKER_PBS_TRACE_H
#define STOKER_PBS_TRACE_H

#include <jansson.h>

#include "base/str.h"

struct trace_options {
	int64_t since;       /* nothing older; seconds since 1970 */
	const char *without; /* letters of sources that are not wanted */
	const char *server;
};

/* Whether an event is about the job of that name or its pods; of an array, or (if it is not "") of one element. */
bool trace_is_about(const json_t *event, const char *job, const char *element);

/* "Job: ID", an empty line, then what is known of it in the order of time: S from the server, L the scheduler, M the
 * node, A the accounts.  `events` may be NULL. */
void trace_job(const json_t *job, const json_t *events, const struct trace_options *o, struct sbuf *out);

#endif
