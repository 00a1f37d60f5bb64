// SPDX-License-Identifier: Apache-2.0
/* resources.h - lists of -l: "nodes=1:gpus=1:S,walltime=24:00:00"; pure */
#ifndef STOKER_PBS_RESOURCES_H
#define STOKER_PBS_RESOURCES_H

#include "base/err.h"
#include "pbs/pairs.h"

/* What can be wrong with a list; they end qsub in different ways. */
enum resources_result {
	RESOURCES_OK,
	RESOURCES_ILLEGAL,  /* no list, or a value that is none of its type */
	RESOURCES_NO_VALUE, /* a name alone */
	RESOURCES_UNKNOWN,  /* a resource that PBS does not know: e has PBS's number */
	RESOURCES_MIXED     /* nodes and procs in one list */
};

/* Sets each resource, its value in normal form.  With anything but RESOURCES_OK some may have been set. */
enum resources_result pbs_resources_add(struct pairs *p, const char *list, enum source source, struct err *e);

#endif
