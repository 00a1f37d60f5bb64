// SPDX-License-Identifier: Apache-2.0
/* ending.h - deleting workloads so that their pods end first, and knowing when they are gone
 *
 * The object is deleted in the foreground: it stays, marked, until its pods have ended within their grace period, and
 * nothing makes new ones.  What they printed stays with the server (`stoker logs`).
 */
#ifndef STOKER_CLI_ENDING_H
#define STOKER_CLI_ENDING_H

#include "cli/find.h"

struct ending;

/* Has the object deleted, or a PBS job that has not ended cancelled, and with `now` its pods killed without their grace
 * period. */
int ending_begin(struct client *c, const struct found *f, bool now, struct err *e);
/* Whether it is gone, or was cancelled and has ended, told from the loop: `done` is called once.  The ending begun
 * before is what it waits for. */
struct ending *ending_watch(struct client *c, const struct found *f, void (*done)(void *arg), void *arg);
void ending_free(struct ending *w);

#endif
