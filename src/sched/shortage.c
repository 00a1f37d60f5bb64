// SPDX-License-Identifier: Apache-2.0
/* shortage.c - see shortage.h
 *
 * Every node that takes such pods is looked at once.  What no node has enough of is what lacks; GPUs before all else,
 * because that is what people wait for.
 */
#include "sched/shortage.h"

#include "base/mem.h"
#include "kinds/quantity.h"
#include "sched/space_parts.h"

/* ---- words ---- */

static bool is_bytes(size_t resource)
{
	return resource == RESOURCE_MEMORY || resource == RESOURCE_STORAGE;
}

void space_number_text(size_t resource, int64_t n, struct sbuf *out)
{
	struct quantity q = { .nano = (__int128)n * 1000000000, .format = 'd' };
	char text[QUANTITY_TEXT];

	if (resource == RESOURCE_CPU) {
		sbuf_addf(out, "%g", (double)n / 1000);
		return;
	}
	if (resource == RESOURCE_NODE)
		q.nano /= NODE_WHOLE;
	if (is_bytes(resource))
		quantity_bytes_text(n, text);
	else
		quantity_text(&q, text);
	sbuf_adds(out, text);
}

void space_amount_text(const struct space *s, size_t resource, int64_t n, struct sbuf *out)
{
	static const char *const counted[RESOURCE__COUNT] = {
		[RESOURCE_CPU] = "CPU", [RESOURCE_PODS] = "pod", [RESOURCE_GPU] = "GPU"
	};

	if (resource == RESOURCE_NODE && n <= NODE_WHOLE) {
		sbuf_adds(out, n == NODE_WHOLE ? "a node for itself" : "a place on a node");
		return;
	}

	space_number_text(resource, n, out);
	if (resource == RESOURCE_GPU_MEMORY)
		sbuf_adds(out, " MiB of one shared GPU");
	else if (resource == RESOURCE_NODE)
		sbuf_adds(out, " nodes for itself");
	else if (resource < RESOURCE__COUNT && counted[resource])
		sbuf_addf(out, " %s%s", counted[resource], n == (resource == RESOURCE_CPU ? 1000 : 1) ? "" : "s");
	else
		sbuf_addf(out, " of %s", s->names.names[resource]);
}

void shape_cards_text(const struct shape *sh, struct sbuf *out)
{
	if (sh->cards.model)
		sbuf_addf(out, " of model %s", sh->cards.model);
	if (sh->cards.least_mib)
		sbuf_addf(out, " with %lld MiB or more", (long long)sh->cards.least_mib);
}

/* ---- numbers ---- */

/* Of cards only those count that are wanted. */
static int64_t left_of(const struct space *s, const struct node *n, const struct shape *sh, size_t resource)
{
	int64_t left = space_left(s, n)[resource];
	int64_t fit = left;

	if (resource == RESOURCE_GPU)
		fit = __builtin_popcountll(cards_fit(&n->cards, &sh->cards) & n->cards.free);
	else if (resource == RESOURCE_GPU_MEMORY)
		fit = n->part_most;
	left = fit < left ? fit : left;
	return left > 0 ? left : 0;
}

/* One look at everything. */
struct look {
	struct space *space;
	const struct shape *shape;
	const struct shortage_view *view;
	int64_t *best;    /* of each resource, the most that a node has */
	int64_t *instead; /* of each, the most that a node has which lacks nothing else */
	size_t lacks;     /* of the nearest node */
	size_t lacking;   /* the first of them */
	int64_t has;      /* there of it */
	struct shortage *ret;
};

static int64_t usable(const struct look *l, const struct node *n, size_t resource)
{
	int64_t left = left_of(l->space, n, l->shape, resource);
	int64_t most = l->view->may_use ? l->view->may_use(l->view->arg, n, resource) : left;

	return most < left ? (most > 0 ? most : 0) : left;
}

