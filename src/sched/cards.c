// SPDX-License-Identifier: Apache-2.0
/* cards.c - which of a node's GPUs a pod gets
 *
 * Whole cards are chosen by growing a set from each free card in turn, always by the card that talks best to those in
 * the set, and taking the best of the sets.  There are few cards in a machine, so this is quick; where all cards are
 * alike, as in a simulation, the first ones are taken without looking.
 */
#include "sched/cards.h"

#include <strings.h>

#include "base/jsonx.h"
#include "base/mem.h"
#include "base/str.h"
#include "kinds/resource_list.h"

#define GPU "nvidia.com/gpu"

#define BIT(i) ((card_set)1 << (i))

static int count(card_set set)
{
	return __builtin_popcountll(set);
}

/* Takes the lowest card out of a set that is not empty. */
static size_t next_card(card_set *set)
{
	size_t i = (size_t)__builtin_ctzll(*set);

	*set &= *set - 1;
	return i;
}

/* --- reading --- */

static bool card_is_had(const struct card *c)
{
	return c->held || c->sharers;
}

/* What follows from the cards themselves; after each change of what they are. */
static void settle(struct cards *c)
{
	c->free = 0;
	c->plain = true;
	for (size_t i = 0; i < c->n; i++) {
		struct card *a = &c->card[i];

		a->alike = a->near = 0;
		for (size_t k = 0; k < c->n; k++) {
			const struct card *b = &c->card[k];

			if (k != i && streq(a->model, b->model))
				a->alike |= BIT(k);
			if (k != i && a->numa >= 0 && a->numa == b->numa)
				a->near |= BIT(k);
		}
		if (a->healthy && !card_is_had(a))
			c->free |= BIT(i);
		if (a->links || a->shareable || a->numa != c->card[0].numa || !streq(a->model, c->card[0].model))
			c->plain = false;
	}
}

static void grow(struct cards *c, size_t n)
{
	if (n <= c->n)
		return;
	c->card = xreallocarray(c->card, n, sizeof(*c->card));
	for (; c->n < n; c->n++)
		c->card[c->n] = (struct card){ .numa = -1 };
}

void cards_done(struct cards *c)
{
	free(c->card);
	*c = (struct cards){ 0 };
}

static card_set read_links(const json_t *links)
{
	card_set set = 0;
	const json_t *v;
	size_t i;

	json_array_foreach (links, i, v)
		if (json_is_integer(v) && json_integer_value(v) >= 0 && json_integer_value(v) < CARDS_MOST)
			set |= BIT(json_integer_value(v));
	return set;
}

static void read_card(struct cards *c, const json_t *v)
{
	int64_t index = jsonx_int_or(v, "index", -1);
	int64_t numa = jsonx_int_or(v, "numa", -1);
	int64_t bytes = jsonx_int_or(v, "memoryBytes", 0);
	struct card *card;

	if (index < 0 || index >= CARDS_MOST)
		return;
	grow(c, (size_t)index + 1);
	card = &c->card[index];
	snprintf(card->model, sizeof(card->model), "%s", jsonx_str_or(v, "name", ""));
	card->memory_mib = bytes > 0 ? bytes >> 20 : 0;
	card->numa = numa >= 0 && numa < 1024 ? (int)numa : -1;
	card->links = read_links(json_object_get(v, "links")) & ~BIT(index);
	card->shareable = jsonx_bool_or(v, "shareable", false);
	card->healthy = jsonx_bool_or(v, "healthy", true);
}

static int64_t advertised(const json_t *node)
{
	const json_t *amounts = jsonx_at(node, "status.allocatable");
	struct resource_list list = { 0 };
	const struct quantity *q;
	int64_t n;

	resource_list_read(&list, amounts ? amounts : jsonx_at(node, "status.capacity"));
	q = resource_list_find(&list, GPU);
	n = q ? quantity_value(q) : 0;
	resource_list_done(&list);
	return n < 0 ? 0 : n < CARDS_MOST ? n : CARDS_MOST;
}

/* Labels that NVIDIA's feature discovery gives to nodes say what its cards are. */
static void read_plain(struct cards *c, const json_t *node)
{
	const json_t *labels = jsonx_at(node, "metadata.labels");
	const char *model = json_string_value(json_object_get(labels, "nvidia.com/gpu.product"));
	const char *memory = json_string_value(json_object_get(labels, "nvidia.com/gpu.memory"));
	size_t n = (size_t)advertised(node);
	int64_t mib = 0;

	if (memory)
		str_int64(memory, 0, (int64_t)1 << 40, &mib);
	grow(c, n);
	for (size_t i = 0; i < n; i++) {
		snprintf(c->card[i].model, sizeof(c->card[i].model), "%s", model ? model : "");
		c->card[i].memory_mib = mib;
		c->card[i].healthy = true;
	}
}

