// SPDX-License-Identifier: Apache-2.0
/* pbs_board.h - all PBS jobs as qstat shows them, in memory
 *
 * A row is what a line of qstat needs, as text that is ready but for what changes by itself: the time used.  Rows
 * follow the store's committed changes; they are in the order of their numbers.
 */
#ifndef STOKER_API_PBS_BOARD_H
#define STOKER_API_PBS_BOARD_H

#include "api/api.h"
#include "kinds/pbs_array.h"
#include "loop/kubelet.h"
#include "loop/scheduler.h"

/* One run whose use is asked of the node. */
struct pbs_run {
	int64_t start;         /* seconds since 1970; 0: none */
	int64_t stands, stood; /* suspended since then, or 0; and so many seconds before */
	char **pods, **uids;
	size_t npods;
	bool uids_known;
};

struct pbs_row {
	int64_t sequence;
	uint64_t serial; /* unique; grows */
	int64_t rv;
	char state;
	bool array;
	int64_t jobs; /* elements of an array, else 1 */
	const char *ns, *name, *owner, *queue;
	const char *title; /* -N */
	/* The line: `head` up to the state, `used` unless the job runs, `tail` from the session on. */
	const char *head, *used, *tail;
	size_t head_len, tail_len;
	size_t comment_at, comment_len; /* in the tail */
	int starts;                     /* so many runs */
	struct pbs_run run;
	/* of an array */
	const char *request, *held, *hold;
	const char *comment;               /* as its status has it */
	int64_t slots;                     /* 0: it does not say */
	const char *element_tail;          /* the part of the tail that elements have alike */
	json_t *elements, *active, *ended; /* of its status */
	json_t *altered;                   /* spec.elements */
	char text[];                       /* all these: a walk over the board is a walk over memory */
};

struct pbs_elements;

/* What is asked for of a job, or of one element. */
struct pbs_view {
	struct api *api;
	struct kubelet *kubelet;     /* or NULL */
	struct scheduler *scheduler; /* or NULL */
	const struct caller *caller;
	struct pbs_row *row;
	const struct pbs_elements *elements; /* of the row, if it is about one: */
	int index;                           /* or -1 */
	bool live;                           /* comments of this moment, not as they were last written */
	int64_t now;
};

struct pbs_board;
struct pbs_board *pbs_board_new(struct api *api);
void pbs_board_free(struct pbs_board *b);
/* Begins to read them, a few a turn. */
int pbs_board_load(struct pbs_board *b, struct err *e);
/* All are there.  Who cannot wait until they are asks all the same: then the rest is read at once. */
bool pbs_board_loaded(const struct pbs_board *b);
/* Borrowed until the turn ends; NULL if there is none. */
struct pbs_row *pbs_board_find(struct pbs_board *b, int64_t sequence);
/* The first behind this place in the order; (-1, 0) for the very first.  *hint is where it was, and where to look first
 * the next time; 0 at the beginning. */
struct pbs_row *pbs_board_after(struct pbs_board *b, int64_t sequence, uint64_t serial, size_t *hint);
/* Jobs of a user that have not ended. */
int64_t pbs_board_jobs_of(struct pbs_board *b, const char *owner);
size_t pbs_board_count(const struct pbs_board *b);

/* --- pbs_row.c --- */
struct pbs_row *pbs_row_new(const char *ns, const char *name, const json_t *job);
void pbs_row_free(struct pbs_row *r);
void pbs_run_done(struct pbs_run *run);
/* What a run has used by now. */
struct pbs_used {
	int64_t walltime, cput; /* seconds; cput -1: nobody can tell */
	int64_t memory;         /* bytes */
};
void pbs_run_used(struct api *api, struct kubelet *k, const char *ns, struct pbs_run *run, int64_t now,
		  struct pbs_used *ret);
void pbs_row_line(struct pbs_view *v, struct sbuf *out);
/* Tab, newline and backslash as \t, \n, \\. */
void pbs_row_escape(const char *s, struct sbuf *out);

/* --- pbs_elements.c --- */
/* An array's elements, by how they stand. */
struct pbs_element_set {
	char state;
	bool ended;
	int exit_status;
	struct pbs_set set;
};

struct pbs_elements {
	int64_t rv; /* of the row it was made from */
	struct pbs_set all, held, active, past;
	struct pbs_element_set *sets;
	size_t n, cap;
};
void pbs_elements_read(struct pbs_elements *el, const struct pbs_row *r);
void pbs_elements_done(struct pbs_elements *el);
/* How one stands; the sets' row if it has been started, else NULL. */
char pbs_element_state(const struct pbs_elements *el, const struct pbs_row *r, int index,
		       const struct pbs_element_set **ret);
/* What status.active says of it, or NULL. */
const json_t *pbs_element_active(const struct pbs_elements *el, const struct pbs_row *r, int index);
/* The same of status.ended. */
const json_t *pbs_element_ended(const struct pbs_elements *el, const struct pbs_row *r, int index);
void pbs_element_line(const struct pbs_view *v, struct sbuf *out);
/* The element as a PBSJob of its own: changes the array's object. */
void pbs_element_object(json_t *job, const struct pbs_view *v);
/* From what stands in status or in status.active. */
void pbs_run_read(struct pbs_run *run, const json_t *status);

/* --- pbs_comment.c --- */
/* Why a job, or an array as a whole, waits at this moment.  False: as its status says. */
bool pbs_row_comment(const struct pbs_view *v, struct sbuf *out);
/* How an element stands, in words; maybe none. */
void pbs_element_comment(const struct pbs_view *v, struct sbuf *out);

#endif
