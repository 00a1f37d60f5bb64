// SPDX-License-Identifier: Apache-2.0
#include "api/wire.h"
#include "base/clock.h"
#include "base/jsonx.h"
#include "base/mem.h"
#include "test.h"

static const struct column columns[] = {
	{ .name = "Name", .type = "string", .format = "name", .path = ".metadata.name" },
	{ .name = "Replicas", .type = "integer", .path = ".spec.replicas" },
	{ .name = "Ratio", .type = "number", .path = ".spec.ratio" },
	{ .name = "On", .type = "boolean", .path = ".spec.on", .priority = 1 },
	{ .name = "Ready", .type = "string", .path = ".status.conditions[?(@.type==\"Ready\")].status" },
	{ .name = "Age", .type = "date", .path = ".metadata.creationTimestamp" },
	{ .name = "Map", .type = "string", .path = ".spec.map" },
};

static const struct kind custom = { .group = "example.org",
				    .version = "v1",
				    .kind = "Widget",
				    .plural = "widgets",
				    .flags = KIND_CUSTOM,
				    .columns = columns,
				    .ncolumns = ARRAY_SIZE(columns) };

static const char full[] =
	"{\"metadata\":{\"name\":\"a\",\"creationTimestamp\":\"2024-01-01T00:00:00Z\"},\"spec\":{\"replicas\":3,"
	"\"ratio\":0.5,\"on\":false,\"map\":{\"k\":1}},\"status\":{\"conditions\":[{\"type\":\"Ready\",\"status\":"
	"\"True\"}]}}";

static int64_t noon(void)
{
	int64_t micros = 0;

	clock_parse_rfc3339("2024-01-01T00:01:30Z", &micros);
	return micros / 1000000;
}

TEST("columns are listed with every property")
{
	json_auto_t *list = table_columns(&custom);

	CHECK_INT(json_array_size(list), ARRAY_SIZE(columns));
	CHECK_STR(jsonx_str(json_array_get(list, 0), "format"), "name");
	CHECK_STR(jsonx_str(json_array_get(list, 1), "format"), "");
	CHECK_INT(jsonx_int_or(json_array_get(list, 3), "priority", -1), 1);
}

TEST("cells of a custom kind have the type of their column")
{
	json_auto_t *obj = json_loads(full, 0, NULL);
	json_auto_t *row = table_row(&custom, obj, INCLUDE_NONE, "v1", noon());
	json_auto_t *want = json_pack("[s, i, f, b, s, s, s]", "a", 3, 0.5, 0, "True", "90s", "{\"k\":1}");

	CHECK(json_equal(json_object_get(row, "cells"), want));
	CHECK(json_is_null(json_object_get(row, "object")));
}

TEST("what is missing or of another type is null")
{
	json_auto_t *obj =
		json_loads("{\"metadata\":{\"name\":\"a\"},\"spec\":{\"replicas\":\"x\",\"on\":1}}", 0, NULL);
	json_auto_t *row = table_row(&custom, obj, INCLUDE_NONE, "v1", noon());
	json_auto_t *want = json_pack("[s, n, n, n, n, n, n]", "a");

	CHECK(json_equal(json_object_get(row, "cells"), want));
}

TEST("a row carries the metadata, the whole object or nothing")
{
	json_auto_t *obj = json_loads(full, 0, NULL);
	json_auto_t *partial = table_row(&custom, obj, INCLUDE_METADATA, "v1beta1", noon());
	json_auto_t *whole = table_row(&custom, obj, INCLUDE_OBJECT, "v1", noon());

	CHECK_STR(jsonx_str(partial, "object.kind"), "PartialObjectMetadata");
	CHECK_STR(jsonx_str(partial, "object.apiVersion"), "meta.k8s.io/v1beta1");
	CHECK_STR(jsonx_str(partial, "object.metadata.name"), "a");
	CHECK(jsonx_at(partial, "object.spec") == NULL);
	CHECK_STR(jsonx_str(whole, "object.kind"), "Widget");
	CHECK_STR(jsonx_str(whole, "object.apiVersion"), "example.org/v1");
	CHECK_INT(jsonx_int_or(whole, "object.spec.replicas", 0), 3);
	CHECK(json_object_get(obj, "kind") == NULL);
}

TEST("a finished pod's row says so")
{
	struct registry *r = registry_new();
	const struct kind *pod = registry_find(r, "", "v1", "pods");
	json_auto_t *done = json_loads("{\"metadata\":{\"name\":\"a\"},\"status\":{\"phase\":\"Failed\"}}", 0, NULL);
	json_auto_t *running =
		json_loads("{\"metadata\":{\"name\":\"a\"},\"status\":{\"phase\":\"Running\"}}", 0, NULL);
	json_auto_t *row = table_row(pod, done, INCLUDE_METADATA, "v1", noon());
	json_auto_t *other = table_row(pod, running, INCLUDE_METADATA, "v1", noon());

	CHECK_STR(jsonx_str(json_array_get(json_object_get(row, "conditions"), 0), "reason"), "Failed");
	CHECK_INT(json_array_size(json_object_get(row, "cells")), pod->ncolumns);
	CHECK(json_object_get(other, "conditions") == NULL);
	registry_free(r);
}
