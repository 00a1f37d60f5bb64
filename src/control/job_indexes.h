// SPDX-License-Identifier: Apache-2.0
/* job_indexes.h - sets of completion indexes, written as 1,3-5,7; pure */
#ifndef STOKER_CONTROL_JOB_INDEXES_H
#define STOKER_CONTROL_JOB_INDEXES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/str.h"

struct index_span {
	int first, last;
};

/* Spans in rising order that do not touch; all zeroes is the empty set. */
struct index_set {
	struct index_span *spans;
	size_t n, cap;
};

void index_set_done(struct index_set *s);
bool index_set_has(const struct index_set *s, int index);
void index_set_add(struct index_set *s, int index);
void index_set_add_span(struct index_set *s, int first, int last);
/* Adds what the text says, up to `limit` (not included); text that makes no sense is left out.  NULL is empty. */
void index_set_parse(struct index_set *s, const char *text, int limit);
void index_set_text(const struct index_set *s, struct sbuf *out);
int64_t index_set_count(const struct index_set *s);
/* The first index at or after `from` that is not in it. */
int index_set_gap(const struct index_set *s, int from);

#define auto_index_set __attribute__((cleanup(index_set_done)))

#endif
