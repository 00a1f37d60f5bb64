// SPDX-License-Identifier: Apache-2.0
/* refusal.h - options that are refused, shown as PBS shows them */
#ifndef STOKER_PBS_REFUSAL_H
#define STOKER_PBS_REFUSAL_H

#include "pbs/options.h"

struct pbs;

/* On standard error; returns the exit status. */
int refusal_show(const struct ask *a, const char *command, const struct err *e);
/* What the server would have said is said of each of these jobs. */
int refusal_show_each(const struct ask *a, struct pbs *p, char *const *ids, int n, const struct err *e);

#endif
