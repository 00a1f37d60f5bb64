// SPDX-License-Identifier: Apache-2.0
/* cards.c - see cards.h */
#include "cli/cards.h"

#include "base/jsonx.h"

#define ANNOTATION "stoker.dev/gpus"

void cards_add(const json_t *node, json_t *cards)
{
	const char *text = json_string_value(json_object_get(jsonx_at(node, "metadata.annotations"), ANNOTATION));
	json_auto_t *list = NULL;
	struct err e = ERR_INIT;
	json_t *card;
	size_t i;

	if (!text || jsonx_parse(text, strlen(text), NULL, NULL, &list, &e) < 0)
		return;
	json_array_foreach (list, i, card) {
		if (!json_is_object(card))
			continue;
		json_object_set_new(card, "node", jsonx_string(jsonx_str_or(node, "metadata.name", "")));
		json_object_set_new(card, "state", json_string(card_state(card)));
		json_array_append(cards, card);
	}
}

const char *card_state(const json_t *card)
{
	if (!jsonx_bool_or(card, "healthy", true))
		return "broken";
	if (json_array_size(json_object_get(card, "shares")))
		return "shared";
	return *jsonx_str_or(card, "pod", "") ? "used" : "free";
}

size_t cards_count(const json_t *cards, const char *state)
{
	size_t n = 0;
	json_t *card;
	size_t i;

	json_array_foreach ((json_t *)cards, i, card)
		n += streq(card_state(card), state);
	return n;
}
