// SPDX-License-Identifier: Apache-2.0
/* card_part.h - how much of a card a pod has that shares one; pure */
#ifndef STOKER_SCHED_CARD_PART_H
#define STOKER_SCHED_CARD_PART_H

#include "sched/cards.h"

/* So many MiB of the memory of the card it was given, of its node's; of any card that is shared if nobody says which.
 * At most 1, and that too if the card's memory is not known: nobody else can have it then. */
double card_part(const json_t *node, card_set given, int64_t mib);

#endif
