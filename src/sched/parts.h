// SPDX-License-Identifier: Apache-2.0
/* parts.h - what the files about room share: resources by number, and what a pod asks for */
#ifndef STOKER_SCHED_PARTS_H
#define STOKER_SCHED_PARTS_H

#include <stdint.h>

#include "base/map.h"
#include "base/str.h"
#include "sched/cards.h"
#include "sched/space.h"

/* Resources have numbers, in order of appearance; these are fixed. */
enum {
	RESOURCE_CPU,
	RESOURCE_MEMORY,
	RESOURCE_STORAGE,
	RESOURCE_PODS,
	RESOURCE_GPU,
	RESOURCE_GPU_MEMORY, /* of shared cards, in MiB */
	RESOURCE_NODE,       /* the node itself, in parts: a pod takes one, or all to have it for itself */
	RESOURCE__COUNT
};

#define NODE_WHOLE ((int64_t)1 << 20) /* parts of a node; more than pods there can be */

/* cpu in thousandths, all others as they are; by number, absent ones are 0. */
struct amounts {
	int64_t *v;
	size_t n;
};
int64_t amounts_get(const struct amounts *a, size_t resource);
/* Also makes room for it. */
int64_t *amounts_at(struct amounts *a, size_t resource);

/* Resource names to numbers and back. */
struct resource_names {
	struct map numbers; /* name -> number + 1 */
	char **names;
	size_t n, cap;
};
void resource_names_init(struct resource_names *r);
void resource_names_done(struct resource_names *r);
/* The two names of GPUs are one. */
size_t resource_number(struct resource_names *r, const char *name);
/* A map of quantities, by number; of two names for one resource the larger counts. */
void amounts_read(struct resource_names *r, const json_t *quantities, struct amounts *ret);

struct host_port {
	char *ip; /* "" is every address */
	char *protocol;
	int port;
};
bool host_port_collides(const struct host_port *a, const struct host_port *b);

struct rules;      /* space_parts.h */
struct near_rules; /* neighbours.h */
struct who;

struct shape {
	char *text; /* what it was read from: two pods with the same text ask for the same */
	int refs;
	struct amounts wants;
	struct host_port *ports;
	size_t nports, cap_ports;
	json_t *selector, *terms, *tolerations; /* of the spec; NULL: none */
	json_t *preferred;                      /* node terms with weights */
	struct cards_want cards;                /* its model is owned */
	uint64_t failed;                        /* epoch in which no node took it */
	uint64_t explained;                     /* epoch of `why` */
	char *why;
	/* --- only for space.c --- */
	struct shape *core;      /* whose demands these are: itself, unless this one only adds `who` to another's */
	struct shape *latest;    /* of a core: the one made of it last, borrowed; pods come in series */
	struct rules *rules;     /* which nodes; shared */
	struct near_rules *near; /* which neighbours; NULL: any */
	struct who *who;         /* as neighbours see it; NULL: nobody */
	uint64_t judged;         /* state of the nodes for `impossible` */
	struct shape_memo memo;  /* the caller's */
	char *impossible;        /* why no node could ever take it, or NULL */
};

/* It wants its node for itself. */
static inline bool shape_is_exclusive(const struct shape *sh)
{
	return RESOURCE_NODE < sh->wants.n && sh->wants.v[RESOURCE_NODE] >= NODE_WHOLE;
}

/* What every pod takes is not worth a word. */
static inline bool shape_is_silent(const struct shape *sh, size_t resource)
{
	return resource == RESOURCE_PODS || (resource == RESOURCE_NODE && !shape_is_exclusive(sh));
}

/* --- shape.c --- */
/* The parts of a pod's spec that decide where it can go, as text. */
void shape_text(const json_t *pod, struct sbuf *out);
struct shape *shape_new(struct resource_names *r, const json_t *pod, const char *text);
void shape_free(struct shape *s);
/* Whether it has rules about other pods, so that its own labels are part of what it asks for. */
bool pod_has_near_rules(const json_t *spec);

/* --- node_rules.c --- */
/* The parts of a node that decide which pods it takes, besides room. */
struct node_view {
	const char *name;
	const json_t *labels, *taints;
	bool unschedulable, ready;
};
/* NULL if the node takes such pods, else why not, as Kubernetes puts it; appended to `out` too. */
bool node_refuses(const struct node_view *n, const struct shape *s, struct sbuf *ret_why);

#endif
