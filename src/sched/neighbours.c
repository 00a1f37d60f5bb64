// SPDX-License-Identifier: Apache-2.0
/* neighbours.c - who sits where, counted by crowd, node and domain
 *
 * A crowd comes with the first rule that means it: then everybody who sits is looked at once.  After that each who sits
 * down or rises is counted in the crowds that it belongs to, which it remembers.
 */
#include "sched/neighbours.h"

#include "base/jsonx.h"
#include "base/mem.h"
#include "sched/near_parts.h"

static void decref(void *v)
{
	json_decref(v);
}

struct neighbours *neighbours_new(void)
{
	struct neighbours *nb = xcalloc(1, sizeof(*nb));

	map_init(&nb->by_text, NULL);
	map_init(&nb->namespaces, decref);
	return nb;
}

void neighbours_free(struct neighbours *nb)
{
	if (!nb)
		return;
	for (size_t i = 0; i < nb->nodes; i++) {
		json_decref(nb->labels[i]);
		free(nb->sitters[i].items);
	}
	free(nb->labels);
	free(nb->sitters);
	free(nb->crowds);
	free(nb->topologies);
	map_done(&nb->by_text);
	map_done(&nb->namespaces);
	free(nb);
}

/* --- pods --- */

struct who *who_new(const json_t *pod)
{
	const char *namespace = jsonx_str_or(pod, "metadata.namespace", "");
	json_t *labels = jsonx_at(pod, "metadata.labels");
	struct who *w;
	const char *key;
	json_t *value;
	char *at;

	if (!*namespace && !json_object_size(labels))
		return NULL;
	w = xcalloc(1, sizeof(*w));
	w->namespace = xstrdup(namespace);
	json_object_foreach (labels, key, value)
		w->n += strlen(key) + json_string_length(value) + 2;
	w->labels = at = xcalloc(w->n + 1, 1);
	json_object_foreach (labels, key, value) {
		const char *text = json_is_string(value) ? json_string_value(value) : "";

		memcpy(at, key, strlen(key));
		at += strlen(key) + 1;
		memcpy(at, text, strlen(text));
		at += strlen(text) + 1;
	}
	return w;
}

void who_free(struct who *w)
{
	if (!w)
		return;
	free(w->namespace);
	free(w->labels);
	free(w->in);
	free(w);
}

/* In the order in which they are written; another order is somebody else, which does no harm. */
bool who_is(const struct who *w, const json_t *pod)
{
	json_t *labels = jsonx_at(pod, "metadata.labels");
	const char *at = w->labels;
	const char *end = w->labels + w->n;
	const char *key;
	json_t *value;

	if (!streq(w->namespace, jsonx_str_or(pod, "metadata.namespace", "")))
		return false;
	json_object_foreach (labels, key, value) {
		const char *text = json_is_string(value) ? json_string_value(value) : "";

		if (at >= end || !streq(at, key) || !streq(at + strlen(at) + 1, text))
			return false;
		at += strlen(key) + strlen(text) + 2;
	}
	return at == end;
}

static json_t *who_labels(const struct who *w)
{
	json_t *labels = json_object();

	for (const char *at = w->labels; at < w->labels + w->n;) {
		const char *value = at + strlen(at) + 1;

		json_object_set_new(labels, at, json_string(value));
		at = value + strlen(value) + 1;
	}
	return labels;
}

void who_refresh(struct neighbours *nb, struct who *w)
{
	json_auto_t *labels = NULL;

	if (w->purge != nb->purge) {
		w->nin = w->known = 0;
		w->purge = nb->purge;
	}
	if (w->known == nb->ncrowds)
		return;
	labels = who_labels(w);
	for (; w->known < nb->ncrowds; w->known++)
		if (crowd_has(nb, nb->crowds[w->known], w->namespace, labels))
			ARRAY_PUSH(w->in, w->nin, w->cap_in, nb->crowds[w->known]);
}

/* --- topologies --- */

