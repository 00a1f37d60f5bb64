// SPDX-License-Identifier: Apache-2.0
/* regex_impl.h - the program a pattern becomes; for regex.c and regex_match.c only */
#ifndef STOKER_KINDS_REGEX_IMPL_H
#define STOKER_KINDS_REGEX_IMPL_H

#include <stdint.h>

#include "kinds/regex.h"

enum op { OP_CLASS, OP_ANY, OP_SPLIT, OP_JUMP, OP_BEGIN, OP_END, OP_WORD, OP_NOT_WORD, OP_EMPTY, OP_MATCH };

struct inst {
	enum op op;
	uint32_t a, b; /* CLASS: first range and count; SPLIT: both ways on; JUMP: a */
	bool negated;
};

struct range {
	uint32_t lo, hi;
};

struct regex {
	struct inst *prog;
	size_t n, cap;
	struct range *ranges;
	size_t nranges, ranges_cap;
	bool fold;     /* (?i) */
	bool any_line; /* (?s): '.' takes newlines */
	bool multi;    /* (?m): ^ and $ at lines */
};

/* One code point of UTF-8 at *p, moving past it; a stray byte stands for itself. */
uint32_t regex_rune(const char **p, const char *end);

#endif
