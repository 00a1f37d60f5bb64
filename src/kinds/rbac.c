// SPDX-License-Identifier: Apache-2.0
/* rbac.c - rbac.authorization.k8s.io/v1: roles and who has them
 *
 * The kinds for a namespace and for the cluster differ in little: a Role cannot speak of paths, and only a RoleBinding
 * can refer to a Role.
 */
#include "kinds/cells.h"
#include "kinds/core.h"
#include "kinds/names.h"
#include "kinds/rest.h"
#include "kinds/rest_rules.h"

#define RBAC_GROUP "rbac.authorization.k8s.io"

static const struct field rule_fields[] = {
	FL(1, "verbs", STRING, .flags = FIELD_ATOMIC, .doc = "What may be done: get, list, watch, create ... or *."),
	FL(2, "apiGroups", STRING, .flags = FIELD_ATOMIC, .doc = "In which API groups; \"\" is the core, * all."),
	FL(3, "resources", STRING, .flags = FIELD_ATOMIC, .doc = "To which resources, such as pods, pods/log or *."),
	FL(4, "resourceNames", STRING, .flags = FIELD_ATOMIC, .doc = "To which objects by name; all without."),
	FL(5, "nonResourceURLs", STRING, .flags = FIELD_ATOMIC,
	   .doc = "Paths that are no objects, such as /healthz or /logs/*; in ClusterRoles only."),
};

static void rule_validate(const json_t *obj, const struct path *at, struct err *e)
{
	const json_t *paths = json_object_get(obj, "nonResourceURLs");
	const json_t *groups = json_object_get(obj, "apiGroups"), *resources = json_object_get(obj, "resources");

	rule_some(json_object_get(obj, "verbs"), PATH_FIELD(at, "verbs"), e, "verbs must contain at least one value");
	if (!value_is_empty(paths)) {
		if (!value_is_empty(groups) || !value_is_empty(resources) ||
		    !value_is_empty(json_object_get(obj, "resourceNames")))
			path_invalid(PATH_FIELD(at, "nonResourceURLs"), e, paths,
				     "rules cannot apply to both regular resources and non-resource URLs");
		return;
	}
	rule_some(groups, PATH_FIELD(at, "apiGroups"), e, "resource rules must supply at least one api group");
	rule_some(resources, PATH_FIELD(at, "resources"), e, "resource rules must supply at least one resource");
}

static const struct message rule = MESSAGE("io.k8s.api.rbac.v1.PolicyRule", rule_fields,
					   .doc = "Something that may be done.", .validate = rule_validate);

static const struct field aggregation_fields[] = {
	FL(1, "clusterRoleSelectors", OBJECT, .msg = &meta_label_selector, .flags = FIELD_ATOMIC,
	   .doc = "ClusterRoles with these labels are taken in."),
};

static const struct message aggregation = MESSAGE("io.k8s.api.rbac.v1.AggregationRule", aggregation_fields,
						  .doc = "Other ClusterRoles whose rules this one has.");

static const struct field role_fields[] = {
	FIELDS_OBJECT,
	FL(2, "rules", OBJECT, .msg = &rule, .flags = FIELD_ATOMIC, .doc = "What may be done, all of it together."),
};

static const struct field cluster_role_fields[] = {
	FIELDS_OBJECT,
	FL(2, "rules", OBJECT, .msg = &rule, .flags = FIELD_ATOMIC, .doc = "What may be done, all of it together."),
	F(3, "aggregationRule", OBJECT, .msg = &aggregation, .doc = "Other ClusterRoles whose rules this one has."),
};

static const struct message role =
	MESSAGE("io.k8s.api.rbac.v1.Role", role_fields, .doc = "What may be done in one namespace.");
static const struct message cluster_role = MESSAGE("io.k8s.api.rbac.v1.ClusterRole", cluster_role_fields,
						   .doc = "What may be done in all namespaces, or in those of a "
							  "RoleBinding, and to objects of the cluster.");

