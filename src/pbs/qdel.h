// SPDX-License-Identifier: Apache-2.0
/* qdel.h - plan of qdel; pure */
#ifndef STOKER_PBS_QDEL_H
#define STOKER_PBS_QDEL_H

#include "pbs/act.h"

struct qdel_order {
	int64_t delay;       /* seconds, or -1: as the job or its queue says */
	const char *message; /* or NULL */
	bool purge;
};

/* act.arg: the order. */
int delete_plan(const struct act *a, const struct act_target *t, json_t *spec, struct err *e);

#endif
