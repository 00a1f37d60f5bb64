// SPDX-License-Identifier: Apache-2.0
/* action.h - what probes and hooks have in common: one command, HTTP request or connection; for the files of this room
 */
#ifndef STOKER_NODE_ACTION_H
#define STOKER_NODE_ACTION_H

#include "base/str.h"
#include "node/probe.h"

struct action;

enum action_kind { ACTION_NONE, ACTION_EXEC, ACTION_HTTP, ACTION_TCP, ACTION_GRPC };

struct action_end {
	enum action_kind kind;
	int code;            /* exit status or HTTP status */
	struct str output;   /* of a command */
	const struct err *e; /* ERR_NONE, ERR_TIMEOUT, or why there is no code */
	bool unasked;        /* with an error: the question itself was impossible */
};

/* `handler` has one of exec, httpGet, tcpSocket, grpc.  timeout_ms 0: none.  done once, never from inside; the action
 * is gone after it. */
struct action *action_start(const struct probe_target *t, const json_t *handler, int64_t timeout_ms,
			    void (*done)(void *arg, const struct action_end *end), void *arg);
/* A command is killed; no callback will follow. */
void action_cancel(struct action *a);

/* A command as people would type it, malloc'ed. */
char *action_command_text(const json_t *handler);

#endif
