// SPDX-License-Identifier: Apache-2.0
/* gpu_share.c - several pods on one card, each with a part of its memory
 *
 * Only where an admin allows it.  A card that somebody has for himself is never shared, nor the other way round; a card
 * that may no longer be shared stays so until those who have it are gone.  Parts are counted, not enforced: a program
 * is told how much is its own (STOKER_GPU_MEMORY_MIB), and the card gives more to who takes more.
 */
#include <stdio.h>

#include "base/jsonx.h"
#include "base/log.h"
#include "base/mem.h"
#include "kinds/resource_list.h"
#include "node/gpu_parts.h"

/* ---- what an admin allows ---- */

#define ALL -1

/* A card's number, or ALL. */
static int read_word(struct str word, int64_t *ret, struct err *e)
{
	char number[8];

	word = str_trim(word);
	*ret = ALL;
	snprintf(number, sizeof(number), "%.*s", STR_FMT(word));
	if (!str_eq(word, "all") && (word.n >= sizeof(number) || !str_int64(number, 0, 9999, ret)))
		return err_set(e, ERR_BAD_REQUEST,
			       "--share-gpus: \"%.*s\": numbers of GPUs separated by commas are expected, or all",
			       STR_FMT(word));
	return 0;
}

int gpus_check(const char *simulate, const char *share, struct err *e)
{
	struct str rest = str_of(share ? share : "");
	struct gpu_card *cards = NULL;
	size_t n = 0;
	struct str word;
	int64_t index;

	while (share && str_split(&rest, ',', &word))
		if (read_word(word, &index, e) < 0)
			return -1;
	if (simulate && gpu_simulate(simulate, &cards, &n, e) < 0)
		return -1;
	gpu_cards_free(cards, n);
	return 0;
}

static void allow(struct gpu_card *c)
{
	if (c->memory)
		c->shareable = true;
	else
		log_warn("share GPU %d: nobody knows how much memory it has, ignoring", c->index);
}

int gpu_share_allow(struct gpus *g, const char *text, struct err *e)
{
	struct str rest = str_of(text ? text : "");
	struct str word;
	int64_t index;

	while (text && str_split(&rest, ',', &word)) {
		if (read_word(word, &index, e) < 0)
			return -1;
		if (index >= (int64_t)g->n)
			log_warn("share GPU %d: there are %zu, ignoring", (int)index, g->n);
		for (size_t i = 0; i < g->n; i++)
			if (index == ALL || index == (int64_t)i)
				allow(&g->cards[i]);
	}
	return 0;
}

int64_t gpus_shared_mib(const struct gpus *g)
{
	int64_t sum = 0;

	for (size_t i = 0; i < g->n; i++)
		if (g->cards[i].shareable && gpu_card_usable(g, &g->cards[i]))
			sum += g->cards[i].memory >> 20;
	return sum;
}

/* ---- who has how much ---- */

/* What all containers of a pod together may use at any moment. */
static int64_t pod_mib(const json_t *pod)
{
	static const char *const kinds[] = { "limits", "requests" };
	int64_t most = 0;

	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++) {
		struct resource_list sum = { 0 };
		const struct quantity *q;

		pod_resources(json_object_get(pod, "spec"), kinds[i], false, &sum);
		q = resource_list_find(&sum, RESOURCE_NAME_GPU_MEMORY);
		if (q && gpu_memory_mib(quantity_value(q)) > most)
			most = gpu_memory_mib(quantity_value(q));
		resource_list_done(&sum);
	}
	return most;
}

struct standing {
	bool exclusive;   /* somebody has it for himself */
	bool shared;      /* others have parts */
	bool own;         /* the pod has a part already */
	int64_t left_mib; /* of others' parts; less than 0 if memory was lost */
};

static struct standing standing_of(const struct gpus *g, const struct gpu_card *c, const char *uid)
{
	struct standing s = { .left_mib = c->memory >> 20 };
	json_t *claim;
	size_t i;

	json_array_foreach (g->claims, i, claim) {
		if (!gpu_claim_has(claim, c->key))
			continue;
		if (!jsonx_int_or(claim, "mib", 0)) {
			s.exclusive = true;
		} else if (gpu_claim_is_of(claim, uid)) {
			s.own = true;
		} else if (gpu_claim_stands(g, claim, c->key)) {
			s.shared = true;
			s.left_mib -= jsonx_int_or(claim, "podMib", 0);
		}
	}
	return s;
}

static bool has_room(const struct gpus *g, const struct gpu_card *c, const struct standing *s, int64_t mib)
{
	return (c->shareable || s->own) && !s->exclusive && s->left_mib >= mib && gpu_card_usable(g, c);
}

/* Its own first; then one that is shared already, and of these the fullest, so that others stay whole. */
static bool is_better(const struct standing *a, const struct standing *b)
{
	if (a->own != b->own)
		return a->own;
	if (a->shared != b->shared)
		return a->shared;
	return a->left_mib < b->left_mib;
}

static const struct gpu_card *choose(const struct gpus *g, const json_t *pod, int64_t mib)
{
	const char *uid = jsonx_str_or(pod, "metadata.uid", "");
	const struct gpu_card *best = NULL;
	struct standing best_standing = { 0 };

	for (size_t i = 0; i < g->n; i++) {
		struct standing s = standing_of(g, &g->cards[i], uid);

		if (!gpu_is_given(pod, g->cards[i].index) || !has_room(g, &g->cards[i], &s, mib) ||
		    (best && !is_better(&s, &best_standing)))
			continue;
		best = &g->cards[i];
		best_standing = s;
	}
	return best;
}

static int refuse(const struct gpus *g, const json_t *pod, int64_t mib, struct err *e)
{
	bool shareable = false;

	if (!gpu_given_is_sound(g, pod, e))
		return -1;
	for (size_t i = 0; i < g->n; i++)
		shareable |= g->cards[i].shareable && gpu_is_given(pod, g->cards[i].index);
	if (gpu_given(pod) && !shareable)
		return err_set(e, ERR_INVALID, "the scheduler chose GPU %s, which may not be shared", gpu_given(pod));
	if (gpu_given_is_held(g, pod, e))
		return -1;
	return err_set(e, ERR_UNAVAILABLE, "needs %lld MiB of a GPU that may be shared, and none has so much left",
		       (long long)mib);
}

static bool still_good(const struct gpus *g, const json_t *claim, int64_t mib)
{
	const char *key = json_string_value(json_array_get(json_object_get(claim, "cards"), 0));
	const struct gpu_card *c = key ? gpu_card_find(g, key) : NULL;

	return c && jsonx_int_or(claim, "mib", 0) == mib && gpu_card_usable(g, c);
}

int gpus_share(struct gpus *g, const json_t *pod, const char *container, int64_t mib, struct err *e)
{
	const json_t *old = gpu_table_find(g, jsonx_str_or(pod, "metadata.uid", ""), container);
	int64_t all = pod_mib(pod);
	const struct gpu_card *c;
	json_auto_t *keys = NULL;
	json_auto_t *claim = NULL;

	if (mib <= 0 || (old && still_good(g, old, mib)))
		return 0;
	if (all < mib)
		all = mib;
	c = choose(g, pod, all);
	if (!c)
		return refuse(g, pod, all, e);
	keys = json_pack("[s]", c->key);
	claim = gpu_claim_new(pod, container, keys);
	json_object_set_new(claim, "mib", json_integer((json_int_t)mib));
	json_object_set_new(claim, "podMib", json_integer((json_int_t)all));
	return gpu_table_put(g, claim, e);
}
