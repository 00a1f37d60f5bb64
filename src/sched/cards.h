// SPDX-License-Identifier: Apache-2.0
/* cards.h - which of a node's GPUs a pod gets; pure
 *
 * Cards are numbered as on the node, at most 64 of them.  A card is free, held by one pod, or shared by several that
 * each have a part of its memory, where the admin allows it for that card; the two are never mixed.
 *
 * Of several sets the one whose cards talk to each other fastest is taken (NVLink, then one NUMA node, then any), and
 * of those equally good the one that leaves the least useful remainder: single cards first from groups that are broken
 * into already.
 */
#ifndef STOKER_SCHED_CARDS_H
#define STOKER_SCHED_CARDS_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CARDS_ANNOTATION "stoker.dev/gpus" /* an array of cards as text; node/gpu.h: gpus_list() */
#define CARDS_MOST       64
typedef uint64_t card_set;

struct card {
	char model[64];     /* "Tesla V100-SXM2-32GB", or "" */
	int64_t memory_mib; /* 0: not known */
	int numa;           /* -1: not known */
	card_set links;     /* those it has NVLink to */
	bool shareable, healthy;
	/* Others of the same model, and of the same NUMA node. */
	card_set alike, near;
	/* Who has it. */
	unsigned held;      /* by so many; more than one is a mistake that somebody else made */
	int64_t shared_mib; /* given away in parts, of which there are `sharers` */
	unsigned sharers;
};

struct cards {
	struct card *card;
	size_t n;
	card_set free; /* healthy, and nobody has any of it */
	bool plain;    /* none is better than another */
};
void cards_done(struct cards *c); /* a zeroed one has no cards */

/* What a pod wants of a node's cards. */
struct cards_want {
	int64_t whole;     /* cards for itself alone */
	int64_t part_mib;  /* or so much of one that is shared */
	const char *model; /* a part of the model's name, case does not matter; NULL: any */
	int64_t least_mib; /* memory that each must have; 0: any */
};

/* The annotation's array; NULL if there is none.  The caller owns it. */
json_t *cards_of_node(const json_t *node);
/* From the Node's annotation stoker.dev/gpus; a node that has none but advertises GPUs gets plain ones.  What is held
 * stays as it is for cards that are still there. */
void cards_read(struct cards *c, const json_t *node);
/* 0 if there are not enough, or nothing is wanted.  Cards of one model if there are enough of one. */
card_set cards_pick(const struct cards *c, const struct cards_want *w);
/* Whether there would be enough if nobody had any. */
bool cards_could(const struct cards *c, const struct cards_want *w);
/* Those that are healthy and what is wanted, whoever has them. */
card_set cards_fit(const struct cards *c, const struct cards_want *w);
/* What can be had of one card in parts, at most; of cards that are shared already, and of any. */
int64_t cards_part_open(const struct cards *c);
int64_t cards_part_most(const struct cards *c);
/* Cards that the node has not shown yet can be held too. */
void cards_hold(struct cards *c, const struct cards_want *w, card_set set);
void cards_release(struct cards *c, const struct cards_want *w, card_set set);

/* "0,2" and back, as annotations have it; what is no such list is 0. */
card_set card_set_read(const char *text);
void card_set_text(card_set set, char out[256]);

#endif
