// SPDX-License-Identifier: Apache-2.0
/* space_node.c - nodes as they come and go, and the index of how much of each is used
 *
 * Nodes come in crowds, so ranks and the index are made anew at the next search, not with each node.
 */
#include "base/jsonx.h"
#include "base/mem.h"
#include "kinds/condition.h"
#include "kinds/placement.h"
#include "sched/space_parts.h"

/* --- slots --- */

static struct node *node_find(const struct space *s, const char *name)
{
	return map_find(&s->nodes, name);
}

static size_t free_slot(struct space *s)
{
	for (size_t i = s->nslots; s->nslots > s->nodes.n && i-- > 0;)
		if (!s->slots[i])
			return i;
	ARRAY_PUSH(s->slots, s->nslots, s->cap_slots, NULL);
	return s->nslots - 1;
}

static void make_rows(struct space *s, size_t slots, size_t stride)
{
	int64_t *left;

	if (slots <= s->left_slots && stride == s->stride)
		return;
	slots = slots > s->left_slots ? s->cap_slots : s->left_slots;
	left = xcalloc(slots * stride, sizeof(*left));
	for (size_t i = 0; i < s->left_slots; i++)
		memcpy(left + i * stride, s->left + i * s->stride, s->stride * sizeof(*left));
	free(s->left);
	s->left = left;
	s->left_slots = slots;
	if (stride != s->stride)
		s->unranked = true; /* the levels' rows are too short */
	s->stride = stride;
}

void space_widen(struct space *s)
{
	size_t stride = s->stride ? s->stride : 8;

	while (stride < s->names.n)
		stride *= 2;
	make_rows(s, s->left_slots, stride);
}

struct node *space_node(struct space *s, const char *name)
{
	struct node *n = node_find(s, name);

	if (n)
		return n;
	n = xcalloc(1, sizeof(*n));
	n->name = xstrdup(name);
	n->slot = free_slot(s);
	n->level = -1;
	s->slots[n->slot] = n;
	map_set(&s->nodes, name, n);
	make_rows(s, s->nslots, s->stride);
	memset(space_left(s, n), 0, s->stride * sizeof(*s->left));
	return n;
}

const char *node_name(const struct node *n)
{
	return n->name;
}

size_t node_index(const struct node *n)
{
	return n->slot;
}

const struct node *space_node_at(const struct space *s, size_t index)
{
	return index < s->nslots ? s->slots[index] : NULL;
}

bool node_has_property(const struct node *n, const char *property)
{
	const char *equals = strchr(property, '=');
	static const char *const forms[] = { "property.stoker.dev/%s", "stoker.dev/property-%s" };
	char key[512];
	const char *value;

	/* Asked within searches: nothing is allocated.  No label is as long as what does not fit. */
	for (size_t i = 0; !equals && i < ARRAY_SIZE(forms); i++)
		if (snprintf(key, sizeof(key), forms[i], property) < (int)sizeof(key) &&
		    json_object_get(n->view.labels, key))
			return true;
	if (strlen(property) >= sizeof(key))
		return false;
	snprintf(key, sizeof(key), "%.*s", equals ? (int)(equals - property) : (int)strlen(property), property);
	value = json_string_value(json_object_get(n->view.labels, key));
	if (equals)
		return value && streq(value, equals + 1);
	return value && (!*value || streq(value, "true"));
}

size_t space_node_slots(const struct space *s)
{
	return s->nslots;
}

static void node_forget(struct node *n)
{
	json_decref(n->seen);
	n->seen = NULL;
	n->view = (struct node_view){ 0 };
	n->takes = false;
	free(n->allocatable.v);
	n->allocatable = (struct amounts){ 0 };
}

void node_discard(struct node *n)
{
	node_forget(n);
	cards_done(&n->cards);
	free(n->used.v);
	free(n->ports);
	free(n->name);
	free(n);
}

void node_drop_if_empty(struct space *s, struct node *n)
{
	if (n->seen || n->pods || s->depth)
		return;
	s->slots[n->slot] = NULL;
	map_remove(&s->nodes, n->name);
	node_discard(n);
}

/* --- the index --- */

/* How much of a node is used, in levels.  Of nodes with cards these decide; the rest is for order among equals. */
static int level_of(const struct node *n)
{
	int64_t gpus = amounts_get(&n->allocatable, RESOURCE_GPU);
	double most = 0;
	int level;

	for (size_t i = 0; i < n->used.n; i++) {
		int64_t have = amounts_get(&n->allocatable, i);

		if (n->used.v[i] > 0 && have > 0 && i != RESOURCE_GPU && i != RESOURCE_GPU_MEMORY &&
		    (double)n->used.v[i] > most * (double)have)
			most = (double)n->used.v[i] / (double)have;
	}
	if (most > 1)
		most = 1;
	if (gpus <= 0)
		level = (int)(most * (LEVELS - 1));
	else
		level = (int)((double)(amounts_get(&n->used, RESOURCE_GPU) + n->shared) / (double)gpus * (LEVELS - 8)) +
			(int)(most * 7);
	return level < 0 ? 0 : level >= LEVELS ? LEVELS - 1 : level;
}

