// SPDX-License-Identifier: Apache-2.0
/* selector_terms.h - the inside of a selector, shared by selector.c and selector_text.c only */
#ifndef STOKER_KINDS_SELECTOR_TERMS_H
#define STOKER_KINDS_SELECTOR_TERMS_H

#include "kinds/selector.h"

enum term_op { TERM_EQUALS, TERM_NOT_EQUALS, TERM_IN, TERM_NOT_IN, TERM_EXISTS, TERM_ABSENT, TERM_GREATER, TERM_LESS };

struct term {
	char *key;
	enum term_op op;
	char **values;
	size_t nvalues, cap;
	int64_t number;       /* TERM_GREATER, TERM_LESS */
	const char *path;     /* fields only, borrowed from the kind */
	const char *fallback; /* fields only */
};

struct selector {
	struct term *terms;
	size_t n, cap;
	bool nothing; /* made from no LabelSelector at all */
};

struct selector *selector_new(void);
void selector_free_cleanup(struct selector **s);
#define auto_selector __attribute__((cleanup(selector_free_cleanup)))

/* A new term to fill in, valid until the next one is added; NULL if there are too many. */
struct term *selector_add(struct selector *s, enum term_op op, struct str key, struct err *e);
void term_add_value(struct term *t, struct str value);
/* A label term's key, values and number. */
int term_check(struct term *t, struct err *e);
/* Puts terms and values into the order in which they are printed. */
void selector_sort(struct selector *s);

#endif