json_t *cards_of_node(const json_t *node)
{
	const json_t *note = json_object_get(jsonx_at(node, "metadata.annotations"), CARDS_ANNOTATION);
	struct err e = ERR_INIT;
	json_t *list = NULL;

	if (json_is_string(note) &&
	    jsonx_parse(json_string_value(note), json_string_length(note), NULL, NULL, &list, &e) < 0)
		list = NULL;
	return list;
}

void cards_read(struct cards *c, const json_t *node)
{
	json_auto_t *list = cards_of_node(node);
	struct cards old = *c;
	const json_t *v;
	size_t i;

	*c = (struct cards){ 0 };
	if (json_array_size(list) > 0)
		json_array_foreach (list, i, v)
			read_card(c, v);
	else
		read_plain(c, node);
	for (i = 0; i < old.n; i++) {
		if (!card_is_had(&old.card[i]))
			continue;
		grow(c, i + 1); /* gone, but whoever has it will give it back */
		c->card[i].held = old.card[i].held;
		c->card[i].sharers = old.card[i].sharers;
		c->card[i].shared_mib = old.card[i].shared_mib;
	}
	cards_done(&old);
	settle(c);
}

/* --- choosing --- */

static bool contains(const char *text, const char *part)
{
	size_t n = strlen(part);

	for (; *text; text++)
		if (strncasecmp(text, part, n) == 0)
			return true;
	return n == 0;
}

static bool card_fits(const struct card *c, const struct cards_want *w)
{
	if (!c->healthy || c->memory_mib < w->least_mib || (w->model && !contains(c->model, w->model)))
		return false;
	return !w->part_mib || (c->shareable && c->memory_mib >= w->part_mib);
}

card_set cards_fit(const struct cards *c, const struct cards_want *w)
{
	card_set set = 0;

	for (size_t i = 0; i < c->n; i++)
		if (card_fits(&c->card[i], w))
			set |= BIT(i);
	return set;
}

bool cards_could(const struct cards *c, const struct cards_want *w)
{
	if (w->whole > 0 && w->part_mib > 0)
		return false;
	if (w->part_mib > 0)
		return cards_fit(c, w) != 0;
	return w->whole <= count(cards_fit(c, w));
}

static int64_t part_left(const struct card *c)
{
	return c->shareable && c->healthy && !c->held ? c->memory_mib - c->shared_mib : 0;
}

int64_t cards_part_open(const struct cards *c)
{
	int64_t most = 0;

	for (size_t i = 0; i < c->n; i++)
		if (c->card[i].sharers && part_left(&c->card[i]) > most)
			most = part_left(&c->card[i]);
	return most;
}

int64_t cards_part_most(const struct cards *c)
{
	int64_t most = 0;

	for (size_t i = 0; i < c->n; i++)
		if (part_left(&c->card[i]) > most)
			most = part_left(&c->card[i]);
	return most;
}

/* How good it would be to have a set, the most important first; higher is better. */
enum { MERIT_ALIKE, MERIT_LINKS, MERIT_NEAR, MERIT_LINKS_CUT, MERIT_NEAR_CUT, MERIT_SHAREABLE, MERIT__COUNT };
struct merit {
	int v[MERIT__COUNT];
};

static int merit_cmp(const struct merit *a, const struct merit *b)
{
	for (size_t i = 0; i < MERIT__COUNT; i++)
		if (a->v[i] != b->v[i])
			return a->v[i] < b->v[i] ? -1 : 1;
	return 0;
}

/* What a card adds to a set; `rest` are the free ones that stay behind. */
static struct merit merit_of(const struct card *c, card_set set, card_set rest)
{
	return (struct merit){ { [MERIT_ALIKE] = count(c->alike & set),
				 [MERIT_LINKS] = count(c->links & set),
				 [MERIT_NEAR] = count(c->near & set),
				 [MERIT_LINKS_CUT] = -count(c->links & rest),
				 [MERIT_NEAR_CUT] = -count(c->near & rest),
				 [MERIT_SHAREABLE] = -(int)c->shareable } };
}

static struct merit merit_of_set(const struct cards *c, card_set set, card_set eligible)
{
	struct merit sum = { { 0 } };

