// SPDX-License-Identifier: Apache-2.0
/* command.h - a command in a container, run for its exit status and the beginning of what it says */
#ifndef STOKER_NODE_COMMAND_H
#define STOKER_NODE_COMMAND_H

#include "base/str.h"
#include "node/runtime.h"

#define COMMAND_OUTPUT_MAX (10u * 1024) /* kubelet's figure for probes */

struct command;

struct command_request {
	struct loop *loop;
	struct runtime *runtime;
	const char *id;        /* of the container */
	const json_t *process; /* its own */
	const json_t *args;
	int64_t timeout_ms; /* 0: none */
	/* Once, never from inside; the command is gone after it.  e->kind: ERR_NONE, ERR_TIMEOUT (it was killed), or it
	 * could not be run. */
	void (*done)(void *arg, int status, struct str output, const struct err *e);
	void *arg;
};

struct command *command_start(const struct command_request *q);
/* Kills it; no callback will follow. */
void command_cancel(struct command *c);

#endif
