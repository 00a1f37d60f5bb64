// SPDX-License-Identifier: Apache-2.0
/* space.h - nodes, what is left of them, and where a pod would fit; pure
 *
 * A pod that sits somewhere has a `struct seat`, which its owner keeps; the space keeps only sums.  Whatever is tried
 * (a gang all or none, victims to be evicted, the world an hour from now) is done for real and then taken back:
 * everything since space_mark() is undone by space_undo(), so that there is one code for what is and for what would be.
 *
 * Pods that ask for the same share one `struct shape`.  A shape that found no room is not tried again before something
 * has been freed.
 */
#ifndef STOKER_SCHED_SPACE_H
#define STOKER_SCHED_SPACE_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/str.h"
#include "sched/cards.h"

struct space;
struct shape;
struct node;

/* One pod's place, or none. */
struct seat {
	struct shape *shape; /* one reference of it */
	struct node *node;   /* NULL: nowhere */
	card_set cards;      /* of the node's, for its exclusive GPUs or the one it shares */
};

enum space_policy { SPACE_PACK, SPACE_SPREAD }; /* fill nodes up one after the other, or use the emptiest */

struct space *space_new(void);
void space_free(struct space *s);
void space_set_policy(struct space *s, enum space_policy p);

/* A Node as it is now; what does not matter to pods changes nothing.  Seats at a node that is removed stay counted. */
void space_set_node(struct space *s, const json_t *node);
void space_remove_node(struct space *s, const char *name);
/* The labels of a namespace, or NULL: it is gone. */
void space_set_namespace(struct space *s, const char *name, const json_t *labels);
void space_copy_namespaces(struct space *s, const struct space *from);
/* By name, made if it is not known yet: pods may name a node before it is seen. */
struct node *space_node(struct space *s, const char *name);
const char *node_name(const struct node *n);
size_t space_count_nodes(const struct space *s);
/* All nodes together, of those that take pods; by resource number (parts.h). */
int64_t space_total(const struct space *s, size_t resource);
/* The same of all, also of those that take none now. */
int64_t space_whole(const struct space *s, size_t resource);
int64_t space_used(const struct space *s, size_t resource);
/* A label of that name with the value "true" or none, or "name=value"; and PBS properties, stoker.dev/property-NAME. */
bool node_has_property(const struct node *n, const char *property);

/* What a pod asks for; one reference, to be given back by shape_unref() before space_free(). */
struct shape *space_shape(struct space *s, const json_t *pod);
/* The same without a pod, for simulations; `model` may be NULL. */
struct shape *space_shape_plain(struct space *s, int64_t cpu_milli, int64_t memory, int64_t gpus, const char *model);
struct shape *shape_ref(struct shape *sh);
void space_shape_unref(struct space *s, struct shape *sh);
int64_t shape_wants(const struct shape *sh, size_t resource);
/* What it asks for, whoever asks: one for all that differ in labels only. */
const struct shape *shape_core(const struct shape *sh);
/* Whether pods that are there or wait want no neighbour with its labels, so that it may be refused where others that
 * ask for the same are not. */
bool space_shuns(const struct space *s, struct shape *sh);

/* Sits down at a node whatever it has left: what is bound is bound.  `cards` 0: those that cards_pick() takes, or none
 * if there are too few. */
void space_sit(struct space *s, struct seat *seat, struct node *n, card_set cards);
void space_rise(struct space *s, struct seat *seat);

/* Which nodes besides: true if the shape may sit at the node.  Called only for nodes that have room. */
struct space_filter {
	bool (*allows)(void *arg, const struct node *n, const struct shape *sh);
	void *arg;
};
/* Sits down at the best node for it, by policy; false if there is none.  With a filter (or NULL) a failure says nothing
 * about the shape: space_failed() stays as it was. */
bool space_find(struct space *s, struct seat *seat, const struct space_filter *filter);
/* A note of the caller's on a shape: what he found out about it in one of his passes. */
struct shape_memo {
	uint64_t pass;
	int64_t value;
};
struct shape_memo *shape_memo(const struct space *s, struct shape *sh);
/* True if the shape found no room since something was freed last: space_find() would say no again. */
bool space_failed(const struct space *s, const struct shape *sh);
/* Whether an empty machine would do: false, with the reason in words, if no node could ever take it. */
bool space_possible(struct space *s, struct shape *sh, struct sbuf *ret_why);
/* Then: because of what is written on every node (taints, labels), not because of what it has. */
/* Whether any GPU is of the model, and has the memory, that it names. */
bool space_has_card(const struct space *s, const struct shape *sh);
bool space_refused(const struct space *s, const struct shape *sh);
/* A node that could take it but takes nothing now: it is cordoned, or not ready.  NULL: none is. */
const struct node *space_closed(const struct space *s, const struct shape *sh);
bool node_is_cordoned(const struct node *n);
/* How many of it an empty machine would hold at once; 0 if that is not known. */
int64_t space_holds(const struct space *s, const struct shape *sh);
/* Why there is no room, in Kubernetes' words: "0/1 nodes are available: 1 Insufficient cpu."  Borrowed until the next
 * call. */
const char *space_why(struct space *s, struct shape *sh);
/* Grows whenever something may have made room; never 0. */
uint64_t space_epoch(const struct space *s);

/* Trials.  They nest; nodes and shapes must not change meanwhile.  Undoing makes no room, so the epoch stays, and
 * failures that were found in between are forgotten. */
size_t space_mark(struct space *s);
void space_undo(struct space *s, size_t mark);
void space_keep(struct space *s, size_t mark);

/* What is left at a node of each resource, for those who look ahead (backfill.c): `nresources` numbers. */
size_t space_resources(const struct space *s);
size_t node_index(const struct node *n);                               /* dense, below space_node_slots() */
const struct node *space_node_at(const struct space *s, size_t index); /* NULL: nobody has that index now */
size_t space_node_slots(const struct space *s);
void node_left(const struct node *n, int64_t *ret, size_t nresources);

#endif
