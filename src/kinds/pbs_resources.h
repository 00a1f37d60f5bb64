// SPDX-License-Identifier: Apache-2.0
/* pbs_resources.h - the resources that -l may name, and what their values look like; pure */
#ifndef STOKER_KINDS_PBS_RESOURCES_H
#define STOKER_KINDS_PBS_RESOURCES_H

#include "base/err.h"
#include "base/str.h"

enum pbs_type {
	PBS_UNKNOWN,
	PBS_TIME,
	PBS_SIZE,
	PBS_INT,
	PBS_STRING,
	PBS_NODES,
	PBS_SELECT,
	PBS_NICE,
	PBS_PLACE,
	PBS_DERIVED, /* the server's to set: nodect, neednodes */
};

enum pbs_type pbs_resource_type(const char *name);
/* Checks a value of a resource and appends it as qstat shows it: 24:00:00, 64gb.  ERR_INVALID says what is wrong; for a
 * name that PBS does not know it is PBSE_UNKRESC (pbs_error.h). */
int pbs_resource_normal(const char *name, const char *value, struct sbuf *out, struct err *e);

#endif
