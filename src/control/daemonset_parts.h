// SPDX-License-Identifier: Apache-2.0
/* daemonset_parts.h - what daemonset_plan.c finds out about nodes and daemonset_update.c goes by */
#ifndef STOKER_CONTROL_DAEMONSET_PARTS_H
#define STOKER_CONTROL_DAEMONSET_PARTS_H

#include "control/daemonset_plan.h"

struct daemon {
	const struct pod_facts *pod;
	const char *node;
	bool updated;   /* of the present template */
	bool available; /* ready for long enough */
	bool goes;      /* being deleted, or about to be */
};

/* A node, or the name of one that is not there, with the pods meant for it, oldest first. */
struct spot {
	const char *name;
	struct daemon_fit fit;
	struct daemon *daemons;
	size_t n;
};

struct daemon_work {
	const struct daemon_view *view;
	struct daemon_plan *plan;
	struct spot *spots; /* of nodes that are there */
	size_t nspots;
	int64_t desired;
	int64_t surge, unavailable; /* how far an update may go */
};

void daemon_create(struct daemon_work *w, const char *node);
void daemon_remove(struct daemon_work *w, struct daemon *d);

/* daemonset_update.c: adds to the plan. */
void daemon_update(struct daemon_work *w);

#endif
