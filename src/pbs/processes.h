// SPDX-License-Identifier: Apache-2.0
/* processes.h - this machine's processes and what they use, for chk_res */
#ifndef STOKER_PBS_PROCESSES_H
#define STOKER_PBS_PROCESSES_H

#include "base/str.h"

struct process {
	int pid;
	unsigned uid;
	uint64_t ticks; /* of processor time so far */
	int64_t rss_kb;
	char name[64];
};

struct processes {
	struct process *items;
	size_t n, cap;
};

/* From the texts of /proc/PID/stat and the pages of /proc/PID/statm; false if it is none.  Pure. */
bool process_parse(const char *stat, const char *statm, int64_t page_kb, struct process *ret);
/* Reads all that may be seen. */
void processes_read(struct processes *ret);
void processes_done(struct processes *p);
const struct process *processes_find(const struct processes *p, int pid);

/* What was used between two looks that are `seconds` apart: a table of users or, with a user, of his processes.  Pure
 * but for the users' names. */
void processes_table(const struct processes *before, const struct processes *after, double seconds, const char *user,
		     struct sbuf *out);

#endif
