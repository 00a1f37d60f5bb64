// SPDX-License-Identifier: Apache-2.0
/* near_rules.c - a pod's rules about other pods: read, and judged for a node
 *
 * As in Kubernetes, a required affinity is met by pods for which all its terms hold, each in its own topology; and a
 * pod that is itself what it needs may be the first.
 */
#include "base/jsonx.h"
#include "base/limits.h"
#include "base/mem.h"
#include "sched/near_parts.h"

#define REQUIRED    "requiredDuringSchedulingIgnoredDuringExecution"
#define PREFERRED   "preferredDuringSchedulingIgnoredDuringExecution"
#define WEIGHT_MOST 100 /* of a wish */
#define SPREAD_TOP  10  /* what one pod more in a domain counts among wishes */

/* --- reading --- */

/* The term's selector, and what matchLabelKeys and mismatchLabelKeys add to it. */
static json_t *merged_selector(const json_t *term, const json_t *labels)
{
	static const struct {
		const char *list, *operator;
	} rows[] = { { "matchLabelKeys", "In" }, { "mismatchLabelKeys", "NotIn" } };
	json_t *selector = jsonx_copy(json_object_get(term, "labelSelector"));
	json_t *key;
	size_t i;

	for (size_t k = 0; selector && k < ARRAY_SIZE(rows); k++)
		json_array_foreach (json_object_get(term, rows[k].list), i, key) {
			json_t *value = json_is_string(key) ? json_object_get(labels, json_string_value(key)) : NULL;
			json_t *list = json_object_get(selector, "matchExpressions");

			if (!value)
				continue;
			if (!list)
				json_object_set_new(selector, "matchExpressions", list = json_array());
			json_array_append_new(list, json_pack("{s:O, s:s, s:[O]}", "key", key, "operator",
							      rows[k].operator, "values", value));
		}
	return selector;
}

static struct selector *read_selector(const json_t *v)
{
	struct selector *s = NULL;
	struct err e = ERR_INIT;

	return selector_from_json(v, &s, &e) < 0 ? NULL : s;
}

struct reading {
	struct neighbours *nb;
	const char *namespace;
	const json_t *labels;
	struct near_rules *rules;
};

struct clauses {
	struct clause *items;
	size_t n, cap;
	struct sbuf text;
};

static void add_clause(const struct reading *r, struct clauses *list, const json_t *term)
{
	json_auto_t *selector = merged_selector(term, r->labels);
	const json_t *namespaces = json_object_get(term, "namespaces");
	const json_t *among = json_object_get(term, "namespaceSelector");
	struct clause c = { .labels = read_selector(selector) };
	const json_t *v;
	size_t i;

	json_array_foreach (namespaces, i, v)
		if (json_is_string(v))
			ARRAY_PUSH(c.namespaces, c.n, c.cap, xstrdup(json_string_value(v)));
	if (json_is_object(among)) {
		c.among = read_selector(among);
		c.everywhere = c.among && selector_is_everything(c.among);
	} else if (!c.n) {
		ARRAY_PUSH(c.namespaces, c.n, c.cap, xstrdup(r->namespace));
	}
	for (i = 0; i < c.n; i++)
		sbuf_addf(&list->text, "%s,", c.namespaces[i]);
	if (json_is_object(among))
		jsonx_dump(among, &list->text);
	sbuf_addc(&list->text, '\n');
	if (selector)
		jsonx_dump(selector, &list->text);
	sbuf_addc(&list->text, '\n');
	ARRAY_PUSH(list->items, list->n, list->cap, c);
}

static struct tie *read_tie(const struct reading *r, const json_t *term)
{
	struct clauses list = { .text = SBUF(LIMIT_OBJECT) };
	struct tie *t;

	add_clause(r, &list, term);
	t = tie_of(r->nb, list.items, list.n, list.text.p, jsonx_str_or(term, "topologyKey", ""));
	sbuf_done(&list.text);
	return t;
}

