// SPDX-License-Identifier: Apache-2.0
/* gpu_given.c - the cards that the scheduler chose for a pod
 *
 * It says so in the pod's annotation, "0,2".  A pod that somebody put on this node by hand has none, and gets what is
 * free.  What was chosen is obeyed: the scheduler counts the other cards as free and will give them to others.
 */
#include <stdio.h>

#include "base/jsonx.h"
#include "node/gpu_parts.h"

#define GIVEN "stoker.dev/cards"

const char *gpu_given(const json_t *pod)
{
	return json_string_value(json_object_get(jsonx_at(pod, "metadata.annotations"), GIVEN));
}

bool gpus_are_chosen(const json_t *pod)
{
	return gpu_given(pod) != NULL;
}

/* The next number of a list; false at its end, -1 for what is no number. */
static bool next_index(struct str *rest, int64_t *ret)
{
	struct str part;
	char number[8];

	if (!str_split(rest, ',', &part))
		return false;
	snprintf(number, sizeof(number), "%.*s", STR_FMT(part));
	if (part.n >= sizeof(number) || !str_int64(number, 0, 9999, ret))
		*ret = -1;
	return true;
}

bool gpu_is_given(const json_t *pod, int index)
{
	const char *text = gpu_given(pod);
	struct str rest = str_of(text ? text : "");
	int64_t i;

	if (!text)
		return true;
	while (next_index(&rest, &i))
		if (i == index)
			return true;
	return false;
}

static const struct gpu_card *card_at(const struct gpus *g, int64_t index)
{
	return index >= 0 && (uint64_t)index < g->n ? &g->cards[index] : NULL;
}

bool gpu_given_is_sound(const struct gpus *g, const json_t *pod, struct err *e)
{
	const char *text = gpu_given(pod);
	struct str rest = str_of(text ? text : "");
	int64_t i;

	while (text && next_index(&rest, &i)) {
		const struct gpu_card *c = card_at(g, i);

		if (c && gpu_card_usable(g, c))
			continue;
		if (c)
			err_set(e, ERR_INVALID, "GPU %d, which the scheduler chose, is broken", c->index);
		else
			err_set(e, ERR_INVALID, "the scheduler chose GPU %s, and there are only %zu", text, g->n);
		return false;
	}
	return true;
}

bool gpu_given_is_held(const struct gpus *g, const json_t *pod, struct err *e)
{
	const char *uid = jsonx_str_or(pod, "metadata.uid", "");
	const char *text = gpu_given(pod);
	struct str rest = str_of(text ? text : "");
	int64_t i;

	while (text && next_index(&rest, &i)) {
		const struct gpu_card *c = card_at(g, i);
		json_t *claim;
		size_t k;

		json_array_foreach (c ? g->claims : NULL, k, claim) {
			if (gpu_claim_is_of(claim, uid) || !gpu_claim_has(claim, c->key))
				continue;
			err_set(e, ERR_UNAVAILABLE, "waits for GPU %d, which pod %s/%s still has", c->index,
				jsonx_str_or(claim, "namespace", ""), jsonx_str_or(claim, "pod", ""));
			return true;
		}
	}
	return false;
}
