// SPDX-License-Identifier: Apache-2.0
/* run_log.h - a container's output on stdout as it comes */
#ifndef STOKER_CLI_RUN_LOG_H
#define STOKER_CLI_RUN_LOG_H

#include "cli/log_stream.h"

struct run_log_options { /* copied */
	struct client *client;
	const char *ns, *pod, *container;
	const char *mark;        /* before each line, or NULL: bytes as they are */
	size_t number;           /* chooses the mark's colour */
	void (*deaf)(void *arg); /* stdout is closed */
	void *arg;
};

struct run_log;

struct run_log *run_log_new(const struct run_log_options *o);
void run_log_free(struct run_log *l);
/* Where it comes from.  Borrowed. */
struct log_stream *run_log_stream(struct run_log *l);

#endif
