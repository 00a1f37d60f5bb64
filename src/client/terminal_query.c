// SPDX-License-Identifier: Apache-2.0
/* terminal_query.c - what exec and attach are asked for, in their address; apart from terminal.c, which needs a loop */
#include "client/client.h"
#include "client/terminal.h"

void terminal_query(struct sbuf *out, const char *container, bool in, bool tty, const char *const *command)
{
	sbuf_adds(out, "?container=");
	client_escape(out, container);
	/* A terminal has one output. */
	sbuf_addf(out, "&stdout=true&stderr=%s&stdin=%s&tty=%s", tty ? "false" : "true", in ? "true" : "false",
		  tty ? "true" : "false");
	for (size_t i = 0; command && command[i]; i++) {
		sbuf_adds(out, "&command=");
		client_escape(out, command[i]);
	}
}
