// SPDX-License-Identifier: Apache-2.0
/* escalation.c - nobody grants what he does not have
 *
 * Whoever writes a role must hold every right in it, or the verb "escalate" on it; whoever writes a binding must hold
 * every right of the role it binds, or the verb "bind" on that role.  system:masters and the server itself are exempt.
 * What is compared are the caller's rules in the namespace of the object, as Kubernetes does.
 */
#include "api/authz_parts.h"

#include "base/jsonx.h"
#include "base/limits.h"
#include "base/mem.h"

struct check {
	struct authz *a;
	const struct caller *caller;
	const struct kind *kind;
	const json_t *obj, *old;
	const char *ns, *name;
};

/* --- the caller's own rules --- */

struct own {
	const struct rbac_rule **rules;
	size_t n, cap;
};

static bool add_own(void *arg, const struct rbac_grant *g)
{
	struct own *own = arg;

	for (size_t i = 0; i < g->rules->n; i++)
		ARRAY_PUSH(own->rules, own->n, own->cap, &g->rules->rules[i]);
	return true;
}

/* 0 if the caller's rules cover all of `rules` (an array of policy rules); else `why` says what is missing. */
static bool holds(const struct check *c, const json_t *rules, struct sbuf *why)
{
	const struct rbac_index *index = authz_index(c->a);
	struct own own = { 0 };
	struct rbac_rules want;
	bool covered;

	if (index)
		rbac_index_visit(index, c->caller, c->ns, add_own, &own);
	rbac_rules_init(&want, rules);
	covered = rbac_covers(own.rules, own.n, &want, why);
	rbac_rules_done(&want);
	free(own.rules);
	return covered;
}

static int forbidden(const struct check *c, const char *why, struct err *e)
{
	return err_set(e, ERR_FORBIDDEN, "%s.%s \"%s\" is forbidden: %s", c->kind->plural, c->kind->group, c->name,
		       why);
}

static int require_rules(const struct check *c, const json_t *rules, struct err *e)
{
	auto_sbuf struct sbuf missing = SBUF(LIMIT_STATUS_TEXT);
	auto_sbuf struct sbuf text = SBUF(LIMIT_STATUS_TEXT * 2);

	if (holds(c, rules, &missing))
		return 0;
	sbuf_addf(&text, "user \"%s\" (groups=[", c->caller->user);
	for (const char *const *g = c->caller->groups; g && *g; g++) {
		if (g != c->caller->groups)
			sbuf_addc(&text, ' ');
		sbuf_add_json_string(&text, *g, strlen(*g));
	}
	sbuf_addf(&text, "]) is attempting to grant RBAC permissions not currently held:\n%s",
		  missing.p ? missing.p : "");
	return forbidden(c, text.p, e);
}

/* --- roles --- */

static bool same_member(const json_t *a, const json_t *b, const char *name)
{
	return jsonx_equal(json_object_get(a, name), json_object_get(b, name));
}

static int check_role(const struct check *c, struct err *e)
{
	if (c->old && same_member(c->obj, c->old, "rules"))
		return 0;
	return require_rules(c, json_object_get(c->obj, "rules"), e);
}

/* An aggregation rule can gather anything, now or later. */
static int check_aggregation(const struct check *c, struct err *e)
{
	json_auto_t *everything = json_pack("[{s:[s],s:[s],s:[s]},{s:[s],s:[s]}]", "verbs", "*", "apiGroups", "*",
					    "resources", "*", "verbs", "*", "nonResourceURLs", "*");
	auto_sbuf struct sbuf unused = SBUF(LIMIT_STATUS_TEXT);

	if (holds(c, everything, &unused))
		return 0;
	return forbidden(c, "must have cluster-admin privileges to use an aggregationRule", e);
}

static int check_cluster_role(const struct check *c, struct err *e)
{
	bool aggregates = json_array_size(jsonx_at(c->obj, "aggregationRule.clusterRoleSelectors")) ||
			  json_array_size(jsonx_at(c->old, "aggregationRule.clusterRoleSelectors"));

	if (c->old && same_member(c->obj, c->old, "rules") && same_member(c->obj, c->old, "aggregationRule"))
		return 0;
	if (check_role(c, e) < 0)
		return -1;
	return aggregates ? check_aggregation(c, e) : 0;
}

/* --- bindings --- */

static int check_binding(const struct check *c, struct err *e)
{
	const char *kind = jsonx_str_or(c->obj, "roleRef.kind", "");
	const char *name = jsonx_str_or(c->obj, "roleRef.name", "");
	bool cluster = streq(kind, "ClusterRole");
	struct stored_kind *k = &c->a->kinds[cluster ? RBAC_CLUSTERROLE : RBAC_ROLE];
	struct authz_attributes bind = {
		.verb = "bind", .group = RBAC_GROUP, .resource = k->plural, .ns = c->ns, .name = name
	};
	json_auto_t *role = NULL;

	if (authz_allowed(c->a, c->caller, &bind))
		return 0;
	/* From the store, not the index: the role may have been written earlier in this turn. */
	if (stored_get(c->a->api, k, cluster ? "" : c->ns, name, &role, e) < 0) {
		if (e->kind == ERR_NOT_FOUND)
			return err_set(e, ERR_NOT_FOUND, "%s.%s \"%s\" not found", k->plural, RBAC_GROUP, name);
		return -1;
	}
	return require_rules(c, json_object_get(role, "rules"), e);
}

/* --- the four kinds --- */

static const struct {
	const char *kind;
	bool role;
	int (*check)(const struct check *c, struct err *e);
} checks[] = {
	{ "Role", true, check_role },
	{ "ClusterRole", true, check_cluster_role },
	{ "RoleBinding", false, check_binding },
	{ "ClusterRoleBinding", false, check_binding },
};

/* The garbage collector must be able to let an object go without holding its rights. */
static bool only_collector_fields_differ(const json_t *obj, const json_t *old)
{
	static const char *const fields[] = { "metadata.ownerReferences", "metadata.finalizers",
					      "metadata.managedFields", "metadata.resourceVersion" };
	json_auto_t *a = jsonx_copy(obj);
	json_auto_t *b = jsonx_copy(old);

	for (size_t i = 0; i < ARRAY_SIZE(fields); i++) {
		jsonx_del(a, fields[i]);
		jsonx_del(b, fields[i]);
	}
	return jsonx_equal(a, b);
}

int authz_check_escalation(struct authz *a, const struct caller *c, const struct kind *k, const json_t *obj,
			   const json_t *old, struct err *e)
{
	struct check check = { .a = a,
			       .caller = c,
			       .kind = k,
			       .obj = obj,
			       .old = old,
			       .ns = k->namespaced ? jsonx_str_or(obj, "metadata.namespace", "") : "",
			       .name = jsonx_str_or(obj, "metadata.name", "") };
	struct authz_attributes escalate = {
		.verb = "escalate", .group = RBAC_GROUP, .resource = k->plural, .ns = check.ns
	};

	if (!streq(k->group, RBAC_GROUP) || authz_is_master(c))
		return 0;
	escalate.name = old ? check.name : "";
	for (size_t i = 0; i < ARRAY_SIZE(checks); i++) {
		if (!streq(checks[i].kind, k->kind))
			continue;
		if (checks[i].role && authz_allowed(a, c, &escalate))
			return 0;
		if (old && only_collector_fields_differ(obj, old))
			return 0;
		return checks[i].check(&check, e);
	}
	return 0;
}