static uint64_t *level_word(const struct space *s, struct levels *l, int level, size_t rank)
{
	return &l->bits[(size_t)level * s->words + rank / 64];
}

static void raise_most(const struct space *s, struct levels *l, const struct node *n)
{
	int64_t *most = l->most + (size_t)n->level * s->stride;
	const int64_t *left = space_left(s, n);

	for (size_t i = 0; i < s->names.n; i++)
		if (left[i] > most[i])
			most[i] = left[i];
}

static void index_put(struct space *s, struct node *n, int level)
{
	struct levels *l = &s->levels[n->kind];

	if (!l->count[level]++) {
		memset(l->most + (size_t)level * s->stride, 0, s->stride * sizeof(*l->most));
		l->loose[level] = false;
	}
	n->level = level;
	l->filled |= (uint64_t)1 << level;
	*level_word(s, l, level, n->rank) |= (uint64_t)1 << n->rank % 64;
	raise_most(s, l, n);
}

static void index_remove(struct space *s, struct node *n)
{
	struct levels *l = &s->levels[n->kind];

	*level_word(s, l, n->level, n->rank) &= ~((uint64_t)1 << n->rank % 64);
	l->loose[n->level] = true;
	if (!--l->count[n->level])
		l->filled &= ~((uint64_t)1 << n->level);
	n->level = -1;
}

void levels_tighten(struct space *s, struct levels *l, int level)
{
	int64_t *most = l->most + (size_t)level * s->stride;
	const uint64_t *bits = l->bits + (size_t)level * s->words;

	memset(most, 0, s->stride * sizeof(*most));
	for (size_t w = 0; w < s->words; w++)
		for (uint64_t b = bits[w]; b; b &= b - 1)
			raise_most(s, l, s->by_rank[w * 64 + (size_t)__builtin_ctzll(b)]);
	l->loose[level] = false;
}

static int by_name(const void *a, const void *b)
{
	return strcmp((*(struct node *const *)a)->name, (*(struct node *const *)b)->name);
}

static void give_ranks(struct space *s)
{
	s->nranks = 0;
	for (size_t i = 0; i < s->nslots; i++)
		if (s->slots[i] && s->slots[i]->seen)
			ARRAY_PUSH(s->by_rank, s->nranks, s->cap_ranks, s->slots[i]);
	if (s->nranks)
		qsort(s->by_rank, s->nranks, sizeof(struct node *), by_name);
	s->words = (s->nranks + 63) / 64;
	s->layout++;
}

static void make_index(struct space *s)
{
	for (size_t k = 0; k < NODE__KINDS; k++) {
		struct levels *l = &s->levels[k];

		free(l->bits);
		free(l->most);
		*l = (struct levels){ .bits = xcalloc(LEVELS * s->words + 1, sizeof(*l->bits)),
				      .most = xcalloc(LEVELS * s->stride, sizeof(*l->most)) };
	}
	for (size_t i = 0; i < s->nranks; i++) {
		s->by_rank[i]->rank = i;
		index_put(s, s->by_rank[i], level_of(s->by_rank[i]));
	}
}

void space_settle(struct space *s)
{
	if (!s->unranked)
		return;
	give_ranks(s);
	make_index(s);
	s->unranked = false;
}

/* --- changes --- */

void node_update(struct space *s, struct node *n)
{
	int level;

	node_left(n, space_left(s, n), s->stride);
	if (s->unranked || n->level < 0)
		return;
	level = level_of(n);
	s->levels[n->kind].loose[n->level] = true;
	if (level == n->level) {
		raise_most(s, &s->levels[n->kind], n);
		return;
	}
	index_remove(s, n);
	index_put(s, n, level);
}

void node_update_cards(struct node *n)
{
	n->shared = 0;
	for (size_t i = 0; i < n->cards.n; i++)
		n->shared += n->cards.card[i].sharers > 0;
	n->part_open = cards_part_open(&n->cards);
	n->part_most = cards_part_most(&n->cards);
}

/* As in space.c: sums of absurd numbers may wrap, and come back right. */
static void add_all(struct amounts *sum, const struct amounts *a, int sign)
{
	for (size_t i = 0; i < a->n; i++) {
		int64_t *at = amounts_at(sum, i);

		*at = (int64_t)((uint64_t)*at + (uint64_t)sign * (uint64_t)a->v[i]);
	}
}

static void count_total(struct space *s, const struct node *n, int sign)
{
	add_all(&s->whole, &n->allocatable, sign);
	if (!n->takes)
		return;
	add_all(&s->total, &n->allocatable, sign);
	add_all(&s->used, &n->used, sign);
}

