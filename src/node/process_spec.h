// SPDX-License-Identifier: Apache-2.0
/* process_spec.h - a process of the host as a document, and as the file its monitor reads; pure
 *
 * The document is the process object of OCI with a little more:
 *
 *	{"program": "/bin/bash", "args": ["-bash", "/var/spool/.../77.SC"], "env": ["A=b"], "cwd": "/home/u",
 *	 "user": {"uid", "gid", "additionalGids": [..], "umask"}, "rlimits": [{"type": "RLIMIT_AS", "soft", "hard"}],
 *	 "nice": 5, "stdout": "/home/u/n.o77", "stderr": "", "joined": "" | "stdout" | "stderr",
 *	 "allowed": ["/bin/sh"]}
 *
 * program may be left out: it is args[0] then.  Output goes to the two files besides the log; both through one of them,
 * in the order in which they were written, if they are joined.  Where `allowed` is, it and its children can execute
 * those files and no others.
 */
#ifndef STOKER_NODE_PROCESS_SPEC_H
#define STOKER_NODE_PROCESS_SPEC_H

#include <jansson.h>

#include "base/err.h"
#include "base/str.h"

#define PROCESS_SPEC_MAX (16u * 1024 * 1024)

/* joins: files that it writes itself into, a line each. */
int process_spec_encode(const json_t *process, const char *joins, struct sbuf *out, struct err *e);
/* The document again, without rlimits; NULL if the bytes are none. */
json_t *process_spec_decode(struct str bytes);
/* The files that it wrote itself into, as they were given; NULL as above; malloc'ed. */
char *process_spec_joins(struct str bytes);

#endif
