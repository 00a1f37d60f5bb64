// SPDX-License-Identifier: Apache-2.0
/* terminal.h - this process's input and output joined with a command's in a pod: exec and attach, for commands
 *
 * With `tty` the terminal of this process is raw for as long as it lasts, and its size is passed on.
 */
#ifndef STOKER_CLIENT_TERMINAL_H
#define STOKER_CLIENT_TERMINAL_H

#include "client/client.h"

struct terminal;

/* How much of a container's output has been written here. */
struct terminal_told {
	uint64_t bytes[2]; /* of stdout and stderr */
	int64_t last_us;   /* when, by the wall clock */
};

struct terminal_wants {
	const char *path; /* .../pods/NAME/exec or attach, with its query */
	bool in;          /* standard input too */
	bool tty;
	struct terminal_told *told; /* is kept up; or NULL */
	void (*opened)(void *arg);  /* may be NULL */
	/* Once: the exit status, or the error.  The terminal is as it was before. */
	void (*ended)(void *arg, int code, const struct err *e);
	void *arg;
};

int terminal_new(struct client *c, const struct terminal_wants *wants, struct terminal **ret, struct err *e);
/* All input has been read and sent. */
bool terminal_input_is_over(const struct terminal *t);
/* Puts the terminal back; also from `ended`. */
void terminal_free(struct terminal *t);
/* Output of a container (stream 1 or 2) to this process's own; `told` may be NULL. */
void terminal_write(int stream, struct str bytes, struct terminal_told *told);
/* "?container=NAME&stdin=true..." for attach, and for exec with a command (NULL-terminated). */
void terminal_query(struct sbuf *out, const char *container, bool in, bool tty, const char *const *command);

#endif
