// SPDX-License-Identifier: Apache-2.0
/* volume_projection.c - volumes made of objects: ConfigMaps, Secrets, the pod's own fields, tokens */
#include "base/jsonx.h"
#include "kinds/core.h"
#include "kinds/rules.h"

#define DOC_ITEMS "Keys to show and the files they become; every key under its own name if absent."
#define DOC_MODE  "Permission bits of files without a mode of their own, 0 to 0777."

static void config_map_source_validate(const json_t *obj, const struct path *at, struct err *e)
{
	rule_required(obj, "name", at, e);
	rule_file_mode(json_object_get(obj, "defaultMode"), PATH_FIELD(at, "defaultMode"), e);
}

static const struct field config_map_volume_source_fields[] = {
	F(1, "", OBJECT, .msg = &core_local_object_reference, .flags = FIELD_INLINE),
	FL(2, "items", OBJECT, .msg = &core_key_to_path, .doc = DOC_ITEMS),
	FP(3, "defaultMode", INT32, .dflt = "420", .doc = DOC_MODE),
	FP(4, "optional", BOOL, .doc = "Whether the ConfigMap or its keys may be missing."),
};
const struct message core_config_map_volume_source =
	MESSAGE("io.k8s.api.core.v1.ConfigMapVolumeSource", config_map_volume_source_fields,
		.doc = "Files made of a ConfigMap's keys.", .validate = config_map_source_validate);

static void secret_source_validate(const json_t *obj, const struct path *at, struct err *e)
{
	rule_required(obj, "secretName", at, e);
	rule_file_mode(json_object_get(obj, "defaultMode"), PATH_FIELD(at, "defaultMode"), e);
}

static const struct field secret_volume_source_fields[] = {
	F(1, "secretName", STRING, .doc = "Name of the Secret."),
	FL(2, "items", OBJECT, .msg = &core_key_to_path, .doc = DOC_ITEMS),
	FP(3, "defaultMode", INT32, .dflt = "420", .doc = DOC_MODE),
	FP(4, "optional", BOOL, .doc = "Whether the Secret or its keys may be missing."),
};
const struct message core_secret_volume_source =
	MESSAGE("io.k8s.api.core.v1.SecretVolumeSource", secret_volume_source_fields,
		.doc = "Files made of a Secret's keys, kept in memory.", .validate = secret_source_validate);

static void downward_file_validate(const json_t *obj, const struct path *at, struct err *e)
{
	static const char paths[] =
		"metadata.annotations|metadata.labels|metadata.name|metadata.namespace|metadata.uid";
	const char *field = jsonx_str(obj, "fieldRef.fieldPath");
	bool resource = json_object_get(obj, "resourceFieldRef");

	if (json_object_get(obj, "fieldRef") && resource)
		rule_invalid(NULL, at, e, "fieldRef and resourceFieldRef can not be specified simultaneously");
	else if (!json_object_get(obj, "fieldRef") && !resource)
		path_required(at, e, "one of fieldRef and resourceFieldRef is required");
	if (field && !rule_one_of(field, paths) && !rule_subscript(field, "metadata.labels") &&
	    !rule_subscript(field, "metadata.annotations"))
		path_unsupported(PATH_FIELD(PATH_FIELD(at, "fieldRef"), "fieldPath"), e, field, paths);
	if (resource)
		rule_required(json_object_get(obj, "resourceFieldRef"), "containerName",
			      PATH_FIELD(at, "resourceFieldRef"), e);
	rule_relative_path(json_object_get(obj, "path"), PATH_FIELD(at, "path"), e);
	rule_file_mode(json_object_get(obj, "mode"), PATH_FIELD(at, "mode"), e);
}

static const struct field downward_api_volume_file_fields[] = {
	F(1, "path", STRING, .flags = FIELD_REQUIRED, .doc = "Relative path of the file."),
	FP(2, "fieldRef", OBJECT, .msg = &core_object_field_selector, .doc = "The pod's field."),
	FP(3, "resourceFieldRef", OBJECT, .msg = &core_resource_field_selector,
	   .doc = "The container's request or limit."),
	FP(4, "mode", INT32, .doc = "Permission bits of the file, 0 to 0777."),
};
static const struct message downward_api_volume_file = MESSAGE(
	"io.k8s.api.core.v1.DownwardAPIVolumeFile", downward_api_volume_file_fields,
	.doc = "A file with a field of the pod or a container's request or limit.", .validate = downward_file_validate);

static void mode_validate(const json_t *obj, const struct path *at, struct err *e)
{
	rule_file_mode(json_object_get(obj, "defaultMode"), PATH_FIELD(at, "defaultMode"), e);
}

static const struct field downward_api_volume_source_fields[] = {
	FL(1, "items", OBJECT, .msg = &downward_api_volume_file, .doc = "The files."),
	FP(2, "defaultMode", INT32, .dflt = "420", .doc = DOC_MODE),
};
const struct message core_downward_api_volume_source =
	MESSAGE("io.k8s.api.core.v1.DownwardAPIVolumeSource", downward_api_volume_source_fields,
		.doc = "Files with facts about the pod.", .validate = mode_validate);

