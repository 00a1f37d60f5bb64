// SPDX-License-Identifier: Apache-2.0
/* proto_types.c - what JSON takes as it comes but protobuf spells out
 *
 * A CRD's schema is kept as JSON by its table, since schema.c reads it; on this wire it is the message JSONSchemaProps,
 * which refers to itself.  The same goes for the `extra` of users and for the empty object that switches the status
 * subresource on.
 */
#include "api/proto_types.h"

#include "base/mem.h"

#define PTR .flags = FIELD_POINTER

static const struct message json_schema, schema_or_array, schema_or_bool, schema_or_strings;

static const struct field or_array_fields[] = {
	F(1, "schema", OBJECT, .msg = &json_schema),
	FL(2, "list", OBJECT, .msg = &json_schema),
};
static const struct field or_bool_fields[] = {
	F(1, "allows", BOOL, PTR),
	F(2, "schema", OBJECT, .msg = &json_schema),
};
static const struct field or_strings_fields[] = {
	F(1, "schema", OBJECT, .msg = &json_schema),
	FL(2, "list", STRING),
};
static const struct message schema_or_array = MESSAGE("JSONSchemaPropsOrArray", or_array_fields);
static const struct message schema_or_bool = MESSAGE("JSONSchemaPropsOrBool", or_bool_fields);
static const struct message schema_or_strings = MESSAGE("JSONSchemaPropsOrStringArray", or_strings_fields);

static const struct field docs_fields[] = { F(1, "description", STRING), F(2, "url", STRING) };
static const struct message docs = MESSAGE("ExternalDocumentation", docs_fields);

static const struct field rule_fields[] = {
	F(1, "rule", STRING),        F(2, "message", STRING),   F(3, "messageExpression", STRING),
	F(4, "reason", STRING, PTR), F(5, "fieldPath", STRING), F(6, "optionalOldSelf", BOOL, PTR),
};
static const struct message rule = MESSAGE("ValidationRule", rule_fields);

static const struct field schema_fields[] = {
	F(1, "id", STRING),
	F(2, "$schema", STRING),
	F(3, "$ref", STRING, PTR),
	F(4, "description", STRING),
	F(5, "type", STRING),
	F(6, "format", STRING),
	F(7, "title", STRING),
	F(8, "default", ANY),
	F(9, "maximum", DOUBLE, PTR),
	F(10, "exclusiveMaximum", BOOL),
	F(11, "minimum", DOUBLE, PTR),
	F(12, "exclusiveMinimum", BOOL),
	F(13, "maxLength", INT64, PTR),
	F(14, "minLength", INT64, PTR),
	F(15, "pattern", STRING),
	F(16, "maxItems", INT64, PTR),
	F(17, "minItems", INT64, PTR),
	F(18, "uniqueItems", BOOL),
	F(19, "multipleOf", DOUBLE, PTR),
	FL(20, "enum", ANY),
	F(21, "maxProperties", INT64, PTR),
	F(22, "minProperties", INT64, PTR),
	FL(23, "required", STRING),
	F(24, "items", OBJECT, .msg = &schema_or_array),
	FL(25, "allOf", OBJECT, .msg = &json_schema),
	FL(26, "oneOf", OBJECT, .msg = &json_schema),
	FL(27, "anyOf", OBJECT, .msg = &json_schema),
	F(28, "not", OBJECT, .msg = &json_schema),
	FM(29, "properties", OBJECT, .msg = &json_schema),
	F(30, "additionalProperties", OBJECT, .msg = &schema_or_bool),
	FM(31, "patternProperties", OBJECT, .msg = &json_schema),
	FM(32, "dependencies", OBJECT, .msg = &schema_or_strings),
	F(33, "additionalItems", OBJECT, .msg = &schema_or_bool),
	FM(34, "definitions", OBJECT, .msg = &json_schema),
	F(35, "externalDocs", OBJECT, .msg = &docs),
	F(36, "example", ANY),
	F(37, "nullable", BOOL),
	F(38, "x-kubernetes-preserve-unknown-fields", BOOL, PTR),
	F(39, "x-kubernetes-embedded-resource", BOOL),
	F(40, "x-kubernetes-int-or-string", BOOL),
	FL(41, "x-kubernetes-list-map-keys", STRING),
	F(42, "x-kubernetes-list-type", STRING, PTR),
	F(43, "x-kubernetes-map-type", STRING, PTR),
	FL(44, "x-kubernetes-validations", OBJECT, .msg = &rule),
};
static const struct message json_schema = MESSAGE("JSONSchemaProps", schema_fields);

static const struct message empty = { .name = "Empty" };

#define APIEXTENSIONS "io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1."

static const struct {
	const char *message;
	struct field field;
} typed[] = {
	{ APIEXTENSIONS "CustomResourceValidation", F(1, "openAPIV3Schema", OBJECT, .msg = &json_schema) },
	{ APIEXTENSIONS "CustomResourceSubresources", F(1, "status", OBJECT, .msg = &empty) },
	{ "io.k8s.api.authentication.v1.UserInfo", FM(4, "extra", ANY) },
	{ "io.k8s.api.authorization.v1.SubjectAccessReviewSpec", FM(5, "extra", ANY) },
	{ "io.k8s.api.certificates.v1.CertificateSigningRequestSpec", FM(6, "extra", ANY) },
};

const struct field *proto_field(const struct message *m, unsigned number)
{
	const struct field *f = message_field_number(m, number);

	if (f && f->type != FIELD_ANY)
		return f;
	for (size_t i = 0; i < ARRAY_SIZE(typed); i++)
		if (typed[i].field.number == number && streq(typed[i].message, m->name))
			return &typed[i].field;
	return f;
}

bool proto_is_extra(const struct field *f)
{
	return f->shape == SHAPE_MAP && f->type == FIELD_ANY && streq(f->name, "extra");
}

json_t *proto_unwrap(const struct message *m, json_t *obj)
{
	static const char *const members[] = { "schema", "list", "allows" };
	json_t *inner = NULL;

	if (m != &schema_or_array && m != &schema_or_bool && m != &schema_or_strings)
		return obj;
	for (size_t i = 0; i < ARRAY_SIZE(members) && !inner; i++)
		inner = json_incref(json_object_get(obj, members[i]));
	json_decref(obj);
	return inner ? inner : json_false();
}
