// SPDX-License-Identifier: Apache-2.0
#include "api/object.h"

#include "base/clock.h"
#include "base/jsonx.h"
#include "base/mem.h"
#include "sample_json.h"
#include "test.h"

#define DEPLOYMENT                                                                                                     \
	"'spec':{'selector':{'matchLabels':{'a':'b'}},'template':{'metadata':{'labels':{'a':'b'}},'spec':{"            \
	"'containers':[{'name':'c','image':'i'}]}}}"

static const struct kind *find(const struct registry *r, const char *group, const char *plural)
{
	return registry_preferred(r, group, plural);
}

TEST("a body of the wrong kind, version or type is refused")
{
	static const struct {
		const char *body, *text;
	} rows[] = {
		{ "{'kind':'Service'}",
		  "the kind in the data (Service) does not match the expected kind (ConfigMap) of this resource" },
		{ "{'kind':'ConfigMap','apiVersion':'v2'}",
		  "the API version in the data (v2) does not match the expected API version (v1)" },
		{ "[]", "the object provided is unrecognized (must be of type ConfigMap): not an object" },
		{ "'x'", "the object provided is unrecognized (must be of type ConfigMap): not an object" },
	};
	struct registry *r = registry_new();

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		json_auto_t *obj = sample_json(rows[i].body);
		json_auto_t *warnings = NULL;
		struct err e = ERR_INIT;

		CHECK_INT(object_decode(find(r, "", "configmaps"), obj, FIELDS_WARN, NULL, &warnings, &e), -1);
		CHECK_INT(e.kind, ERR_BAD_REQUEST);
		CHECK_STR(e.text, rows[i].text);
	}
	registry_free(r);
}

TEST("kind and apiVersion are taken off, and may be missing")
{
	static const char *const rows[] = { "{'data':{}}", "{'kind':'ConfigMap','apiVersion':'v1','data':{}}",
					    "{'kind':'','apiVersion':'','data':{}}" };
	struct registry *r = registry_new();

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		json_auto_t *obj = sample_json(rows[i]);
		json_auto_t *warnings = NULL;
		struct err e = ERR_INIT;

		CHECK_INT(object_decode(find(r, "", "configmaps"), obj, FIELDS_STRICT, NULL, &warnings, &e), 0);
		CHECK_JSON(obj, "{'data':{}}");
		CHECK(!warnings);
	}
	registry_free(r);
}

TEST("unknown and duplicate fields are warned of, refused or passed over")
{
	static const struct {
		enum field_validation mode;
		int ret;
		const char *warnings;
	} rows[] = {
		{ FIELDS_WARN, 0, "['unknown field `'spec.colour`'','duplicate field `'spec.replicas`'']" },
		{ FIELDS_IGNORE, 0, "(none)" },
		{ FIELDS_STRICT, -1, "(none)" },
	};
	struct registry *r = registry_new();
	const struct kind *k = find(r, "apps", "deployments");

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		json_auto_t *obj = sample_json("{" DEPLOYMENT "}");
		json_auto_t *duplicates = sample_json("['spec.replicas']");
		json_auto_t *warnings = NULL;
		struct err e = ERR_INIT;

		jsonx_set_new(obj, "spec.colour", json_string("red"));
		CHECK_INT(object_decode(k, obj, rows[i].mode, duplicates, &warnings, &e), rows[i].ret);
		CHECK_JSON(warnings, rows[i].warnings);
		if (rows[i].ret < 0)
			CHECK_STR(e.text, "Deployment in version \"v1\" cannot be handled as a Deployment: strict "
					  "decoding error: unknown field \"spec.colour\"");
		else
			CHECK(!jsonx_at(obj, "spec.colour"));
	}
	registry_free(r);
}

