// SPDX-License-Identifier: Apache-2.0
/* pod.h - the worker of one pod: from bound to gone; for the files of this room */
#ifndef STOKER_NODE_POD_H
#define STOKER_NODE_POD_H

#include "base/map.h"
#include "client/client.h"
#include "client/events.h"
#include "node/gpu.h"
#include "node/image.h"
#include "node/logs.h"
#include "node/net.h"
#include "node/runtime.h"
#include "node/services.h"
#include "node/trash.h"

struct pod;
struct node;

/* Who began a process of the host last, and when another did; milliseconds. */
struct process_pace {
	const struct pod *last;
	int64_t last_ms, other_ms;
};

/* What all workers share. */
struct node_parts {
	struct loop *loop;
	struct client *client;
	struct events *events;
	struct runtime *runtime;
	struct images *images;
	struct net *net; /* NULL: pods use the host's network */
	struct services *services;
	json_t *api_service; /* without a network: the one service that can be reached, as services_for_env() has it */
	struct gpus *gpus;
	struct logs *logs;
	struct trash *trash;
	struct informer *root_cas; /* the ConfigMaps named ROOT_CA of all namespaces; NULL: pods look for themselves */
	struct host_users *users;
	const char *dir, *name, *prefix, *host_ip;
	const char *host;   /* the name as the machine writes it */
	const char *socket; /* of the server, if it is not where commands look for it; or NULL */
	const json_t *host_roots;
	bool rootless; /* in a user namespace of ours: only what an ordinary user may do, no cgroups */
	bool run_in_memory;
	bool fake;              /* nothing is real but the API: no images, mounts or namespaces */
	const struct map *pods; /* all workers, by uid; NULL: nobody knows */
	struct process_pace *pace;
	void (*cards_changed)(void *arg); /* they have changed hands */
	void (*swept)(void *arg);         /* a pod holds nothing any more */
	void (*gone)(void *arg, struct pod *p);
	void *arg;
};

/* A worker for a pod that is bound to this node.  `found`: what the runtime still has of it, from an earlier server. */
struct pod *pod_new(const struct node_parts *parts, const json_t *obj);
void pod_found(struct pod *p, const struct found *f);
/* After the last pod_found(): begin. */
void pod_begin(struct pod *p);
/* The object has changed; NULL: it is no longer there. */
void pod_changed(struct pod *p, const json_t *obj);
/* A container of its has ended. */
void pod_exited(struct pod *p, const char *id, const struct exit_info *exit);
/* Ends the whole pod: phase Failed with this reason.  Nothing if it has ended already. */
void pod_fail(struct pod *p, const char *reason, const char *message);
/* pod_idle.c: how much it uses its cards; `policy` is its queue's, or NULL.  True if it has cards and must be asked
 * again. */
struct gpu_use;
struct idle_policy;
bool pod_idle_look(struct pod *p, const struct gpu_use *use, const struct idle_policy *policy);
/* The name of its queue. */
const char *pod_queue(const struct pod *p);
/* Forgets it; what runs goes on. */
void pod_free(struct pod *p);
#define ROOT_CA "kube-root-ca.crt"
/* The CA's ConfigMap of a namespace has changed; NULL: all are known now. */
void pod_root_ca_changed(struct pod *p, const char *ns);
/* Someone has given cards back. */
void pod_cards_changed(struct pod *p);
const char *pod_uid(const struct pod *p);
/* Holds something on this machine that must be kept: addresses, cards, directories. */
bool pod_holds(const struct pod *p);
/* The node file of its PBS job, if it was started as a process of the host; borrowed. */
const char *pod_pbs_node_file(const struct pod *p);
/* Removes what a pod left on this machine, whose worker is gone: after a restart. */
void pod_sweep(const struct node_parts *parts, const char *uid);

/* A running (or ended) container for those who want to look inside. */
struct pod_container {
	const char *id;     /* of the runtime */
	const char *cgroup; /* NULL: it has none */
	const char *log_path;
	const json_t *process; /* OCI process: environment, user, rights */
	const char *net_ns;    /* NULL: the host's */
	bool running, tty, stdin_open;
};
/* ERR_NOT_FOUND, or ERR_BAD_REQUEST with Kubernetes' words if there is no such attempt.  `previous`: the run before. */
int pod_container_get(const struct pod *p, const char *container, bool previous, struct pod_container *ret,
		      struct err *e);
/* NULL if this node has no worker for it. */
struct pod *node_find_pod(struct node *n, const char *uid);
/* kubelet.c: the door of loop/kubelet.h for this node's pods. */
struct kubelet *node_kubelet_new(struct node *n, const struct node_parts *parts);
void node_kubelet_free(struct kubelet *k);

#endif
