// SPDX-License-Identifier: Apache-2.0
/* pbs_array.h - sets of array indexes: "0-9,20", "1-99:2", and with a limit "0-99%5"; pure
 *
 * Kept as sorted ranges, so a million elements in a row take the room of one.
 */
#ifndef STOKER_KINDS_PBS_ARRAY_H
#define STOKER_KINDS_PBS_ARRAY_H

#include "base/err.h"
#include "base/str.h"

#define PBS_INDEX_MOST   9999999
#define PBS_INDEX_TORQUE 99999 /* where the server has no word on the size of arrays */

struct pbs_range {
	int first, last;
};

/* { 0 } is the empty set. */
struct pbs_set {
	struct pbs_range *r; /* sorted, apart from each other by at least one */
	size_t n, room;
};

/* A list of indexes and ranges, each with a step if it has one; `ret_slots` (may be NULL: not allowed) is 0 without
 * %N.  ERR_INVALID says what is wrong. */
int pbs_array_parse(const char *text, struct pbs_set *ret, int *ret_slots, struct err *e);
void pbs_set_done(struct pbs_set *s);
size_t pbs_set_count(const struct pbs_set *s);
bool pbs_set_has(const struct pbs_set *s, int index);
void pbs_set_add(struct pbs_set *s, int first, int last);
void pbs_set_drop(struct pbs_set *s, int first, int last);
/* What is in b comes to a. */
void pbs_set_unite(struct pbs_set *a, const struct pbs_set *b);
/* What is in b goes from a. */
void pbs_set_subtract(struct pbs_set *a, const struct pbs_set *b);
/* Goes through the indexes: *pos starts at -1 and is the index; false at the end. */
bool pbs_set_next(const struct pbs_set *s, int *pos);
/* "0-9,20" */
void pbs_set_text(const struct pbs_set *s, struct sbuf *out);

#endif