/* Besides amounts: SHORT_OF_NOTHING if nothing is in the way. */
static enum shortage_of other_obstacle(const struct look *l, const struct node *n, const char **ret_text)
{
	enum near_verdict v = near_judge(l->space->neighbours, l->shape->who, l->shape->near, n->slot);

	if (node_ports_refuse(n, l->shape))
		return SHORT_OF_PORTS;
	*ret_text = near_text(v);
	return v == NEAR_OK ? SHORT_OF_NOTHING : SHORT_OF_NEIGHBOURS;
}

static void look_at(struct look *l, const struct node *n)
{
	const struct amounts *wants = &l->shape->wants;
	const char *text = NULL;
	enum shortage_of other = other_obstacle(l, n, &text);
	size_t lacks = 0;
	size_t lacking = 0;
	int64_t has = 0;

	l->ret->nodes++;
	for (size_t r = 0; r < wants->n; r++) {
		int64_t left = wants->v[r] > 0 ? usable(l, n, r) : 0;

		if (left > l->best[r])
			l->best[r] = left;
		if (left >= wants->v[r])
			continue;
		lacking = lacks++ ? lacking : r;
		has = lacks == 1 ? left : has;
	}
	if (lacks == 1 && other == SHORT_OF_NOTHING && has > l->instead[lacking])
		l->instead[lacking] = has;
	if (l->ret->node && lacks >= l->lacks)
		return;
	l->ret->node = n;
	l->ret->what = lacks ? SHORT_OF_TOGETHER : other;
	l->ret->text = text;
	l->lacks = lacks;
	l->lacking = lacking;
	l->has = has;
}

static double part_there(const struct look *l, size_t r)
{
	return (double)l->best[r] / (double)l->shape->wants.v[r];
}

/* The resource of which no node has enough, if there is one. */
static bool find_scarce(const struct look *l, size_t *ret)
{
	const struct amounts *wants = &l->shape->wants;
	bool found = false;

	for (size_t r = 0; r < wants->n; r++) {
		if (wants->v[r] <= l->best[r])
			continue;
		l->ret->also += found;
		if (!found || r == RESOURCE_GPU || (*ret != RESOURCE_GPU && part_there(l, r) < part_there(l, *ret)))
			*ret = r;
		found = true;
	}
	return found;
}

static void conclude(struct look *l)
{
	struct shortage *ret = l->ret;
	bool scarce;

	if (!ret->nodes) {
		ret->what = SHORT_OF_NODES;
		return;
	}
	if (ret->what != SHORT_OF_TOGETHER)
		return;
	ret->resource = l->lacking;
	ret->most = l->has;
	scarce = find_scarce(l, &ret->resource);
	if (scarce) {
		ret->what = SHORT_OF_AMOUNT;
		ret->most = l->best[ret->resource];
	}
	ret->wanted = l->shape->wants.v[ret->resource];
	/* Less of a node than one asks for is no help. */
	ret->instead = ret->resource == RESOURCE_NODE ? 0 : l->instead[ret->resource];
}

void space_shortage(struct space *s, struct shape *sh, const struct shortage_view *v, struct shortage *ret)
{
	auto_free int64_t *best = xcalloc(sh->wants.n + 1, sizeof(*best));
	auto_free int64_t *instead = xcalloc(sh->wants.n + 1, sizeof(*instead));
	struct look l = { .space = s, .shape = sh, .view = v, .best = best, .instead = instead, .ret = ret };

	*ret = (struct shortage){ 0 };
	space_settle(s);
	rules_settle(s, sh->rules);
	space_prepare_near(s, sh);
	for (size_t i = 0; i < s->nranks; i++) {
		const struct node *n = s->by_rank[i];

		if (sh->rules->accept[i / 64] >> (i % 64) & 1 && (!v->takes || v->takes(v->arg, n)))
			look_at(&l, n);
	}
	conclude(&l);
}
