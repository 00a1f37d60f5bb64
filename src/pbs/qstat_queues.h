// SPDX-License-Identifier: Apache-2.0
/* qstat_queues.h - queues and the server one a line: qstat -q, -Q and -B.  Pure */
#ifndef STOKER_PBS_QSTAT_QUEUES_H
#define STOKER_PBS_QSTAT_QUEUES_H

#include "pbs/settings.h"

/* A queue and the jobs in it. */
struct queue_line {
	const char *name;
	const json_t *queue;
	struct job_counts counts;
};

/* -q: what each takes; `unit` of memory as in qstat_rows.h. */
void qstat_limits(const char *server, const struct queue_line *q, size_t n, char unit, struct sbuf *out);
/* -Q: how many jobs each has. */
void qstat_queues(const struct queue_line *q, size_t n, struct sbuf *out);
/* -B */
void qstat_server(const char *name, const json_t *server, const struct job_counts *c, struct sbuf *out);

#endif