static void put_part(json_t *parts, const char *name, const json_t *part)
{
	if (part)
		json_object_set(parts, name, (json_t *)part);
}

/* Who has a card is told there too, but not by us to ourselves. */
static json_t *cards_without_holders(const json_t *node)
{
	static const char *const holders[] = { "uuid", "device", "namespace", "pod", "container", "shares" };
	json_t *list = cards_of_node(node);
	json_t *card;
	size_t i;

	json_array_foreach (list, i, card)
		for (size_t k = 0; k < ARRAY_SIZE(holders); k++)
			json_object_del(card, holders[k]);
	return list;
}

/* A node reports every few seconds; only this much of it concerns us. */
static json_t *parts_of(const json_t *node)
{
	const json_t *allocatable = jsonx_at(node, "status.allocatable");
	const json_t *labels = jsonx_at(node, "metadata.labels");
	json_auto_t *cards = cards_without_holders(node);
	json_t *parts = json_pack("{s:b, s:b}", "unschedulable", jsonx_bool_or(node, "spec.unschedulable", false),
				  "ready", condition_holds(node, "Ready"));

	json_object_set_new(parts, "labels", labels ? json_incref((json_t *)labels) : json_object());
	put_part(parts, "taints", jsonx_at(node, "spec.taints"));
	put_part(parts, "allocatable", allocatable ? allocatable : jsonx_at(node, "status.capacity"));
	put_part(parts, "cards", cards);
	return parts;
}

static void node_read(struct space *s, struct node *n, const json_t *node)
{
	int64_t shareable = 0;

	n->view = (struct node_view){
		.name = n->name,
		.labels = json_object_get(n->seen, "labels"),
		.taints = json_object_get(n->seen, "taints"),
		.unschedulable = json_is_true(json_object_get(n->seen, "unschedulable")),
		.ready = json_is_true(json_object_get(n->seen, "ready")),
	};
	n->takes = n->view.ready && !n->view.unschedulable;
	amounts_read(&s->names, json_object_get(n->seen, "allocatable"), &n->allocatable);
	space_widen(s);
	cards_read(&n->cards, node);
	for (size_t i = 0; i < n->cards.n; i++)
		if (n->cards.card[i].shareable && n->cards.card[i].healthy)
			shareable += n->cards.card[i].memory_mib;
	if (shareable)
		*amounts_at(&n->allocatable, RESOURCE_GPU_MEMORY) = shareable;
	*amounts_at(&n->allocatable, RESOURCE_NODE) = NODE_WHOLE;
	node_update_cards(n);
}

void space_set_node(struct space *s, const json_t *node)
{
	struct node *n = space_node(s, jsonx_str_or(node, "metadata.name", ""));
	json_auto_t *parts = parts_of(node);
	bool known = n->seen != NULL && !s->unranked;
	int kind = n->kind;

	if (n->seen && json_equal(n->seen, parts))
		return;
	count_total(s, n, -1);
	node_forget(n);
	n->seen = json_incref(parts);
	node_read(s, n, node);
	neighbours_set_node(s->neighbours, n->slot, n->view.labels);
	count_total(s, n, 1);
	n->kind = amounts_get(&n->allocatable, RESOURCE_GPU) > 0 ? NODE_CARDS : NODE_PLAIN;
	if (!known || s->unranked || kind != n->kind)
		s->unranked = true;
	else
		rules_judge_node(s, n);
	node_update(s, n);
	s->epoch++;
	s->nodes_epoch++;
}

void space_set_namespace(struct space *s, const char *name, const json_t *labels)
{
	s->epoch += neighbours_set_namespace(s->neighbours, name, labels);
}

void space_copy_namespaces(struct space *s, const struct space *from)
{
	neighbours_copy_namespaces(s->neighbours, from->neighbours);
}

void space_remove_node(struct space *s, const char *name)
{
	struct node *n = node_find(s, name);

	if (!n)
		return;
	count_total(s, n, -1);
	node_forget(n);
	neighbours_set_node(s->neighbours, n->slot, NULL);
	n->level = -1;
	s->unranked = true;
	node_update(s, n);
	node_drop_if_empty(s, n);
	s->epoch++; /* no room is made, but the reasons change */
	s->nodes_epoch++;
}

size_t space_count_nodes(const struct space *s)
{
	size_t count = 0;

	for (size_t i = 0; i < s->nslots; i++)
		count += s->slots[i] && s->slots[i]->seen;
	return count;
}

void node_left(const struct node *n, int64_t *ret, size_t nresources)
{
	for (size_t i = 0; i < nresources; i++)
		if (__builtin_sub_overflow(amounts_get(&n->allocatable, i), amounts_get(&n->used, i), &ret[i]))
			ret[i] = 0;
	if (nresources > RESOURCE_GPU)
		ret[RESOURCE_GPU] -= n->shared;
}
