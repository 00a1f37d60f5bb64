// SPDX-License-Identifier: Apache-2.0
/* env.c - a container's environment: literal values and where others come from */
#include "base/jsonx.h"
#include "kinds/core.h"
#include "kinds/names.h"
#include "kinds/rules.h"

static void key_selector_validate(const json_t *obj, const struct path *at, struct err *e)
{
	rule_required(obj, "name", at, e);
	rule_text(json_object_get(obj, "key"), PATH_FIELD(at, "key"), e, name_check_config_key);
}

static const struct field config_map_key_selector_fields[] = {
	F(1, "", OBJECT, .msg = &core_local_object_reference, .flags = FIELD_INLINE),
	F(2, "key", STRING, .flags = FIELD_REQUIRED, .doc = "The key."),
	FP(3, "optional", BOOL, .doc = "Whether the ConfigMap or the key may be missing."),
};
static const struct message config_map_key_selector =
	MESSAGE("io.k8s.api.core.v1.ConfigMapKeySelector", config_map_key_selector_fields,
		.doc = "One key of a ConfigMap.", .validate = key_selector_validate, .atomic = true);

static const struct field secret_key_selector_fields[] = {
	F(1, "", OBJECT, .msg = &core_local_object_reference, .flags = FIELD_INLINE),
	F(2, "key", STRING, .flags = FIELD_REQUIRED, .doc = "The key."),
	FP(3, "optional", BOOL, .doc = "Whether the Secret or the key may be missing."),
};
static const struct message secret_key_selector =
	MESSAGE("io.k8s.api.core.v1.SecretKeySelector", secret_key_selector_fields, .doc = "One key of a Secret.",
		.validate = key_selector_validate, .atomic = true);

/* What of a pod a variable may show; volumes may show more. */
static void env_field_ref_validate(const json_t *ref, const struct path *at, struct err *e)
{
	static const char paths[] = "metadata.name|metadata.namespace|metadata.uid|spec.nodeName|"
				    "spec.serviceAccountName|status.hostIP|status.hostIPs|status.podIP|status.podIPs";
	const char *path = jsonx_str(ref, "fieldPath");

	if (!path || rule_one_of(path, paths) || rule_subscript(path, "metadata.labels") ||
	    rule_subscript(path, "metadata.annotations"))
		return;
	path_unsupported(PATH_FIELD(at, "fieldPath"), e, path, paths);
}

static void env_source_validate(const json_t *obj, const struct path *at, struct err *e)
{
	const json_t *ref = json_object_get(obj, "fieldRef");
	size_t n = json_object_size(obj);

	if (n == 0)
		rule_invalid(
			NULL, at, e,
			"must specify one of: `fieldRef`, `resourceFieldRef`, `configMapKeyRef` or `secretKeyRef`");
	else if (n > 1)
		rule_invalid(NULL, at, e, "may not have more than one field specified at a time");
	if (ref)
		env_field_ref_validate(ref, PATH_FIELD(at, "fieldRef"), e);
}

static const struct field env_var_source_fields[] = {
	FP(1, "fieldRef", OBJECT, .msg = &core_object_field_selector, .doc = "A field of the pod."),
	FP(2, "resourceFieldRef", OBJECT, .msg = &core_resource_field_selector,
	   .doc = "A request or limit of a container."),
	FP(3, "configMapKeyRef", OBJECT, .msg = &config_map_key_selector, .doc = "A key of a ConfigMap."),
	FP(4, "secretKeyRef", OBJECT, .msg = &secret_key_selector, .doc = "A key of a Secret."),
};
static const struct message env_var_source =
	MESSAGE("io.k8s.api.core.v1.EnvVarSource", env_var_source_fields,
		.doc = "Where a variable's value comes from; exactly one is set.", .validate = env_source_validate);

static void env_var_validate(const json_t *obj, const struct path *at, struct err *e)
{
	rule_text(json_object_get(obj, "name"), PATH_FIELD(at, "name"), e, name_check_env);
	if (*jsonx_str_or(obj, "value", "") && json_object_get(obj, "valueFrom"))
		rule_invalid(NULL, PATH_FIELD(at, "valueFrom"), e, "may not be specified when `value` is not empty");
}

static const struct field env_var_fields[] = {
	F(1, "name", STRING, .flags = FIELD_REQUIRED, .doc = "Name of the variable."),
	F(2, "value", STRING,
	  .doc = "Its value; $(OTHER) is replaced by an earlier variable, $$ stands for one dollar sign."),
	FP(3, "valueFrom", OBJECT, .msg = &env_var_source, .doc = "Where the value comes from instead."),
};
const struct message core_env_var = MESSAGE("io.k8s.api.core.v1.EnvVar", env_var_fields,
					    .doc = "One environment variable.", .validate = env_var_validate);

static void env_source_name_validate(const json_t *obj, const struct path *at, struct err *e)
{
	rule_required(obj, "name", at, e);
}

static const struct field config_map_env_source_fields[] = {
	F(1, "", OBJECT, .msg = &core_local_object_reference, .flags = FIELD_INLINE),
	FP(2, "optional", BOOL, .doc = "Whether the ConfigMap may be missing."),
};
static const struct message config_map_env_source =
	MESSAGE("io.k8s.api.core.v1.ConfigMapEnvSource", config_map_env_source_fields,
		.doc = "Every key of a ConfigMap as a variable.", .validate = env_source_name_validate);

static const struct field secret_env_source_fields[] = {
	F(1, "", OBJECT, .msg = &core_local_object_reference, .flags = FIELD_INLINE),
	FP(2, "optional", BOOL, .doc = "Whether the Secret may be missing."),
};
static const struct message secret_env_source =
	MESSAGE("io.k8s.api.core.v1.SecretEnvSource", secret_env_source_fields,
		.doc = "Every key of a Secret as a variable.", .validate = env_source_name_validate);

static void env_from_validate(const json_t *obj, const struct path *at, struct err *e)
{
	bool config = json_object_get(obj, "configMapRef"), secret = json_object_get(obj, "secretRef");

	if (!config && !secret)
		rule_invalid(NULL, at, e, "must specify one of: `configMapRef` or `secretRef`");
	else if (config && secret)
		rule_invalid(NULL, at, e, "may not have more than one field specified at a time");
	rule_text(json_object_get(obj, "prefix"), PATH_FIELD(at, "prefix"), e, name_check_env);
}

static const struct field env_from_source_fields[] = {
	F(1, "prefix", STRING, .doc = "Text put before every name."),
	FP(2, "configMapRef", OBJECT, .msg = &config_map_env_source, .doc = "The ConfigMap."),
	FP(3, "secretRef", OBJECT, .msg = &secret_env_source, .doc = "The Secret."),
};
const struct message core_env_from_source =
	MESSAGE("io.k8s.api.core.v1.EnvFromSource", env_from_source_fields,
		.doc = "A whole ConfigMap or Secret as variables.", .validate = env_from_validate);
