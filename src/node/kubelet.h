// SPDX-License-Identifier: Apache-2.0
/* kubelet.h - the door of loop/kubelet.h, whoever knows the pods; for the files of this room and its tests
 *
 * node_kubelet_new() of node/pod.h opens it for the pods of a node.
 */
#ifndef STOKER_NODE_KUBELET_H
#define STOKER_NODE_KUBELET_H

#include "loop/kubelet.h"
#include "node/pod.h"
#include "node/usage.h"

struct kubelet_config {
	struct loop *loop;
	struct runtime *runtime;
	struct logs *logs;
	const char *node; /* its name */
	/* As pod_container_get(), by the pod's uid. */
	int (*find)(void *arg, const char *uid, const char *container, bool previous, struct pod_container *ret,
		    struct err *e);
	void *arg;
	usage_read_fn *read_usage; /* NULL: the kernel's figures */
};

struct kubelet *kubelet_new(const struct kubelet_config *config);
/* Open sessions end with an error. */
void kubelet_free(struct kubelet *k);

#endif
