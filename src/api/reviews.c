// SPDX-License-Identifier: Apache-2.0
/* reviews.c - questions about rights, asked as objects
 *
 * A review is created, answered in its status and never stored.  Whether the caller may ask is RBAC's matter and has
 * been decided before; here is only the answer.
 */
#include "api/authn.h"
#include "api/authz_parts.h"
#include "base/jsonx.h"
#include "base/limits.h"
#include "base/mem.h"

struct review {
	struct authz *a;
	const struct caller *caller;
	json_t *obj;
};

/* --- access reviews --- */

/* Attributes out of the spec; false with a cause in e unless exactly one of the two kinds is there. */
static bool read_attributes(const json_t *spec, struct authz_attributes *at, struct err *e)
{
	const json_t *resource = json_object_get(spec, "resourceAttributes");
	const json_t *path = json_object_get(spec, "nonResourceAttributes");

	if (json_is_object(resource) && json_is_object(path)) {
		err_cause(e, CAUSE_INVALID, "spec.nonResourceAttributes",
			  "Invalid value: cannot be specified in combination with resourceAttributes");
		return false;
	}
	if (json_is_object(path)) {
		*at = (struct authz_attributes){ .verb = jsonx_str_or(path, "verb", ""),
						 .path = jsonx_str_or(path, "path", "") };
		return true;
	}
	if (!json_is_object(resource)) {
		err_cause(e, CAUSE_INVALID, "spec.resourceAttributes",
			  "Invalid value: \"null\": exactly one of nonResourceAttributes or resourceAttributes "
			  "must be specified");
		return false;
	}
	*at = (struct authz_attributes){ .verb = jsonx_str_or(resource, "verb", ""),
					 .group = jsonx_str_or(resource, "group", ""),
					 .resource = jsonx_str_or(resource, "resource", ""),
					 .subresource = jsonx_str_or(resource, "subresource", ""),
					 .ns = jsonx_str_or(resource, "namespace", ""),
					 .name = jsonx_str_or(resource, "name", "") };
	return true;
}

/* Which binding lets them, in Kubernetes' words. */
static json_t *grant_reason(const struct rbac_grant *g)
{
	bool account = streq(g->subject_kind, "ServiceAccount");

	return jsonx_stringf("RBAC: allowed by %s \"%s%s%s\" of %s \"%s\" to %s \"%s%s%s\"",
			     *g->ns ? "RoleBinding" : "ClusterRoleBinding", g->binding, *g->ns ? "/" : "", g->ns,
			     g->role_kind, g->role_name, g->subject_kind, g->subject_name, account ? "/" : "",
			     account ? g->subject_ns : "");
}

static void answer(struct review *r, const struct caller *who, const struct authz_attributes *at)
{
	json_t *status = json_object();
	const struct rbac_grant *g;

	if (authz_is_master(who)) {
		json_object_set_new(status, "allowed", json_true());
	} else {
		g = authz_find_grant(r->a, who, at);
		json_object_set_new(status, "allowed", json_boolean(g != NULL));
		if (g)
			json_object_set_new(status, "reason", grant_reason(g));
	}
	json_object_set_new(r->obj, "status", status);
}

static int review_self(struct review *r, struct err *e)
{
	struct authz_attributes at;

	if (!read_attributes(json_object_get(r->obj, "spec"), &at, e))
		return -1;
	answer(r, r->caller, &at);
	return 0;
}

/* Someone else, named in the spec. */
static int answer_subject(struct review *r, const struct authz_attributes *at, struct err *e)
{
	const json_t *spec = json_object_get(r->obj, "spec");
	const json_t *list = json_object_get(spec, "groups");
	auto_free const char **groups = xcalloc(json_array_size(list) + 1, sizeof(*groups));
	struct caller who = { .user = jsonx_str_or(spec, "user", ""),
			      .uid = jsonx_str_or(spec, "uid", ""),
			      .groups = groups };
	size_t n = 0;

	for (size_t i = 0; i < json_array_size(list); i++)
		if (json_is_string(json_array_get(list, i)))
			groups[n++] = json_string_value(json_array_get(list, i));
	if (!*who.user && !n)
		return err_cause(e, CAUSE_INVALID, "spec.user",
				 "Invalid value: \"\": at least one of user or group must be specified");
	answer(r, &who, at);
	return 0;
}

static int review_subject(struct review *r, struct err *e)
{
	struct authz_attributes at;

	if (!read_attributes(json_object_get(r->obj, "spec"), &at, e))
		return -1;
	return answer_subject(r, &at, e);
}