TEST("a field of the wrong type is refused with the kind's name")
{
	struct registry *r = registry_new();
	json_auto_t *obj = sample_json("{'spec':{'replicas':'three'}}");
	json_auto_t *warnings = NULL;
	struct err e = ERR_INIT;

	CHECK_INT(object_decode(find(r, "apps", "deployments"), obj, FIELDS_WARN, NULL, &warnings, &e), -1);
	CHECK(str_starts(e.text, "Deployment in version \"v1\" cannot be handled as a Deployment: "));
	registry_free(r);
}

TEST("a new object gets what only the server may set")
{
	struct registry *r = registry_new();
	json_auto_t *obj = sample_json("{'metadata':{'name':'a','uid':'mine','generation':7,'creationTimestamp':'x',"
				       "'deletionTimestamp':'x','deletionGracePeriodSeconds':3,'selfLink':'/x'}}");
	struct err e = ERR_INIT;

	clock_fake(1700000000);
	CHECK_INT(object_stamp_new(find(r, "apps", "deployments"), obj, "ns", NULL, &e), 0);
	clock_fake(-1);
	CHECK_STR(jsonx_str(obj, "metadata.namespace"), "ns");
	CHECK_STR(jsonx_str(obj, "metadata.creationTimestamp"), "2023-11-14T22:13:20Z");
	CHECK_INT(jsonx_int_or(obj, "metadata.generation", 0), 1);
	CHECK_INT(strlen(jsonx_str_or(obj, "metadata.uid", "")), 36);
	CHECK(!jsonx_at(obj, "metadata.deletionTimestamp"));
	CHECK(!jsonx_at(obj, "metadata.deletionGracePeriodSeconds"));
	CHECK(!jsonx_at(obj, "metadata.selfLink"));
	registry_free(r);
}

TEST("what a new object may not say about itself is refused")
{
	static const struct {
		const char *body, *url_name;
		enum err_kind kind;
		const char *text;
	} rows[] = {
		{ "{'metadata':{'name':'a','namespace':'other'}}", NULL, ERR_BAD_REQUEST,
		  "the namespace of the provided object does not match the namespace sent on the request" },
		{ "{'metadata':{'name':'a','resourceVersion':'3'}}", NULL, ERR_BAD_REQUEST,
		  "resourceVersion should not be set on objects to be created" },
		{ "{'metadata':{'name':'a'}}", "b", ERR_BAD_REQUEST,
		  "the name of the object (a) does not match the name on the URL (b)" },
		{ "{'metadata':{}}", NULL, ERR_INVALID, "" },
		{ "{'metadata':{'name':'','generateName':''}}", NULL, ERR_INVALID, "" },
		{ "{}", NULL, ERR_INVALID, "" },
	};
	struct registry *r = registry_new();

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		json_auto_t *obj = sample_json(rows[i].body);
		struct err e = ERR_INIT;

		CHECK_INT(object_stamp_new(find(r, "", "configmaps"), obj, "ns", rows[i].url_name, &e), -1);
		CHECK_INT(e.kind, rows[i].kind);
		if (*rows[i].text)
			CHECK_STR(e.text, rows[i].text);
		else
			CHECK_STR(err_cause_field(&e, 0), "metadata.name");
	}
	registry_free(r);
}

TEST("a generated name is the base, cut to fit, and five characters without vowels")
{
	struct registry *r = registry_new();
	json_auto_t *obj = sample_json("{'metadata':{'generateName':'web-'}}");
	json_auto_t *lengthy = json_pack("{s:{s:s}}", "metadata", "generateName",
					 "a123456789a123456789a123456789a123456789a123456789a123456789a123456789");
	struct err e = ERR_INIT;
	char first[64];

	CHECK_INT(object_stamp_new(find(r, "", "configmaps"), obj, "ns", NULL, &e), 0);
	CHECK(str_starts(jsonx_str_or(obj, "metadata.name", ""), "web-"));
	CHECK_INT(strlen(jsonx_str_or(obj, "metadata.name", "")), 9);
	CHECK_INT(strspn(jsonx_str_or(obj, "metadata.name", "") + 4, "bcdfghjklmnpqrstvwxz2456789"), 5);
	snprintf(first, sizeof(first), "%s", jsonx_str_or(obj, "metadata.name", ""));
	object_regenerate_name(obj);
	CHECK(strcmp(first, jsonx_str_or(obj, "metadata.name", "")) != 0);
	CHECK_INT(object_stamp_new(find(r, "", "configmaps"), lengthy, "ns", NULL, &e), 0);
	CHECK_INT(strlen(jsonx_str_or(lengthy, "metadata.name", "")), 63);
	registry_free(r);
}

