// SPDX-License-Identifier: Apache-2.0
/* node.h - this machine as a node: it registers itself, runs the pods bound to it, and answers for them
 *
 * node.c follows the pods of this node and gives each a worker (pod.c).  The parts below (runtime, images, network,
 * volumes, GPUs, logs) know nothing of the API; the workers bring them together.
 */
#ifndef STOKER_NODE_NODE_H
#define STOKER_NODE_NODE_H

#include "client/client.h"
#include "loop/kubelet.h"

struct node;
struct node_config {
	const char *dir;        /* the data directory */
	const char *name;       /* NULL: the short host name */
	const char *runtime;    /* auto, crun, runc, fake */
	const char *gpus;       /* to simulate (gpu.h); NULL: look for real ones */
	const char *share_gpus; /* cards that several pods may have at a time: "0,2" or "all"; NULL: none */
	const char *socket;     /* of the server, if it is not where commands look for it; or NULL */
	const char *api_host;   /* where kubernetes.default leads */
	int api_port;
	const json_t *host_roots; /* directories below which other users' hostPath volumes must be; NULL: none */
	int64_t log_keep_seconds, log_max_bytes;
	bool rootless;       /* in a user namespace of ours (rootless.h): host network, no limits */
	const char *problem; /* why this machine cannot run pods at all; or NULL */
};

/* Never fails for what the machine lacks: the node is then NotReady and says why. */
int node_new(struct client *c, const struct node_config *config, struct node **ret, struct err *e);
/* Ends every pod, as when a machine is shut down; `done` once, when nothing of them is left on this machine. */
void node_drain(struct node *n, void (*done)(void *arg), void *arg);
/* It is known that no pod has anything on this machine. */
bool node_is_idle(const struct node *n);
/* Containers go on.  The network goes when no pod has a part in it. */
void node_free(struct node *n);
struct kubelet *node_kubelet(struct node *n);

#endif