static int review_local(struct review *r, struct err *e)
{
	const char *ns = jsonx_str_or(r->obj, "metadata.namespace", "");
	struct authz_attributes at;

	if (json_is_object(jsonx_at(r->obj, "spec.nonResourceAttributes")))
		return err_cause(e, CAUSE_INVALID, "spec.nonResourceAttributes",
				 "Invalid value: disallowed on this kind of request");
	if (!read_attributes(json_object_get(r->obj, "spec"), &at, e))
		return -1;
	if (!streq(at.ns, ns))
		return err_cause(e, CAUSE_INVALID, "spec.resourceAttributes.namespace",
				 "Invalid value: \"%s\": must match metadata.namespace", at.ns);
	return answer_subject(r, &at, e);
}

/* --- everything I may do in a namespace --- */

struct rules_answer {
	json_t *resources, *urls;
};

static void copy_lists(const json_t *rule, json_t *to, const char *const *names)
{
	for (; *names; names++)
		if (json_array_size(json_object_get(rule, *names)))
			json_object_set(to, *names, json_object_get(rule, *names));
}

static bool add_rules(void *arg, const struct rbac_grant *g)
{
	static const char *const resource_lists[] = { "verbs", "apiGroups", "resources", "resourceNames", NULL };
	static const char *const url_lists[] = { "verbs", "nonResourceURLs", NULL };
	struct rules_answer *to = arg;

	for (size_t i = 0; i < g->rules->n; i++) {
		const json_t *rule = json_array_get(g->rules->source, i);
		bool urls = g->rules->rules[i].urls.n > 0;
		json_t *copy = json_pack("{s:[]}", "verbs");

		copy_lists(rule, copy, urls ? url_lists : resource_lists);
		json_array_append_new(urls ? to->urls : to->resources, copy);
	}
	return true;
}

static int review_rules(struct review *r, struct err *e)
{
	const char *ns = jsonx_str_or(r->obj, "spec.namespace", "");
	struct rules_answer to;
	const struct rbac_index *index = authz_index(r->a);

	if (!*ns)
		return err_set(e, ERR_BAD_REQUEST, "no namespace on request");
	to = (struct rules_answer){ json_array(), json_array() };
	if (authz_is_master(r->caller)) {
		json_array_append_new(to.resources, json_pack("{s:[s],s:[s],s:[s]}", "verbs", "*", "apiGroups", "*",
							      "resources", "*"));
		json_array_append_new(to.urls, json_pack("{s:[s],s:[s]}", "verbs", "*", "nonResourceURLs", "*"));
	}
	if (index)
		rbac_index_visit(index, r->caller, ns, add_rules, &to);
	json_object_set_new(r->obj, "status",
			    json_pack("{s:o,s:o,s:b}", "resourceRules", to.resources, "nonResourceRules", to.urls,
				      "incomplete", !index));
	return 0;
}

/* --- who am I, who is this token --- */

static int review_whoami(struct review *r, struct err *e)
{
	json_t *user = json_pack("{s:o,s:[]}", "username", jsonx_string(r->caller->user), "groups");

	(void)e;
	if (r->caller->uid && *r->caller->uid)
		json_object_set_new(user, "uid", jsonx_string(r->caller->uid));
	for (const char *const *g = r->caller->groups; g && *g; g++)
		json_array_append_new(json_object_get(user, "groups"), jsonx_string(*g));
	if (r->caller->extra)
		json_object_set(user, "extra", (json_t *)r->caller->extra);
	json_object_set_new(r->obj, "status", json_pack("{s:o}", "userInfo", user));
	return 0;
}

static int review_token(struct review *r, struct err *e)
{
	if (!*jsonx_str_or(r->obj, "spec.token", ""))
		return err_set(e, ERR_BAD_REQUEST, "token is required for TokenReview in authentication");
	authn_review(api_authn(r->a->api), r->obj);
	return 0;
}

static const struct {
	const char *kind;
	int (*review)(struct review *r, struct err *e);
} reviews[] = {
	{ "SelfSubjectAccessReview", review_self },   { "SubjectAccessReview", review_subject },
	{ "LocalSubjectAccessReview", review_local }, { "SelfSubjectRulesReview", review_rules },
	{ "SelfSubjectReview", review_whoami },       { "TokenReview", review_token },
};

int authz_review(struct authz *a, const struct caller *c, const struct kind *k, json_t *review, struct err *e)
{
	struct review r = { a, c, review };

	for (size_t i = 0; i < ARRAY_SIZE(reviews); i++)
		if (streq(reviews[i].kind, k->kind))
			return reviews[i].review(&r, e);
	return err_set(e, ERR_INTERNAL, "%s is no review", k->kind);
}
