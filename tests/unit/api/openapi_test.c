// SPDX-License-Identifier: Apache-2.0
#include "api/crd_impl.h"
#include "api/wire.h"
#include "base/jsonx.h"
#include "base/mem.h"
#include "test.h"

#define DOC_MAX (64u << 20)

static json_t *load(const struct sbuf *b)
{
	json_error_t je;
	json_t *v = json_loadb(sbuf_str(b).p, b->n, 0, &je);

	if (!v)
		test_fail(__FILE__, __LINE__, "not JSON: %s", je.text);
	return v;
}

/* Follows every $ref below v; counts those that lead nowhere. */
static int dangling(const json_t *v, const json_t *defs, const char *prefix)
{
	const char *key;
	json_t *child;
	size_t i;
	int n = 0;

	json_object_foreach ((json_t *)v, key, child) {
		if (strcmp(key, "$ref") == 0 && json_is_string(child)) {
			const char *ref = json_string_value(child);

			n += strncmp(ref, prefix, strlen(prefix)) != 0 || !json_object_get(defs, ref + strlen(prefix));
		}
		n += dangling(child, defs, prefix);
	}
	json_array_foreach ((json_t *)v, i, child)
		n += dangling(child, defs, prefix);
	return n;
}

TEST("every reference in the v2 document resolves")
{
	struct registry *r = registry_new();
	auto_sbuf struct sbuf text = SBUF(DOC_MAX);
	json_auto_t *doc = NULL;

	openapi_v2_json(r, &text);
	doc = load(&text);
	CHECK_INT(dangling(doc, json_object_get(doc, "definitions"), "#/definitions/"), 0);
	registry_free(r);
}

TEST("v2 tells how containers merge and what a pod is")
{
	struct registry *r = registry_new();
	auto_sbuf struct sbuf text = SBUF(DOC_MAX);
	json_auto_t *doc = NULL;
	const json_t *defs;
	const json_t *containers;
	const json_t *gvk;

	openapi_v2_json(r, &text);
	doc = load(&text);
	defs = json_object_get(doc, "definitions");
	containers = jsonx_at(json_object_get(defs, "io.k8s.api.core.v1.PodSpec"), "properties.containers");
	CHECK_STR(jsonx_str(containers, "x-kubernetes-patch-merge-key"), "name");
	CHECK_STR(jsonx_str(containers, "x-kubernetes-patch-strategy"), "merge");
	CHECK_STR(jsonx_str(containers, "x-kubernetes-list-type"), "map");
	gvk = json_array_get(
		json_object_get(json_object_get(defs, "io.k8s.api.core.v1.Pod"), "x-kubernetes-group-version-kind"), 0);
	CHECK_STR(jsonx_str(gvk, "kind"), "Pod");
	/* A volume's source is inline: its members are the volume's own. */
	CHECK(jsonx_at(json_object_get(defs, "io.k8s.api.core.v1.Volume"), "properties.emptyDir") != NULL);
	registry_free(r);
}

TEST("the PATCH operation of a kind takes dryRun and fieldValidation")
{
	struct registry *r = registry_new();
	auto_sbuf struct sbuf text = SBUF(DOC_MAX);
	json_auto_t *doc = NULL;
	const json_t *patch;
	bool dry_run = false;
	bool validation = false;
	size_t i;
	json_t *p;

	openapi_v2_json(r, &text);
	doc = load(&text);
	patch = json_object_get(
		json_object_get(json_object_get(doc, "paths"), "/apis/batch/v1/namespaces/{namespace}/jobs/{name}"),
		"patch");
	json_array_foreach (json_object_get(patch, "parameters"), i, p) {
		dry_run |= strcmp(jsonx_str_or(p, "name", ""), "dryRun") == 0;
		validation |= strcmp(jsonx_str_or(p, "name", ""), "fieldValidation") == 0;
	}
	CHECK(dry_run && validation);
	CHECK_STR(jsonx_str(json_object_get(patch, "x-kubernetes-group-version-kind"), "kind"), "Job");
	registry_free(r);
}

TEST("each v3 document stands on its own and holds only what it needs")
{
	struct registry *r = registry_new();
	json_auto_t *index = openapi_v3_index(r);
	const char *path;
	json_t *entry;

	json_object_foreach (json_object_get(index, "paths"), path, entry) {
		auto_sbuf struct sbuf text = SBUF(DOC_MAX);
		json_auto_t *doc = NULL;

		CHECK(strstr(jsonx_str_or(entry, "serverRelativeURL", ""), "?hash=") != NULL);
		CHECK(openapi_v3_group(r, path, &text));
		doc = load(&text);
		CHECK_INT(dangling(doc, jsonx_at(doc, "components.schemas"), "#/components/schemas/"), 0);
		if (strcmp(path, "apis/coordination.k8s.io/v1") == 0)
			CHECK(!json_object_get(jsonx_at(doc, "components.schemas"), "io.k8s.api.core.v1.PodSpec"));
	}
	CHECK(json_object_get(json_object_get(index, "paths"), "api/v1") != NULL);
	registry_free(r);
}

