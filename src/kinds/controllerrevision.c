// SPDX-License-Identifier: Apache-2.0
/* controllerrevision.c - apps/v1 ControllerRevision: an old state of a StatefulSet or DaemonSet, never changed */
#include "kinds/cells.h"
#include "kinds/core.h"
#include "kinds/rest.h"
#include "kinds/rest_rules.h"

static const struct field fields[] = {
	FIELDS_OBJECT,
	F(2, "data", ANY, .doc = "The state itself, in the form its owner understands."),
	F(3, "revision", INT64, .has_min = true, .doc = "Number of the state; higher is newer."),
};

static const struct message controller_revision =
	MESSAGE("io.k8s.api.apps.v1.ControllerRevision", fields,
		.doc = "An old state of a StatefulSet or DaemonSet, kept so that it can be brought back.");

static void validate_update(const json_t *obj, const json_t *old, struct err *e)
{
	rule_fixed(obj, old, "data", e);
}

static json_t *cell_controller(const json_t *obj, int64_t now)
{
	json_t *owner;
	size_t i;

	(void)now;
	json_array_foreach (jsonx_at(obj, "metadata.ownerReferences"), i, owner) {
		const char *api_version = jsonx_str_or(owner, "apiVersion", "");
		const char *slash = strchr(api_version, '/');
		auto_free char *kind = xstrdup(jsonx_str_or(owner, "kind", ""));

		if (!jsonx_bool_or(owner, "controller", false))
			continue;
		for (char *c = kind; *c; c++)
			*c = *c >= 'A' && *c <= 'Z' ? (char)(*c - 'A' + 'a') : *c;
		return jsonx_stringf("%s%s%.*s/%s", kind, slash ? "." : "", slash ? (int)(slash - api_version) : 0,
				     api_version, jsonx_str_or(owner, "name", ""));
	}
	return json_string("<none>");
}

CELL_INT(cell_revision, "revision")

static const struct column columns[] = {
	COLUMN_NAME,
	COLUMN("Controller", "The object this is a state of.", cell_controller),
	COLUMN_INT("Revision", "Number of the state; higher is newer.", cell_revision),
	COLUMN_AGE,
};

const struct kind kind_controller_revision = {
	.group = "apps",
	.version = "v1",
	.kind = "ControllerRevision",
	.plural = "controllerrevisions",
	.singular = "controllerrevision",
	.namespaced = true,
	.verbs = VERBS_ALL,
	.message = &controller_revision,
	KIND_COLUMNS(columns),
	.validate_update = validate_update,
};
