// SPDX-License-Identifier: Apache-2.0
/* fold.h - long values of qstat -f over several lines, byte for byte as Torque breaks them.  Pure
 *
 * Programs put them together again by deleting each newline that a tab follows.
 */
#ifndef STOKER_PBS_FOLD_H
#define STOKER_PBS_FOLD_H

#include "base/str.h"

/* `column`: how much of the line is taken already. */
void fold_value(const char *value, size_t column, struct sbuf *out);
/* "    name[.resource] = value" and a newline; newlines within are written \n. */
void fold_attribute(const char *name, const char *resource, const char *value, bool whole, struct sbuf *out);

#endif
