// SPDX-License-Identifier: Apache-2.0
/* pbs_records.h - which records of PBS's accounts a change of a job makes; pure
 *
 *	Q  it came into its queue           R  a run of it came to nothing, and it waits again
 *	S  it was started                   E  it ended after it had been started
 *	D  somebody asked for its end       A  the server ended it before it was started
 *
 * Of an array its elements have S, R and E, and the whole of it has the others.
 */
#ifndef STOKER_SCHED_PBS_RECORDS_H
#define STOKER_SCHED_PBS_RECORDS_H

#include <jansson.h>

#include "kinds/pbs_array.h"

struct pbs_account_end;

struct pbs_record {
	char type;
	const char *id;
	const char *text;
	const json_t *job;                 /* NULL: it is gone */
	const json_t *run;                 /* of S and E: what has its startTime and execHost; or NULL */
	const struct pbs_account_end *end; /* of E */
	int64_t when;                      /* it happened, in seconds since 1970; 0: nobody knows */
	int64_t mark; /* tells it from others of this type and id: the moment of a start or an end; 0 */
};

typedef void pbs_record_fn(void *arg, const struct pbs_record *r);

/* What was seen of a job, { 0 } at first. */
struct pbs_seen {
	char *id;
	bool queued, ended;
	int64_t starts, requeues;
	char *cancel;   /* the elements that were to end, "" for all; NULL: nobody asked */
	json_t *active; /* of an array */
	struct pbs_set done;
};

void pbs_records(const json_t *job, struct pbs_seen *seen, int64_t now, pbs_record_fn *tell, void *arg);
/* The object was deleted, by whomever. */
void pbs_records_gone(const struct pbs_seen *seen, int64_t now, pbs_record_fn *tell, void *arg);
void pbs_seen_done(struct pbs_seen *s);

/* "11/16/2026 09:59:10;S;380963.Ghead;user=...", in local time, and its newline. */
void pbs_record_line(const struct pbs_record *r, int64_t now, struct sbuf *out);
/* From such a line what tells the record from others: "S;380963.Ghead;1794766750"; and when it was written.  False: it
 * is none. */
bool pbs_record_key(struct str line, struct sbuf *out, int64_t *ret_when);
/* The same from the record. */
void pbs_record_name(const struct pbs_record *r, struct sbuf *out);

#endif
