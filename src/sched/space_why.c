// SPDX-License-Identifier: Apache-2.0
/* space_why.c - why a shape finds no room now, and why it never will, in words */
#include "base/limits.h"
#include "base/mem.h"
#include "kinds/placement.h"
#include "sched/shortage.h"
#include "sched/space_parts.h"

/* --- now --- */

struct reason {
	char *text;
	unsigned count;
};

struct reasons {
	struct reason *items;
	size_t n, cap;
};

static void reason_add(struct reasons *r, const char *text)
{
	for (size_t i = 0; i < r->n; i++)
		if (streq(r->items[i].text, text)) {
			r->items[i].count++;
			return;
		}
	ARRAY_PUSH(r->items, r->n, r->cap, ((struct reason){ xstrdup(text), 1 }));
}

static size_t reasons_count(const struct reasons *r)
{
	size_t sum = 0;

	for (size_t i = 0; i < r->n; i++)
		sum += r->items[i].count;
	return sum;
}

static void add_lack(const struct space *s, const struct shape *sh, size_t resource, struct reasons *r)
{
	auto_free char *text = NULL;

	if (resource == RESOURCE_PODS)
		text = xstrdup("Too many pods");
	else if (resource == RESOURCE_NODE)
		text = xstrdup(shape_is_exclusive(sh) ? "node(s) weren't empty"
						      : "node(s) had a pod that has the node for itself");
	else
		text = xasprintf("Insufficient %s", s->names.names[resource]);
	reason_add(r, text);
}

/* It has cards, but none of those that are wanted. */
static bool has_no_such_card(const struct node *n, const struct shape *sh)
{
	struct cards_want w = { .model = sh->cards.model, .least_mib = sh->cards.least_mib };

	return n->cards.n && (w.model || w.least_mib) && !cards_fit(&n->cards, &w);
}

/* Whether there was something to say. */
static bool explain_room(const struct space *s, const struct node *n, const struct shape *sh, struct reasons *r)
{
	size_t before = reasons_count(r);
	bool lacks_cards = false;

	for (size_t i = 0; i < sh->wants.n; i++)
		if (node_lacks(s, n, sh, i)) {
			lacks_cards |= i == RESOURCE_GPU || i == RESOURCE_GPU_MEMORY;
			add_lack(s, sh, i, r);
		}
	if (has_no_such_card(n, sh))
		reason_add(r, "node(s) didn't have the requested GPU model or memory");
	else if (!lacks_cards && !node_cards_suffice(n, sh))
		add_lack(s, sh, sh->cards.part_mib ? RESOURCE_GPU_MEMORY : RESOURCE_GPU, r);
	return reasons_count(r) > before;
}

static void explain_neighbours(const struct space *s, const struct node *n, const struct shape *sh, struct reasons *r)
{
	enum near_verdict v = near_judge(s->neighbours, sh->who, sh->near, n->slot);

	if (v != NEAR_OK)
		reason_add(r, near_text(v));
}

/* As the filters of Kubernetes' scheduler: the first that refuses a node speaks for it. */
static void explain_node(const struct space *s, const struct node *n, const struct shape *sh, struct reasons *r)
{
	auto_sbuf struct sbuf why = SBUF(4096);

	if (node_refuses(&n->view, sh, &why))
		reason_add(r, why.p);
	else if (node_ports_refuse(n, sh))
		reason_add(r, "node(s) didn't have free ports for the requested pod ports");
	else if (!explain_room(s, n, sh, r))
		explain_neighbours(s, n, sh, r);
}