/* One crowd that meets all terms, seen by the topology of each. */
static void read_needs(const struct reading *r, const json_t *terms)
{
	const json_t *one;
	const json_t *term;
	size_t i;
	size_t k;

	json_array_foreach (terms, i, one) {
		struct clauses list = { .text = SBUF(LIMIT_OBJECT) };
		struct tie *t;

		json_array_foreach (terms, k, term)
			add_clause(r, &list, term);
		t = tie_of(r->nb, list.items, list.n, list.text.p, jsonx_str_or(one, "topologyKey", ""));
		t->crowd->hopes++;
		ARRAY_PUSH(r->rules->need, r->rules->nneed, r->rules->cap_need, t);
		sbuf_done(&list.text);
	}
}

static void read_wishes(const struct reading *r, const json_t *list, int64_t sign)
{
	const json_t *v;
	size_t i;

	json_array_foreach (list, i, v) {
		int64_t weight = jsonx_int_or(v, "weight", 0);
		struct wish w = { .tie = read_tie(r, json_object_get(v, "podAffinityTerm")),
				  .weight = weight < 0 || weight > WEIGHT_MOST ? 0 : sign * weight };

		ARRAY_PUSH(r->rules->wishes, r->rules->nwishes, r->rules->cap_wishes, w);
	}
}

static void read_spreads(const struct reading *r, const json_t *list)
{
	const json_t *v;
	size_t i;

	json_array_foreach (list, i, v) {
		struct spread s = {
			.tie = read_tie(r, v),
			.max_skew = jsonx_int_or(v, "maxSkew", 1),
			.min_domains = jsonx_int_or(v, "minDomains", 1),
			.hard = !streq(jsonx_str_or(v, "whenUnsatisfiable", ""), "ScheduleAnyway"),
			.affinity = !streq(jsonx_str_or(v, "nodeAffinityPolicy", ""), "Ignore"),
			.taints = streq(jsonx_str_or(v, "nodeTaintsPolicy", ""), "Honor"),
		};

		s.tie->crowd->hopes++;
		s.self = crowd_has(r->nb, s.tie->crowd, r->namespace, r->labels);
		r->rules->soft |= !s.hard;
		ARRAY_PUSH(r->rules->spreads, r->rules->nspreads, r->rules->cap_spreads, s);
	}
}

struct near_rules *near_rules_new(struct neighbours *nb, const json_t *pod)
{
	const json_t *spec = json_object_get(pod, "spec");
	const json_t *near = jsonx_at(spec, "affinity.podAffinity");
	const json_t *far = jsonx_at(spec, "affinity.podAntiAffinity");
	const json_t *spreads = json_object_get(spec, "topologySpreadConstraints");
	struct reading r = { .nb = nb,
			     .namespace = jsonx_str_or(pod, "metadata.namespace", ""),
			     .labels = jsonx_at(pod, "metadata.labels") };
	const json_t *term;
	size_t i;

	if (!near && !far && !json_array_size(spreads))
		return NULL;
	r.rules = xcalloc(1, sizeof(*r.rules));
	read_needs(&r, json_object_get(near, REQUIRED));
	json_array_foreach (json_object_get(far, REQUIRED), i, term)
		ARRAY_PUSH(r.rules->shun, r.rules->nshun, r.rules->cap_shun, read_tie(&r, term));
	read_wishes(&r, json_object_get(near, PREFERRED), 1);
	read_wishes(&r, json_object_get(far, PREFERRED), -1);
	read_spreads(&r, spreads);
	return r.rules;
}

void near_rules_free(struct neighbours *nb, struct near_rules *r)
{
	if (!r)
		return;
	for (size_t i = 0; i < r->nneed; i++) {
		r->need[i]->crowd->hopes--;
		tie_unref(nb, r->need[i]);
	}
	for (size_t i = 0; i < r->nshun; i++)
		tie_unref(nb, r->shun[i]);
	for (size_t i = 0; i < r->nwishes; i++)
		tie_unref(nb, r->wishes[i].tie);
	for (size_t i = 0; i < r->nspreads; i++) {
		r->spreads[i].tie->crowd->hopes--;
		free(r->spreads[i].count);
		tie_unref(nb, r->spreads[i].tie);
	}
	free(r->need);
	free(r->shun);
	free(r->wishes);
	free(r->spreads);
	free(r);
}

/* --- spreading --- */

