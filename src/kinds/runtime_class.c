// SPDX-License-Identifier: Apache-2.0
/* runtime_class.c - node.k8s.io/v1 RuntimeClass: which container runtime a pod runs under */
#include "kinds/cells.h"
#include "kinds/core.h"
#include "kinds/names.h"
#include "kinds/rest.h"
#include "kinds/rest_rules.h"

static const struct field overhead_fields[] = {
	FM(1, "podFixed", QUANTITY, .doc = "Resources that each pod takes beyond its containers."),
};

static const struct message overhead =
	MESSAGE("io.k8s.api.node.v1.Overhead", overhead_fields, .doc = "What running a pod costs in itself.");

static const struct field scheduling_fields[] = {
	FM(1, "nodeSelector", STRING, .flags = FIELD_ATOMIC, .doc = "Labels of the nodes that have the runtime."),
	FL(2, "tolerations", OBJECT, .msg = &core_toleration, .flags = FIELD_ATOMIC,
	   .doc = "Taints of those nodes to bear."),
};

static const struct message scheduling =
	MESSAGE("io.k8s.api.node.v1.Scheduling", scheduling_fields, .doc = "Where the runtime is to be found.");

static const struct field fields[] = {
	FIELDS_OBJECT,
	F(2, "handler", STRING, .flags = FIELD_REQUIRED, .doc = "Name of the runtime on the node; it cannot change."),
	F(3, "overhead", OBJECT, .msg = &overhead, .doc = "What running a pod costs in itself."),
	F(4, "scheduling", OBJECT, .msg = &scheduling, .doc = "Where the runtime is to be found."),
};

static const struct message runtime_class =
	MESSAGE("io.k8s.api.node.v1.RuntimeClass", fields, .doc = "A container runtime that pods can ask for by name.");

static void validate(const json_t *obj, struct err *e)
{
	rule_name(obj, "handler", name_check_label, NULL, e);
}

static void validate_update(const json_t *obj, const json_t *old, struct err *e)
{
	rule_fixed(obj, old, "handler", e);
}

CELL_STR(cell_handler, "handler", "")

static const struct column columns[] = {
	COLUMN_NAME,
	COLUMN("Handler", "Name of the runtime on the node.", cell_handler),
	COLUMN_AGE,
};

const struct kind kind_runtime_class = {
	.group = "node.k8s.io",
	.version = "v1",
	.kind = "RuntimeClass",
	.plural = "runtimeclasses",
	.singular = "runtimeclass",
	.verbs = VERBS_ALL,
	.message = &runtime_class,
	KIND_COLUMNS(columns),
	.validate = validate,
	.validate_update = validate_update,
};
