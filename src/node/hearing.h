// SPDX-License-Identifier: Apache-2.0
/* hearing.h - who in a container hears when it is told to stop; pure
 *
 * The first process of a pid namespace gets no signal that it has not asked for: one without a handler would be waited
 * for in vain.  And one that only waits for a child, as a shell does, tells the child nothing.  Then those are told who
 * do listen, each once, and whoever they have started is theirs to tell.
 */
#ifndef STOKER_NODE_HEARING_H
#define STOKER_NODE_HEARING_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct listener {
	pid_t pid, parent;
	bool first; /* of its pid namespace */
	bool hears; /* has a handler for the signal, or fetches it otherwise */
};

/* From the text of /proc/PID/status; false if it is not one, or the process has ended. */
bool listener_parse(const char *status, int signo, struct listener *ret);
/* Whether the container's first process is deaf.  Then ret, of room for n, has those who are to be told instead. */
bool hearing_pick(const struct listener *all, size_t n, pid_t *ret, size_t *ret_n);

#endif
