// SPDX-License-Identifier: Apache-2.0
/* space_parts.h - the inside of a space, shared by space*.c only
 *
 * Nodes that take pods are in an index: by class (with and without GPUs) and by how much of them is used, in levels.
 * A level is a set of bits, one a node, in the order of names; what a shape's rules allow is such a set too.  So a
 * search looks at one level after the other, passes over those of which no node has enough, and of the others looks
 * at the nodes that are allowed.
 */
#ifndef STOKER_SCHED_SPACE_PARTS_H
#define STOKER_SCHED_SPACE_PARTS_H

#include "sched/neighbours.h"
#include "sched/parts.h"
#include "sched/space.h"

#define LEVELS 64 /* so that those that are not empty fit a word */

struct node {
	char *name;
	size_t slot;  /* for ever */
	size_t rank;  /* by name among those that are known; as of space->layout */
	json_t *seen; /* the parts of the object that matter; NULL: pods are there, but the node is not known */
	struct node_view view;
	struct amounts allocatable, used;
	struct cards cards;
	int64_t part_open, part_most;   /* of its shared cards; see cards.h */
	int64_t shared;                 /* so many cards are shared */
	const struct host_port **ports; /* in use, of the shapes that are here */
	size_t nports, cap_ports;
	size_t pods;
	bool takes; /* counts in the totals: ready and schedulable */
	int kind;   /* NODE_PLAIN, NODE_CARDS */
	int level;  /* in the index; -1: not there */
};

enum { NODE_PLAIN, NODE_CARDS, NODE__KINDS };

/* Nodes of one kind, by level. */
struct levels {
	uint64_t filled; /* levels that are not empty */
	size_t count[LEVELS];
	bool loose[LEVELS]; /* `most` may be too high */
	uint64_t *bits;     /* LEVELS x words */
	int64_t *most;      /* LEVELS x stride: of each resource, no node of the level has more */
};

/* Which nodes a shape may go to, besides room; shapes with equal rules share one. */
struct rules {
	char *text;
	int refs;
	struct shape like;  /* has only what is about nodes */
	uint64_t layout;    /* of the space, for what follows; 0: nothing is there yet */
	uint64_t *accept;   /* by rank */
	uint64_t *affine;   /* those of the right labels, whatever their taints; NULL: nobody asks */
	int32_t *wishes;    /* by rank, how much it is wished for; NULL: no node more than another */
	int32_t best;       /* the highest of them among nodes that are accepted */
	struct node **only; /* those that it names, if it names them */
	size_t nonly, cap_only;
	bool names;   /* it does */
	bool spreads; /* somebody asks for `affine` */
};

enum undo_what { UNDO_SIT, UNDO_RISE, UNDO_FAILED, UNDO_MARK };
struct undo {
	enum undo_what what;
	struct seat *seat;
	struct node *node;
	card_set cards;
	struct shape *shape;
	uint64_t stamp; /* UNDO_FAILED: what it was; UNDO_MARK: the epoch */
	uint64_t near_stamp;
};

struct space {
	enum space_policy policy;
	struct resource_names names;
	struct map shapes;   /* text -> core */
	struct map rules;    /* text -> struct rules */
	struct map nodes;    /* name -> struct node */
	struct node **slots; /* NULL: free for another */
	size_t nslots, cap_slots;
	struct node **by_rank; /* those that are known */
	size_t nranks, cap_ranks;
	uint64_t layout; /* grows when ranks change; never 0 */
	bool unranked;   /* they must be given out anew */
	size_t words;    /* of a set of nodes */
	size_t stride;   /* resources that there is room for in each row */
	int64_t *left;   /* slots x stride: allocatable - used, and without cards that are shared */
	size_t left_slots;
	struct levels levels[NODE__KINDS];
	struct amounts total, used; /* of nodes that take pods */
	struct amounts whole;       /* of all */
	struct neighbours *neighbours;
	uint64_t epoch, near_epoch;
	uint64_t nodes_epoch; /* grows when nodes change */
	struct undo *log;
	size_t nlog, cap_log, depth;
	bool ghosts; /* some node is neither known nor used */
};

static inline int64_t *space_left(const struct space *s, const struct node *n)
{
	return s->left + n->slot * s->stride;
}

/* --- space_node.c --- */
/* Rows for all resources that have a number by now. */
void space_widen(struct space *s);
/* Ranks and index as they should be; before each search. */
void space_settle(struct space *s);
/* What is used there has changed. */
void node_update(struct space *s, struct node *n);
/* After cards were taken or given back. */
void node_update_cards(struct node *n);
/* No pods, not known, and nothing to be undone: it can go. */
void node_drop_if_empty(struct space *s, struct node *n);
void node_discard(struct node *n);
/* The exact most of a level. */
void levels_tighten(struct space *s, struct levels *l, int level);

/* --- space_rules.c --- */
struct rules *rules_of(struct space *s, const struct shape *sh);
void rules_unref(struct space *s, struct rules *r);
/* Brings the sets up to date. */
void rules_settle(struct space *s, struct rules *r);
/* A node that has a rank has changed. */
void rules_judge_node(struct space *s, const struct node *n);

/* --- space_find.c --- */
bool node_ports_refuse(const struct node *n, const struct shape *sh);
bool node_lacks(const struct space *s, const struct node *n, const struct shape *sh, size_t resource);
/* Enough whole cards or a part of one, of the kind that is wanted. */
bool node_cards_suffice(const struct node *n, const struct shape *sh);

/* Whether neighbours matter, with the numbers that judging needs. */
bool space_prepare_near(struct space *s, const struct shape *sh);

/* --- space_shape.c --- */
/* Where failures and reasons are kept: by the core, unless those who sit shun just this one. */
struct shape *shape_memory(const struct space *s, struct shape *sh);
/* Grows when there may be room for it. */
uint64_t shape_epoch(const struct space *s, const struct shape *sh);

#endif
