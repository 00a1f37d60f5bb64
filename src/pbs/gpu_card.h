// SPDX-License-Identifier: Apache-2.0
/* gpu_card.h - a node's cards in the shape of nvidia-smi.  Pure */
#ifndef STOKER_PBS_GPU_CARD_H
#define STOKER_PBS_GPU_CARD_H

#include <jansson.h>

#include "base/str.h"

/* Field 9 of a card's second line is the memory in use, 11 all of it, 13 how busy it is; what nobody knows is N/A. */
void gpu_card_table(const json_t *node, struct sbuf *out);

#endif
