// SPDX-License-Identifier: Apache-2.0
/* run_log.h - a container's output on stdout as it comes, whole and once, across a server that goes and comes back */
#ifndef STOKER_CLI_RUN_LOG_H
#define STOKER_CLI_RUN_LOG_H

#include "client/client.h"

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
/* The container has ended: the next end of the stream is the end of its output. */
void run_log_ending(struct run_log *l);
bool run_log_is_done(const struct run_log *l);
/* Bytes so far. */
uint64_t run_log_shown(const struct run_log *l);

#endif