/* Only nodes that have all labels that constraints of its sort are about. */
static bool has_labels(const struct near_rules *r, bool hard, size_t node)
{
	for (size_t i = 0; i < r->nspreads; i++)
		if (r->spreads[i].hard == hard && tie_domain(r->spreads[i].tie, node) < 0)
			return false;
	return true;
}

static bool all_have_labels(const struct near_rules *r)
{
	for (size_t i = 0; i < r->nspreads; i++)
		if (r->spreads[i].tie->topology->missing)
			return false;
	return true;
}

/* Every node counts: sums are there already. */
static void count_domains(struct spread *s)
{
	const struct tie *t = s->tie;

	for (int32_t d = 0; d < t->topology->domains; d++)
		s->count[d] = t->topology->nodes[d] > 0 ? t->have[d] : -1;
}

static void count_nodes(struct neighbours *nb, const struct near_rules *r, struct spread *s,
			const struct near_nodes *nodes)
{
	const struct topology *t = s->tie->topology;

	for (int32_t d = 0; d < t->domains; d++)
		s->count[d] = -1;
	for (size_t i = 0; i < nb->nodes; i++) {
		int32_t d = t->of[i];

		if (d < 0 || (r->nspreads > 1 && !has_labels(r, s->hard, i)) ||
		    !nodes->counts(nodes->arg, i, s->affinity, s->taints))
			continue;
		s->count[d] = (s->count[d] < 0 ? 0 : s->count[d]) + s->tie->crowd->at[i];
	}
}

static void prepare_spread(struct neighbours *nb, const struct near_rules *r, struct spread *s,
			   const struct near_nodes *nodes)
{
	const struct topology *t = s->tie->topology;
	int64_t domains = 0;

	if (s->cap < t->domains) {
		s->cap = t->domains + 8;
		s->count = xreallocarray(s->count, (size_t)s->cap, sizeof(*s->count));
	}
	if (nodes->all && !s->taints && all_have_labels(r))
		count_domains(s);
	else
		count_nodes(nb, r, s, nodes);
	s->least = INT64_MAX;
	for (int32_t d = 0; d < t->domains; d++)
		if (s->count[d] >= 0) {
			domains++;
			s->least = s->count[d] < s->least ? s->count[d] : s->least;
		}
	if (domains < s->min_domains)
		s->least = 0;
}

void near_prepare(struct neighbours *nb, struct near_rules *r, const struct near_nodes *nodes)
{
	for (size_t i = 0; r && i < r->nspreads; i++)
		prepare_spread(nb, r, &r->spreads[i], nodes);
}

static enum near_verdict judge_spread(const struct near_rules *r, size_t node)
{
	for (size_t i = 0; i < r->nspreads; i++) {
		const struct spread *s = &r->spreads[i];
		int32_t d = tie_domain(s->tie, node);
		int64_t there;

		if (!s->hard)
			continue;
		if (d < 0)
			return NEAR_SPREAD_LABEL;
		there = d < s->cap && s->count[d] > 0 ? s->count[d] : 0;
		if (there + s->self - s->least > s->max_skew)
			return NEAR_SPREAD;
	}
	return NEAR_OK;
}

/* --- judging --- */

/* All needs are of one crowd. */
static bool is_first(struct neighbours *nb, struct who *w, const struct near_rules *r)
{
	for (size_t i = 0; i < r->nneed; i++)
		if (r->need[i]->have_all)
			return false;
	if (!w)
		return false;
	who_refresh(nb, w);
	for (size_t i = 0; i < w->nin; i++)
		if (w->in[i] == r->need[0]->crowd)
			return true;
	return false;
}

static bool needs_met(struct neighbours *nb, struct who *w, const struct near_rules *r, size_t node)
{
	bool met = true;

	for (size_t i = 0; i < r->nneed; i++) {
		int32_t d = tie_domain(r->need[i], node);

		if (d < 0)
			return false;
		met &= r->need[i]->have[d] > 0;
	}
	return met || is_first(nb, w, r);
}

static bool shuns(const struct near_rules *r, size_t node)
{
	for (size_t i = 0; i < r->nshun; i++) {
		int32_t d = tie_domain(r->shun[i], node);

		if (d >= 0 && r->shun[i]->have[d] > 0)
			return true;
	}
	return false;
}

