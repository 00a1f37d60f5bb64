// SPDX-License-Identifier: Apache-2.0
#include "kinds/schema.h"

#include "base/jsonx.h"
#include "base/mem.h"
#include "test.h"

static json_t *parse(const char *text)
{
	json_t *v = NULL;
	struct err e = ERR_INIT;

	if (jsonx_parse(text, strlen(text), NULL, NULL, &v, &e) < 0)
		test_fail(__FILE__, __LINE__, "%s: %s", text, e.text);
	return v;
}

static struct schema *compile(const char *text, struct err *e)
{
	json_auto_t *js = parse(text);
	struct schema *s = NULL;

	schema_compile(js, PATH_FIELD(NULL, "schema"), &s, e);
	return s;
}

#define OBJECT(props) "{\"type\":\"object\",\"properties\":{" props "}}"

TEST("a schema that is not structural is refused with its path")
{
	static const struct {
		const char *schema, *field, *text;
	} rows[] = {
		{ "{}", "schema.type", "Required value: must not be empty at the root" },
		{ "{\"type\":\"string\"}", "schema.type", "Invalid value: \"string\": must be object at the root" },
		{ OBJECT("\"spec\":{}"), "schema.properties[spec].type",
		  "Required value: must not be empty for specified object fields" },
		{ OBJECT("\"a\":{\"type\":\"array\"}"), "schema.properties[a].items",
		  "Required value: must be specified" },
		{ OBJECT("\"a\":{\"type\":\"array\",\"items\":{}}"), "schema.properties[a].items.type",
		  "Required value: must not be empty for specified array items" },
		{ OBJECT("\"a\":{\"type\":\"float\"}"), "schema.properties[a].type",
		  "Unsupported value: \"float\": supported values: \"array\", \"boolean\", \"integer\", \"number\", "
		  "\"object\", \"string\"" },
		{ OBJECT("\"a\":{\"$ref\":\"#/x\",\"type\":\"object\"}"), "schema.properties[a].$ref",
		  "Forbidden: $ref is not supported" },
		{ OBJECT("\"a\":{\"type\":\"object\",\"additionalProperties\":false}"),
		  "schema.properties[a].additionalProperties",
		  "Forbidden: additionalProperties cannot be set to false" },
		{ OBJECT("\"a\":{\"type\":\"string\",\"anyOf\":[{\"type\":\"string\"}]}"),
		  "schema.properties[a].anyOf[0].type", "Forbidden: must be empty to be structural" },
		{ OBJECT("\"a\":{\"type\":\"string\",\"pattern\":\"(\"}"), "schema.properties[a].pattern",
		  "Invalid value: \"(\": must be a valid regular expression, but isn't: missing closing ) at byte 1" },
		{ OBJECT("\"a\":{\"type\":\"integer\",\"default\":\"x\"}"), "schema.properties[a].default",
		  "Invalid value: \"string\": schema.properties[a].default in body must be of type integer: "
		  "\"string\"" },
		{ OBJECT("\"a\":{\"type\":\"array\",\"items\":{\"type\":\"object\"},\"x-kubernetes-list-type\":"
			 "\"map\"}"),
		  "schema.properties[a].x-kubernetes-list-map-keys",
		  "Required value: must not be empty if x-kubernetes-list-type is map" },
		{ OBJECT("\"a\":{\"type\":\"string\",\"minLength\":-1}"), "schema.properties[a].minLength",
		  "Invalid value: -1: must be a non-negative integer" },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct err e = ERR_INIT;
		struct schema *s = compile(rows[i].schema, &e);

		CHECK(s == NULL);
		CHECK_STR(err_cause_field(&e, 0), rows[i].field);
		CHECK_STR(err_cause_text(&e, 0), rows[i].text);
		schema_free(s);
	}
}

TEST("an integer or a string may say so below anyOf")
{
	struct err e = ERR_INIT;
	struct schema *s =
		compile(OBJECT("\"p\":{\"x-kubernetes-int-or-string\":true,\"anyOf\":[{\"type\":\"integer\"},"
			       "{\"type\":\"string\"}]}"),
			&e);
	json_auto_t *good = parse("{\"p\":80}");
	json_auto_t *bad = parse("{\"p\":true}");

	CHECK(s != NULL);
	CHECK_INT(schema_validate(s, good, &e), 0);
	CHECK_INT(schema_validate(s, bad, &e), -1);
	schema_free(s);
}

