// SPDX-License-Identifier: Apache-2.0
/* podtemplate.c - PodTemplate: a template kept as an object of its own */
#include "base/jsonx.h"
#include "base/mem.h"
#include "kinds/cells.h"
#include "kinds/core.h"

static const struct field pod_template_fields[] = {
	FIELDS_OBJECT,
	F(2, "template", OBJECT, .msg = &core_pod_template_spec, .dflt = "{}", .doc = "The pods to make from it."),
};
const struct message core_pod_template = MESSAGE("io.k8s.api.core.v1.PodTemplate", pod_template_fields,
						 .doc = "A template kept as an object of its own.");

static json_t *template_containers(const json_t *obj, int64_t now)
{
	(void)now;
	return cell_containers(jsonx_at(obj, "template.spec"));
}

static json_t *template_images(const json_t *obj, int64_t now)
{
	(void)now;
	return cell_images(jsonx_at(obj, "template.spec"));
}

static json_t *template_labels(const json_t *obj, int64_t now)
{
	(void)now;
	return cell_map_selector(jsonx_at(obj, "template.metadata.labels"));
}

static const struct column template_columns[] = {
	COLUMN_NAME,
	COLUMN("Containers", "Names of the containers.", template_containers),
	COLUMN("Images", "Images of the containers.", template_images),
	COLUMN("Pod Labels", "Labels of the pods.", template_labels),
};

const struct kind kind_pod_template = {
	.group = "",
	.version = "v1",
	.kind = "PodTemplate",
	.plural = "podtemplates",
	.singular = "podtemplate",
	.namespaced = true,
	.flags = KIND_GENERATION,
	.verbs = VERBS_ALL,
	.message = &core_pod_template,
	.columns = template_columns,
	.ncolumns = ARRAY_SIZE(template_columns),
};
