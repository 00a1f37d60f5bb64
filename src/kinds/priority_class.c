// SPDX-License-Identifier: Apache-2.0
/* priority_class.c - scheduling.k8s.io/v1 PriorityClass: a name for a number that orders pods */
#include "kinds/cells.h"
#include "kinds/core.h"
#include "kinds/rest.h"
#include "kinds/rest_rules.h"

enum { HIGHEST_USER_PRIORITY = 1000000000 };

static const struct {
	const char *name;
	json_int_t value;
} system_classes[] = {
	{ "system-node-critical", 2000001000 },
	{ "system-cluster-critical", 2000000000 },
};

static const struct field fields[] = {
	FIELDS_OBJECT,
	F(2, "value", INT32,
	  .doc = "The priority: pods with a higher one go first. At most 1000000000; it cannot change."),
	F(3, "globalDefault", BOOL, .doc = "Whether pods that name no class get this one."),
	F(4, "description", STRING, .doc = "What the class is for."),
	FP(5, "preemptionPolicy", STRING, .dflt = "\"PreemptLowerPriority\"", .values = "Never|PreemptLowerPriority",
	   .doc = "Whether pods of the class may push out others of lower priority."),
};

static const struct message priority_class =
	MESSAGE("io.k8s.api.scheduling.v1.PriorityClass", fields, .doc = "A name for the priority of pods.");

static bool is_system_class(const char *name, json_int_t value)
{
	for (size_t i = 0; i < ARRAY_SIZE(system_classes); i++)
		if (streq(name, system_classes[i].name))
			return value == system_classes[i].value;
	return false;
}

static void validate(const json_t *obj, struct err *e)
{
	const char *name = jsonx_str_or(obj, "metadata.name", "");
	json_int_t value = jsonx_int_or(obj, "value", 0);

	if (is_system_class(name, value))
		return;
	if (str_starts(name, "system-"))
		path_forbidden(PATH_FIELD(NULL, "metadata.name"), e,
			       "priority class names with 'system-' prefix are reserved for system use only");
	if (value > HIGHEST_USER_PRIORITY)
		path_forbidden(PATH_FIELD(NULL, "value"), e, "maximum allowed value of a user defined priority is %d",
			       HIGHEST_USER_PRIORITY);
}

static void validate_update(const json_t *obj, const json_t *old, struct err *e)
{
	if (jsonx_int_or(obj, "value", 0) != jsonx_int_or(old, "value", 0))
		path_forbidden(PATH_FIELD(NULL, "value"), e, "may not be changed in an update.");
	rule_fixed(obj, old, "preemptionPolicy", e);
}

static json_t *cell_default(const json_t *obj, int64_t now)
{
	(void)now;
	return json_boolean(jsonx_bool_or(obj, "globalDefault", false));
}

CELL_INT(cell_value, "value")
CELL_STR(cell_preemption, "preemptionPolicy", "PreemptLowerPriority")

static const struct column columns[] = {
	COLUMN_NAME,
	COLUMN_INT("Value", "The priority.", cell_value),
	{ .name = "Global-Default",
	  .type = "boolean",
	  .format = "",
	  .doc = "Whether pods that name no class get this one.",
	  .cell = cell_default },
	COLUMN_AGE,
	COLUMN_WIDE("PreemptionPolicy", "Whether its pods push out others.", cell_preemption),
};

static const char *const short_names[] = { "pc", NULL };

const struct kind kind_priority_class = {
	.group = "scheduling.k8s.io",
	.version = "v1",
	.kind = "PriorityClass",
	.plural = "priorityclasses",
	.singular = "priorityclass",
	.short_names = short_names,
	.flags = KIND_GENERATION,
	.verbs = VERBS_ALL,
	.message = &priority_class,
	KIND_COLUMNS(columns),
	.validate = validate,
	.validate_update = validate_update,
};
