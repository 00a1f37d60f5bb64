// SPDX-License-Identifier: Apache-2.0
/* image_tool.h - a program run by a worker, apart from the rest of the machine */
#ifndef STOKER_NODE_IMAGE_TOOL_H
#define STOKER_NODE_IMAGE_TOOL_H

#include "node/image_parts.h"

struct tool {
	const char *const *argv; /* ended by NULL */
	const char *const *env;  /* "NAME=value" beside what is kept of ours, ended by NULL; or NULL */
	const char *dir;         /* where it runs */
	const char *state;       /* stands in for /var/lib/containers, or NULL */
	struct image_worker *worker;
	struct sbuf *output; /* gets its lines instead of the worker, or NULL */
};
/* Blocks until it ends.  An exit status other than 0 is an error that ends with its last line. */
int tool_run(const struct tool *t, struct err *e);
/* Whether overlayfs can be mounted on directories below dir, which must be empty; it is not afterwards. */
bool tool_overlay_works(const char *dir);

#endif