static int32_t domain_of(struct topology *t, const json_t *labels)
{
	const char *value = json_string_value(json_object_get(labels, t->key));
	uintptr_t found = value ? (uintptr_t)map_find(&t->values, value) : 0;

	if (!value)
		return -1;
	if (found)
		return (int32_t)found - 1;
	if (t->domains == t->cap) {
		t->cap = t->cap ? 2 * t->cap : 8;
		t->nodes = xreallocarray(t->nodes, (size_t)t->cap, sizeof(*t->nodes));
	}
	t->nodes[t->domains++] = 0;
	map_set(&t->values, value, (void *)(uintptr_t)t->domains);
	return t->domains - 1;
}

static void topology_count(struct topology *t, int32_t domain, int sign)
{
	if (domain >= 0)
		t->nodes[domain] += sign;
	else
		t->missing += sign;
}

/* labels NULL: it is not known any more. */
static void topology_move(struct topology *t, size_t node, bool was_known, const json_t *labels)
{
	if (was_known)
		topology_count(t, t->of[node], -1);
	t->of[node] = domain_of(t, labels);
	if (labels)
		topology_count(t, t->of[node], 1);
}

static struct topology *topology_of(struct neighbours *nb, const char *key)
{
	struct topology *t;

	for (size_t i = 0; i < nb->ntopologies; i++)
		if (streq(nb->topologies[i]->key, key)) {
			nb->topologies[i]->refs++;
			return nb->topologies[i];
		}
	t = xcalloc(1, sizeof(*t));
	t->key = xstrdup(key);
	t->refs = 1;
	map_init(&t->values, NULL);
	t->of = xcalloc(nb->nodes + 1, sizeof(*t->of));
	for (size_t i = 0; i < nb->nodes; i++)
		topology_move(t, i, false, nb->labels[i]);
	ARRAY_PUSH(nb->topologies, nb->ntopologies, nb->cap_topologies, t);
	return t;
}

static void topology_unref(struct neighbours *nb, struct topology *t)
{
	if (--t->refs > 0)
		return;
	for (size_t i = 0; i < nb->ntopologies; i++)
		if (nb->topologies[i] == t)
			nb->topologies[i] = nb->topologies[--nb->ntopologies];
	map_done(&t->values);
	free(t->key);
	free(t->of);
	free(t->nodes);
	free(t);
}

/* --- crowds --- */

/* Those of one that nobody has told of are the one that each has. */
static bool is_among(const struct neighbours *nb, const struct selector *among, const char *namespace)
{
	json_t *labels = map_find(&nb->namespaces, namespace);
	json_auto_t *name = labels ? json_incref(labels) : json_pack("{s:s}", "kubernetes.io/metadata.name", namespace);

	return selector_match_labels(among, name);
}

static bool clause_holds(const struct neighbours *nb, const struct clause *c, const char *namespace,
			 const json_t *labels)
{
	bool inside = c->everywhere;

	for (size_t i = 0; i < c->n && !inside; i++)
		inside = streq(c->namespaces[i], namespace);
	if (!inside && c->among)
		inside = is_among(nb, c->among, namespace);
	return inside && c->labels && selector_match_labels(c->labels, labels);
}

bool crowd_has(const struct neighbours *nb, const struct crowd *c, const char *namespace, const json_t *labels)
{
	for (size_t i = 0; i < c->n; i++)
		if (!clause_holds(nb, &c->clauses[i], namespace, labels))
			return false;
	return true;
}

void clauses_free(struct clause *c, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		for (size_t k = 0; k < c[i].n; k++)
			free(c[i].namespaces[k]);
		free(c[i].namespaces);
		selector_free(c[i].among);
		selector_free(c[i].labels);
	}
	free(c);
}

static void count_sitters(struct neighbours *nb, struct crowd *c)
{
	for (size_t i = 0; i < nb->nodes; i++)
		for (size_t k = 0; k < nb->sitters[i].n; k++) {
			struct who *w = nb->sitters[i].items[k].who;

			who_refresh(nb, w);
			c->at[i] += w->nin > 0 && w->in[w->nin - 1] == c;
		}
}

static struct crowd *crowd_of(struct neighbours *nb, struct clause *clauses, size_t n, const char *text)
{
	struct crowd *c = map_find(&nb->by_text, text);

