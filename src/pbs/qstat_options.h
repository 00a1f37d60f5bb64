// SPDX-License-Identifier: Apache-2.0
/* qstat_options.h - what qstat was asked for, and which wishes do not go together.  Pure */
#ifndef STOKER_PBS_QSTAT_OPTIONS_H
#define STOKER_PBS_QSTAT_OPTIONS_H

#include "base/str.h"

enum qstat_mode {
	QSTAT_PLAIN,
	QSTAT_WIDE,
	QSTAT_FULL,
	QSTAT_LIMITS,
	QSTAT_QUEUES,
	QSTAT_SERVER,
	QSTAT_HELP,
	QSTAT_VERSION
};

struct qstat_options {
	enum qstat_mode mode;
	bool given[128];       /* by their letters */
	const char *users;     /* -u */
	const char *delimiter; /* -D, of dsv */
	const char *form;      /* -F: "json", "dsv", or NULL */
	char **operands;       /* borrowed from argv */
	int n;
};

/* 0, or 2 with what is to be said on stderr. */
int qstat_options_parse(int argc, char **argv, struct qstat_options *ret, struct sbuf *wrong);
/* Whether a job in this state is asked for by -i, -r, -c and -H. */
bool qstat_wants(const struct qstat_options *o, char state);
extern const char qstat_usage[];

#endif
