// SPDX-License-Identifier: Apache-2.0
/* follow_say.h - a followed job as a transcript: a line for each change, for people or as JSON.  Pure
 *
 * What has been told is remembered in the state, so whoever is told of a change may ask as often as it likes.
 */
#ifndef STOKER_CLI_FOLLOW_SAY_H
#define STOKER_CLI_FOLLOW_SAY_H

#include "cli/follow_state.h"

/* With `json` each line is an object that says its "type": job, replica, measurement, log, warning or end. */
void follow_say_job(struct follow_state *s, bool json, struct sbuf *out);
void follow_say_replica(struct follow_replica *r, bool json, struct sbuf *out);
void follow_say_numbers(const struct follow_replica *r, bool json, struct sbuf *out);
void follow_say_log(const struct follow_replica *r, struct str text, int64_t at, bool json, struct sbuf *out);
void follow_say_warning(const struct follow_state *s, bool json, struct sbuf *out);
/* What became of it: several lines for people.  `status` is the exit status. */
void follow_say_end(const struct follow_state *s, int status, bool json, struct sbuf *out);
/* The exit status: 0, that of the replica that failed, 124 for the time limit, 143 if the job was deleted, or 1. */
int follow_status(const struct follow_state *s);

#endif
