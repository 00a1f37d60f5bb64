// SPDX-License-Identifier: Apache-2.0
#include "api/crd_impl.h"
#include "base/jsonx.h"
#include "base/mem.h"
#include "test.h"

#define SCHEMA "\"schema\":{\"openAPIV3Schema\":{\"type\":\"object\",\"x-kubernetes-preserve-unknown-fields\":true}}"
#define V1     "{\"name\":\"v1\",\"served\":true,\"storage\":true," SCHEMA "}"

static json_t *definition(const char *plural, const char *kind, const char *versions)
{
	auto_free char *text =
		xasprintf("{\"metadata\":{\"name\":\"%s.example.org\"},\"spec\":{\"group\":\"example.org\","
			  "\"scope\":\"Namespaced\",\"names\":{\"plural\":\"%s\",\"kind\":\"%s\","
			  "\"shortNames\":[\"%.2s\"]},\"versions\":[%s]}}",
			  plural, plural, kind, plural, versions);
	json_error_t je;
	json_t *v = json_loads(text, 0, &je);

	if (!v)
		test_fail(__FILE__, __LINE__, "%s: %s", text, je.text);
	return v;
}

static const char *condition(const json_t *crd, const char *type, const char *member)
{
	size_t i;
	json_t *c;

	json_array_foreach (jsonx_at(crd, "status.conditions"), i, c)
		if (strcmp(jsonx_str_or(c, "type", ""), type) == 0)
			return jsonx_str(c, member);
	return NULL;
}

TEST("a good definition is filled in and established")
{
	struct registry *r = registry_new();
	json_auto_t *crd = definition("widgets", "Widget", V1);
	struct err e = ERR_INIT;

	CHECK_INT(crd_check(r, crd, NULL, 0, &e), 0);
	CHECK_STR(jsonx_str(crd, "spec.names.singular"), "widget");
	CHECK_STR(jsonx_str(crd, "spec.names.listKind"), "WidgetList");
	CHECK_STR(jsonx_str(crd, "spec.conversion.strategy"), "None");
	CHECK_STR(jsonx_str(crd, "status.acceptedNames.plural"), "widgets");
	CHECK_STR(json_string_value(json_array_get(jsonx_at(crd, "status.storedVersions"), 0)), "v1");
	CHECK_STR(condition(crd, "NamesAccepted", "status"), "True");
	CHECK_STR(condition(crd, "Established", "status"), "True");
	CHECK_STR(json_string_value(json_array_get(jsonx_at(crd, "metadata.finalizers"), 0)), CRD_FINALIZER);
	CHECK(crd_established(crd));
	registry_free(r);
}

TEST("what cannot be served is refused with its path")
{
	static const struct {
		const char *path, *value; /* replaces the part at path */
		const char *field, *text;
	} rows[] = {
		{ "metadata.name", "\"x.example.org\"", "metadata.name",
		  "Invalid value: \"x.example.org\": must be spec.names.plural+\".\"+spec.group" },
		{ "spec.scope", "\"World\"", "spec.scope",
		  "Unsupported value: \"World\": supported values: \"Cluster\", \"Namespaced\"" },
		{ "spec.versions", "[]", "spec.versions", "Required value: must have at least one version" },
		{ "spec.versions", "[{\"name\":\"v1\",\"served\":true,\"storage\":false," SCHEMA "}]", "spec.versions",
		  "Invalid value: null: must have exactly one version marked as storage version" },
		{ "spec.versions", "[{\"name\":\"v1\",\"served\":true,\"storage\":true}]",
		  "spec.versions[0].schema.openAPIV3Schema", "Required value: schemas are required" },
		{ "spec.versions",
		  "[{\"name\":\"v1\",\"served\":true,\"storage\":true,\"schema\":{\"openAPIV3Schema\":{\"type\":"
		  "\"object\",\"properties\":{\"spec\":{}}}}}]",
		  "spec.versions[0].schema.openAPIV3Schema.properties[spec].type",
		  "Required value: must not be empty for specified object fields" },
		{ "spec.conversion.strategy", "\"Webhook\"", "spec.conversion.strategy",
		  "Forbidden: this server has no conversion webhooks: use None, which only changes apiVersion" },
		{ "spec.versions",
		  "[{\"name\":\"v1\",\"served\":true,\"storage\":true," SCHEMA
		  ",\"subresources\":{\"scale\":{\"specReplicasPath\":\".spec.n\",\"statusReplicasPath\":\".spec.n\"}}}"
		  "]",
		  "spec.versions[0].subresources.scale.statusReplicasPath",
		  "Invalid value: \".spec.n\": should be a json path under .status" },
		{ "spec.versions",
		  "[{\"name\":\"v1\",\"served\":true,\"storage\":true," SCHEMA
		  ",\"additionalPrinterColumns\":[{\"name\":\"A\",\"type\":\"colour\",\"jsonPath\":\".a\"}]}]",
		  "spec.versions[0].additionalPrinterColumns[0].type",
		  "Unsupported value: \"colour\": supported values: \"boolean\", \"date\", \"integer\", \"number\", "
		  "\"string\"" },
	};
	struct registry *r = registry_new();

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		json_auto_t *crd = definition("widgets", "Widget", V1);
		struct err e = ERR_INIT;

		jsonx_set_new(crd, rows[i].path, json_loads(rows[i].value, JSON_DECODE_ANY, NULL));
		CHECK_INT(crd_check(r, crd, NULL, 0, &e), -1);
		CHECK_INT(e.kind, ERR_INVALID);
		CHECK_STR(err_cause_field(&e, 0), rows[i].field);
		CHECK_STR(err_cause_text(&e, 0), rows[i].text);
	}
	registry_free(r);
}