TEST("a path that is no group and version has no v3 document")
{
	static const char *const paths[] = { "", "api", "api/v9", "apis/batch", "apis//v1", "apis/no.such/v1", "x/y" };
	struct registry *r = registry_new();
	auto_sbuf struct sbuf text = SBUF(DOC_MAX);

	for (size_t i = 0; i < ARRAY_SIZE(paths); i++)
		CHECK(!openapi_v3_group(r, paths[i], &text));
	CHECK_INT(text.n, 0);
	registry_free(r);
}

TEST("the protobuf form has swagger, info, paths and definitions in their places")
{
	struct registry *r = registry_new();
	auto_sbuf struct sbuf doc = SBUF(DOC_MAX);
	unsigned seen = 0;
	size_t at = 0;

	openapi_v2_proto(r, &doc);
	while (at < doc.n) {
		unsigned tag = (unsigned char)doc.p[at++];
		size_t len = 0;

		CHECK_INT(tag & 7, 2);
		for (unsigned shift = 0;; shift += 7) {
			unsigned char c = (unsigned char)doc.p[at++];

			len |= (size_t)(c & 0x7f) << shift;
			if (!(c & 0x80))
				break;
		}
		seen |= 1u << (tag >> 3);
		at += len;
	}
	CHECK_INT(at, doc.n);
	CHECK_INT(seen, 1u << 1 | 1u << 2 | 1u << 8 | 1u << 9);
	registry_free(r);
}

static const char widget[] =
	"{\"metadata\":{\"name\":\"widgets.example.org\"},\"spec\":{\"group\":\"example.org\",\"scope\":\"Namespaced\","
	"\"names\":{\"plural\":\"widgets\",\"kind\":\"Widget\"},\"versions\":[{\"name\":\"v1\",\"served\":true,"
	"\"storage\":true,\"schema\":{\"openAPIV3Schema\":{\"type\":\"object\",\"properties\":{\"spec\":{\"type\":"
	"\"object\",\"properties\":{\"size\":{\"type\":\"integer\",\"nullable\":true},\"any\":{\"type\":\"object\","
	"\"x-kubernetes-preserve-unknown-fields\":true,\"properties\":{\"a\":{\"type\":\"string\"}}},\"port\":{"
	"\"x-kubernetes-int-or-string\":true,\"anyOf\":[{\"type\":\"integer\"},{\"type\":\"string\"}]}}}}}}}]}}";

TEST("a custom kind is in both documents, and v2 says only what it can")
{
	struct registry *r = registry_new();
	json_auto_t *crd = json_loads(widget, 0, NULL);
	json_auto_t *before = openapi_v3_index(r);
	json_auto_t *after = NULL;
	auto_sbuf struct sbuf v2 = SBUF(DOC_MAX);
	auto_sbuf struct sbuf v3 = SBUF(DOC_MAX);
	json_auto_t *doc2 = NULL;
	json_auto_t *doc3 = NULL;
	struct custom *c;
	struct err e = ERR_INIT;
	const json_t *spec2;
	const json_t *spec3;

	CHECK_INT(crd_check(r, crd, NULL, 0, &e), 0);
	c = custom_new(crd, &e);
	registry_add(r, custom_served(c, 0));
	openapi_v2_json(r, &v2);
	CHECK(openapi_v3_group(r, "apis/example.org/v1", &v3));
	doc2 = load(&v2);
	doc3 = load(&v3);
	spec2 = jsonx_at(json_object_get(json_object_get(doc2, "definitions"), "org.example.v1.Widget"),
			 "properties.spec.properties");
	spec3 = jsonx_at(json_object_get(jsonx_at(doc3, "components.schemas"), "org.example.v1.Widget"),
			 "properties.spec.properties");
	CHECK(!jsonx_at(spec2, "size.type") && !jsonx_at(spec2, "size.nullable"));
	CHECK(!jsonx_at(spec2, "any.properties") && !jsonx_at(spec2, "port.anyOf"));
	CHECK(jsonx_at(spec3, "size.nullable") && jsonx_at(spec3, "any.properties.a") && jsonx_at(spec3, "port.anyOf"));
	CHECK_INT(dangling(doc3, jsonx_at(doc3, "components.schemas"), "#/components/schemas/"), 0);
	after = openapi_v3_index(r);
	CHECK(!json_object_get(json_object_get(before, "paths"), "apis/example.org/v1"));
	CHECK(json_object_get(json_object_get(after, "paths"), "apis/example.org/v1") != NULL);
	registry_remove(r, custom_served(c, 0));
	custom_free(c);
	registry_free(r);
}
