// SPDX-License-Identifier: Apache-2.0
/* variables.h - lists of -v: "NAME,OTHER=value,THIRD='a,b'" */
#ifndef STOKER_PBS_VARIABLES_H
#define STOKER_PBS_VARIABLES_H

#include "base/err.h"
#include "pbs/pairs.h"

/* Adds each variable; one without a value gets it from `lookup`, or is empty.  -1 if a name is empty or a quote does
 * not end. */
typedef const char *variable_lookup(const char *name);
int variables_add(struct pairs *p, const char *list, variable_lookup *lookup, enum source source);

#endif