	if (c) {
		clauses_free(clauses, n);
		return c;
	}
	c = xcalloc(1, sizeof(*c));
	c->text = xstrdup(text);
	c->clauses = clauses;
	c->n = n;
	c->at = xcalloc(nb->nodes + 1, sizeof(*c->at));
	map_set(&nb->by_text, text, c);
	ARRAY_PUSH(nb->crowds, nb->ncrowds, nb->cap_crowds, c);
	count_sitters(nb, c);
	return c;
}

static void crowd_unref(struct neighbours *nb, struct crowd *c)
{
	if (--c->refs > 0)
		return;
	map_remove(&nb->by_text, c->text);
	for (size_t i = 0; i < nb->ncrowds; i++)
		if (nb->crowds[i] == c)
			nb->crowds[i] = nb->crowds[--nb->ncrowds];
	nb->purge++;
	clauses_free(c->clauses, c->n);
	free(c->ties);
	free(c->text);
	free(c->at);
	free(c);
}

/* --- ties --- */

void tie_widen(struct tie *t)
{
	int32_t cap = t->topology->domains + 8;

	if (t->topology->domains <= t->cap)
		return;
	t->have = xreallocarray(t->have, (size_t)cap, sizeof(*t->have));
	t->shun = xreallocarray(t->shun, (size_t)cap, sizeof(*t->shun));
	t->pull = xreallocarray(t->pull, (size_t)cap, sizeof(*t->pull));
	for (; t->cap < cap; t->cap++) {
		t->have[t->cap] = t->shun[t->cap] = 0;
		t->pull[t->cap] = 0;
	}
}

struct tie *tie_of(struct neighbours *nb, struct clause *clauses, size_t n, const char *text, const char *key)
{
	struct crowd *c = crowd_of(nb, clauses, n, text);
	struct tie *t;

	for (size_t i = 0; i < c->nties; i++)
		if (streq(c->ties[i]->topology->key, key)) {
			c->ties[i]->refs++;
			return c->ties[i];
		}
	t = xcalloc(1, sizeof(*t));
	t->refs = 1;
	t->crowd = c;
	t->topology = topology_of(nb, key);
	c->refs++;
	ARRAY_PUSH(c->ties, c->nties, c->cap_ties, t);
	tie_widen(t);
	for (size_t i = 0; i < nb->nodes; i++)
		if (tie_domain(t, i) >= 0) {
			t->have[tie_domain(t, i)] += (int32_t)c->at[i];
			t->have_all += c->at[i];
		}
	return t;
}

void tie_unref(struct neighbours *nb, struct tie *t)
{
	struct crowd *c = t->crowd;

	if (--t->refs > 0)
		return;
	for (size_t i = 0; i < c->nties; i++)
		if (c->ties[i] == t)
			c->ties[i] = c->ties[--c->nties];
	topology_unref(nb, t->topology);
	crowd_unref(nb, c);
	free(t->have);
	free(t->shun);
	free(t->pull);
	free(t);
}

/* --- counting --- */

/* Returns whether somebody hoped for this. */
static bool count_in_crowds(struct neighbours *nb, struct who *w, size_t node, int sign)
{
	bool hoped = false;

	if (!nb->ncrowds)
		return false;
	who_refresh(nb, w);
	for (size_t i = 0; i < w->nin; i++) {
		struct crowd *c = w->in[i];

		c->at[node] += (uint32_t)sign;
		hoped |= c->hopes > 0;
		for (size_t k = 0; k < c->nties; k++) {
			int32_t d = tie_domain(c->ties[k], node);

			if (d < 0)
				continue;
			c->ties[k]->have[d] += sign;
			c->ties[k]->have_all += sign;
		}
	}
	return hoped;
}

static void count_rules(struct near_rules *r, size_t node, int sign)
{
	for (size_t i = 0; i < r->nshun; i++) {
		int32_t d = tie_domain(r->shun[i], node);

		if (d < 0)
			continue;
		r->shun[i]->shun[d] += sign;
		r->shun[i]->shun_all += sign;
	}
	for (size_t i = 0; i < r->nwishes; i++) {
		int32_t d = tie_domain(r->wishes[i].tie, node);

		if (d < 0)
			continue;
		r->wishes[i].tie->pull[d] += sign * r->wishes[i].weight;
		r->wishes[i].tie->pullers += (unsigned)sign;
	}
}

