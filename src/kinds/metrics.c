// SPDX-License-Identifier: Apache-2.0
/* metrics.c - metrics.k8s.io/v1beta1: what nodes and pods use at present; made when asked for, never stored */
#include "kinds/cells.h"
#include "kinds/core.h"
#include "kinds/quantity.h"
#include "kinds/rest.h"
#include "kinds/rest_rules.h"

#define MEASURE_ROWS                                                                                                   \
	F(2, "timestamp", TIME, .doc = "When it was measured."),                                                       \
		F(3, "window", DURATION, .doc = "Over how long it was averaged, such as 30s.")

static const struct field container_fields[] = {
	F(1, "name", STRING, .doc = "Name of the container."),
	FM(2, "usage", QUANTITY, .doc = "What it uses, by resource."),
};

static const struct message container = MESSAGE("io.k8s.metrics.pkg.apis.metrics.v1beta1.ContainerMetrics",
						container_fields, .doc = "What a container uses.");

static const struct field node_fields[] = {
	FIELDS_OBJECT,
	MEASURE_ROWS,
	FM(4, "usage", QUANTITY, .doc = "What the node uses, by resource."),
};

static const struct field pod_fields[] = {
	FIELDS_OBJECT,
	MEASURE_ROWS,
	FL(4, "containers", OBJECT, .msg = &container, .doc = "What its containers use."),
};

static const struct message node_metrics = MESSAGE("io.k8s.metrics.pkg.apis.metrics.v1beta1.NodeMetrics", node_fields,
						   .doc = "What a node uses at present.");
static const struct message pod_metrics =
	MESSAGE("io.k8s.metrics.pkg.apis.metrics.v1beta1.PodMetrics", pod_fields, .doc = "What a pod uses at present.");

static void add_usage(struct quantity *sum, const json_t *usage, const char *resource)
{
	const char *text = json_string_value(json_object_get(usage, resource));
	struct quantity q;

	if (!text || !quantity_parse(text, &q))
		return;
	sum->nano += q.nano;
	sum->format = q.format;
}

/* A node tells its use as a whole, a pod that of each container. */
static json_t *usage_cell(const json_t *obj, const char *resource)
{
	struct quantity sum = { .format = 'd' };
	char text[QUANTITY_TEXT];
	json_t *c;
	size_t i;

	add_usage(&sum, json_object_get(obj, "usage"), resource);
	json_array_foreach (json_object_get(obj, "containers"), i, c)
		add_usage(&sum, json_object_get(c, "usage"), resource);
	quantity_text(&sum, text);
	return json_string(text);
}

static json_t *cell_cpu(const json_t *obj, int64_t now)
{
	(void)now;
	return usage_cell(obj, "cpu");
}

static json_t *cell_memory(const json_t *obj, int64_t now)
{
	(void)now;
	return usage_cell(obj, "memory");
}

CELL_STR(cell_window, "window", "")

static const struct column columns[] = {
	COLUMN_NAME,
	COLUMN("CPU", "Processors in use.", cell_cpu),
	COLUMN("Memory", "Memory in use.", cell_memory),
	COLUMN("Window", "Over how long it was averaged.", cell_window),
};

#define METRICS_KIND                                                                                                   \
	.group = "metrics.k8s.io", .version = "v1beta1", .flags = KIND_VIRTUAL, .verbs = V(GET) | V(LIST),             \
	KIND_COLUMNS(columns)

const struct kind kind_node_metrics = {
	METRICS_KIND, .kind = "NodeMetrics", .plural = "nodes", .singular = "", .message = &node_metrics,
};

const struct kind kind_pod_metrics = {
	METRICS_KIND,   .kind = "PodMetrics", .plural = "pods",
	.singular = "", .namespaced = true,   .message = &pod_metrics,
};
