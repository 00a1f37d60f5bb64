// SPDX-License-Identifier: Apache-2.0
/* job_attributes.h - a PBSJob as the list of attributes that PBS has of a job, in PBS's order.  Pure
 *
 * One table makes it, and qstat -f, -x and -F json, qselect and tracejob all read the list, so none can know an
 * attribute that another lacks.
 */
#ifndef STOKER_PBS_JOB_ATTRIBUTES_H
#define STOKER_PBS_JOB_ATTRIBUTES_H

#include <jansson.h>

#include "base/str.h"

#define PBS_VERSION "6.1.3" /* the Torque that the commands are like */

struct pbs_attribute {
	const char *name;
	const char *resource; /* "walltime" in Resource_List.walltime, or NULL */
	char *value;
	int64_t when; /* seconds since 1970 if it is a moment, else -1; value then has them too */
};

/* { 0 } is empty. */
struct pbs_attributes {
	struct pbs_attribute *items;
	size_t n, cap;
};

/* What the object does not say itself. */
struct pbs_view {
	const char *server;
	int64_t now;
	int host_style; /* of exec_host: 4 or 6 */
};

/* Names and resources are borrowed from the object, which must stay. */
void pbs_attributes_of(const json_t *job, const struct pbs_view *v, struct pbs_attributes *ret);
void pbs_attributes_done(struct pbs_attributes *a);
/* Adds one; the value becomes the list's. */
void pbs_attributes_add(struct pbs_attributes *a, const char *name, const char *resource, char *value);
const char *pbs_attributes_find(const struct pbs_attributes *a, const char *name, const char *resource);
/* The id of a job: status.id, or what its name would be. */
void pbs_job_id(const json_t *job, const char *server, struct sbuf *out);

#define auto_attributes __attribute__((cleanup(pbs_attributes_done)))

#endif
