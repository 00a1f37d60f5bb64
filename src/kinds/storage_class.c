// SPDX-License-Identifier: Apache-2.0
/* storage_class.c - storage.k8s.io/v1 StorageClass: a sort of storage that claims can ask for */
#include "kinds/cells.h"
#include "kinds/core.h"
#include "kinds/rest.h"
#include "kinds/rest_rules.h"

#define DEFAULT_CLASS "storageclass.kubernetes.io/is-default-class"

static const struct field fields[] = {
	FIELDS_OBJECT,
	F(2, "provisioner", STRING, .flags = FIELD_REQUIRED, .doc = "Who makes the volumes."),
	FM(3, "parameters", STRING, .doc = "Settings for the provisioner."),
	FP(4, "reclaimPolicy", STRING, .dflt = "\"Delete\"", .values = "Delete|Retain",
	   .doc = "What becomes of a volume whose claim is deleted."),
	FL(5, "mountOptions", STRING, .flags = FIELD_ATOMIC, .doc = "Options with which the volumes are mounted."),
	FP(6, "allowVolumeExpansion", BOOL, .doc = "Whether claims may ask for more room later."),
	FP(7, "volumeBindingMode", STRING, .dflt = "\"Immediate\"", .values = "Immediate|WaitForFirstConsumer",
	   .doc = "Whether a volume is made at once or when the first pod that uses it has a node."),
	FL(8, "allowedTopologies", OBJECT, .msg = &core_topology_selector_term, .flags = FIELD_ATOMIC,
	   .doc = "Where volumes may be made."),
};

static const struct message storage_class = MESSAGE("io.k8s.api.storage.v1.StorageClass", fields,
						    .doc = "A sort of storage that claims can ask for by name.");

static void validate_update(const json_t *obj, const json_t *old, struct err *e)
{
	static const char *const fixed[] = { "parameters", "provisioner", "reclaimPolicy" };

	for (size_t i = 0; i < ARRAY_SIZE(fixed); i++) {
		const json_t *now = json_object_get(obj, fixed[i]), *was = json_object_get(old, fixed[i]);

		if (value_is_empty(now) && value_is_empty(was))
			continue;
		if (!now || !was || !jsonx_equal(now, was))
			path_forbidden(PATH_FIELD(NULL, fixed[i]), e, "updates to %s are forbidden.", fixed[i]);
	}
	rule_fixed(obj, old, "volumeBindingMode", e);
}

static json_t *cell_class_name(const json_t *obj, int64_t now)
{
	const json_t *annotation = json_object_get(jsonx_at(obj, "metadata.annotations"), DEFAULT_CLASS);
	bool is_default = str_same(json_string_value(annotation), "true");

	(void)now;
	return jsonx_stringf("%s%s", jsonx_str_or(obj, "metadata.name", ""), is_default ? " (default)" : "");
}

static json_t *cell_expansion(const json_t *obj, int64_t now)
{
	(void)now;
	return json_boolean(jsonx_bool_or(obj, "allowVolumeExpansion", false));
}

CELL_STR(cell_provisioner, "provisioner", "")
CELL_STR(cell_reclaim, "reclaimPolicy", "Delete")
CELL_STR(cell_binding, "volumeBindingMode", "<unset>")

static const struct column columns[] = {
	{ .name = "Name",
	  .type = "string",
	  .format = "name",
	  .doc = "Name of the class; the default one is marked.",
	  .cell = cell_class_name },
	COLUMN("Provisioner", "Who makes the volumes.", cell_provisioner),
	COLUMN("ReclaimPolicy", "What becomes of a volume whose claim is deleted.", cell_reclaim),
	COLUMN("VolumeBindingMode", "When volumes are made.", cell_binding),
	COLUMN("AllowVolumeExpansion", "Whether claims may grow.", cell_expansion),
	COLUMN_AGE,
};

static const char *const short_names[] = { "sc", NULL };

const struct kind kind_storage_class = {
	.group = "storage.k8s.io",
	.version = "v1",
	.kind = "StorageClass",
	.plural = "storageclasses",
	.singular = "storageclass",
	.short_names = short_names,
	.verbs = VERBS_ALL,
	.message = &storage_class,
	KIND_COLUMNS(columns),
	.validate_update = validate_update,
};