TEST("unknown fields are pruned and reported, known and preserved ones stay")
{
	struct err e = ERR_INIT;
	struct schema *s = compile(
		OBJECT("\"spec\":{\"type\":\"object\",\"properties\":{\"a\":{\"type\":\"string\"},"
		       "\"open\":{\"type\":\"object\",\"x-kubernetes-preserve-unknown-fields\":true,"
		       "\"properties\":{\"in\":{\"type\":\"object\"}}},"
		       "\"list\":{\"type\":\"array\",\"items\":{\"type\":\"object\",\"properties\":{\"k\":{\"type\":"
		       "\"string\"}}}},"
		       "\"map\":{\"type\":\"object\",\"additionalProperties\":{\"type\":\"string\"}}}}"),
		&e);
	json_auto_t *obj =
		parse("{\"metadata\":{\"name\":\"x\"},\"kind\":\"K\",\"other\":1,\"spec\":{\"a\":\"1\",\"b\":2,"
		      "\"open\":{\"x\":1,\"in\":{\"y\":1}},\"list\":[{\"k\":\"v\",\"z\":1}],\"map\":{\"q\":\"r\"}}}");
	json_auto_t *want = parse("{\"metadata\":{\"name\":\"x\"},\"kind\":\"K\",\"spec\":{\"a\":\"1\","
				  "\"open\":{\"x\":1,\"in\":{}},\"list\":[{\"k\":\"v\"}],\"map\":{\"q\":\"r\"}}}");
	json_auto_t *unknown = parse("[\"other\",\"spec.b\",\"spec.open.in.y\",\"spec.list[0].z\"]");
	struct decode_report report = { 0 };

	schema_prune(s, obj, &report);
	CHECK(json_equal(obj, want));
	CHECK(json_equal(report.unknown, unknown));
	json_decref(report.unknown);
	schema_free(s);
}

TEST("defaults go into objects that are there")
{
	struct err e = ERR_INIT;
	struct schema *s = compile(
		OBJECT("\"spec\":{\"type\":\"object\",\"default\":{},\"properties\":{\"n\":{\"type\":\"integer\","
		       "\"default\":3},\"o\":{\"type\":\"object\",\"properties\":{\"m\":{\"type\":\"string\","
		       "\"default\":"
		       "\"d\"}}},\"l\":{\"type\":\"array\",\"items\":{\"type\":\"object\",\"properties\":{\"p\":{"
		       "\"type\":\"string\",\"default\":\"TCP\"}}}}}}"),
		&e);
	json_auto_t *empty = parse("{}");
	json_auto_t *some = parse("{\"spec\":{\"n\":null,\"o\":{},\"l\":[{},{\"p\":\"UDP\"}]}}");
	json_auto_t *want_empty = parse("{\"spec\":{\"n\":3}}");
	json_auto_t *want_some =
		parse("{\"spec\":{\"n\":3,\"o\":{\"m\":\"d\"},\"l\":[{\"p\":\"TCP\"},{\"p\":\"UDP\"}]}}");

	schema_default(s, empty);
	schema_default(s, some);
	CHECK(json_equal(empty, want_empty));
	CHECK(json_equal(some, want_some));
	schema_free(s);
}

