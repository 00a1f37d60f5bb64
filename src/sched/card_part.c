// SPDX-License-Identifier: Apache-2.0
/* card_part.c - see card_part.h */
#include "sched/card_part.h"

#include "base/jsonx.h"

static bool is_given(const json_t *card, card_set given)
{
	int64_t index = jsonx_int_or(card, "index", -1);

	if (!given)
		return jsonx_bool_or(card, "shareable", false);
	return index >= 0 && index < CARDS_MOST && (given >> index & 1);
}

double card_part(const json_t *node, card_set given, int64_t mib)
{
	json_auto_t *cards = node && mib > 0 ? cards_of_node(node) : NULL;
	const json_t *card;
	size_t i;

	if (mib <= 0)
		return 0;
	json_array_foreach (cards, i, card) {
		int64_t whole = jsonx_int_or(card, "memoryBytes", 0) >> 20;

		if (is_given(card, given) && whole > 0)
			return mib < whole ? (double)mib / (double)whole : 1;
	}
	return 1;
}
