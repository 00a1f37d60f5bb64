// SPDX-License-Identifier: Apache-2.0
/* kubelet_pods.c - the door of loop/kubelet.h, opened for the pods of a node */
#include "node/kubelet.h"
#include "node/pod.h"

static int find(void *arg, const char *uid, const char *container, bool previous, struct pod_container *ret,
		struct err *e)
{
	struct pod *p = node_find_pod(arg, uid);

	if (!p)
		return err_set(e, ERR_NOT_FOUND, "the pod does not run on this node");
	return pod_container_get(p, container, previous, ret, e);
}

struct kubelet *node_kubelet_new(struct node *n, const struct node_parts *parts)
{
	return kubelet_new(&(struct kubelet_config){
		.loop = parts->loop,
		.runtime = parts->runtime,
		.logs = parts->logs,
		.node = parts->name,
		.find = find,
		.arg = n,
	});
}

void node_kubelet_free(struct kubelet *k)
{
	kubelet_free(k);
}
