// SPDX-License-Identifier: Apache-2.0
/* again.h - commands that show the same thing again and again until Ctrl-C */
#ifndef STOKER_CLI_AGAIN_H
#define STOKER_CLI_AGAIN_H

#include "base/str.h"
#include "client/client.h"

#define AGAIN_MS 2000

/* Calls `show` every AGAIN_MS until it gives an exit status that is not 0, nobody reads what it prints, or Ctrl-C.
 * Returns the exit status; -1 with an error if it cannot begin. */
int again_show(struct loop *loop, int (*show)(void *arg), void *arg, struct err *e);
/* A text on the screen, over what was there. */
void again_draw(const struct sbuf *text);
/* "15:04:05" here and now. */
void again_clock(char out[16]);

#endif
