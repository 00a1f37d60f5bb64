// SPDX-License-Identifier: Apache-2.0
/* qmgr_do.h - a command of qmgr done to one object: create, delete, set, unset, list or print */
#ifndef STOKER_PBS_QMGR_DO_H
#define STOKER_PBS_QMGR_DO_H

#include "pbs/pbs.h"
#include "pbs/qmgr_parse.h"

struct qmgr_work {
	struct pbs *pbs;
	struct sbuf out; /* what is to be shown */
};

/* `name`: as it was written, with @SERVER if it has that; "" or @SERVER alone are all, for list and print.  Of the
 * server it does not matter. */
int qmgr_do(struct qmgr_work *w, const struct qmgr_command *c, const char *name, struct err *e);

#endif
