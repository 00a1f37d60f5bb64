// SPDX-License-Identifier: Apache-2.0
/* gpu_table.c - who has which card, on disk before anyone is told
 *
 *	DIR/gpus.json   {"version": 1, "claims": [{"uid", "namespace", "pod", "container", "init", "cards": [keys],
 *"mib", "podMib"}]}
 *
 * One claim a container.  A card belongs to one pod, unless it is shared (gpu_share.c); within it, init containers run
 * one after another before the others, so their cards may be those of the others: a pod holds as many as Kubernetes
 * counts for it.
 *
 * The file is replaced as a whole and synced before a claim counts.  Its directory is not synced: after a power cut,
 * which alone could bring back the older file, no container runs that could hold a card.  Cards that are gone stay
 * claimed until their pod is.
 */
#include "base/file.h"
#include "base/jsonx.h"
#include "base/log.h"
#include "base/mem.h"
#include "node/gpu_parts.h"

#define TABLE_MAX (4u << 20)

/* ---- on disk ---- */

int gpu_table_load(struct gpus *g, struct err *e)
{
	auto_sbuf struct sbuf text = SBUF(TABLE_MAX);
	json_auto_t *doc = NULL;
	struct err read = ERR_INIT;

	if (file_read(g->path, TABLE_MAX, &text, &read) < 0) {
		if (read.kind != ERR_NOT_FOUND) {
			*e = read;
			return -1;
		}
		g->claims = json_array();
		return 0;
	}
	if (jsonx_parse(text.p ? text.p : "", text.n, NULL, NULL, &doc, &read) < 0 ||
	    !json_is_array(json_object_get(doc, "claims")))
		return err_set(
			e, ERR_CORRUPT,
			"%s is damaged, so nobody knows who has which GPU; when no pod with GPUs runs, remove it",
			g->path);
	g->claims = json_incref(json_object_get(doc, "claims"));
	return 0;
}

static int save(const struct gpus *g, json_t *claims, struct err *e)
{
	auto_sbuf struct sbuf text = SBUF(TABLE_MAX);
	json_auto_t *doc = json_pack("{s:i, s:O}", "version", 1, "claims", claims);

	jsonx_dump(doc, &text);
	sbuf_addc(&text, '\n');
	if (text.over)
		return err_set(e, ERR_TOO_LARGE, "%s: too many claims", g->path);
	return file_write(g->path, 0600, sbuf_str(&text), e);
}

/* What is to hold from now on becomes true on disk first. */
static int replace(struct gpus *g, json_t *claims, struct err *e)
{
	if (save(g, claims, e) < 0)
		return -1;
	json_decref(g->claims);
	g->claims = json_incref(claims);
	return 0;
}

/* ---- looking ---- */

bool gpu_claim_is_of(const json_t *claim, const char *uid)
{
	return streq(jsonx_str_or(claim, "uid", ""), uid);
}

json_t *gpu_table_find(const struct gpus *g, const char *uid, const char *container)
{
	json_t *claim;
	size_t i;

	json_array_foreach (g->claims, i, claim)
		if (gpu_claim_is_of(claim, uid) && streq(jsonx_str_or(claim, "container", ""), container))
			return claim;
	return NULL;
}

bool gpu_claim_has(const json_t *claim, const char *key)
{
	json_t *v;
	size_t i;

	json_array_foreach (json_object_get(claim, "cards"), i, v)
		if (str_same(json_string_value(v), key))
			return true;
	return false;
}

bool gpu_claim_stands(const struct gpus *g, const json_t *claim, const char *key)
{
	const char *uid = jsonx_str_or(claim, "uid", "");
	const json_t *best = NULL;
	json_t *v;
	size_t i;

	json_array_foreach (g->claims, i, v)
		if (gpu_claim_is_of(v, uid) && gpu_claim_has(v, key) && (!best || jsonx_bool_or(best, "init", false)))
			best = v;
	return best == claim;
}

/* An init container that ends before the next one starts; not a sidecar. */
static bool is_init(const json_t *pod, const char *container)
{
	json_t *c;
	size_t i;

	json_array_foreach (jsonx_at(pod, "spec.initContainers"), i, c)
		if (str_same(jsonx_str(c, "name"), container))
			return !str_same(jsonx_str(c, "restartPolicy"), "Always");
	return false;
}

enum standing { TAKEN, FREE, OWN };

/* What a card is to a container that asks: OWN is another container's of the same pod, to be shared in time. */
static enum standing standing_of(const json_t *claims, const char *key, const char *uid, const char *container,
				 bool init)
{
	enum standing s = FREE;
	json_t *claim;
	size_t i;

	json_array_foreach ((json_t *)claims, i, claim) {
		if (!gpu_claim_has(claim, key) ||
		    (gpu_claim_is_of(claim, uid) && streq(jsonx_str_or(claim, "container", ""), container)))
			continue;
		if (!gpu_claim_is_of(claim, uid) || jsonx_int_or(claim, "mib", 0) ||
		    (!init && !jsonx_bool_or(claim, "init", false)))
			return TAKEN;
		s = OWN;
	}
	return s;
}

/* ---- taking ---- */

