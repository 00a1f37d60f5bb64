// SPDX-License-Identifier: Apache-2.0
/* typeref_test.c - the same questions to a field table and to a schema */
#include "kinds/typeref.h"

#include "test.h"

static const struct field item_fields[] = { F(1, "port", INT32), F(2, "protocol", STRING, .dflt = "\"TCP\"") };
static const struct message item = MESSAGE("test.Item", item_fields);
static const struct message whole = MESSAGE("test.Whole", item_fields, .atomic = true);
static const struct field inner_fields[] = { F(1, "inlined", OBJECT, .msg = &whole) };
static const struct message inner = MESSAGE("test.Inner", inner_fields);
static const struct field fields[] = {
	F(1, "one", OBJECT, .msg = &item),
	F(2, "pointer", OBJECT, .msg = &item, .flags = FIELD_POINTER),
	F(3, "whole", OBJECT, .msg = &whole),
	F(4, "any", ANY),
	F(5, "embedded", ANY, .flags = FIELD_EMBEDDED),
	F(6, "", OBJECT, .msg = &inner, .flags = FIELD_INLINE),
	FM(7, "labels", STRING),
	FM(8, "selector", STRING, .flags = FIELD_ATOMIC),
	FM(9, "byName", OBJECT, .msg = &item),
	FL(10, "args", STRING),
	FL(11, "set", STRING, .flags = FIELD_SET),
	FL(12, "ports", OBJECT, .msg = &item, .merge_key = "port", .list_keys = "port,protocol"),
	FL(13, "merged", OBJECT, .msg = &item, .merge_key = "port"),
	FL(14, "replaced", OBJECT, .msg = &item, .merge_key = "port", .flags = FIELD_ATOMIC),
};
static const struct message message = MESSAGE("test.Message", fields);

static const char schema_text[] =
	"{\"type\":\"object\",\"properties\":{"
	"\"one\":{\"type\":\"object\",\"properties\":{\"port\":{\"type\":\"integer\"}}},"
	"\"whole\":{\"type\":\"object\",\"x-kubernetes-map-type\":\"atomic\"},"
	"\"any\":{\"type\":\"object\",\"x-kubernetes-preserve-unknown-fields\":true},"
	"\"embedded\":{\"type\":\"object\",\"x-kubernetes-embedded-resource\":true},"
	"\"labels\":{\"type\":\"object\",\"additionalProperties\":{\"type\":\"string\"}},"
	"\"args\":{\"type\":\"array\",\"items\":{\"type\":\"string\"}},"
	"\"set\":{\"type\":\"array\",\"x-kubernetes-list-type\":\"set\",\"items\":{\"type\":\"string\"}},"
	"\"ports\":{\"type\":\"array\",\"x-kubernetes-list-type\":\"map\","
	"\"x-kubernetes-list-map-keys\":[\"port\",\"protocol\"],\"items\":{\"type\":\"object\",\"properties\":"
	"{\"port\":{\"type\":\"integer\"},\"protocol\":{\"type\":\"string\",\"default\":\"TCP\"}}}}}}";

TEST("a field table says how its lists and maps are owned")
{
	struct typeref t = { .msg = &message };

	CHECK_INT(typeref_list_type(typeref_member(t, "args")), LIST_ATOMIC);
	CHECK_INT(typeref_list_type(typeref_member(t, "set")), LIST_SET);
	CHECK_INT(typeref_list_type(typeref_member(t, "ports")), LIST_MAP);
	CHECK_INT(typeref_list_type(typeref_member(t, "merged")), LIST_MAP);
	CHECK_INT(typeref_list_type(typeref_member(t, "replaced")), LIST_ATOMIC);
	CHECK_INT(typeref_list_type(typeref_member(t, "nowhere")), LIST_ATOMIC);
	CHECK(typeref_atomic(typeref_member(t, "whole")));
	CHECK(typeref_atomic(typeref_member(t, "inlined")));
	CHECK(typeref_atomic(typeref_member(t, "selector")));
	CHECK(typeref_atomic(typeref_member(t, "any")));
	CHECK(!typeref_atomic(typeref_member(t, "one")));
	CHECK(!typeref_atomic(typeref_member(t, "labels")));
	CHECK(!typeref_atomic(typeref_member(t, "embedded")));
	CHECK(!typeref_atomic(typeref_member(t, "nowhere")));
	CHECK(typeref_struct(typeref_member(t, "one")));
	CHECK(!typeref_struct(typeref_member(t, "pointer")));
	CHECK(!typeref_struct(typeref_member(t, "labels")));
	CHECK(typeref_named(t, "one"));
	CHECK(typeref_named(t, "inlined"));
	CHECK(!typeref_named(t, "nowhere"));
	CHECK(!typeref_named(typeref_member(t, "labels"), "x"));
	CHECK(typeref_member(typeref_member(t, "byName"), "x").msg == &item);
	CHECK(typeref_item(typeref_member(t, "ports")).msg == &item);
	CHECK(typeref_member(typeref_member(t, "embedded"), "metadata").msg == &meta_object);
}

TEST("a schema says how its lists and maps are owned")
{
	json_t *schema = json_loads(schema_text, 0, NULL);
	struct typeref t = { .schema = schema, .whole = true };

	CHECK_INT(typeref_list_type(typeref_member(t, "args")), LIST_ATOMIC);
	CHECK_INT(typeref_list_type(typeref_member(t, "set")), LIST_SET);
	CHECK_INT(typeref_list_type(typeref_member(t, "ports")), LIST_MAP);
	CHECK(typeref_atomic(typeref_member(t, "whole")));
	CHECK(!typeref_atomic(typeref_member(t, "one")));
	CHECK(!typeref_atomic(typeref_member(t, "any")));
	CHECK(typeref_named(t, "one"));
	CHECK(typeref_named(t, "metadata"));
	CHECK(!typeref_named(t, "nowhere"));
	CHECK(!typeref_named(typeref_member(t, "labels"), "x"));
	CHECK(typeref_member(t, "metadata").msg == &meta_object);
	CHECK(typeref_member(typeref_member(t, "embedded"), "metadata").msg == &meta_object);
	CHECK(!typeref_member(typeref_member(t, "one"), "metadata").msg);
	CHECK(typeref_member(typeref_member(t, "labels"), "x").schema);
	json_decref(schema);
}

static void check_keys(struct typeref list)
{
	struct str keys[4];
	json_t *dflt = typeref_key_default(list, STR("protocol"));

	CHECK_INT(typeref_list_keys(list, keys, 4), 2);
	CHECK(str_eq(keys[0], "port"));
	CHECK(str_eq(keys[1], "protocol"));
	CHECK_INT(typeref_list_keys(list, keys, 1), 1);
	CHECK_STR(json_string_value(dflt), "TCP");
	CHECK(!typeref_key_default(list, STR("port")));
	CHECK(!typeref_key_default(list, STR("nowhere")));
	json_decref(dflt);
}

TEST("keys of a list map and their defaults come from tables and schemas")
{
	json_t *schema = json_loads(schema_text, 0, NULL);

	check_keys(typeref_member((struct typeref){ .msg = &message }, "ports"));
	check_keys(typeref_member((struct typeref){ .schema = schema }, "ports"));
	json_decref(schema);
}