static void projection_name_validate(const json_t *obj, const struct path *at, struct err *e)
{
	rule_required(obj, "name", at, e);
}

static const struct field config_map_projection_fields[] = {
	F(1, "", OBJECT, .msg = &core_local_object_reference, .flags = FIELD_INLINE),
	FL(2, "items", OBJECT, .msg = &core_key_to_path, .doc = DOC_ITEMS),
	FP(4, "optional", BOOL, .doc = "Whether the ConfigMap or its keys may be missing."),
};
static const struct message config_map_projection =
	MESSAGE("io.k8s.api.core.v1.ConfigMapProjection", config_map_projection_fields,
		.doc = "A ConfigMap's keys among other projections.", .validate = projection_name_validate);

static const struct field secret_projection_fields[] = {
	F(1, "", OBJECT, .msg = &core_local_object_reference, .flags = FIELD_INLINE),
	FL(2, "items", OBJECT, .msg = &core_key_to_path, .doc = DOC_ITEMS),
	FP(4, "optional", BOOL, .doc = "Whether the Secret or its keys may be missing."),
};
static const struct message secret_projection =
	MESSAGE("io.k8s.api.core.v1.SecretProjection", secret_projection_fields,
		.doc = "A Secret's keys among other projections.", .validate = projection_name_validate);

static const struct field downward_api_projection_fields[] = {
	FL(1, "items", OBJECT, .msg = &downward_api_volume_file, .doc = "The files."),
};
static const struct message downward_api_projection =
	MESSAGE("io.k8s.api.core.v1.DownwardAPIProjection", downward_api_projection_fields,
		.doc = "Facts about the pod among other projections.");

static void token_validate(const json_t *obj, const struct path *at, struct err *e)
{
	const json_t *seconds = json_object_get(obj, "expirationSeconds");

	if (seconds && json_integer_value(seconds) < 600)
		path_invalid(PATH_FIELD(at, "expirationSeconds"), e, seconds,
			     "may not specify a duration less than 10 minutes");
	rule_relative_path(json_object_get(obj, "path"), PATH_FIELD(at, "path"), e);
}

static const struct field service_account_token_projection_fields[] = {
	F(1, "audience", STRING, .doc = "Who the token is for; the API server if absent."),
	FP(2, "expirationSeconds", INT64, .dflt = "3600", .doc = "How long the token is valid; at least 600."),
	F(3, "path", STRING, .flags = FIELD_REQUIRED, .doc = "Relative path of the file."),
};
static const struct message service_account_token_projection =
	MESSAGE("io.k8s.api.core.v1.ServiceAccountTokenProjection", service_account_token_projection_fields,
		.doc = "A token of the pod's service account, renewed before it expires.", .validate = token_validate);

static const struct field cluster_trust_bundle_projection_fields[] = {
	FP(1, "name", STRING, .doc = "Name of the bundle."),
	FP(2, "signerName", STRING, .doc = "Signer whose bundles are joined."),
	FP(3, "labelSelector", OBJECT, .msg = &meta_label_selector, .doc = "Which of the signer's bundles."),
	F(4, "path", STRING, .flags = FIELD_REQUIRED, .doc = "Relative path of the file."),
	FP(5, "optional", BOOL, .doc = "Whether the bundle may be missing."),
};
static const struct message cluster_trust_bundle_projection =
	MESSAGE("io.k8s.api.core.v1.ClusterTrustBundleProjection", cluster_trust_bundle_projection_fields,
		.doc = "Certificates of a ClusterTrustBundle.");

static void projection_validate(const json_t *obj, const struct path *at, struct err *e)
{
	if (json_object_size(obj) > 1)
		path_forbidden(at, e, "may not specify more than 1 volume type per source");
}

static const struct field volume_projection_fields[] = {
	FP(1, "secret", OBJECT, .msg = &secret_projection, .doc = "Keys of a Secret."),
	FP(2, "downwardAPI", OBJECT, .msg = &downward_api_projection, .doc = "Facts about the pod."),
	FP(3, "configMap", OBJECT, .msg = &config_map_projection, .doc = "Keys of a ConfigMap."),
	FP(4, "serviceAccountToken", OBJECT, .msg = &service_account_token_projection,
	   .doc = "A token of the pod's service account."),
	FP(5, "clusterTrustBundle", OBJECT, .msg = &cluster_trust_bundle_projection,
	   .doc = "Certificates of a ClusterTrustBundle."),
};
static const struct message volume_projection =
	MESSAGE("io.k8s.api.core.v1.VolumeProjection", volume_projection_fields,
		.doc = "One source of a projected volume; exactly one is set.", .validate = projection_validate);

static const struct field projected_volume_source_fields[] = {
	FL(1, "sources", OBJECT, .msg = &volume_projection, .doc = "The sources."),
	FP(2, "defaultMode", INT32, .dflt = "420", .doc = DOC_MODE),
};
const struct message core_projected_volume_source =
	MESSAGE("io.k8s.api.core.v1.ProjectedVolumeSource", projected_volume_source_fields,
		.doc = "Several sources in one directory.", .validate = mode_validate);
