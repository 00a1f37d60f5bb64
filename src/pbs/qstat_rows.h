// SPDX-License-Identifier: Apache-2.0
/* qstat_rows.h - jobs one a line: qstat, and the wider form of qstat -a.  Pure */
#ifndef STOKER_PBS_QSTAT_ROWS_H
#define STOKER_PBS_QSTAT_ROWS_H

#include "pbs/row.h"

void qstat_plain_header(struct sbuf *out);
void qstat_plain_row(const struct board_row *r, struct sbuf *out);

struct qstat_wide {
	int layout;     /* 6 or 4: how wide Torque made the column of memory */
	int host_style; /* 6: G102/0-1, 4: G102/0+G102/1 */
	char unit;      /* of memory: 'G' gigabytes, 'M' megawords, 0 as it was asked for */
	bool nodes;     /* -n */
	bool one_line;  /* -1 */
	bool comment;   /* -s */
};

void qstat_wide_header(const char *server, const char *comment, int layout, struct sbuf *out);
void qstat_wide_row(const struct board_row *r, const struct qstat_wide *w, struct sbuf *out);

#endif
