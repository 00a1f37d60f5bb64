// SPDX-License-Identifier: Apache-2.0
/* shortage.h - how far a shape is from having room: what is lacking, and how much of it there is; pure */
#ifndef STOKER_SCHED_SHORTAGE_H
#define STOKER_SCHED_SHORTAGE_H

#include "sched/space.h"

enum shortage_of {
	SHORT_OF_NOTHING,    /* there is room */
	SHORT_OF_NODES,      /* no node takes such pods */
	SHORT_OF_AMOUNT,     /* no node has enough of one resource */
	SHORT_OF_TOGETHER,   /* of each there is enough somewhere, but nowhere of all */
	SHORT_OF_PORTS,      /* those it wants are taken */
	SHORT_OF_NEIGHBOURS, /* the right ones are not there, or the wrong ones are */
};

struct shortage {
	enum shortage_of what;
	size_t resource;      /* that is lacking, */
	int64_t wanted, most; /* how much is wanted of it, and the most that a node has; of SHORT_OF_TOGETHER: `node` */
	int64_t instead;      /* who wants no more than this of it has room; 0: nobody has */
	size_t also;          /* so many other resources are lacking everywhere */
	size_t nodes;         /* take such pods */
	const struct node *node; /* the nearest to having room, or NULL */
	const char *text;        /* SHORT_OF_NEIGHBOURS: as Kubernetes puts it */
};

/* Which nodes are looked at, and how much of what is left there may be used. */
struct shortage_view {
	bool (*takes)(void *arg, const struct node *n);                       /* NULL: all */
	int64_t (*may_use)(void *arg, const struct node *n, size_t resource); /* NULL: everything */
	void *arg;
};
void space_shortage(struct space *s, struct shape *sh, const struct shortage_view *v, struct shortage *ret);

/* How people call so much of a resource: "4 GPUs", "1.5 CPUs", "64Gi of memory"; and the number alone. */
void space_amount_text(const struct space *s, size_t resource, int64_t n, struct sbuf *out);
void space_number_text(size_t resource, int64_t n, struct sbuf *out);
/* Which GPUs besides how many: " of model V100 with 16384 MiB or more". */
void shape_cards_text(const struct shape *sh, struct sbuf *out);

#endif
