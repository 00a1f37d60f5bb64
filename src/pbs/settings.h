// SPDX-License-Identifier: Apache-2.0
/* settings.h - what PBS calls the settings of queues and of the server, and where the objects have them.  Pure */
#ifndef STOKER_PBS_SETTINGS_H
#define STOKER_PBS_SETTINGS_H

#include "pbs/job_attributes.h"
#include "pbs/row.h"

enum setting_form {
	SETTING_TEXT,
	SETTING_GIVEN, /* a text that the server gives where there is none: it is unset by being empty */
	SETTING_NUMBER,
	SETTING_BOOL,
	SETTING_LIST,       /* of texts, shown with commas */
	SETTING_MAP,        /* of texts: resources_max.mem */
	SETTING_SOME,       /* a list: True if it is not empty (acl_user_enable) */
	SETTING_ENTRY,      /* a text of its own that PBS has in a map: resources_max.walltime */
	SETTING_ACL,        /* a list that counts while it is enabled (the row before it), and else is kept */
	SETTING_KEPT,       /* what PBS has and nothing here heeds: kept beside the object under PBS's name */
	SETTING_FALSE,      /* the same, but it must not be True */
	SETTING_TYPE,       /* of a queue; Route is kept until the queue has destinations */
	SETTING_NOTE,       /* an annotation, `path` */
	SETTING_PROPERTIES, /* labels of a node */
	SETTING_TOLD,       /* of a node: what it finds out itself, and others may only say again */
	SETTING_OFFLINE     /* whether a node is taken out of use */
};

struct setting {
	const char *name;
	const char *path; /* in the Queue or PBSServer */
	enum setting_form form;
	const char *resource; /* of SETTING_ENTRY */
	const char *plain;    /* of one that PBS does not have: not shown while it is this; "": always */
};

/* All end with a row without a name. */
extern const struct setting queue_settings[], server_settings[], node_settings[];

/* What is kept beside an object are annotations: this and the attribute's name, with its resource if it has one. */
#define KEPT_PREFIX "pbs.stoker.dev/"
/* In a list that is enabled and has nobody in it. */
#define ACL_NOBODY "-*"

/* The value of one, as PBS shows it; nothing if it is not set. */
void setting_show(const struct setting *s, const json_t *object, struct pbs_attributes *out);
/* As texts of a list, for SETTING_LIST and the like; an empty array if it is not set.  Owned. */
json_t *setting_list(const struct setting *s, const json_t *object);
bool setting_is_list(const struct setting *s);
/* Whether a label is a property of the node that somebody gave it: its own names are, too, and nobody did. */
bool setting_is_property(const json_t *node, const char *label);
/* What is kept under a name, or NULL. */
const char *setting_kept(const json_t *object, const char *name);

/* How many jobs stand how; and what those that run have. */
enum { COUNT_TRANSIT, COUNT_QUEUED, COUNT_HELD, COUNT_WAITING, COUNT_RUNNING, COUNT_EXITING, COUNT_COMPLETE, COUNT__N };
struct job_counts {
	int64_t n[COUNT__N];
	int64_t nodes, slots; /* of those that run */
};
void job_counts_add(struct job_counts *c, const struct board_row *job);
int64_t job_counts_total(const struct job_counts *c);

/* All that is set, with the counts where PBS has them. */
void queue_attributes(const json_t *queue, const struct job_counts *c, struct pbs_attributes *ret);
void server_attributes(const json_t *server, const struct job_counts *c, struct pbs_attributes *ret);
/* Most of a resource in a queue or server: spec.maxWalltime, else resourcesMax; NULL: no limit. */
const char *setting_max(const json_t *object, const char *resource);

#endif