/* Kubernetes sorts the reasons with their numbers before them. */
static int by_text(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

static void reasons_print(struct reasons *r, struct sbuf *out)
{
	auto_free char **lines = xcalloc(r->n + 1, sizeof(*lines));

	for (size_t i = 0; i < r->n; i++)
		lines[i] = xasprintf("%u %s", r->items[i].count, r->items[i].text);
	qsort(lines, r->n, sizeof(*lines), by_text);
	for (size_t i = 0; i < r->n; i++) {
		sbuf_addf(out, "%s%s", i ? ", " : ": ", lines[i]);
		free(lines[i]);
		free(r->items[i].text);
	}
	free(r->items);
}

static void explain(struct space *s, const struct shape *sh, struct sbuf *out)
{
	struct reasons r = { 0 };

	space_settle(s);
	rules_settle(s, sh->rules);
	space_prepare_near(s, sh);
	for (size_t i = 0; i < s->nranks; i++)
		explain_node(s, s->by_rank[i], sh, &r);
	if (s->nranks)
		sbuf_addf(out, "0/%zu nodes are available", s->nranks);
	else
		sbuf_adds(out, "no nodes available to schedule pods");
	reasons_print(&r, out);
	if (s->nranks)
		sbuf_addc(out, '.');
}

const char *space_why(struct space *s, struct shape *sh)
{
	auto_sbuf struct sbuf out = SBUF(LIMIT_STATUS_TEXT);
	struct shape *m = shape_memory(s, sh);

	if (m->why && m->explained == shape_epoch(s, m))
		return m->why;
	explain(s, sh, &out);
	free(m->why);
	m->why = sbuf_steal(&out);
	m->explained = s->depth ? 0 : shape_epoch(s, m);
	return m->why;
}

/* --- ever --- */

/* Conditions of a node pass; what an admin wrote stays. */
static bool could_accept(const struct node *n, const struct shape *sh, struct sbuf *why)
{
	struct node_view view = n->view;
	json_auto_t *lasting = json_array();
	const json_t *t;
	size_t i;

	json_array_foreach (view.taints, i, t)
		if (!str_starts(taint_read(t).key, "node.kubernetes.io/"))
			json_array_append(lasting, (json_t *)t);
	view.taints = lasting;
	view.ready = true;
	view.unschedulable = false;
	return !node_refuses(&view, sh, why);
}

/* What a node would have of a resource for such a pod if nobody were there. */
static int64_t whole_of(const struct node *n, const struct shape *sh, size_t resource)
{
	int64_t have = amounts_get(&n->allocatable, resource);
	int64_t most = 0;
	card_set fit;

	if (resource != RESOURCE_GPU && resource != RESOURCE_GPU_MEMORY)
		return have;
	fit = cards_fit(&n->cards, &sh->cards);
	if (resource == RESOURCE_GPU)
		return __builtin_popcountll(fit) < have ? __builtin_popcountll(fit) : have;
	for (size_t i = 0; i < n->cards.n; i++)
		if (n->cards.card[i].shareable && n->cards.card[i].healthy && n->cards.card[i].memory_mib > most)
			most = n->cards.card[i].memory_mib;
	return most;
}

static bool could_hold(const struct node *n, const struct shape *sh)
{
	for (size_t i = 0; i < sh->wants.n; i++)
		if (sh->wants.v[i] > 0 && sh->wants.v[i] > whole_of(n, sh, i))
			return false;
	return cards_could(&n->cards, &sh->cards);
}

struct verdict {
	bool possible;
	size_t accepted;     /* nodes that would have it if they were large enough */
	struct amounts most; /* of those */
	char *refusal;       /* one of the others' */
};

static struct verdict judge_all(const struct space *s, const struct shape *sh)
{
	struct verdict v = { 0 };

	for (size_t i = 0; i < s->nranks && !v.possible; i++) {
		const struct node *n = s->by_rank[i];
		auto_sbuf struct sbuf why = SBUF(1024);

		if (!could_accept(n, sh, &why)) {
			if (!v.refusal)
				v.refusal = xstrdup(why.p);
			continue;
		}
		v.accepted++;
		v.possible = could_hold(n, sh);
		for (size_t r = 0; r < sh->wants.n; r++)
			if (whole_of(n, sh, r) > *amounts_at(&v.most, r))
				*amounts_at(&v.most, r) = whole_of(n, sh, r);
	}
	return v;
}

bool space_has_card(const struct space *s, const struct shape *sh)
{
	struct cards_want w = { .model = sh->cards.model, .least_mib = sh->cards.least_mib };

	for (size_t i = 0; i < s->nranks; i++)
		if (cards_fit(&s->by_rank[i]->cards, &w))
			return true;
	return !w.model && !w.least_mib;
}

static void say_too_large(const struct space *s, const struct shape *sh, const struct verdict *v, struct sbuf *out)
{
	size_t said = 0;

	for (size_t r = 0; r < sh->wants.n; r++) {
		if (sh->wants.v[r] <= amounts_get(&v->most, r))
			continue;
		sbuf_adds(out, said++ ? "; needs " : "needs ");
		space_amount_text(s, r, sh->wants.v[r], out);
		if (r == RESOURCE_GPU || r == RESOURCE_GPU_MEMORY)
			shape_cards_text(sh, out);
		if (r == RESOURCE_GPU && !space_has_card(s, sh)) {
			sbuf_adds(out, ", and no node has such");
			continue;
		}
		if (r == RESOURCE_GPU_MEMORY && !amounts_get(&v->most, r)) {
			sbuf_adds(out, ", and no GPU may be shared");
			continue;
		}
		if (r == RESOURCE_GPU_MEMORY)
			sbuf_adds(out, ", the largest has ");
		else
			sbuf_adds(out, " on one node, the largest node has ");
		space_amount_text(s, r, amounts_get(&v->most, r), out);
	}
	if (said)
		return;
	sbuf_adds(out, "needs ");
	for (size_t r = 0; r < sh->wants.n; r++)
		if (sh->wants.v[r] > 0 && !shape_is_silent(sh, r)) {
			sbuf_adds(out, said++ ? " and " : "");
			space_amount_text(s, r, sh->wants.v[r], out);
		}
	shape_cards_text(sh, out);
	sbuf_adds(out, " on one node, and no node has all of it");
}

static char *impossible(const struct space *s, const struct shape *sh)
{
	auto_sbuf struct sbuf out = SBUF(LIMIT_STATUS_TEXT);
	struct verdict v = judge_all(s, sh);

	if (!v.possible && s->nranks) {
		if (sh->cards.whole && sh->cards.part_mib)
			sbuf_adds(&out, "asks for whole GPUs and for a part of one, which no pod can have");
		else if (!v.accepted)
			sbuf_addf(&out, "no node takes it: %s", v.refusal);
		else
			say_too_large(s, sh, &v, &out);
	}
	free(v.refusal);
	free(v.most.v);
	return out.n ? sbuf_steal(&out) : NULL;
}

bool space_possible(struct space *s, struct shape *sh, struct sbuf *ret_why)
{
	struct shape *core = sh->core;

	if (core->judged != s->nodes_epoch) {
		space_settle(s);
		free(core->impossible);
		core->impossible = impossible(s, core);
		core->judged = s->nodes_epoch;
	}
	if (core->impossible && ret_why)
		sbuf_adds(ret_why, core->impossible);
	return !core->impossible;
}

bool space_refused(const struct space *s, const struct shape *sh)
{
	struct verdict v = judge_all(s, sh->core);
	bool refused = s->nranks && !v.accepted;

	free(v.refusal);
	free(v.most.v);
	return refused;
}

const struct node *space_closed(const struct space *s, const struct shape *sh)
{
	for (size_t i = 0; i < s->nranks; i++) {
		const struct node *n = s->by_rank[i];
		auto_sbuf struct sbuf ignored = SBUF(1024);

		if ((n->view.unschedulable || !n->view.ready) && could_accept(n, sh, &ignored) && could_hold(n, sh))
			return n;
	}
	return NULL;
}

bool node_is_cordoned(const struct node *n)
{
	return n->view.unschedulable;
}

/* What shares cards is not counted: who sits with whom on one depends on the order in which they come. */
int64_t space_holds(const struct space *s, const struct shape *sh)
{
	int64_t sum = 0;

	if (shape_wants(sh, RESOURCE_GPU_MEMORY))
		return 0;
	for (size_t i = 0; i < s->nranks; i++) {
		const struct node *n = s->by_rank[i];
		auto_sbuf struct sbuf ignored = SBUF(1024);
		int64_t most = amounts_get(&n->allocatable, RESOURCE_PODS);

		for (size_t r = 0; r < sh->wants.n; r++)
			if (sh->wants.v[r] > 0 && whole_of(n, sh, r) / sh->wants.v[r] < most)
				most = whole_of(n, sh, r) / sh->wants.v[r];
		sum += could_accept(n, sh, &ignored) ? most : 0;
	}
	return sum;
}
