// SPDX-License-Identifier: Apache-2.0
/* words.h - a line of text cut into words as PBS cuts a directive; pure */
#ifndef STOKER_PBS_WORDS_H
#define STOKER_PBS_WORDS_H

#include "base/err.h"
#include "base/str.h"

/* { 0 } is none.  `items` ends with NULL once it has any. */
struct words {
	char **items;
	size_t n, room;
};

/* Blanks separate; '...' and "..." group and go, without escapes inside; elsewhere a backslash takes the next character
 * as it is.  With `comments`, a word that begins with # after a blank ends the line.  A quote that does not end is
 * ERR_INVALID. */
int words_split(struct str line, bool comments, struct words *ret, struct err *e);
void words_done(struct words *w);

#define auto_words __attribute__((cleanup(words_done)))

#endif
