// SPDX-License-Identifier: Apache-2.0
/* refs.c - how core/v1 objects point at each other, and at fields of themselves
 *
 * Every reference is atomic for server-side apply: half a reference from one manager and half from another would point
 * nowhere.
 */
#include "base/jsonx.h"
#include "kinds/core.h"
#include "kinds/rules.h"

static const struct field object_reference_fields[] = {
	F(1, "kind", STRING, .doc = "Kind of the object."),
	F(2, "namespace", STRING, .doc = "Namespace of the object."),
	F(3, "name", STRING, .doc = "Name of the object."),
	F(4, "uid", STRING, .doc = "Identity of the object; tells it from a later one of the same name."),
	F(5, "apiVersion", STRING, .doc = "Group and version of the object."),
	F(6, "resourceVersion", STRING, .doc = "The state of the object that is meant, if one in particular is."),
	F(7, "fieldPath", STRING,
	  .doc = "A part of the object, such as spec.containers{name}, when not the whole is meant."),
};
const struct message core_object_reference =
	MESSAGE("io.k8s.api.core.v1.ObjectReference", object_reference_fields,
		.doc = "Enough to find another object, or a part of it.", .atomic = true);

static const struct field local_object_reference_fields[] = {
	F(1, "name", STRING, .doc = "Name of the object."),
};
const struct message core_local_object_reference =
	MESSAGE("io.k8s.api.core.v1.LocalObjectReference", local_object_reference_fields,
		.doc = "An object of a known kind in the same namespace.", .atomic = true);

static const struct field typed_local_object_reference_fields[] = {
	FP(1, "apiGroup", STRING, .doc = "Group of the object; absent means the core group."),
	F(2, "kind", STRING, .flags = FIELD_REQUIRED, .doc = "Kind of the object."),
	F(3, "name", STRING, .flags = FIELD_REQUIRED, .doc = "Name of the object."),
};
const struct message core_typed_local_object_reference =
	MESSAGE("io.k8s.api.core.v1.TypedLocalObjectReference", typed_local_object_reference_fields,
		.doc = "An object of any kind in the same namespace.", .atomic = true);

static const struct field typed_object_reference_fields[] = {
	FP(1, "apiGroup", STRING, .doc = "Group of the object; absent means the core group."),
	F(2, "kind", STRING, .flags = FIELD_REQUIRED, .doc = "Kind of the object."),
	F(3, "name", STRING, .flags = FIELD_REQUIRED, .doc = "Name of the object."),
	FP(4, "namespace", STRING, .doc = "Namespace of the object; absent means the same one."),
};
const struct message core_typed_object_reference =
	MESSAGE("io.k8s.api.core.v1.TypedObjectReference", typed_object_reference_fields,
		.doc = "An object of any kind, also in another namespace.");

static const struct field secret_reference_fields[] = {
	F(1, "name", STRING, .doc = "Name of the secret."),
	F(2, "namespace", STRING, .doc = "Namespace of the secret."),
};
const struct message core_secret_reference = MESSAGE("io.k8s.api.core.v1.SecretReference", secret_reference_fields,
						     .doc = "A secret in any namespace.", .atomic = true);

static const struct field object_field_selector_fields[] = {
	F(1, "apiVersion", STRING, .dflt = "\"v1\"", .doc = "Version in which fieldPath is written."),
	F(2, "fieldPath", STRING, .flags = FIELD_REQUIRED,
	  .doc = "Path of the field, such as metadata.name or status.podIP."),
};
const struct message core_object_field_selector =
	MESSAGE("io.k8s.api.core.v1.ObjectFieldSelector", object_field_selector_fields,
		.doc = "A field of the pod itself.", .atomic = true);

static void resource_field_validate(const json_t *obj, const struct path *at, struct err *e)
{
	static const char names[] = "limits.cpu|limits.ephemeral-storage|limits.memory|requests.cpu|"
				    "requests.ephemeral-storage|requests.memory";
	const char *resource = jsonx_str(obj, "resource");

	if (!resource || str_starts(resource, "limits.hugepages-") || str_starts(resource, "requests.hugepages-"))
		return;
	if (!rule_one_of(resource, names))
		path_unsupported(PATH_FIELD(at, "resource"), e, resource, names);
}

static const struct field resource_field_selector_fields[] = {
	F(1, "containerName", STRING, .doc = "The container; needed in volumes, implied in the environment."),
	F(2, "resource", STRING, .flags = FIELD_REQUIRED,
	  .doc = "Which amount: limits.cpu, requests.memory and so on."),
	F(3, "divisor", QUANTITY, .dflt = "\"0\"", .doc = "Unit of the result; 1 by default."),
};
const struct message core_resource_field_selector =
	MESSAGE("io.k8s.api.core.v1.ResourceFieldSelector", resource_field_selector_fields,
		.doc = "A request or limit of a container.", .validate = resource_field_validate, .atomic = true);

static void key_to_path_validate(const json_t *obj, const struct path *at, struct err *e)
{
	rule_relative_path(json_object_get(obj, "path"), PATH_FIELD(at, "path"), e);
	rule_file_mode(json_object_get(obj, "mode"), PATH_FIELD(at, "mode"), e);
}

static const struct field key_to_path_fields[] = {
	F(1, "key", STRING, .flags = FIELD_REQUIRED, .doc = "The key."),
	F(2, "path", STRING, .flags = FIELD_REQUIRED, .doc = "Relative path of the file; may not contain \"..\"."),
	FP(3, "mode", INT32, .doc = "Permission bits of the file, 0 to 0777; defaultMode if absent."),
};
const struct message core_key_to_path =
	MESSAGE("io.k8s.api.core.v1.KeyToPath", key_to_path_fields,
		.doc = "One key of a ConfigMap or Secret, and the file it becomes.", .validate = key_to_path_validate);
