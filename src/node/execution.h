// SPDX-License-Identifier: Apache-2.0
/* execution.h - an extra process in a container whose asker may leave before it ends; for the files of this room
 *
 * The runtime tells the end of every process it started, also of one that was killed.  This stands between: whoever
 * abandons an execution hears nothing more and may free everything it was started with.
 */
#ifndef STOKER_NODE_EXECUTION_H
#define STOKER_NODE_EXECUTION_H

#include "node/runtime.h"

struct execution;

/* done once, with the exit status, or with an error; the execution is gone then. */
struct execution *execution_start(struct runtime *r, const struct exec_start *x,
				  void (*done)(void *arg, int status, const struct err *e), void *arg);
/* Its terminal has a new size; false if it has none (yet). */
bool execution_resize(struct execution *x, int rows, int cols);
/* Kills it; done may still come. */
void execution_kill(struct execution *x);
/* Kills it; done will not come. */
void execution_abandon(struct execution *x);

/* The container's own process with another command: same user, rights, environment and directory.  A new document. */
json_t *execution_process(const json_t *process, const json_t *command, bool tty);

#endif
