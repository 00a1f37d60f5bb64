// SPDX-License-Identifier: Apache-2.0
/* settings.h - what PBS calls the settings of queues and of the server, and where the objects have them.  Pure */
#ifndef STOKER_PBS_SETTINGS_H
#define STOKER_PBS_SETTINGS_H

#include "pbs/job_attributes.h"

enum setting_form {
	SETTING_TEXT,
	SETTING_NUMBER,
	SETTING_BOOL,
	SETTING_LIST, /* of texts, shown with commas */
	SETTING_MAP,  /* of texts: resources_max.mem */
	SETTING_SOME, /* a list: True if it is not empty (acl_user_enable) */
	SETTING_ENTRY /* a text of its own that PBS has in a map: resources_max.walltime */
};

struct setting {
	const char *name;
	const char *path; /* in the Queue or PBSServer */
	enum setting_form form;
	const char *resource; /* of SETTING_ENTRY */
};

/* Both end with a row without a name. */
extern const struct setting queue_settings[], server_settings[];

/* How many jobs stand how; indexed by job_count_of(). */
enum { COUNT_TRANSIT, COUNT_QUEUED, COUNT_HELD, COUNT_WAITING, COUNT_RUNNING, COUNT_EXITING, COUNT_COMPLETE, COUNT__N };
struct job_counts {
	int64_t n[COUNT__N];
};
/* Which one a job of this state adds to. */
int job_count_of(char state);
int64_t job_counts_total(const struct job_counts *c);

/* All that is set, with the counts where PBS has them. */
void queue_attributes(const json_t *queue, const struct job_counts *c, struct pbs_attributes *ret);
void server_attributes(const json_t *server, const struct job_counts *c, struct pbs_attributes *ret);
/* Most of a resource in a queue or server: spec.maxWalltime, else resourcesMax; NULL: no limit. */
const char *setting_max(const json_t *object, const char *resource);

#endif
