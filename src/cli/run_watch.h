// SPDX-License-Identifier: Apache-2.0
/* run_watch.h - stays with a Job until its end: live output of all its pods, and the command's exit status */
#ifndef STOKER_CLI_RUN_WATCH_H
#define STOKER_CLI_RUN_WATCH_H

#include "cli/connect.h"
#include "cli/find.h"

#define STATUS_TIME_LIMIT 124 /* as timeout(1) says it */

struct run_watch_options {
	bool quiet;  /* nothing on stderr but errors */
	bool remove; /* the Job goes when it has ended, so Ctrl-C needs no second thought */
	bool many;   /* lines say which worker they are from */
};

/* Returns the exit status: that of the command (of the worker that failed first), 128+N for a signal, 127 and 126 for
 * a command that is not there or cannot be executed, 124 for the time limit, 130 after Ctrl-C, 143 if the Job was
 * deleted meanwhile. */
int run_watch(const struct command *cmd, struct connection *c, const struct found *job,
	      const struct run_watch_options *o);

#endif
