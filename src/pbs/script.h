// SPDX-License-Identifier: Apache-2.0
/* script.h - a job's script: whether it is one, and which of its lines are directives; pure */
#ifndef STOKER_PBS_SCRIPT_H
#define STOKER_PBS_SCRIPT_H

#include "base/err.h"
#include "base/str.h"

/* Refuses what is not text and what has DOS's ends of lines; the error is the text that PBS shows. */
int script_check(struct str text, struct err *e);

/* One directive, without its prefix; -1 ends the scan. */
typedef int script_directive(void *arg, struct str rest, struct err *e);

/* Tells the directives up to the first executable line, and appends the script as it is kept: continued directives
 * joined, an end of line at its end.  An empty prefix finds none.  `ret_line`, which may be NULL, is where the last
 * directive begins. */
int script_scan(struct str text, const char *prefix, script_directive *directive, void *arg, struct sbuf *kept,
		size_t *ret_line, struct err *e);

#endif
