// SPDX-License-Identifier: Apache-2.0
/* namespace.c - Namespace: a room for names, quotas and rights */
#include "base/jsonx.h"
#include "base/mem.h"
#include "kinds/cells.h"
#include "kinds/core.h"

#define NAME_LABEL_KEY "kubernetes.io/metadata.name"

static const struct field namespace_condition_fields[] = {
	F(1, "type", STRING, .doc = "Type of the condition, such as NamespaceContentRemaining."),
	F(2, "status", STRING, .doc = "True, False or Unknown."),
	F(4, "lastTransitionTime", TIME, .doc = "When status last changed."),
	F(5, "reason", STRING, .doc = "One word for the last change."),
	F(6, "message", STRING, .doc = "A sentence for people."),
};
static const struct message namespace_condition =
	MESSAGE("io.k8s.api.core.v1.NamespaceCondition", namespace_condition_fields,
		.doc = "One aspect of a namespace's deletion.");

static const struct field namespace_spec_fields[] = {
	FL(1, "finalizers", STRING, .doc = "Who must clean up before the namespace goes."),
};
static const struct message namespace_spec =
	MESSAGE("io.k8s.api.core.v1.NamespaceSpec", namespace_spec_fields, .doc = "What a namespace shall be.");

static const struct field namespace_status_fields[] = {
	F(1, "phase", STRING, .values = "Active|Terminating",
	  .doc = "Active, or Terminating while its contents are deleted."),
	FL(2, "conditions", OBJECT, .msg = &namespace_condition, .merge_key = "type",
	   .doc = "Aspects of its deletion."),
};
static const struct message namespace_status =
	MESSAGE("io.k8s.api.core.v1.NamespaceStatus", namespace_status_fields, .doc = "What a namespace is doing.");

/* Lets selectors choose namespaces by name. */
static void namespace_defaults(json_t *obj)
{
	json_t *name = jsonx_at(obj, "metadata.name"), *labels = jsonx_at(obj, "metadata.labels");

	if (!json_string_length(name))
		return;
	if (!json_is_object(labels)) {
		labels = json_object();
		jsonx_set_new(obj, "metadata.labels", labels);
	}
	json_object_set(labels, NAME_LABEL_KEY, name);
}

static const struct field namespace_fields[] = {
	FIELDS_OBJECT,
	F(2, "spec", OBJECT, .msg = &namespace_spec, .dflt = "{}", .doc = "What the namespace shall be."),
	F(3, "status", OBJECT, .msg = &namespace_status, .dflt = "{}", .doc = "What the namespace is doing."),
};
const struct message core_namespace =
	MESSAGE("io.k8s.api.core.v1.Namespace", namespace_fields, .doc = "A room for names, quotas and rights.",
		.defaults = namespace_defaults);

static void namespace_prepare_create(json_t *obj)
{
	json_t *finalizers = jsonx_at(obj, "spec.finalizers"), *item;
	size_t i;

	json_object_set_new(obj, "status", json_pack("{s:s}", "phase", "Active"));
	json_array_foreach (finalizers, i, item)
		if (json_is_string(item) && streq(json_string_value(item), "kubernetes"))
			return;
	if (json_is_array(finalizers))
		json_array_append_new(finalizers, json_string("kubernetes"));
	else
		jsonx_set_new(obj, "spec.finalizers", json_pack("[s]", "kubernetes"));
}

/* Finalizers change through the finalize subresource only. */
static void namespace_prepare_update(json_t *obj, const json_t *old)
{
	const json_t *spec = json_object_get(old, "spec");

	if (spec)
		json_object_set_new(obj, "spec", jsonx_copy(spec));
}

static json_t *namespace_phase(const json_t *obj, int64_t now)
{
	(void)now;
	return cell_text_or(obj, "status.phase", "");
}

static const struct column namespace_columns[] = {
	COLUMN_NAME,
	COLUMN("Status", "Active, or Terminating.", namespace_phase),
	COLUMN_AGE,
};

static const struct selectable namespace_selectable[] = {
	{ "status.phase", "status.phase", NULL },
};

static const struct subresource namespace_subresources[] = {
	{ "finalize", V(UPDATE), NULL, NULL, NULL },
	{ "status", VERBS_STATUS, NULL, NULL, NULL },
};

const struct kind kind_namespace = {
	.group = "",
	.version = "v1",
	.kind = "Namespace",
	.plural = "namespaces",
	.singular = "namespace",
	.short_names = (const char *const[]){ "ns", NULL },
	.name_rule = NAME_LABEL,
	.flags = KIND_STATUS | KIND_NAMESPACE,
	.verbs = VERBS_ALL & ~V(DELETECOLLECTION),
	.message = &core_namespace,
	.columns = namespace_columns,
	.ncolumns = ARRAY_SIZE(namespace_columns),
	.selectable = namespace_selectable,
	.nselectable = ARRAY_SIZE(namespace_selectable),
	.subresources = namespace_subresources,
	.nsubresources = ARRAY_SIZE(namespace_subresources),
	.prepare_create = namespace_prepare_create,
	.prepare_update = namespace_prepare_update,
};
