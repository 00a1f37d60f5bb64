// SPDX-License-Identifier: Apache-2.0
/* act.h - what commands that act on jobs share: each id in turn, its job found, one write
 *
 * A command says what it would write for a job as it is now; here it is written, and planned anew if the job has
 * changed meanwhile.  Each id that fails is told of, and the others are still done.
 */
#ifndef STOKER_PBS_ACT_H
#define STOKER_PBS_ACT_H

#include "kinds/pbs_array.h"
#include "pbs/pbs.h"

/* What an id means. */
struct act_target {
	const json_t *job;       /* an array as a whole */
	const char *path;        /* of its object */
	bool some;               /* only these of its elements: */
	struct pbs_set elements; /* that there are */
	char state;              /* of the job, or of the elements: C only if all have ended */
};

struct act {
	struct pbs *pbs;
	const char *range;   /* -t, or NULL */
	const char *states;  /* in which it can be done; NULL: in all but C */
	const char *missing; /* MSG= for a job that is not there, or NULL */
	bool all;            /* of a list: a job that has come to its end since is none to complain about */
	/* What to write: a merge patch of the job's spec, put into `spec`; pure. */
	int (*plan)(const struct act *a, const struct act_target *t, json_t *spec, struct err *e);
	/* Instead of plan: a request of its own. */
	int (*send)(const struct act *a, const struct act_target *t, struct err *e);
	const void *arg;
};

/* Exit status: that of the last failure. */
int act_on_jobs(const struct act *a, char *const *ids, int n);

/* --- pure parts --- */

/* Whether a refusal means that the job has ended, or is gone. */
bool act_is_over(const struct err *e);
/* What an id means for this job: PBSE_UNKJOBID if it is not there, PBSE_BAD_ARRAY_REQ for a bad range.  `elements` is
 * what stands in the brackets or after -t.  act_target_done() after success. */
int act_target_read(struct act_target *t, const json_t *job, bool array, const char *elements, struct err *e);
void act_target_done(struct act_target *t);
/* The set in a text, joined with another or without it; NULL text is the empty set. */
json_t *act_set_with(const char *text, const struct pbs_set *more);
json_t *act_set_without(const char *text, const struct pbs_set *less);
/* Adds fields to a patch of the spec: of the job, or of the elements that are meant. */
void act_change(const struct act_target *t, const json_t *changes, json_t *spec);
/* Adds to a patch of the spec that these elements have other fields than their array: a merge patch of them. */
void act_change_elements(const struct act_target *t, const struct pbs_set *elements, const json_t *changes,
			 json_t *spec);
/* Those of the target's elements, of all if it is the array, that are said to run; else the target's. */
struct pbs_set act_running(const struct act_target *t);

#endif