	for (card_set left = set; left;) {
		const struct card *card = &c->card[next_card(&left)];
		struct merit one = merit_of(card, set, eligible & ~set);

		for (size_t i = 0; i < MERIT__COUNT; i++)
			sum.v[i] += one.v[i];
	}
	return sum;
}

static card_set grow_set(const struct cards *c, card_set eligible, size_t seed, int64_t k)
{
	card_set set = BIT(seed);

	while (count(set) < k) {
		struct merit best = { { 0 } };
		size_t chosen = CARDS_MOST;

		for (card_set left = eligible & ~set; left;) {
			size_t i = next_card(&left);
			struct merit m = merit_of(&c->card[i], set, eligible & ~set & ~BIT(i));

			if (chosen == CARDS_MOST || merit_cmp(&m, &best) > 0) {
				chosen = i;
				best = m;
			}
		}
		set |= BIT(chosen);
	}
	return set;
}

static card_set pick_whole(const struct cards *c, card_set eligible, int64_t k)
{
	struct merit best = { { 0 } };
	card_set chosen = 0;

	if (k > count(eligible))
		return 0;
	if (k == count(eligible))
		return eligible;
	for (card_set left = eligible; left;) {
		size_t seed = next_card(&left);
		card_set set = c->plain ? 0 : grow_set(c, eligible, seed, k);
		struct merit m;

		if (c->plain) {
			chosen |= BIT(seed);
			if (count(chosen) == k)
				break;
			continue;
		}
		m = merit_of_set(c, set, eligible);
		if (!chosen || merit_cmp(&m, &best) > 0) {
			chosen = set;
			best = m;
		}
	}
	return chosen;
}

/* One that is shared already before one that is still whole; of these the tightest. */
static card_set pick_part(const struct cards *c, const struct cards_want *w)
{
	const struct card *best = NULL;

	for (card_set left = cards_fit(c, w); left;) {
		const struct card *card = &c->card[next_card(&left)];

		if (part_left(card) < w->part_mib)
			continue;
		if (!best || (card->sharers > 0) > (best->sharers > 0) ||
		    ((card->sharers > 0) == (best->sharers > 0) && part_left(card) < part_left(best)))
			best = card;
	}
	return best ? BIT(best - c->card) : 0;
}

card_set cards_pick(const struct cards *c, const struct cards_want *w)
{
	if (w->part_mib > 0)
		return w->whole > 0 ? 0 : pick_part(c, w);
	if (w->whole <= 0 || w->whole > count(c->free))
		return 0;
	return pick_whole(c, w->model || w->least_mib ? c->free & cards_fit(c, w) : c->free, w->whole);
}

/* --- holding --- */

static void update_free(struct cards *c, size_t i)
{
	if (c->card[i].healthy && !card_is_had(&c->card[i]))
		c->free |= BIT(i);
	else
		c->free &= ~BIT(i);
}

void cards_hold(struct cards *c, const struct cards_want *w, card_set set)
{
	if (set && CARDS_MOST - (size_t)__builtin_clzll(set) > c->n) {
		grow(c, CARDS_MOST - (size_t)__builtin_clzll(set));
		settle(c);
	}
	while (set) {
		size_t i = next_card(&set);

		if (w->part_mib > 0) {
			c->card[i].sharers++;
			c->card[i].shared_mib += w->part_mib;
		} else {
			c->card[i].held++;
		}
		update_free(c, i);
	}
}

void cards_release(struct cards *c, const struct cards_want *w, card_set set)
{
	while (set) {
		size_t i = next_card(&set);

		if (i >= c->n)
			return;
		if (w->part_mib > 0 && c->card[i].sharers) {
			c->card[i].sharers--;
			c->card[i].shared_mib -= w->part_mib;
		} else if (w->part_mib <= 0 && c->card[i].held) {
			c->card[i].held--;
		}
		update_free(c, i);
	}
}

/* --- text --- */

card_set card_set_read(const char *text)
{
	struct str rest = str_of(text);
	struct str part;
	card_set set = 0;

	if (!text || !*text)
		return 0;
	while (str_split(&rest, ',', &part)) {
		char number[8];
		int64_t i;

		if (part.n >= sizeof(number))
			return 0;
		snprintf(number, sizeof(number), "%.*s", STR_FMT(part));
		if (!str_int64(number, 0, CARDS_MOST - 1, &i))
			return 0;
		set |= BIT(i);
	}
	return set;
}

void card_set_text(card_set set, char out[256])
{
	size_t n = 0;

	out[0] = '\0';
	while (set) {
		size_t i = next_card(&set);

		n += (size_t)snprintf(out + n, 256 - n, "%s%zu", n ? "," : "", i);
	}
}
