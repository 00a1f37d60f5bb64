// SPDX-License-Identifier: Apache-2.0
/* rbac_index.c - from a subject straight to its grants
 *
 * A request names a user and some groups; each is one look-up here, and what it finds are only the grants of that
 * subject at the cluster scope and in the request's namespace.  The number of bindings in the system does not matter.
 *
 * A binding may come before its role, and a role may go while its binding stays.  So roles are made on first mention
 * and never removed, only emptied: a grant points at its role for good, and a changed role changes every grant at once.
 */
#include "api/rbac_index.h"

#include "base/jsonx.h"
#include "base/limits.h"
#include "base/map.h"
#include "base/mem.h"

struct grants {
	struct rbac_grant **items; /* owned by their bindings */
	size_t n, cap;
};

struct subject {
	struct grants cluster;
	struct map by_ns; /* namespace -> struct grants */
};

struct binding {
	json_t *source; /* texts of the grants live in it */
	char *name, *ns;
	struct rbac_grant *grants;
	size_t n;
};

struct rbac_index {
	struct map roles;    /* "ns/name", "/name" for cluster roles -> struct rbac_rules */
	struct map bindings; /* the same keys -> struct binding */
	struct map users, groups;
};

static void free_role(void *p)
{
	rbac_rules_done(p);
	free(p);
}

static void free_grants(void *p)
{
	struct grants *g = p;

	free(g->items);
	free(g);
}

static void free_subject(void *p)
{
	struct subject *s = p;

	free(s->cluster.items);
	map_done(&s->by_ns);
	free(s);
}

static void free_binding(void *p)
{
	struct binding *b = p;

	json_decref(b->source);
	free(b->name);
	free(b->ns);
	free(b->grants);
	free(b);
}

struct rbac_index *rbac_index_new(void)
{
	struct rbac_index *x = xcalloc(1, sizeof(*x));

	map_init(&x->roles, free_role);
	map_init(&x->bindings, free_binding);
	map_init(&x->users, free_subject);
	map_init(&x->groups, free_subject);
	return x;
}

void rbac_index_free(struct rbac_index *x)
{
	if (!x)
		return;
	map_done(&x->users);
	map_done(&x->groups);
	map_done(&x->bindings);
	map_done(&x->roles);
	free(x);
}

static struct rbac_rules *role_at(struct rbac_index *x, const char *ns, const char *name)
{
	auto_free char *key = xasprintf("%s/%s", ns, name);
	struct rbac_rules *r = map_find(&x->roles, key);

	if (!r) {
		r = xcalloc(1, sizeof(*r));
		map_set(&x->roles, key, r);
	}
	return r;
}

/* --- subjects --- */

/* The map and key a subject is found under.  A service account is a user by another spelling. */
static struct map *subject_map(struct rbac_index *x, const struct rbac_grant *g, struct sbuf *key)
{
	if (streq(g->subject_kind, "Group")) {
		sbuf_adds(key, g->subject_name);
		return &x->groups;
	}
	if (streq(g->subject_kind, "User")) {
		sbuf_adds(key, g->subject_name);
		return &x->users;
	}
	if (streq(g->subject_kind, "ServiceAccount") && *g->subject_ns) {
		sbuf_addf(key, "system:serviceaccount:%s:%s", g->subject_ns, g->subject_name);
		return &x->users;
	}
	return NULL;
}

static struct grants *grants_in(struct subject *s, const char *ns)
{
	struct grants *g;

	if (!*ns)
		return &s->cluster;
	g = map_find(&s->by_ns, ns);
	if (!g) {
		g = xcalloc(1, sizeof(*g));
		map_set(&s->by_ns, ns, g);
	}
	return g;
}

static void link_grant(struct rbac_index *x, struct rbac_grant *g)
{
	auto_sbuf struct sbuf key = SBUF(LIMIT_OBJECT);
	struct map *map;
	struct subject *s;
	struct grants *to;

	map = subject_map(x, g, &key);
	if (!map || !key.p || key.over)
		return;
	s = map_find(map, key.p);
	if (!s) {
		s = xcalloc(1, sizeof(*s));
		map_init(&s->by_ns, free_grants);
		map_set(map, key.p, s);
	}
	to = grants_in(s, g->ns);
	ARRAY_PUSH(to->items, to->n, to->cap, g);
}

static void unlink_grant(struct rbac_index *x, const struct rbac_grant *g)
{
	auto_sbuf struct sbuf key = SBUF(LIMIT_OBJECT);
	struct map *map;
	struct subject *s;
	struct grants *from;
	size_t kept = 0;

	map = subject_map(x, g, &key);
	s = map && key.p ? map_find(map, key.p) : NULL;
	if (!s)
		return;
	from = grants_in(s, g->ns);
	for (size_t i = 0; i < from->n; i++)
		if (from->items[i] != g)
			from->items[kept++] = from->items[i];
	from->n = kept;
	if (!kept && *g->ns)
		map_remove(&s->by_ns, g->ns);
	if (!s->cluster.n && !s->by_ns.n)
		map_remove(map, key.p);
}

