// SPDX-License-Identifier: Apache-2.0
/* select.h - which jobs qselect means: attributes compared with values.  Pure */
#ifndef STOKER_PBS_SELECT_H
#define STOKER_PBS_SELECT_H

#include "base/err.h"
#include "pbs/job_attributes.h"
#include "pbs/row.h"

enum select_op { OP_EQ, OP_NE, OP_GT, OP_GE, OP_LT, OP_LE };

/* One condition: all of them must hold. */
struct select_term {
	char option; /* 'p', 'l', ... */
	enum select_op op;
	char *name; /* of a resource (-l) */
	char *value;
};

/* { 0 } takes every job. */
struct select_terms {
	struct select_term *items;
	size_t n, cap;
	bool full; /* rows do not tell: whole objects are needed */
};

/* Adds what follows an option.  ERR_BAD_REQUEST: "illegal -p value". */
int select_add(struct select_terms *s, char option, const char *text, int64_t now, struct err *e);
/* `a` may be NULL unless `full`. */
bool select_matches(const struct select_terms *s, const struct board_row *r, const struct pbs_attributes *a);
void select_done(struct select_terms *s);

#endif