static const struct field subject_fields[] = {
	F(1, "kind", STRING, .flags = FIELD_REQUIRED, .values = "ServiceAccount|User|Group",
	  .doc = "User, Group or ServiceAccount."),
	F(2, "apiGroup", STRING, .doc = "API group of the kind; none for ServiceAccount."),
	F(3, "name", STRING, .flags = FIELD_REQUIRED, .doc = "Name of the user, group or ServiceAccount."),
	F(4, "namespace", STRING, .doc = "Namespace of a ServiceAccount."),
};

static bool is_service_account(const json_t *subject)
{
	return str_same(jsonx_str(subject, "kind"), "ServiceAccount");
}

static void subject_defaults(json_t *obj)
{
	const char *kind = jsonx_str_or(obj, "kind", "");

	if ((streq(kind, "User") || streq(kind, "Group")) && value_is_empty(json_object_get(obj, "apiGroup")))
		json_object_set_new(obj, "apiGroup", json_string(RBAC_GROUP));
}

static void subject_validate(const json_t *obj, const struct path *at, struct err *e)
{
	const char *group = jsonx_str_or(obj, "apiGroup", "");
	const char *kind = jsonx_str_or(obj, "kind", "");

	if (is_service_account(obj)) {
		rule_name(obj, "name", name_check_subdomain, at, e);
		if (group[0])
			path_unsupported(PATH_FIELD(at, "apiGroup"), e, group, "");
		if (value_is_empty(json_object_get(obj, "namespace")))
			path_required(PATH_FIELD(at, "namespace"), e, NULL);
	} else if ((streq(kind, "User") || streq(kind, "Group")) && !streq(group, RBAC_GROUP)) {
		path_unsupported(PATH_FIELD(at, "apiGroup"), e, group, RBAC_GROUP);
	}
}

static const struct message subject =
	MESSAGE("io.k8s.api.rbac.v1.Subject", subject_fields, .doc = "Someone.", .atomic = true,
		.defaults = subject_defaults, .validate = subject_validate);

static const struct field role_ref_fields[] = {
	F(1, "apiGroup", STRING, .dflt = "\"" RBAC_GROUP "\"", .values = RBAC_GROUP, .doc = "API group of the role."),
	F(2, "kind", STRING, .flags = FIELD_REQUIRED, .doc = "Role or ClusterRole."),
	F(3, "name", STRING, .flags = FIELD_REQUIRED, .doc = "Name of the role."),
};

static void role_ref_validate(const json_t *obj, const struct path *at, struct err *e)
{
	rule_name(obj, "name", name_check_path_segment, at, e);
}

static const struct message role_ref = MESSAGE("io.k8s.api.rbac.v1.RoleRef", role_ref_fields, .doc = "A role.",
					       .atomic = true, .validate = role_ref_validate);

static const struct field binding_fields[] = {
	FIELDS_OBJECT,
	FL(2, "subjects", OBJECT, .msg = &subject, .flags = FIELD_ATOMIC, .doc = "Who gets the role."),
	F(3, "roleRef", OBJECT, .msg = &role_ref, .dflt = "{}", .doc = "The role; it cannot change."),
};

static const struct message role_binding =
	MESSAGE("io.k8s.api.rbac.v1.RoleBinding", binding_fields, .doc = "Gives a role to someone in one namespace.");
static const struct message cluster_role_binding = MESSAGE("io.k8s.api.rbac.v1.ClusterRoleBinding", binding_fields,
							   .doc = "Gives a ClusterRole to someone everywhere.");

static void role_validate(const json_t *obj, struct err *e)
{
	const struct path rules = { .name = "rules" };
	json_t *item;
	size_t i;

	json_array_foreach (json_object_get(obj, "rules"), i, item) {
		const json_t *paths = json_object_get(item, "nonResourceURLs");

		if (!value_is_empty(paths))
			path_invalid(PATH_FIELD(PATH_INDEX(&rules, i), "nonResourceURLs"), e, paths,
				     "namespaced rules cannot apply to non-resource URLs");
	}
}

