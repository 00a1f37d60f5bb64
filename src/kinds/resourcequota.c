// SPDX-License-Identifier: Apache-2.0
/* resourcequota.c - ResourceQuota: how much a namespace may use in all */
#include "base/jsonx.h"
#include "base/mem.h"
#include "kinds/cells.h"
#include "kinds/core.h"
#include "kinds/names.h"
#include "kinds/quantity.h"
#include "kinds/rules.h"

#define SCOPES "BestEffort|CrossNamespacePodAffinity|NotBestEffort|NotTerminating|PriorityClass|Terminating"
/* What is measured rather than counted, and so may be a fraction. */
#define MEASURED                                                                                                       \
	"cpu|memory|ephemeral-storage|requests.cpu|requests.memory|requests.storage|requests.ephemeral-storage|"       \
	"limits.cpu|limits.memory|limits.ephemeral-storage"
/* What a scope can be about: pods, and what they ask for. */
#define OF_PODS "pods|cpu|memory|requests.cpu|requests.memory|limits.cpu|limits.memory"
#define COUNTED                                                                                                        \
	"pods|services|services.loadbalancers|services.nodeports|replicationcontrollers|resourcequotas|secrets|"       \
	"configmaps|persistentvolumeclaims"

static void scope_validate(const json_t *obj, const struct path *at, struct err *e)
{
	const char *scope = jsonx_str_or(obj, "scopeName", "");
	const char *op = jsonx_str_or(obj, "operator", "");
	size_t n = json_array_size(json_object_get(obj, "values"));

	if (rule_one_of(scope, SCOPES) && !streq(scope, "PriorityClass") && *op && !streq(op, "Exists"))
		path_invalid(PATH_FIELD(at, "operator"), e, json_object_get(obj, "operator"),
			     "must be 'Exist' only operator when scope is any of ResourceQuotaScopeTerminating, "
			     "ResourceQuotaScopeNotTerminating, ResourceQuotaScopeBestEffort, "
			     "ResourceQuotaScopeNotBestEffort or ResourceQuotaScopeCrossNamespacePodAffinity");
	if (rule_one_of(op, "In|NotIn") && n == 0)
		path_required(PATH_FIELD(at, "values"), e,
			      "must be at least one value when `operator` is 'In' or 'NotIn' for scope selector");
	else if (rule_one_of(op, "Exists|DoesNotExist") && n > 0)
		path_invalid(PATH_FIELD(at, "values"), e, json_object_get(obj, "values"),
			     "must be no value when `operator` is 'Exists' or 'DoesNotExist' for scope selector");
}

static const struct field scoped_resource_selector_requirement_fields[] = {
	F(1, "scopeName", STRING, .flags = FIELD_REQUIRED, .values = SCOPES, .doc = "The scope."),
	F(2, "operator", STRING, .flags = FIELD_REQUIRED, .values = "DoesNotExist|Exists|In|NotIn",
	  .doc = "In, NotIn, Exists or DoesNotExist."),
	FL(3, "values", STRING, .doc = "Values, for In and NotIn."),
};
static const struct message scoped_resource_selector_requirement =
	MESSAGE("io.k8s.api.core.v1.ScopedResourceSelectorRequirement", scoped_resource_selector_requirement_fields,
		.doc = "One condition on the pods that count.", .validate = scope_validate);

static const struct field scope_selector_fields[] = {
	FL(1, "matchExpressions", OBJECT, .msg = &scoped_resource_selector_requirement, .doc = "The conditions."),
};
static const struct message scope_selector = MESSAGE("io.k8s.api.core.v1.ScopeSelector", scope_selector_fields,
						     .doc = "Conditions that must all hold.", .atomic = true);

static bool quota_name_known(const char *name)
{
	return strchr(name, '/') || rule_one_of(name, MEASURED) || rule_one_of(name, COUNTED) ||
	       str_starts(name, "hugepages-") || str_starts(name, "requests.hugepages-") ||
	       str_starts(name, "limits.hugepages-");
}

static void quota_list_validate(const json_t *list, const struct path *at, struct err *e)
{
	const char *name;
	json_t *amount;
	struct quantity q;

	json_object_foreach ((json_t *)list, name, amount) {
		const struct path *here = PATH_KEY(at, name);
		const char *complaint = name_check_qualified(name);
		json_auto_t *text = jsonx_string(name);

		if (complaint)
			path_invalid(here, e, text, "%s", complaint);
		else if (!quota_name_known(name))
			path_invalid(here, e, text, "must be a standard resource for quota");
		rule_quantity(amount, here, e);
		if (!rule_one_of(name, MEASURED) && rule_quantity_parse(amount, &q) && quantity_milli(&q) % 1000)
			path_invalid(here, e, amount, "must be an integer");
	}
}

static bool scope_fits(const char *scope, const char *name)
{
	if (!rule_one_of(scope, SCOPES) || strchr(name, '/')) /* complained about elsewhere; nobody's */
		return true;
	return rule_one_of(name, streq(scope, "BestEffort") ? "pods" : OF_PODS);
}

/* One scope against everything that the quota limits.  `shown` is what a complaint quotes. */
static void scope_use_validate(const char *scope, const json_t *hard, const json_t *shown, const struct path *at,
			       struct err *e)
{
	const char *name;
	json_t *amount;

	json_object_foreach ((json_t *)hard, name, amount)
		if (!scope_fits(scope, name))
			path_invalid(at, e, shown, "unsupported scope applied to resource");
}

static bool has_scope(const json_t *scopes, const char *key /* or NULL: plain texts */, const char *name)
{
	json_t *v;
	size_t i;

	json_array_foreach ((json_t *)scopes, i, v)
		if (str_same(key ? jsonx_str(v, key) : json_string_value(v), name))
			return true;
	return false;
}

