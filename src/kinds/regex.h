// SPDX-License-Identifier: Apache-2.0
/* regex.h - regular expressions of CRD patterns: RE2's syntax, matched in time linear in the text
 *
 * POSIX regcomp() knows neither \d nor (?:...), and a pattern of forty bytes can make it use gigabytes.  Patterns come
 * from clients, so size and time are bounded here.
 */
#ifndef STOKER_KINDS_REGEX_H
#define STOKER_KINDS_REGEX_H

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"

struct regex;

/* Bad or too large a pattern is ERR_BAD_REQUEST saying what and at which byte. */
int regex_compile(const char *pattern, struct regex **ret, struct err *e);
void regex_free(struct regex *re);
/* True if the pattern matches anywhere in the text (UTF-8). */
bool regex_match(const struct regex *re, const char *text, size_t n);

#endif
