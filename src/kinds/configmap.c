// SPDX-License-Identifier: Apache-2.0
/* configmap.c - ConfigMap: settings as text or bytes by key */
#include "base/jsonx.h"
#include "base/mem.h"
#include "kinds/cells.h"
#include "kinds/core.h"
#include "kinds/datamap.h"
#include "kinds/rules.h"

static const struct field config_map_fields[] = {
	FIELDS_OBJECT,
	FM(2, "data", STRING, .doc = "Settings as text."),
	FM(3, "binaryData", BYTES, .doc = "Settings as bytes, in base64."),
	FP(4, "immutable", BOOL, .doc = "Whether the contents may never change again."),
};
const struct message core_config_map = MESSAGE("io.k8s.api.core.v1.ConfigMap", config_map_fields,
					       .doc = "Settings by key, for containers to read as files or variables.");

static void config_map_validate(const json_t *obj, struct err *e)
{
	json_t *data = json_object_get(obj, "data"), *binary = json_object_get(obj, "binaryData"), *value;
	const char *key;

	datamap_validate_keys(data, PATH_FIELD(NULL, "data"), e);
	datamap_validate_keys(binary, PATH_FIELD(NULL, "binaryData"), e);
	json_object_foreach (data, key, value) {
		json_auto_t *text = jsonx_string(key);

		if (json_object_get(binary, key))
			path_invalid(PATH_KEY(PATH_FIELD(NULL, "data"), key), e, text,
				     "duplicate of key present in binaryData");
	}
	if (datamap_text_bytes(data) + datamap_base64_bytes(binary) > DATAMAP_MAX)
		rule_too_long(PATH_FIELD(NULL, "data"), e, DATAMAP_MAX);
}

static void config_map_validate_update(const json_t *obj, const json_t *old, struct err *e)
{
	static const char *const fields[] = { "data", "binaryData", NULL };

	datamap_validate_update(obj, old, fields, e);
}

static json_t *config_map_data(const json_t *obj, int64_t now)
{
	(void)now;
	return json_integer((json_int_t)(json_object_size(json_object_get(obj, "data")) +
					 json_object_size(json_object_get(obj, "binaryData"))));
}

static const struct column config_map_columns[] = {
	COLUMN_NAME,
	COLUMN("Data", "How many keys there are.", config_map_data),
	COLUMN_AGE,
};

const struct kind kind_config_map = {
	.group = "",
	.version = "v1",
	.kind = "ConfigMap",
	.plural = "configmaps",
	.singular = "configmap",
	.short_names = (const char *const[]){ "cm", NULL },
	.namespaced = true,
	.verbs = VERBS_ALL,
	.message = &core_config_map,
	.columns = config_map_columns,
	.ncolumns = ARRAY_SIZE(config_map_columns),
	.validate = config_map_validate,
	.validate_update = config_map_validate_update,
};