TEST("names that another definition has are not accepted")
{
	struct registry *r = registry_new();
	json_auto_t *first = definition("widgets", "Widget", V1);
	json_auto_t *second = definition("gadgets", "Widget", V1);
	struct err e = ERR_INIT;
	struct custom *c;

	CHECK_INT(crd_check(r, first, NULL, 0, &e), 0);
	c = custom_new(first, &e);
	registry_add(r, custom_served(c, 0));
	jsonx_set_new(second, "spec.names.singular", json_string("gadget"));
	CHECK_INT(crd_check(r, second, NULL, 0, &e), 0);
	CHECK_STR(condition(second, "NamesAccepted", "status"), "False");
	CHECK_STR(condition(second, "NamesAccepted", "reason"), "KindConflict");
	CHECK(!crd_established(second));
	/* Its own names are no conflict when it is written again. */
	CHECK_INT(crd_check(r, first, first, 0, &e), 0);
	CHECK(crd_established(first));
	registry_remove(r, custom_served(c, 0));
	custom_free(c);
	registry_free(r);
}

TEST("an established definition that asks for a taken name keeps serving without it")
{
	struct registry *r = registry_new();
	json_auto_t *first = definition("widgets", "Widget", V1);
	json_auto_t *second = definition("gadgets", "Gadget", V1);
	json_auto_t *next = NULL;
	struct err e = ERR_INIT;
	struct custom *c;
	struct custom *again;

	CHECK_INT(crd_check(r, first, NULL, 0, &e), 0);
	CHECK_INT(crd_check(r, second, NULL, 0, &e), 0);
	c = custom_new(first, &e);
	registry_add(r, custom_served(c, 0));
	next = jsonx_copy(second);
	jsonx_set_new(next, "spec.names.shortNames", json_pack("[s]", "wi"));
	CHECK_INT(crd_check(r, next, second, 0, &e), 0);
	CHECK(crd_established(next) && !crd_names_accepted(next));
	CHECK_STR(condition(next, "NamesAccepted", "reason"), "ShortNamesConflict");
	again = custom_new(next, &e);
	CHECK_STR(custom_served(again, 0)->short_names[0], "ga");
	custom_free(again);
	registry_remove(r, custom_served(c, 0));
	custom_free(c);
	registry_free(r);
}

TEST("a definition of a built-in kind is accepted and changes nothing")
{
	struct registry *r = registry_new();
	json_auto_t *crd = definition("deployments", "Deployment", V1);
	struct err e = ERR_INIT;

	jsonx_set_new(crd, "spec.group", json_string("networking.k8s.io"));
	jsonx_set_new(crd, "spec.names.plural", json_string("ingresses"));
	jsonx_set_new(crd, "spec.names.kind", json_string("Ingress"));
	jsonx_set_new(crd, "metadata.name", json_string("ingresses.networking.k8s.io"));
	CHECK_INT(crd_check(r, crd, NULL, 0, &e), 0);
	CHECK(crd_established(crd));
	CHECK(crd_is_builtin(r, crd));
	jsonx_set_new(crd, "spec.scope", json_string("Cluster"));
	json_object_del(crd, "status");
	CHECK_INT(crd_check(r, crd, NULL, 0, &e), 0);
	CHECK(!crd_established(crd));
	registry_free(r);
}

TEST("what is stored must stay servable")
{
	struct registry *r = registry_new();
	json_auto_t *old = definition("widgets", "Widget", V1);
	json_auto_t *crd = NULL;
	struct err e = ERR_INIT;

	CHECK_INT(crd_check(r, old, NULL, 0, &e), 0);
	crd = jsonx_copy(old);
	jsonx_set_new(json_array_get(jsonx_at(crd, "spec.versions"), 0), "name", json_string("v2"));
	CHECK_INT(crd_check(r, crd, old, 0, &e), -1);
	CHECK_STR(err_cause_field(&e, 0), "status.storedVersions[0]");
	registry_free(r);
}

TEST("versions become kinds that share the storage version's store")
{
	json_auto_t *crd = definition(
		"widgets", "Widget",
		"{\"name\":\"v1beta1\",\"served\":true,\"storage\":false," SCHEMA "},"
		"{\"name\":\"v1\",\"served\":true,\"storage\":true," SCHEMA
		",\"subresources\":{\"status\":{},\"scale\":{"
		"\"specReplicasPath\":\".spec.n\",\"statusReplicasPath\":\".status.n\"}},\"additionalPrinterColumns\":["
		"{\"name\":\"N\",\"type\":\"integer\",\"jsonPath\":\".spec.n\",\"priority\":1}]},"
		"{\"name\":\"v0\",\"served\":false,\"storage\":false," SCHEMA "}");
	struct err e = ERR_INIT;
	struct custom *c = custom_new(crd, &e);
	const struct kind *beta = custom_served(c, 0);
	const struct kind *v1 = custom_served(c, 1);

	CHECK(custom_served(c, 2) == NULL);
	CHECK_STR(beta->version, "v1beta1");
	CHECK(kind_storage(beta) == v1 && kind_storage(v1) == v1 && custom_storage(c) == v1);
	CHECK(!(beta->flags & KIND_STATUS) && (v1->flags & KIND_STATUS));
	CHECK_INT(v1->nsubresources, 2);
	CHECK_STR(v1->scale_spec, ".spec.n");
	CHECK_INT(v1->ncolumns, 2);
	CHECK_STR(v1->columns[1].name, "N");
	CHECK_INT(beta->ncolumns, 2);
	CHECK_STR(beta->columns[1].name, "Age");
	CHECK_STR(v1->short_names[0], "wi");
	custom_stop_creating(c);
	CHECK(!(v1->verbs & V(CREATE)) && (v1->verbs & V(DELETE)));
	custom_free(c);
}