TEST("each rule complains in Kubernetes' words")
{
	static const struct {
		const char *field_schema, *value, *text; /* NULL: fine */
	} rows[] = {
		{ "\"type\":\"integer\"", "\"x\"",
		  "Invalid value: \"string\": f in body must be of type integer: \"string\"" },
		{ "\"type\":\"integer\"", "1.5",
		  "Invalid value: \"number\": f in body must be of type integer: \"number\"" },
		{ "\"type\":\"integer\"", "2.0", NULL },
		{ "\"type\":\"number\"", "2", NULL },
		{ "\"type\":\"string\"", "null",
		  "Invalid value: \"null\": f in body must be of type string: \"null\"" },
		{ "\"type\":\"string\",\"nullable\":true", "null", NULL },
		{ "\"type\":\"integer\",\"maximum\":10", "15",
		  "Invalid value: 15: f in body should be less than or equal to 10" },
		{ "\"type\":\"integer\",\"minimum\":1", "0",
		  "Invalid value: 0: f in body should be greater than or equal to 1" },
		{ "\"type\":\"integer\",\"minimum\":1,\"exclusiveMinimum\":true", "1",
		  "Invalid value: 1: f in body should be greater than 1" },
		{ "\"type\":\"integer\",\"multipleOf\":5", "7",
		  "Invalid value: 7: f in body should be a multiple of 5" },
		{ "\"type\":\"integer\",\"multipleOf\":5", "15", NULL },
		{ "\"type\":\"string\",\"enum\":[\"a\",\"b\"]", "\"c\"",
		  "Unsupported value: \"c\": supported values: \"a\", \"b\"" },
		{ "\"type\":\"string\",\"pattern\":\"^\\\\d+$\"", "\"x\"",
		  "Invalid value: \"x\": f in body should match '^\\d+$'" },
		{ "\"type\":\"string\",\"minLength\":2", "\"\\u00e9\"",
		  "Invalid value: \"\xc3\xa9\": f in body should be at least 2 chars long" },
		{ "\"type\":\"string\",\"maxLength\":2", "\"abc\"", "Too long: may not be more than 2 bytes" },
		{ "\"type\":\"string\",\"format\":\"date-time\"", "\"today\"",
		  "Invalid value: \"today\": f in body must be of type date-time: \"today\"" },
		{ "\"type\":\"string\",\"format\":\"ipv4\"", "\"10.0.0.1\"", NULL },
		{ "\"type\":\"string\",\"format\":\"no-such\"", "\"x\"", NULL },
		{ "\"type\":\"array\",\"items\":{\"type\":\"string\"},\"maxItems\":1", "[\"a\",\"b\"]",
		  "Too many: 2: must have at most 1 items" },
		{ "\"type\":\"array\",\"items\":{\"type\":\"string\"},\"x-kubernetes-list-type\":\"set\"",
		  "[\"a\",\"a\"]", "Duplicate value: \"a\"" },
		{ "\"type\":\"object\",\"required\":[\"q\"]", "{}", "Required value" },
		{ "\"type\":\"object\",\"minProperties\":1,\"x-kubernetes-preserve-unknown-fields\":true", "{}",
		  "Invalid value: {}: f in body should have at least 1 properties" },
		{ "\"type\":\"string\",\"anyOf\":[{\"pattern\":\"^a\"},{\"pattern\":\"^b\"}]", "\"c\"",
		  "Invalid value: \"c\": f in body must validate at least one schema (anyOf)" },
		{ "\"type\":\"string\",\"oneOf\":[{\"pattern\":\"^a\"},{\"pattern\":\"b\"}]", "\"ab\"",
		  "Invalid value: \"ab\": f in body must validate one and only one schema (oneOf). Found more than one "
		  "valid" },
		{ "\"type\":\"string\",\"not\":{\"enum\":[\"x\"]}", "\"x\"",
		  "Invalid value: \"x\": f in body must not validate the schema (not)" },
		{ "\"type\":\"string\",\"allOf\":[{\"minLength\":1},{\"maxLength\":3}]", "\"ab\"", NULL },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct err e = ERR_INIT;
		char text[1024];
		struct schema *s;
		json_auto_t *obj = NULL;

		snprintf(text, sizeof(text), OBJECT("\"f\":{%s}"), rows[i].field_schema);
		s = compile(text, &e);
		if (!s) {
			test_fail(__FILE__, __LINE__, "%s: %s", text, e.text);
			continue;
		}
		snprintf(text, sizeof(text), "{\"f\":%s}", rows[i].value);
		obj = parse(text);
		CHECK_INT(schema_validate(s, obj, &e), rows[i].text ? -1 : 0);
		if (rows[i].text && e.ncauses)
			CHECK_STR(err_cause_text(&e, 0), rows[i].text);
		schema_free(s);
	}
}

TEST("items of a list map are told apart by their keys and the keys' defaults")
{
	struct err e = ERR_INIT;
	struct schema *s = compile(
		OBJECT("\"l\":{\"type\":\"array\",\"x-kubernetes-list-type\":\"map\",\"x-kubernetes-list-map-keys\":"
		       "[\"port\",\"proto\"],\"items\":{\"type\":\"object\",\"required\":[\"port\"],\"properties\":{"
		       "\"port\":{\"type\":\"integer\"},\"proto\":{\"type\":\"string\",\"default\":\"TCP\"}}}}"),
		&e);
	json_auto_t *bad = parse("{\"l\":[{\"port\":1},{\"port\":1,\"proto\":\"TCP\"}]}");
	json_auto_t *good = parse("{\"l\":[{\"port\":1},{\"port\":1,\"proto\":\"UDP\"}]}");

	CHECK_INT(schema_validate(s, good, &e), 0);
	CHECK_INT(schema_validate(s, bad, &e), -1);
	CHECK_STR(err_cause_field(&e, 0), "l[1]");
	CHECK_STR(err_cause_text(&e, 0), "Duplicate value: {\"port\":1,\"proto\":\"TCP\"}");
	schema_free(s);
}

TEST("a text too long for its pattern is refused, also where a match would be")
{
	static const char *const schemas[] = {
		"\"pattern\":\"^(a|a)*(a?){500}b$\"",
		"\"not\":{\"pattern\":\"^(a|a)*(a?){500}b$\"}",
		"\"anyOf\":[{\"pattern\":\"^(a|a)*(a?){500}b$\"},{\"minLength\":1}]",
	};
	auto_free char *text = xcalloc(1, 100001);

	memset(text, 'a', 100000);
	for (size_t i = 0; i < ARRAY_SIZE(schemas); i++) {
		struct err e = ERR_INIT;
		auto_free char *words = xasprintf(
			OBJECT("\"a\":{\"type\":\"string\",%s},\"b\":{\"type\":\"string\",\"pattern\":\"x\"}"),
			schemas[i]);
		struct schema *s = compile(words, &e);
		json_auto_t *obj = json_pack("{s:s, s:s}", "a", text, "b", "x");

		CHECK_INT(schema_validate(s, obj, &e), -1);
		CHECK_STR(err_cause_field(&e, 0), "a");
		CHECK_STR(err_cause_text(&e, 0),
			  "Invalid value: too long to be checked against the pattern '^(a|a)*(a?){500}b$'");
		CHECK_INT(e.ncauses, 1);
		schema_free(s);
	}
}