static bool crowd_is_shunned(const struct crowd *c, size_t node)
{
	for (size_t i = 0; i < c->nties; i++) {
		int32_t d = tie_domain(c->ties[i], node);

		if (d >= 0 && c->ties[i]->shun[d] > 0)
			return true;
	}
	return false;
}

static int64_t crowd_pull(const struct crowd *c, size_t node)
{
	int64_t sum = 0;

	for (size_t i = 0; i < c->nties; i++)
		if (tie_domain(c->ties[i], node) >= 0)
			sum += c->ties[i]->pull[tie_domain(c->ties[i], node)];
	return sum;
}

/* Those who sit may shun it, or pull it. */
struct interest {
	bool shun, pull;
};

static struct interest interest_in(struct neighbours *nb, struct who *w)
{
	struct interest sum = { 0 };

	if (!w || !nb->ncrowds)
		return sum;
	who_refresh(nb, w);
	for (size_t i = 0; i < w->nin; i++)
		for (size_t k = 0; k < w->in[i]->nties; k++) {
			sum.shun |= w->in[i]->ties[k]->shun_all > 0;
			sum.pull |= w->in[i]->ties[k]->pullers > 0;
		}
	return sum;
}

bool neighbours_matter(struct neighbours *nb, struct who *w, const struct near_rules *r)
{
	struct interest in = interest_in(nb, w);

	return r || in.shun || in.pull;
}

bool neighbours_shun(struct neighbours *nb, struct who *w)
{
	return interest_in(nb, w).shun;
}

bool neighbours_have_wishes(struct neighbours *nb, struct who *w, const struct near_rules *r)
{
	return (r && (r->nwishes || r->soft)) || interest_in(nb, w).pull;
}

enum near_verdict near_judge(struct neighbours *nb, struct who *w, const struct near_rules *r, size_t node)
{
	enum near_verdict v = r && r->nspreads ? judge_spread(r, node) : NEAR_OK;

	if (v != NEAR_OK)
		return v;
	if (r && r->nneed && !needs_met(nb, w, r, node))
		return NEAR_AFFINITY;
	if (r && shuns(r, node))
		return NEAR_ANTI;
	if (!w || !nb->ncrowds)
		return NEAR_OK;
	who_refresh(nb, w);
	for (size_t i = 0; i < w->nin; i++)
		if (crowd_is_shunned(w->in[i], node))
			return NEAR_OTHERS_ANTI;
	return NEAR_OK;
}

const char *near_text(enum near_verdict v)
{
	static const char *const texts[NEAR__COUNT] = {
		[NEAR_OK] = "",
		[NEAR_SPREAD_LABEL] = "node(s) didn't match pod topology spread constraints (missing required label)",
		[NEAR_SPREAD] = "node(s) didn't match pod topology spread constraints",
		[NEAR_AFFINITY] = "node(s) didn't match pod affinity rules",
		[NEAR_ANTI] = "node(s) didn't match pod anti-affinity rules",
		[NEAR_OTHERS_ANTI] = "node(s) didn't satisfy existing pods anti-affinity rules",
	};

	return texts[v];
}

int64_t near_score(struct neighbours *nb, struct who *w, const struct near_rules *r, size_t node)
{
	int64_t sum = 0;

	for (size_t i = 0; r && i < r->nwishes; i++) {
		int32_t d = tie_domain(r->wishes[i].tie, node);

		sum += d < 0 ? 0 : r->wishes[i].weight * r->wishes[i].tie->have[d];
	}
	for (size_t i = 0; r && i < r->nspreads; i++) {
		const struct spread *s = &r->spreads[i];
		int32_t d = tie_domain(s->tie, node);

		if (!s->hard) /* a node that cannot be told from others is as bad as the fullest */
			sum -= SPREAD_TOP * (d >= 0 && d < s->cap && s->count[d] >= 0 ? s->count[d] : s->tie->have_all);
	}
	if (!w || !nb->ncrowds)
		return sum;
	who_refresh(nb, w);
	for (size_t i = 0; i < w->nin; i++)
		sum += crowd_pull(w->in[i], node);
	return sum;
}
