// SPDX-License-Identifier: Apache-2.0
/* waiters.h - objects that say stoker.dev/after, and those they wait for
 *
 * What is waited for is watched by name, only while somebody waits for it.  When all has come true, that is written
 * into the object that waits: neither a restart nor the removal of what has ended takes it back.
 */
#ifndef STOKER_SCHED_WAITERS_H
#define STOKER_SCHED_WAITERS_H

#include "client/client.h"

struct waiters;

/* `changed`: the answer about an object may be another now. */
struct waiters *waiters_new(struct client *c, void (*changed)(void *arg, const char *uid), void *arg);
void waiters_free(struct waiters *w);
/* True if the object waits for nothing (any more); otherwise *ret_why has words, borrowed until the next turn, and
 * *ret_stuck says that it does not go on by itself. */
bool waiters_ask(struct waiters *w, const json_t *obj, const char **ret_why, bool *ret_stuck);
/* The object is gone, or says nothing any more. */
void waiters_forget(struct waiters *w, const char *uid);

#endif
