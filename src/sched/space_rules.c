// SPDX-License-Identifier: Apache-2.0
/* space_rules.c - which nodes a shape may go to besides room: judged once a node, kept as a set
 *
 * Many shapes differ only in amounts; those share one set.  Pods of a DaemonSet name their node: there the named ones
 * are all that is looked at.
 */
#include "base/jsonx.h"
#include "base/limits.h"
#include "base/mem.h"
#include "kinds/placement.h"
#include "sched/space_parts.h"

#define SHUNNED 100 /* as much as the highest weight of a wish */

static void add_part(struct sbuf *out, const json_t *part)
{
	if (part)
		jsonx_dump(part, out);
	sbuf_addc(out, '\n');
}

static void rules_text(const struct shape *sh, struct sbuf *out)
{
	add_part(out, sh->selector);
	add_part(out, sh->terms);
	add_part(out, sh->tolerations);
	add_part(out, sh->preferred);
	sbuf_addf(out, "%s\n%lld\n%d", sh->cards.model ? sh->cards.model : "", (long long)sh->cards.least_mib,
		  sh->near != NULL);
}

/* [{"weight", "preference"}] as [{"weight", "terms": [preference]}], which is how terms are matched. */
static json_t *read_preferred(const json_t *preferred)
{
	json_t *list = NULL;
	json_t *v;
	size_t i;

	json_array_foreach ((json_t *)preferred, i, v) {
		if (!list)
			list = json_array();
		json_array_append_new(list,
				      json_pack("{s:I, s:[O]}", "weight", (json_int_t)jsonx_int_or(v, "weight", 0),
						"terms", json_object_get(v, "preference")));
	}
	return list;
}

/* The names that a term of node affinity allows, or NULL if it is about more than names. */
static const json_t *named_by(const json_t *term)
{
	const json_t *field = json_array_get(json_object_get(term, "matchFields"), 0);

	return streq(jsonx_str_or(field, "operator", ""), "In") ? json_object_get(field, "values") : NULL;
}

static bool names_nodes(const json_t *terms)
{
	const json_t *term;
	size_t i;

	json_array_foreach (terms, i, term)
		if (!named_by(term))
			return false;
	return terms != NULL;
}

static struct rules *rules_new(const struct shape *sh, const char *text)
{
	struct rules *r = xcalloc(1, sizeof(*r));

	r->text = xstrdup(text);
	r->like.selector = json_incref(sh->selector);
	r->like.terms = json_incref(sh->terms);
	r->like.tolerations = json_incref(sh->tolerations);
	r->like.preferred = read_preferred(sh->preferred);
	r->like.cards.model = sh->cards.model ? xstrdup(sh->cards.model) : NULL;
	r->like.cards.least_mib = sh->cards.least_mib;
	r->names = names_nodes(sh->terms);
	r->spreads = sh->near != NULL;
	return r;
}

struct rules *rules_of(struct space *s, const struct shape *sh)
{
	auto_sbuf struct sbuf text = SBUF(LIMIT_OBJECT);
	struct rules *r;

	rules_text(sh, &text);
	r = map_find(&s->rules, text.p);
	if (!r) {
		r = rules_new(sh, text.p);
		map_set(&s->rules, text.p, r);
	}
	r->refs++;
	return r;
}

void rules_unref(struct space *s, struct rules *r)
{
	if (!r || --r->refs > 0)
		return;
	map_remove(&s->rules, r->text);
	json_decref(r->like.selector);
	json_decref(r->like.terms);
	json_decref(r->like.tolerations);
	json_decref(r->like.preferred);
	free((char *)r->like.cards.model);
	free(r->accept);
	free(r->affine);
	free(r->wishes);
	free(r->only);
	free(r->text);
	free(r);
}

/* --- judging --- */

static bool accepts(const struct rules *r, const struct node *n)
{
	auto_sbuf struct sbuf ignored = SBUF(1024);

	if (node_refuses(&n->view, &r->like, &ignored))
		return false;
	return (!r->like.cards.model && !r->like.cards.least_mib) || cards_fit(&n->cards, &r->like.cards) != 0;
}

static int32_t wish_for(const struct rules *r, const struct node *n)
{
	const json_t *v;
	int64_t sum = 0;
	size_t i;

	json_array_foreach (r->like.preferred, i, v)
		if (node_terms_match(json_object_get(v, "terms"), n->view.labels, n->name))
			sum += jsonx_int_or(v, "weight", 0);
	json_array_foreach (n->view.taints, i, v) {
		struct taint t = taint_read(v);

		if (streq(t.effect, "PreferNoSchedule") && !taint_tolerated(r->like.tolerations, &t))
			sum -= SHUNNED;
	}
	return sum > INT32_MAX / 4 ? INT32_MAX / 4 : sum < INT32_MIN / 4 ? INT32_MIN / 4 : (int32_t)sum;
}

static void judge(const struct space *s, struct rules *r, const struct node *n)
{
	uint64_t bit = (uint64_t)1 << n->rank % 64;
	int32_t wish;

	r->accept[n->rank / 64] &= ~bit;
	if (r->affine)
		r->affine[n->rank / 64] &= ~bit;
	if (r->affine && node_selector_matches(r->like.selector, n->view.labels) &&
	    node_terms_match(r->like.terms, n->view.labels, n->name))
		r->affine[n->rank / 64] |= bit;
	if (!accepts(r, n))
		return;
	r->accept[n->rank / 64] |= bit;
	wish = wish_for(r, n);
	if (wish && !r->wishes)
		r->wishes = xcalloc(s->nranks, sizeof(*r->wishes));
	if (r->wishes)
		r->wishes[n->rank] = wish;
	if (wish > r->best)
		r->best = wish;
}

static void judge_named(const struct space *s, struct rules *r)
{
	const json_t *term;
	const json_t *name;
	size_t i;
	size_t k;

	r->nonly = 0;
	json_array_foreach (r->like.terms, i, term) {
		json_array_foreach (named_by(term), k, name) {
			struct node *n = json_is_string(name) ? map_find(&s->nodes, json_string_value(name)) : NULL;

			if (!n || !n->seen)
				continue;
			judge(s, r, n);
			ARRAY_PUSH(r->only, r->nonly, r->cap_only, n);
		}
	}
}

void rules_settle(struct space *s, struct rules *r)
{
	if (r->layout == s->layout)
		return;
	free(r->accept);
	free(r->affine);
	free(r->wishes);
	r->accept = xcalloc(s->words + 1, sizeof(*r->accept));
	r->affine = r->spreads ? xcalloc(s->words + 1, sizeof(*r->affine)) : NULL;
	r->wishes = NULL;
	r->best = 0;
	r->layout = s->layout;
	if (r->names)
		judge_named(s, r);
	else
		for (size_t i = 0; i < s->nranks; i++)
			judge(s, r, s->by_rank[i]);
}

void rules_judge_node(struct space *s, const struct node *n)
{
	size_t pos = 0;
	const char *text;
	void *v;

	while (map_next(&s->rules, &pos, &text, &v)) {
		struct rules *r = v;

		if (r->layout == s->layout)
			judge(s, r, n);
	}
}
