// SPDX-License-Identifier: Apache-2.0
/* rootless.h - a server that an ordinary user starts is root in a user namespace of its own */
#ifndef STOKER_NODE_ROOTLESS_H
#define STOKER_NODE_ROOTLESS_H

#include "base/err.h"

/* Moves this process, which has one thread, into the user and mount namespace of the data directory `dir`: the one that
 * an earlier server left, else a new one.  `hold`: it shall outlive this process.  1: it is new; 0: it was there; -1:
 * nothing has changed, and the error says what forbids it. */
int rootless_enter(const char *dir, bool hold, struct err *e);
/* Nobody needs it any more: it ends with the last process in it. */
void rootless_leave(const char *dir);

#endif
