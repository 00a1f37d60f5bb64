// SPDX-License-Identifier: Apache-2.0
/* regex.h - regular expressions of CRD patterns: RE2's syntax, matched in time linear in the text
 *
 * POSIX regcomp() knows neither \d nor (?:...), and a pattern of forty bytes can make it use gigabytes.  Patterns come
 * from clients, so size and time are bounded here.  Linear in the text is still a second for a large pattern and a
 * large text, hence the allowance of steps.
 */
#ifndef STOKER_KINDS_REGEX_H
#define STOKER_KINDS_REGEX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

struct regex;

/* Bad or too large a pattern is ERR_BAD_REQUEST saying what and at which byte. */
int regex_compile(const char *pattern, struct regex **ret, struct err *e);
void regex_free(struct regex *re);
/* 1 if the pattern matches anywhere in the text (UTF-8), 0 if not, -1 if that was not known after *steps, a few
 * nanoseconds each.  What it used is taken off *steps, so that many texts can share one allowance. */
int regex_match(const struct regex *re, const char *text, size_t n, int64_t *steps);

#endif