static bool count_sitter(struct neighbours *nb, const struct sitter *s, size_t node, int sign)
{
	if (s->rules)
		count_rules(s->rules, node, sign);
	return count_in_crowds(nb, s->who, node, sign);
}

static void make_room(struct neighbours *nb, size_t node)
{
	size_t n = nb->nodes ? nb->nodes : 16;

	if (node < nb->nodes)
		return;
	while (n <= node)
		n *= 2;
	nb->labels = xreallocarray(nb->labels, n, sizeof(*nb->labels));
	nb->sitters = xreallocarray(nb->sitters, n, sizeof(*nb->sitters));
	for (size_t i = 0; i < nb->ntopologies; i++)
		nb->topologies[i]->of = xreallocarray(nb->topologies[i]->of, n, sizeof(int32_t));
	for (size_t i = 0; i < nb->ncrowds; i++)
		nb->crowds[i]->at = xreallocarray(nb->crowds[i]->at, n, sizeof(uint32_t));
	for (; nb->nodes < n; nb->nodes++) {
		nb->labels[nb->nodes] = NULL;
		nb->sitters[nb->nodes] = (struct sitters){ 0 };
		for (size_t i = 0; i < nb->ntopologies; i++)
			nb->topologies[i]->of[nb->nodes] = -1;
		for (size_t i = 0; i < nb->ncrowds; i++)
			nb->crowds[i]->at[nb->nodes] = 0;
	}
}

void neighbours_set_node(struct neighbours *nb, size_t node, const json_t *labels)
{
	struct sitters *here;

	make_room(nb, node);
	here = &nb->sitters[node];
	for (size_t i = 0; i < here->n; i++)
		count_sitter(nb, &here->items[i], node, -1);
	for (size_t i = 0; i < nb->ntopologies; i++)
		topology_move(nb->topologies[i], node, nb->labels[node] != NULL, labels);
	json_decref(nb->labels[node]);
	nb->labels[node] = json_incref((json_t *)labels);
	for (size_t i = 0; i < nb->ncrowds; i++)
		for (size_t k = 0; k < nb->crowds[i]->nties; k++)
			tie_widen(nb->crowds[i]->ties[k]);
	for (size_t i = 0; i < here->n; i++)
		count_sitter(nb, &here->items[i], node, 1);
}

static void count_namespace(struct neighbours *nb, const char *name, int sign)
{
	for (size_t i = 0; i < nb->nodes; i++)
		for (size_t k = 0; k < nb->sitters[i].n; k++)
			if (streq(nb->sitters[i].items[k].who->namespace, name))
				count_in_crowds(nb, nb->sitters[i].items[k].who, i, sign);
}

bool neighbours_set_namespace(struct neighbours *nb, const char *name, const json_t *labels)
{
	const json_t *before = map_find(&nb->namespaces, name);

	if (before == labels || (before && labels && json_equal(before, labels)))
		return false;
	count_namespace(nb, name, -1);
	if (labels)
		map_set(&nb->namespaces, name, json_incref((json_t *)labels));
	else
		map_remove(&nb->namespaces, name);
	nb->purge++; /* who is in which crowd is looked up anew */
	count_namespace(nb, name, 1);
	return true;
}

void neighbours_copy_namespaces(struct neighbours *nb, const struct neighbours *from)
{
	const char *name;
	size_t pos = 0;
	void *labels;

	while (map_next(&from->namespaces, &pos, &name, &labels))
		neighbours_set_namespace(nb, name, labels);
}

bool neighbours_sit(struct neighbours *nb, struct who *w, struct near_rules *r, size_t node)
{
	struct sitter s = { w, r };

	if (!w)
		return false;
	make_room(nb, node);
	ARRAY_PUSH(nb->sitters[node].items, nb->sitters[node].n, nb->sitters[node].cap, s);
	return count_sitter(nb, &s, node, 1);
}

void neighbours_rise(struct neighbours *nb, struct who *w, struct near_rules *r, size_t node)
{
	struct sitter s = { w, r };
	struct sitters *here;

	if (!w)
		return;
	here = &nb->sitters[node];
	for (size_t i = here->n; i-- > 0;)
		if (here->items[i].who == w) {
			here->items[i] = here->items[--here->n];
			break;
		}
	count_sitter(nb, &s, node, -1);
}
