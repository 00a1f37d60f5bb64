// SPDX-License-Identifier: Apache-2.0
/* attributes.h - -W: "depend=afterok:12,umask=022" */
#ifndef STOKER_PBS_ATTRIBUTES_H
#define STOKER_PBS_ATTRIBUTES_H

#include "pbs/options.h"

/* Adds each attribute, checked; refuses in the ways of struct ask. */
int attributes_add(struct ask *a, const char *list, enum source source, struct err *e);

#endif
