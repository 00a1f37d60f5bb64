// SPDX-License-Identifier: Apache-2.0
/* qstat_full.h - everything about jobs, queues or the server: as text, as XML, as JSON.  Pure */
#ifndef STOKER_PBS_QSTAT_FULL_H
#define STOKER_PBS_QSTAT_FULL_H

#include "pbs/job_attributes.h"

/* What is listed: the words around it. */
struct full_sort {
	const char *title; /* "Job Id": the first line of the text */
	const char *tag;   /* "Job" in XML */
	const char *id;    /* "Job_Id" in XML */
	const char *key;   /* "Jobs" in JSON */
};
extern const struct full_sort full_jobs, full_queues, full_servers;

enum full_form { FULL_TEXT, FULL_WHOLE /* text, never folded */, FULL_XML, FULL_JSON, FULL_DSV /* a line each */ };

/* A listing that is being written. */
struct full {
	enum full_form form;
	const struct full_sort *sort;
	struct sbuf *out;
	const char *delimiter; /* of FULL_DSV */
	json_t *json;          /* of FULL_JSON, until its end */
};

void full_begin(struct full *f);
void full_add(struct full *f, const char *id, const struct pbs_attributes *a);
/* JSON also says when and by whom it was made. */
void full_end(struct full *f, const char *server, int64_t now);

#endif