/* --- bindings --- */

static struct rbac_rules *bound_role(struct rbac_index *x, const struct binding *b, const char *kind, const char *name)
{
	if (streq(kind, "ClusterRole"))
		return role_at(x, "", name);
	if (streq(kind, "Role") && *b->ns)
		return role_at(x, b->ns, name);
	return NULL;
}

static const char *ns_of(const json_t *subject)
{
	return jsonx_str_or(subject, "namespace", "");
}

static struct binding *binding_new(struct rbac_index *x, const char *ns, const char *name, const json_t *obj)
{
	const json_t *subjects = json_object_get(obj, "subjects");
	const char *role_kind = jsonx_str_or(obj, "roleRef.kind", "");
	const char *role_name = jsonx_str_or(obj, "roleRef.name", "");
	struct binding *b = xcalloc(1, sizeof(*b));
	const struct rbac_rules *rules;
	size_t i;
	json_t *s;

	b->source = json_incref((json_t *)obj);
	b->name = xstrdup(name);
	b->ns = xstrdup(ns);
	b->grants = xcalloc(json_array_size(subjects) + 1, sizeof(*b->grants));
	rules = bound_role(x, b, role_kind, role_name);
	if (!rules)
		return b;
	json_array_foreach (subjects, i, s) {
		b->grants[b->n++] = (struct rbac_grant){ .rules = rules,
							 .binding = b->name,
							 .ns = b->ns,
							 .role_kind = role_kind,
							 .role_name = role_name,
							 .subject_kind = jsonx_str_or(s, "kind", ""),
							 .subject_ns = *ns_of(s) ? ns_of(s) : b->ns,
							 .subject_name = jsonx_str_or(s, "name", "") };
	}
	for (i = 0; i < b->n; i++)
		link_grant(x, &b->grants[i]);
	return b;
}

static void set_binding(struct rbac_index *x, const char *ns, const char *name, const json_t *obj)
{
	auto_free char *key = xasprintf("%s/%s", ns, name);
	struct binding *old = map_find(&x->bindings, key);

	for (size_t i = 0; old && i < old->n; i++)
		unlink_grant(x, &old->grants[i]);
	if (obj)
		map_set(&x->bindings, key, binding_new(x, ns, name, obj));
	else
		map_remove(&x->bindings, key);
}

static void set_role(struct rbac_index *x, const char *ns, const char *name, const json_t *obj)
{
	struct rbac_rules *r = role_at(x, ns, name);

	rbac_rules_done(r);
	rbac_rules_init(r, obj ? json_object_get(obj, "rules") : NULL);
}

void rbac_index_set(struct rbac_index *x, enum rbac_kind kind, const char *ns, const char *name, const json_t *obj)
{
	if (kind == RBAC_ROLE || kind == RBAC_CLUSTERROLE)
		set_role(x, ns, name, obj);
	else
		set_binding(x, ns, name, obj);
}

/* --- looking up --- */

struct visit {
	const char *ns;
	bool (*fn)(void *arg, const struct rbac_grant *g);
	void *arg;
};

static bool visit_grants(const struct grants *g, const struct visit *v)
{
	for (size_t i = 0; g && i < g->n; i++)
		if (!v->fn(v->arg, g->items[i]))
			return false;
	return true;
}

static bool visit_subject(const struct map *m, const char *name, const struct visit *v)
{
	const struct subject *s = map_find(m, name);

	if (!s)
		return true;
	if (!visit_grants(&s->cluster, v))
		return false;
	return !v->ns || !*v->ns || visit_grants(map_find(&s->by_ns, v->ns), v);
}

void rbac_index_visit(const struct rbac_index *x, const struct caller *c, const char *ns,
		      bool (*fn)(void *arg, const struct rbac_grant *g), void *arg)
{
	struct visit v = { ns, fn, arg };

	if (!visit_subject(&x->users, c->user, &v) || !c->groups)
		return;
	for (const char *const *g = c->groups; *g; g++)
		if (!visit_subject(&x->groups, *g, &v))
			return;
}

struct search {
	const struct authz_attributes *at;
	const struct rbac_grant *found;
};

static bool try_grant(void *arg, const struct rbac_grant *g)
{
	struct search *s = arg;

	for (size_t i = 0; i < g->rules->n; i++) {
		if (rbac_rule_allows(&g->rules->rules[i], s->at)) {
			s->found = g;
			return false;
		}
	}
	return true;
}

const struct rbac_grant *rbac_index_find(const struct rbac_index *x, const struct caller *c,
					 const struct authz_attributes *at)
{
	struct search s = { .at = at };

	rbac_index_visit(x, c, at->resource ? at->ns : "", try_grant, &s);
	return s.found;
}
