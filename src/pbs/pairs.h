// SPDX-License-Identifier: Apache-2.0
/* pairs.h - names with values, each of which knows how strong a word it was said with; pure */
#ifndef STOKER_PBS_PAIRS_H
#define STOKER_PBS_PAIRS_H

#include <jansson.h>

#include "base/str.h"

/* From the weakest to the strongest. */
enum source { FROM_ENVIRONMENT, FROM_CONFIG, FROM_SCRIPT, FROM_ARGV };

struct pair {
	char *name, *value;
	enum source source;
};

/* { 0 } has none.  In the order in which names first came. */
struct pairs {
	struct pair *items;
	size_t n, room;
};

void pairs_done(struct pairs *p);
/* NULL if there is none. */
const char *pairs_find(const struct pairs *p, const char *name);
/* Kept unless a stronger word was said before; of equal ones the last counts. */
void pairs_set(struct pairs *p, struct str name, struct str value, enum source source);
/* The same, but an equal one is put behind it. */
void pairs_join(struct pairs *p, struct str name, char between, struct str value, enum source source);
/* As a JSON object of texts. */
json_t *pairs_json(const struct pairs *p);

#endif