TEST("an update keeps what the server owns and must agree on who it is about")
{
	static const struct {
		const char *body;
		enum err_kind kind;
	} rows[] = {
		{ "{'metadata':{}}", ERR_NONE },
		{ "{'metadata':{'uid':'','creationTimestamp':null,'generation':9,'selfLink':'x'}}", ERR_NONE },
		{ "{'metadata':{'name':'a','namespace':'ns','uid':'u1','deletionTimestamp':'x'}}", ERR_NONE },
		{ "{'metadata':{'name':'b'}}", ERR_BAD_REQUEST },
		{ "{'metadata':{'namespace':'other'}}", ERR_BAD_REQUEST },
		{ "{'metadata':{'uid':'u2'}}", ERR_CONFLICT },
	};
	struct registry *r = registry_new();
	json_auto_t *old = sample_json("{'metadata':{'name':'a','namespace':'ns','uid':'u1','generation':2,"
				       "'creationTimestamp':'t','resourceVersion':'8'}}");

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		json_auto_t *obj = sample_json(rows[i].body);
		struct err e = ERR_INIT;

		object_stamp_old(find(r, "", "configmaps"), obj, old, "ns", "a", &e);
		CHECK_INT(e.kind, rows[i].kind);
		if (rows[i].kind == ERR_NONE)
			CHECK(jsonx_equal(obj, old));
	}
	registry_free(r);
}

TEST("only what is neither metadata nor status makes a new generation")
{
	static const struct {
		const char *a, *b;
		bool changed;
	} rows[] = {
		{ "{'metadata':{'x':1},'spec':{'n':1},'status':{}}", "{'metadata':{'x':2},'spec':{'n':1}}", false },
		{ "{'spec':{'n':1}}", "{'spec':{'n':1.0}}", false },
		{ "{'spec':{'n':1}}", "{'spec':{'n':2}}", true },
		{ "{'spec':{'n':1}}", "{}", true },
		{ "{}", "{'data':{}}", true },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		json_auto_t *a = sample_json(rows[i].a);
		json_auto_t *b = sample_json(rows[i].b);

		CHECK_INT(object_spec_changed(a, b), rows[i].changed);
	}
}

TEST("an object at rest begins with its metadata and has no type")
{
	struct registry *r = registry_new();
	json_auto_t *obj = sample_json("{'data':{},'kind':'X','metadata':{'name':'a'},'apiVersion':'v1'}");
	json_auto_t *rest = object_at_rest(obj);
	json_auto_t *typed = object_with_type(find(r, "apps", "deployments"), rest);
	auto_sbuf struct sbuf prefix = SBUF(100);
	json_auto_t *parsed = NULL;
	struct err e = ERR_INIT;

	CHECK_JSON(rest, "{'metadata':{'name':'a'},'data':{}}");
	CHECK_JSON(typed, "{'kind':'Deployment','apiVersion':'apps/v1','metadata':{'name':'a'},'data':{}}");
	object_type_prefix(find(r, "", "pods"), &prefix);
	CHECK_STR(prefix.p, "{\"kind\":\"Pod\",\"apiVersion\":\"v1\",");
	CHECK_INT(object_parse(STR("{\"metadata\""), &parsed, &e), -1);
	CHECK_INT(e.kind, ERR_CORRUPT);
	registry_free(r);
}
