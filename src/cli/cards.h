// SPDX-License-Identifier: Apache-2.0
/* cards.h - the GPUs of nodes, and whose they are.  Pure
 *
 * Each node says it in its annotation stoker.dev/gpus, which its agent keeps (node/gpu.h: gpus_list()).
 */
#ifndef STOKER_CLI_CARDS_H
#define STOKER_CLI_CARDS_H

#include <jansson.h>

/* Adds a node's cards to the array, each with "node" and "state". */
void cards_add(const json_t *node, json_t *cards);
/* "used", "shared", "free" or "broken". */
const char *card_state(const json_t *card);
size_t cards_count(const json_t *cards, const char *state);

#endif
