// SPDX-License-Identifier: Apache-2.0
/* pbs_slots.h - which slots of which node PBS jobs have: the numbers in exec_host, G102/0-1+G103/0; pure
 *
 * Slots are only numbers that people and MPI launchers see; whether there is room is the scheduler's to say.
 */
#ifndef STOKER_CONTROL_PBS_SLOTS_H
#define STOKER_CONTROL_PBS_SLOTS_H

#include "base/map.h"
#include "base/str.h"

struct pbs_slots {
	struct map nodes;   /* name -> who has which slot */
	struct map holders; /* job, or element of one -> its exec_host */
};

void pbs_slots_init(struct pbs_slots *s);
void pbs_slots_done(struct pbs_slots *s);
/* What the holder has is now this and nothing else; NULL for nothing. */
void pbs_slots_hold(struct pbs_slots *s, const char *holder, const char *exec_host);

/* What a job wants of one node. */
struct pbs_seat {
	const char *node;
	int slots;
};
/* Gives the holder the lowest free slots of each node, and says so in `out`: condensed, G102/0-1, or one by one in the
 * style of Torque 4, G102/0+G102/1. */
void pbs_slots_take(struct pbs_slots *s, const char *holder, const struct pbs_seat *seats, size_t n, int style,
		    struct sbuf *out);

#endif
