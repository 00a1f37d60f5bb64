// SPDX-License-Identifier: Apache-2.0
/* node_object.h - this machine as a Node: what it has, and whether it works; the document, not the writing of it */
#ifndef STOKER_NODE_NODE_OBJECT_H
#define STOKER_NODE_NODE_OBJECT_H

#include <jansson.h>

#include "node/gpu.h"
#include "node/image.h"

struct node_facts {
	const char *name, *host; /* the latter as the machine writes it, perhaps with capital letters */
	const char *ip, *runtime, *runtime_version, *pod_cidr;
	const char *problem; /* why it is not ready; NULL: it is */
	bool rootless;       /* runs pods in a user namespace */
	const char *dir;     /* whose disk counts */
	int64_t slots;       /* processors to give away, if an admin has set another number; else 0 */
	struct gpus *gpus;
	struct images *images;
	const json_t *old; /* the present status: transition times are kept */
};

/* metadata with labels and annotations. */
json_t *node_metadata(const struct node_facts *f);
json_t *node_status(const struct node_facts *f);
/* The number of processors that an admin has set in the Node's annotation (np of PBS); 0: none. */
int64_t node_slots(const json_t *node);
/* What of it pods can have; `dir` is on the disk that counts. */
json_t *node_allocatable(const char *dir);

#endif
