// SPDX-License-Identifier: Apache-2.0
/* gpu.c - the cards as others see them: how many, of what kind, and whose */
#include "node/gpu.h"

#include <ctype.h>
#include <limits.h>
#include <stdio.h>
#include <sys/stat.h>

#include "base/jsonx.h"
#include "base/limits.h"
#include "base/mem.h"
#include "kinds/quantity.h"
#include "kinds/resource_list.h"
#include "node/gpu_parts.h"

#define LABEL_MAX 63 /* of a label's value */
#define LIST_MAX  65536

void gpu_cards_free(struct gpu_card *cards, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		free(cards[i].key);
		free(cards[i].uuid);
		free(cards[i].name);
		json_decref(cards[i].links);
	}
	free(cards);
}

int gpus_open(const struct gpus_config *config, struct gpus **ret, struct err *e)
{
	const char *root = config->root && !streq(config->root, "/") ? config->root : "";
	struct gpus *g = xcalloc(1, sizeof(*g));

	g->path = xasprintf("%s/gpus.json", config->dir);
	g->root = xstrdup(root);
	if (gpu_table_load(g, e) < 0 || gpu_find(root, config->simulate, &g->cards, &g->n, e) < 0 ||
	    gpu_share_allow(g, config->share, e) < 0) {
		gpus_free(g);
		return -1;
	}
	*ret = g;
	return 0;
}

void gpus_free(struct gpus *g)
{
	if (!g)
		return;
	gpu_cards_free(g->cards, g->n);
	json_decref(g->claims);
	free(g->path);
	free(g->root);
	free(g);
}

/* ---- cards ---- */

const struct gpu_card *gpu_card_find(const struct gpus *g, const char *key)
{
	for (size_t i = 0; i < g->n; i++)
		if (streq(g->cards[i].key, key))
			return &g->cards[i];
	return NULL;
}

/* The kernel driver takes a card's directory away when the card goes. */
bool gpu_card_usable(const struct gpus *g, const struct gpu_card *c)
{
	auto_free char *path = NULL;
	auto_free char *real = NULL;

	if (c->broken || c->minor < 0)
		return !c->broken;
	path = xasprintf("/proc/driver/nvidia/gpus/%s", c->key);
	real = gpu_path_real(g->root, path);
	return real != NULL;
}

size_t gpus_count(const struct gpus *g)
{
	size_t n = 0;

	for (size_t i = 0; i < g->n; i++)
		n += gpu_card_usable(g, &g->cards[i]);
	return n;
}

/* "NVIDIA A100-SXM4-40GB" -> "NVIDIA-A100-SXM4-40GB": what a label may say. */
static json_t *label_value(const char *text)
{
	auto_sbuf struct sbuf out = SBUF(LABEL_MAX);

	for (; *text && out.n < LABEL_MAX; text++) {
		bool plain = isalnum((unsigned char)*text);

		if (plain || (out.n && strchr("-_.", *text)))
			sbuf_addc(&out, *text);
		else if (out.n && out.p[out.n - 1] != '-')
			sbuf_addc(&out, '-');
	}
	while (out.n && !isalnum((unsigned char)out.p[out.n - 1]))
		out.n--;
	return json_stringn(out.n ? out.p : "", out.n);
}

json_t *gpus_labels(const struct gpus *g)
{
	json_t *labels = json_object();

	if (!g->n)
		return labels;
	json_object_set_new(labels, "nvidia.com/gpu.product", label_value(g->cards[0].name));
	json_object_set_new(labels, "nvidia.com/gpu.count", jsonx_stringf("%zu", g->n));
	if (g->cards[0].memory)
		json_object_set_new(labels, "nvidia.com/gpu.memory",
				    jsonx_stringf("%lld", (long long)(g->cards[0].memory >> 20)));
	return labels;
}

/* ---- wishes ---- */

/* The largest amount that the container names, by any of the names. */
static int64_t wanted(const json_t *container, const char *const *names, size_t n_names)
{
	static const char *const kinds[] = { "limits", "requests" };
	int64_t most = 0;

	for (size_t k = 0; k < ARRAY_SIZE(kinds); k++) {
		const json_t *list = json_object_get(json_object_get(container, "resources"), kinds[k]);

		for (size_t i = 0; i < n_names; i++) {
			const json_t *v = json_object_get(list, names[i]);
			struct quantity q;
			int64_t n = json_integer_value(v);

			if (json_is_string(v))
				n = quantity_parse(json_string_value(v), &q) ? quantity_value(&q) : 0;
			most = n > most ? n : most;
		}
	}
	return most;
}

int gpus_wanted(const json_t *container)
{
	static const char *const names[] = { "nvidia.com/gpu", "alpha.kubernetes.io/nvidia-gpu" };
	int64_t n = wanted(container, names, ARRAY_SIZE(names));

	return n > INT_MAX ? INT_MAX : (int)n;
}

