// SPDX-License-Identifier: Apache-2.0
/* pbs_depend.h - whether a PBS job may start as far as other jobs are concerned (-W depend); pure
 *
 * A job is seen as how many of its elements were started, ended, and ended well, of how many: a job that is no array
 * has one.  What a job waited for may be gone when the last of them ends, so how each ended is noted in status.parents
 * of the one that waits: as "STARTED ENDED OK ALL", under its number; under "before:NUMBER" that a job which named this
 * one with before* did its part; under "met" that all has come true, with a hash of what that was.
 */
#ifndef STOKER_CONTROL_PBS_DEPEND_H
#define STOKER_CONTROL_PBS_DEPEND_H

#include <jansson.h>

#include "base/str.h"

/* How a job stands. */
struct pbs_standing {
	int64_t started, ended, ok, all;
};

/* Of an element if index >= 0. */
struct pbs_standing pbs_standing_of(const json_t *job, int index);
/* Whether a job has ended, and there is no more to be known. */
static inline bool pbs_standing_final(const struct pbs_standing *s)
{
	return s->ended >= s->all;
}

/* What is known of other jobs. */
struct pbs_others {
	/* A job that is there, or NULL. */
	const json_t *(*find)(void *arg, int64_t number);
	/* How one that is gone stood last; false if it is not remembered. */
	bool (*past)(void *arg, int64_t number, struct pbs_standing *ret);
	void *arg;
	/* Those that name this one with before*. */
	const json_t *const *before;
	size_t nbefore;
};

enum pbs_verdict {
	PBS_MET,
	PBS_WAITS,
	PBS_NEVER, /* it cannot come true any more */
};

struct pbs_judgement {
	enum pbs_verdict verdict;
	char culprit[64]; /* which job it waits for, or waited for in vain */
	char words[256];  /* "waits until job 7 has ended well" */
	json_t *parents;  /* status.parents as it is to be, or NULL for none; owned */
};
void pbs_judge(const json_t *job, const struct pbs_others *others, struct pbs_judgement *ret);
void pbs_judgement_done(struct pbs_judgement *j);

/* Goes through all numbers that a job's dependencies name; *pos starts at 0.  `before`: that the other one waits. */
bool pbs_depend_next(const json_t *job, size_t *pos, int64_t *ret_number, bool *ret_before);
/* Whether `job` has noted what it needs of `other`, or needs it no more. */
bool pbs_depend_noted(const json_t *job, int64_t other);
/* Its number: status.sequence, or its name if that is one; 0 if it has none. */
int64_t pbs_number(const json_t *job);

#endif
