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

#define CARDS_MOST 64
typedef uint64_t card_set;

struct card {
	char model[64];     /* "Tesla V100-SXM2-32GB", or "" */
	int64_t memory_mib; /* 0: not known */
	int numa;           /* -1: not known */
	card_set links;     /* those it has NVLink to */
	bool shareable, healthy;
	/* Who has it. */
	bool held;
	int64_t shared_mib; /* given away in parts, of which there are `sharers` */
	unsigned sharers;
};

struct cards {
	struct card card[CARDS_MOST];
	size_t n;
};

/* What a pod wants of a node's cards. */
struct cards_want {
	int64_t whole;     /* cards for itself alone */
	int64_t part_mib;  /* or so much of one that is shared */
	const char *model; /* a part of the model's name, case does not matter; NULL: any */
	int64_t least_mib; /* memory that each must have; 0: any */
};

/* From the Node's annotation stoker.dev/gpus; a node that has none but advertises GPUs gets plain ones.  What is held
 * stays as it is for cards that are still there. */
void cards_read(struct cards *c, const json_t *node);
/* 0 if there are not enough, or nothing is wanted. */
card_set cards_pick(const struct cards *c, const struct cards_want *w);
/* Whether there would be enough if nobody had any. */
bool cards_could(const struct cards *c, const struct cards_want *w);
void cards_hold(struct cards *c, const struct cards_want *w, card_set set);
void cards_release(struct cards *c, const struct cards_want *w, card_set set);

/* "0,2" and back, as annotations have it; what is no such list is 0. */
card_set card_set_read(const char *text);
void card_set_text(card_set set, char out[256]);

#endif