/* No pod is both. */
static void conflicts_validate(const json_t *scopes, const char *key, const struct path *at, struct err *e)
{
	static const char *const pairs[][2] = { { "BestEffort", "NotBestEffort" },
						{ "Terminating", "NotTerminating" } };

	for (size_t i = 0; i < ARRAY_SIZE(pairs); i++)
		if (has_scope(scopes, key, pairs[i][0]) && has_scope(scopes, key, pairs[i][1]))
			path_invalid(at, e, scopes, "conflicting scopes");
}

static void quota_spec_validate(const json_t *obj, const struct path *at, struct err *e)
{
	const json_t *hard = json_object_get(obj, "hard");
	const json_t *scopes = json_object_get(obj, "scopes");
	const json_t *terms = jsonx_at(obj, "scopeSelector.matchExpressions");
	const struct path *at_scopes = PATH_FIELD(at, "scopes");
	const struct path *at_terms = PATH_FIELD(PATH_FIELD(at, "scopeSelector"), "matchExpressions");
	json_t *v;
	size_t i;

	quota_list_validate(hard, PATH_FIELD(at, "hard"), e);
	json_array_foreach ((json_t *)scopes, i, v)
		scope_use_validate(json_string_value(v), hard, scopes, at_scopes, e);
	conflicts_validate(scopes, NULL, at_scopes, e);
	json_array_foreach ((json_t *)terms, i, v)
		scope_use_validate(jsonx_str_or(v, "scopeName", ""), hard, json_object_get(obj, "scopeSelector"),
				   at_terms, e);
	conflicts_validate(terms, "scopeName", at_terms, e);
}

static const struct field resource_quota_spec_fields[] = {
	FM(1, "hard", QUANTITY,
	   .doc = "The most that may be used, by name: cpu, requests.nvidia.com/gpu, pods, count/jobs.batch and so "
		  "on."),
	FL(2, "scopes", STRING, .values = SCOPES, .doc = "Which pods count; all if absent."),
	FP(3, "scopeSelector", OBJECT, .msg = &scope_selector, .doc = "Which pods count, by conditions."),
};
static const struct message resource_quota_spec =
	MESSAGE("io.k8s.api.core.v1.ResourceQuotaSpec", resource_quota_spec_fields, .doc = "How much may be used.",
		.validate = quota_spec_validate);

static const struct field resource_quota_status_fields[] = {
	FM(1, "hard", QUANTITY, .doc = "The limits in force."),
	FM(2, "used", QUANTITY, .doc = "What is used of them."),
};
static const struct message resource_quota_status =
	MESSAGE("io.k8s.api.core.v1.ResourceQuotaStatus", resource_quota_status_fields, .doc = "How much is used.");

static const struct field resource_quota_fields[] = {
	FIELDS_OBJECT,
	F(2, "spec", OBJECT, .msg = &resource_quota_spec, .dflt = "{}", .doc = "How much may be used."),
	F(3, "status", OBJECT, .msg = &resource_quota_status, .dflt = "{}", .doc = "How much is used."),
};
const struct message core_resource_quota = MESSAGE("io.k8s.api.core.v1.ResourceQuota", resource_quota_fields,
						   .doc = "How much a namespace may use in all.");

static void quota_prepare_create(json_t *obj)
{
	json_object_set_new(obj, "status", json_object());
}

static void quota_validate_update(const json_t *obj, const json_t *old, struct err *e)
{
	rule_immutable(jsonx_at(obj, "spec.scopes"), jsonx_at(old, "spec.scopes"),
		       PATH_FIELD(PATH_FIELD(NULL, "spec"), "scopes"), e);
}

/* "name: used/hard, ..." of limits.* or of all others, sorted. */
static json_t *quota_cell(const json_t *obj, bool limits)
{
	const json_t *hard = jsonx_at(obj, "status.hard"), *used = jsonx_at(obj, "status.used");
	size_t n;
	auto_free const char **names = cells_sorted_keys(hard, &n);
	json_auto_t *parts = json_array();

	for (size_t i = 0; i < n; i++) {
		const char *have = json_string_value(json_object_get(used, names[i])),
			   *most = json_string_value(json_object_get(hard, names[i]));

		if (str_starts(names[i], "limits.") == limits)
			json_array_append_new(
				parts, jsonx_stringf("%s: %s/%s", names[i], have ? have : "0", most ? most : ""));
	}
	return cell_join(parts, ", ", "");
}

static json_t *quota_request(const json_t *obj, int64_t now)
{
	(void)now;
	return quota_cell(obj, false);
}

static json_t *quota_limit(const json_t *obj, int64_t now)
{
	(void)now;
	return quota_cell(obj, true);
}

static const struct column quota_columns[] = {
	COLUMN_NAME,
	COLUMN_AGE,
	COLUMN("Request", "Used and allowed requests and counts.", quota_request),
	COLUMN("Limit", "Used and allowed limits.", quota_limit),
};

static const struct subresource quota_subresources[] = {
	{ "status", VERBS_STATUS, NULL, NULL, NULL },
};

const struct kind kind_resource_quota = {
	.group = "",
	.version = "v1",
	.kind = "ResourceQuota",
	.plural = "resourcequotas",
	.singular = "resourcequota",
	.short_names = (const char *const[]){ "quota", NULL },
	.namespaced = true,
	.flags = KIND_STATUS,
	.verbs = VERBS_ALL,
	.message = &core_resource_quota,
	.columns = quota_columns,
	.ncolumns = ARRAY_SIZE(quota_columns),
	.subresources = quota_subresources,
	.nsubresources = ARRAY_SIZE(quota_subresources),
	.prepare_create = quota_prepare_create,
	.validate_update = quota_validate_update,
};