/* The pod's own cards first, so that it holds no more than it counts for. */
static json_t *choose(const struct gpus *g, const json_t *pod, const char *container, bool init, int n)
{
	const char *uid = jsonx_str_or(pod, "metadata.uid", "");
	static const enum standing order[] = { OWN, FREE };
	json_t *cards = json_array();

	for (size_t pass = 0; pass < ARRAY_SIZE(order); pass++)
		for (size_t i = 0; i < g->n && json_array_size(cards) < (size_t)n; i++)
			if (standing_of(g->claims, g->cards[i].key, uid, container, init) == order[pass] &&
			    gpu_is_given(pod, g->cards[i].index) && gpu_card_usable(g, &g->cards[i]))
				json_array_append_new(cards, json_string(g->cards[i].key));
	return cards;
}

static json_t *without_container(const json_t *claims, const char *uid, const char *container)
{
	json_t *rest = json_array();
	json_t *claim;
	size_t i;

	json_array_foreach ((json_t *)claims, i, claim)
		if (!gpu_claim_is_of(claim, uid) || !streq(jsonx_str_or(claim, "container", ""), container))
			json_array_append(rest, claim);
	return rest;
}

/* A container that starts again keeps its cards, unless one of them broke. */
static bool still_good(const struct gpus *g, const json_t *claim, int n)
{
	json_t *key;
	size_t i;

	if (json_array_size(json_object_get(claim, "cards")) != (size_t)n)
		return false;
	json_array_foreach (json_object_get(claim, "cards"), i, key) {
		const struct gpu_card *c = gpu_card_find(g, json_string_value(key));

		if (!c || !gpu_card_usable(g, c))
			return false;
	}
	return true;
}

json_t *gpu_claim_new(const json_t *pod, const char *container, const json_t *keys)
{
	return json_pack("{s:s, s:s, s:s, s:s, s:b, s:O}", "uid", jsonx_str_or(pod, "metadata.uid", ""), "namespace",
			 jsonx_str_or(pod, "metadata.namespace", ""), "pod", jsonx_str_or(pod, "metadata.name", ""),
			 "container", container, "init", is_init(pod, container), "cards", keys);
}

int gpu_table_put(struct gpus *g, json_t *claim, struct err *e)
{
	json_auto_t *claims =
		without_container(g->claims, jsonx_str_or(claim, "uid", ""), jsonx_str_or(claim, "container", ""));

	json_array_append(claims, claim);
	return replace(g, claims, e);
}

static int refuse(const struct gpus *g, const json_t *pod, int n, size_t found, struct err *e)
{
	const char *given = gpu_given(pod);

	if (!gpu_given_is_sound(g, pod, e) || gpu_given_is_held(g, pod, e))
		return -1;
	if (given)
		return err_set(e, ERR_INVALID, "needs %d GPU%s, but the scheduler chose %s for the whole pod", n,
			       n == 1 ? "" : "s", given);
	return err_set(e, ERR_UNAVAILABLE, "needs %d GPU%s, but %zu of %zu %s free", n, n == 1 ? "" : "s", found, g->n,
		       found == 1 ? "is" : "are");
}

int gpus_take(struct gpus *g, const json_t *pod, const char *container, int n, struct err *e)
{
	const char *uid = jsonx_str_or(pod, "metadata.uid", "");
	const json_t *old = gpu_table_find(g, uid, container);
	json_auto_t *claim = NULL;
	json_auto_t *cards = NULL;

	if (n <= 0 || (old && still_good(g, old, n)))
		return 0;
	cards = choose(g, pod, container, is_init(pod, container), n);
	if (json_array_size(cards) < (size_t)n)
		return refuse(g, pod, n, json_array_size(cards), e);
	claim = gpu_claim_new(pod, container, cards);
	return gpu_table_put(g, claim, e);
}

/* ---- giving back ---- */

/* A claim that cannot be taken off the disk stays in memory too: the card is idle until the next try, never lost. */
static bool drop(struct gpus *g, bool (*goes)(const json_t *claim, const void *arg), const void *arg)
{
	json_auto_t *claims = json_array();
	struct err e = ERR_INIT;
	json_t *claim;
	size_t i;

	json_array_foreach (g->claims, i, claim)
		if (!goes(claim, arg))
			json_array_append(claims, claim);
	if (json_array_size(claims) == json_array_size(g->claims))
		return false;
	if (replace(g, claims, &e) < 0)
		log_warn("give GPUs back error=%s, ignoring", e.text);
	return true;
}

static bool goes_with(const json_t *claim, const void *uid)
{
	return gpu_claim_is_of(claim, uid);
}

bool gpus_release(struct gpus *g, const char *uid)
{
	return drop(g, goes_with, uid);
}

static bool goes_unlisted(const json_t *claim, const void *uids)
{
	json_t *v;
	size_t i;

	json_array_foreach ((json_t *)uids, i, v)
		if (json_is_string(v) && gpu_claim_is_of(claim, json_string_value(v)))
			return false;
	return true;
}

void gpus_keep_only(struct gpus *g, const json_t *uids)
{
	drop(g, goes_unlisted, uids);
}