static void check_role_kind(const json_t *obj, const char *kinds, struct err *e)
{
	const char *kind = jsonx_str_or(obj, "roleRef.kind", "");

	if (kind[0] && !streq(kind, "ClusterRole") && !(streq(kind, "Role") && str_starts(kinds, "Role|")))
		path_unsupported(PATH_FIELD(NULL, "roleRef.kind"), e, kind, kinds);
}

static void role_binding_validate(const json_t *obj, struct err *e)
{
	check_role_kind(obj, "Role|ClusterRole", e);
}

static void cluster_role_binding_validate(const json_t *obj, struct err *e)
{
	check_role_kind(obj, "ClusterRole", e);
}

static void binding_validate_update(const json_t *obj, const json_t *old, struct err *e)
{
	const json_t *now = json_object_get(obj, "roleRef"), *was = json_object_get(old, "roleRef");

	if (now && was && !jsonx_equal(now, was))
		path_invalid(PATH_FIELD(NULL, "roleRef"), e, now, "cannot change roleRef");
}

static json_t *cell_role(const json_t *obj, int64_t now)
{
	(void)now;
	return jsonx_stringf("%s/%s", jsonx_str_or(obj, "roleRef.kind", ""), jsonx_str_or(obj, "roleRef.name", ""));
}

static json_t *subjects_cell(const json_t *obj, const char *kind)
{
	json_auto_t *names = json_array();
	json_t *s;
	size_t i;

	json_array_foreach (json_object_get(obj, "subjects"), i, s) {
		if (!str_same(jsonx_str(s, "kind"), kind))
			continue;
		if (is_service_account(s))
			json_array_append_new(names, jsonx_stringf("%s/%s", jsonx_str_or(s, "namespace", ""),
								   jsonx_str_or(s, "name", "")));
		else
			json_array_append_new(names, jsonx_string(jsonx_str_or(s, "name", "")));
	}
	return cell_join(names, ", ", "");
}

static json_t *cell_users(const json_t *obj, int64_t now)
{
	(void)now;
	return subjects_cell(obj, "User");
}

static json_t *cell_groups(const json_t *obj, int64_t now)
{
	(void)now;
	return subjects_cell(obj, "Group");
}

static json_t *cell_service_accounts(const json_t *obj, int64_t now)
{
	(void)now;
	return subjects_cell(obj, "ServiceAccount");
}

static const struct column role_columns[] = { COLUMN_NAME, COLUMN_CREATED_AT };

static const struct column binding_columns[] = {
	COLUMN_NAME,
	COLUMN("Role", "The role.", cell_role),
	COLUMN_AGE,
	COLUMN_WIDE("Users", "Users who get it.", cell_users),
	COLUMN_WIDE("Groups", "Groups that get it.", cell_groups),
	COLUMN_WIDE("ServiceAccounts", "ServiceAccounts that get it.", cell_service_accounts),
};

/* What the four kinds have in common. */
#define RBAC_KIND(kind_, lower_, message_)                                                                             \
	.group = RBAC_GROUP, .version = "v1", .kind = kind_, .plural = lower_ "s", .singular = lower_,                 \
	.name_rule = NAME_PATH_SEGMENT, .flags = KIND_CREATE_ON_UPDATE, .verbs = VERBS_ALL, .message = message_

const struct kind kind_role = {
	RBAC_KIND("Role", "role", &role),
	.namespaced = true,
	KIND_COLUMNS(role_columns),
	.validate = role_validate,
};

const struct kind kind_cluster_role = {
	RBAC_KIND("ClusterRole", "clusterrole", &cluster_role),
	KIND_COLUMNS(role_columns),
};

const struct kind kind_role_binding = {
	RBAC_KIND("RoleBinding", "rolebinding", &role_binding),
	.namespaced = true,
	KIND_COLUMNS(binding_columns),
	.validate = role_binding_validate,
	.validate_update = binding_validate_update,
};

const struct kind kind_cluster_role_binding = {
	RBAC_KIND("ClusterRoleBinding", "clusterrolebinding", &cluster_role_binding),
	KIND_COLUMNS(binding_columns),
	.validate = cluster_role_binding_validate,
	.validate_update = binding_validate_update,
};
