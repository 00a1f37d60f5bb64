// SPDX-License-Identifier: Apache-2.0
/* board.h - the server's board of all jobs: asked for once, read one by one
 *
 * As rows, which are quick, or in full; either way a job has the columns by which jobs are chosen.
 */
#ifndef STOKER_PBS_BOARD_H
#define STOKER_PBS_BOARD_H

#include "pbs/pbs.h"
#include "pbs/row.h"

struct board_query {
	bool full;         /* with the object of each job */
	bool elements;     /* of arrays, instead of the arrays */
	bool live;         /* comments of this moment, not as they were last written; full ones always have these */
	const char *ids;   /* "380963,189[3]", or NULL: all */
	const char *user;  /* or NULL */
	const char *queue; /* or NULL */
};

/* { 0 } is empty. */
struct board {
	struct sbuf text;
	struct str rest;
	json_t *doc;
	size_t at;
};

struct board_job {
	struct board_row row; /* of a full one: id, name, owner, host, queue, state, priority, namespace, object */
	const json_t *job;    /* borrowed from the board; NULL in rows */
};

int board_get(struct pbs *p, const struct board_query *q, struct board *ret, struct err *e);
bool board_next(struct board *b, struct board_job *ret);
/* From the first one again. */
void board_rewind(struct board *b);
void board_done(struct board *b);
/* Columns of a PBSJob; pure. */
void board_row_of(const json_t *job, struct board_row *ret);

/* Whether a job is what people call `id`; with `elements` an array's name stands for all its elements.  Pure. */
bool board_is(const struct board_row *r, const struct pbs_id *id, bool elements);

#define auto_board __attribute__((cleanup(board_done)))

#endif
