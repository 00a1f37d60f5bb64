// SPDX-License-Identifier: Apache-2.0
/* quota_scope.c - which pods count for a quota with scopes; nothing else does */
#include "api/quota_parts.h"
#include "base/jsonx.h"
#include "base/mem.h"
#include "kinds/core.h"

json_t *quota_scopes(const json_t *spec)
{
	json_t *all = json_array();
	json_t *v;
	size_t i;

	json_array_foreach (json_object_get(spec, "scopes"), i, v)
		json_array_append_new(all, json_pack("{s:O, s:s}", "scopeName", v, "operator", "Exists"));
	json_array_foreach (jsonx_at(spec, "scopeSelector.matchExpressions"), i, v)
		json_array_append(all, v);
	return all;
}

static bool is_terminating(const json_t *spec, const json_t *scope)
{
	(void)scope;
	return jsonx_int_or(spec, "activeDeadlineSeconds", -1) >= 0;
}

static bool is_not_terminating(const json_t *spec, const json_t *scope)
{
	return !is_terminating(spec, scope);
}

static bool is_best_effort(const json_t *spec, const json_t *scope)
{
	(void)scope;
	return streq(pod_qos_class(spec), "BestEffort");
}

static bool is_not_best_effort(const json_t *spec, const json_t *scope)
{
	return !is_best_effort(spec, scope);
}

static bool has_priority_class(const json_t *spec, const json_t *scope)
{
	const char *class = jsonx_str_or(spec, "priorityClassName", "");
	const char *op = jsonx_str_or(scope, "operator", "");
	bool listed = false;
	json_t *v;
	size_t i;

	json_array_foreach (json_object_get(scope, "values"), i, v)
		listed |= *class && str_same(json_string_value(v), class);
	if (streq(op, "In"))
		return listed;
	if (streq(op, "NotIn"))
		return !listed;
	return streq(op, "Exists") == (*class != '\0');
}

static bool crosses(const json_t *term)
{
	return json_array_size(json_object_get(term, "namespaces")) || json_object_get(term, "namespaceSelector");
}

/* Affinity to pods of other namespaces: to look into those takes a right, and this quota is it. */
static bool has_cross_affinity(const json_t *spec, const json_t *scope)
{
	static const char *const kinds[] = { "podAffinity", "podAntiAffinity" };
	json_t *term;
	size_t i;

	(void)scope;
	for (size_t k = 0; k < ARRAY_SIZE(kinds); k++) {
		const json_t *affinity = json_object_get(json_object_get(spec, "affinity"), kinds[k]);

		json_array_foreach (json_object_get(affinity, "requiredDuringSchedulingIgnoredDuringExecution"), i,
				    term)
			if (crosses(term))
				return true;
		json_array_foreach (json_object_get(affinity, "preferredDuringSchedulingIgnoredDuringExecution"), i,
				    term)
			if (crosses(json_object_get(term, "podAffinityTerm")))
				return true;
	}
	return false;
}

static const struct {
	const char *name;
	bool (*holds)(const json_t *spec, const json_t *scope);
} scopes[] = {
	{ "Terminating", is_terminating },       { "NotTerminating", is_not_terminating },
	{ "BestEffort", is_best_effort },        { "NotBestEffort", is_not_best_effort },
	{ "PriorityClass", has_priority_class }, { "CrossNamespacePodAffinity", has_cross_affinity },
};

static bool holds(const json_t *scope, const json_t *pod_spec)
{
	for (size_t i = 0; i < ARRAY_SIZE(scopes); i++)
		if (str_same(jsonx_str(scope, "scopeName"), scopes[i].name))
			return scopes[i].holds(pod_spec, scope);
	return false;
}

bool quota_matches(const struct quota *q, const struct quota_subject *s)
{
	json_t *scope;
	size_t i;

	if (json_array_size(q->scopes) && !s->pod)
		return false;
	json_array_foreach (q->scopes, i, scope)
		if (!holds(scope, json_object_get(s->obj, "spec")))
			return false;
	return true;
}