int64_t gpus_wanted_mib(const json_t *container)
{
	static const char *const names[] = { RESOURCE_NAME_GPU_MEMORY };

	return gpu_memory_mib(wanted(container, names, ARRAY_SIZE(names)));
}

/* ---- whose ---- */

/* Who has it for himself. */
static const json_t *holder_of(const struct gpus *g, const char *key)
{
	json_t *claim;
	size_t i;

	json_array_foreach (g->claims, i, claim)
		if (gpu_claim_has(claim, key) && !jsonx_int_or(claim, "mib", 0) && gpu_claim_stands(g, claim, key))
			return claim;
	return NULL;
}

static json_t *shares_of(const struct gpus *g, const char *key)
{
	json_t *list = json_array();
	json_t *claim;
	size_t i;

	json_array_foreach (g->claims, i, claim)
		if (gpu_claim_has(claim, key) && jsonx_int_or(claim, "mib", 0) && gpu_claim_stands(g, claim, key))
			json_array_append_new(list, json_pack("{s:s, s:s, s:s, s:I}", "namespace",
							      jsonx_str_or(claim, "namespace", ""), "pod",
							      jsonx_str_or(claim, "pod", ""), "container",
							      jsonx_str_or(claim, "container", ""), "memoryMib",
							      (json_int_t)jsonx_int_or(claim, "podMib", 0)));
	return list;
}

bool gpu_pod_has(const struct gpus *g, const char *uid, const char *key)
{
	json_t *claim;
	size_t i;

	json_array_foreach (g->claims, i, claim)
		if (gpu_claim_is_of(claim, uid) && gpu_claim_has(claim, key))
			return true;
	return false;
}

char *gpus_of(const struct gpus *g, const char *uid)
{
	auto_sbuf struct sbuf out = SBUF(LIST_MAX);

	for (size_t i = 0; i < g->n; i++)
		if (gpu_pod_has(g, uid, g->cards[i].key))
			sbuf_addf(&out, "%s%d", out.n ? "," : "", g->cards[i].index);
	return out.n ? sbuf_steal(&out) : NULL;
}

json_t *gpus_list(const struct gpus *g)
{
	json_t *list = json_array();

	for (size_t i = 0; i < g->n; i++) {
		const struct gpu_card *c = &g->cards[i];
		const json_t *holder = holder_of(g, c->key);
		auto_free char *device = c->minor < 0 ? xstrdup("") : xasprintf("/dev/nvidia%d", c->minor);

		json_array_append_new(
			list,
			json_pack("{s:i, s:o, s:o, s:I, s:s, s:b, s:i, s:O, s:b, s:s, s:s, s:s, s:o}", "index",
				  c->index, "uuid", jsonx_string(c->uuid), "name", jsonx_string(c->name), "memoryBytes",
				  (json_int_t)c->memory, "device", device, "healthy", gpu_card_usable(g, c), "numa",
				  c->numa, "links", c->links, "shareable", c->shareable, "namespace",
				  jsonx_str_or(holder, "namespace", ""), "pod", jsonx_str_or(holder, "pod", ""),
				  "container", jsonx_str_or(holder, "container", ""), "shares", shares_of(g, c->key)));
	}
	return list;
}

static json_t *shares_line(const json_t *shares)
{
	auto_sbuf struct sbuf out = SBUF(LIST_MAX);
	json_t *v;
	size_t i;

	json_array_foreach (shares, i, v)
		sbuf_addf(&out, "%s %s/%s %lldMiB", i ? "," : "shared:", jsonx_str_or(v, "namespace", ""),
			  jsonx_str_or(v, "pod", ""), (long long)jsonx_int_or(v, "memoryMib", 0));
	return json_string(out.p);
}

static json_t *card_line(const json_t *card)
{
	const json_t *shares = json_object_get(card, "shares");
	const char *pod = jsonx_str_or(card, "pod", "");

	if (*pod)
		return jsonx_stringf("%s/%s (%s)", jsonx_str_or(card, "namespace", ""), pod,
				     jsonx_str_or(card, "container", ""));
	if (json_array_size(shares))
		return shares_line(shares);
	return json_string(jsonx_bool_or(card, "healthy", false) ? "free" : "broken");
}

json_t *gpus_annotations(const struct gpus *g)
{
	json_auto_t *list = gpus_list(g);
	auto_sbuf struct sbuf text = SBUF(LIMIT_ANNOTATIONS);
	json_t *annotations = json_object();
	json_t *card;
	size_t i;

	jsonx_dump(list, &text);
	json_object_set_new(annotations, "stoker.dev/gpus", json_string(text.over ? "[]" : text.p));
	json_array_foreach (list, i, card) {
		auto_free char *key = xasprintf("stoker.dev/gpu-%zu", i);

		json_object_set_new(annotations, key, card_line(card));
	}
	return annotations;
}
