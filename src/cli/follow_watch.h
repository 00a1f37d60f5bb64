// SPDX-License-Identifier: Apache-2.0
/* follow_watch.h - stays with a job until its end and shows how it goes: live on a terminal, else as a transcript */
#ifndef STOKER_CLI_FOLLOW_WATCH_H
#define STOKER_CLI_FOLLOW_WATCH_H

#include "cli/connect.h"
#include "cli/find.h"

struct follow_options {
	bool logs;    /* all output too, each line with its replica */
	bool json;    /* a transcript of objects, also on a terminal */
	bool created; /* the job has just been made */
};

/* Returns the exit status (follow_say.h); 130 after Ctrl-C, which leaves the job running. */
int follow_watch(const struct command *cmd, struct connection *c, const struct found *job,
		 const struct follow_options *o);

#endif
