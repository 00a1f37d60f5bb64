// SPDX-License-Identifier: Apache-2.0
#include "kinds/kind.h"

#include "base/jsonx.h"
#include "base/limits.h"
#include "base/mem.h"
#include "test.h"

static const struct field thing_fields[] = { F(1, "metadata", OBJECT, .msg = &meta_object), F(2, "size", INT32) };
static const struct message thing_message = MESSAGE("test.v1.Thing", thing_fields);
static const struct subresource thing_subresources[] = { { "status", VERBS_STATUS }, { "scale", VERBS_STATUS } };
static const struct kind things = {
	.group = "test.dev",
	.version = "v1",
	.kind = "Thing",
	.plural = "things",
	.namespaced = true,
	.message = &thing_message,
	.subresources = thing_subresources,
	.nsubresources = ARRAY_SIZE(thing_subresources),
};
/* A custom resource without a schema: anything goes but metadata. */
static const struct kind customs = {
	.group = "test.dev",
	.version = "v1",
	.kind = "Custom",
	.plural = "customs",
	.flags = KIND_CUSTOM,
};

static json_t *parse(const char *s)
{
	struct err e = ERR_INIT;
	json_t *v = NULL;

	if (jsonx_parse(s, strlen(s), NULL, NULL, &v, &e) < 0)
		test_fail(__FILE__, __LINE__, "%s: %s", s, e.text);
	return v;
}

static void add_causes(const struct err *e, struct sbuf *out)
{
	for (unsigned i = 0; i < e->ncauses; i++)
		sbuf_addf(out, "%s%s: %.60s", i ? "; " : "", err_cause_field(e, i), err_cause_text(e, i));
}

static void check_meta(const struct kind *k, const char *meta, const char *want)
{
	auto_free char *text = xasprintf("{\"metadata\":%s}", meta);
	json_auto_t *v = parse(text);
	auto_sbuf struct sbuf got = SBUF(4096);
	struct err e = ERR_INIT;

	CHECK_INT(kind_validate(k, v, &e), *want ? -1 : 0);
	add_causes(&e, &got);
	CHECK_STR(sbuf_str(&got).p, want);
}

TEST("metadata is checked by the kind's rules and by those of all kinds")
{
	check_meta(&things, "{\"name\":\"a\",\"namespace\":\"n\"}", "");
	check_meta(&things, "{}",
		   "metadata.name: Required value: name or generateName is required; "
		   "metadata.namespace: Required value");
	check_meta(&things, "{\"name\":\"A\",\"namespace\":\"n\"}",
		   "metadata.name: Invalid value: \"A\": a lowercase RFC 1123 subdomain must cons");
	check_meta(&things, "{\"name\":\"a\",\"namespace\":\"n.m\"}",
		   "metadata.namespace: Invalid value: \"n.m\": a lowercase RFC 1123 label must consis");
	check_meta(&things, "{\"name\":\"a-x\",\"generateName\":\"a-\",\"namespace\":\"n\"}", "");
	check_meta(&things, "{\"name\":\"ax\",\"generateName\":\"A-\",\"namespace\":\"n\"}",
		   "metadata.generateName: Invalid value: \"A-\": a lowercase RFC 1123 subdomain must con");
	check_meta(&customs, "{\"name\":\"a\"}", "");
	check_meta(&customs, "{\"name\":\"a\",\"namespace\":\"n\"}",
		   "metadata.namespace: Forbidden: not allowed on this type");
	check_meta(&customs, "{\"name\":\"a\",\"labels\":{\"a b\":\"c\",\"d\":\"-\"}}",
		   "metadata.labels: Invalid value: \"a b\": name part must consist of alphanumeric; "
		   "metadata.labels: Invalid value: \"-\": a valid label must be an empty string or");
	check_meta(&customs, "{\"name\":\"a\",\"annotations\":{\"Example.com/x\":\"any thing\"}}", "");
	check_meta(&customs, "{\"name\":\"a\",\"annotations\":{\"a b\":\"\"}}",
		   "metadata.annotations: Invalid value: \"a b\": name part must consist of alphanumeric");
	check_meta(&customs, "{\"name\":\"a\",\"finalizers\":[\"x y\"]}",
		   "metadata.finalizers: Invalid value: \"x y\": name part must consist of alphanumeric");
	check_meta(&customs,
		   "{\"name\":\"a\",\"ownerReferences\":[{\"apiVersion\":\"v1\",\"kind\":\"Pod\","
		   "\"name\":\"p\"}]}",
		   "metadata.ownerReferences[0].uid: Required value");
	check_meta(
		&customs,
		"{\"name\":\"a\",\"ownerReferences\":["
		"{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"name\":\"p\",\"uid\":\"1\",\"controller\":true},"
		"{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"name\":\"q\",\"uid\":\"2\",\"controller\":true}]}",
		"metadata.ownerReferences: Invalid value: [{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"name\":\"p\",\"");
}

TEST("annotations have a total size")
{
	json_auto_t *v = json_pack("{s:{s:s,s:{}}}", "metadata", "name", "a", "annotations");
	auto_free char *big = xmalloc(LIMIT_ANNOTATIONS + 1);
	struct err e = ERR_INIT;

	memset(big, 'x', LIMIT_ANNOTATIONS);
	big[LIMIT_ANNOTATIONS] = '\0';
	jsonx_set_new(v, "metadata.annotations.a", json_string(big + 1));
	CHECK_INT(kind_validate(&customs, v, &e), 0);
	jsonx_set_new(v, "metadata.annotations.a", json_string(big));
	CHECK_INT(kind_validate(&customs, v, &e), -1);
	CHECK_INT(e.causes[0].kind, CAUSE_TOO_LONG);
	CHECK_STR(e.text, "metadata.annotations: Too long: must have at most 262144 bytes");
}

TEST("custom resources without a schema keep everything, but their metadata is typed")
{
	json_auto_t *v = parse("{\"apiVersion\":\"test.dev/v1\",\"kind\":\"Custom\",\"metadata\":{\"name\":\"a\","
			       "\"color\":\"red\",\"creationTimestamp\":null},\"spec\":{\"a\":null}}");
	json_auto_t *bad = parse("{\"metadata\":{\"labels\":{\"a\":1}}}");
	json_auto_t *list = json_array();
	struct decode_report report = { 0 };
	auto_sbuf struct sbuf text = SBUF(1000);
	struct err e = ERR_INIT;

	CHECK_INT(kind_decode(&customs, v, &report, &e), 0);
	jsonx_dump(v, &text);
	CHECK_STR(text.p, "{\"apiVersion\":\"test.dev/v1\",\"kind\":\"Custom\",\"metadata\":{\"name\":\"a\"},"
			  "\"spec\":{\"a\":null}}");
	CHECK_INT(json_array_size(report.unknown), 1);
	CHECK_STR(json_string_value(json_array_get(report.unknown, 0)), "metadata.color");
	json_decref(report.unknown);
	CHECK(kind_decode(&customs, bad, NULL, &e) < 0);
	CHECK_STR(e.text, "json: cannot unmarshal number 1 into Go struct field ObjectMeta.metadata.labels[a] of type "
			  "string");
	CHECK(kind_decode(&customs, list, NULL, &e) < 0);
}

TEST("what an update may not change is told field by field")
{
	json_auto_t *old = parse("{\"metadata\":{\"name\":\"a\",\"uid\":\"1\",\"creationTimestamp\":\"x\","
				 "\"deletionTimestamp\":\"y\",\"finalizers\":[\"f/a\",\"f/b\"]}}");
	json_auto_t *new = parse("{\"metadata\":{\"name\":\"b\",\"uid\":\"2\",\"finalizers\":[\"f/b\",\"f/c\"]}}");
	auto_sbuf struct sbuf got = SBUF(1000);
	struct err e = ERR_INIT;

	CHECK_INT(kind_validate_update(&customs, old, old, &e), 0);
	CHECK_INT(kind_validate_update(&customs, new, old, &e), -1);
	add_causes(&e, &got);
	CHECK_STR(got.p, "metadata.name: Invalid value: \"b\": field is immutable; "
			 "metadata.uid: Invalid value: \"2\": field is immutable; "
			 "metadata.finalizers: Forbidden: no new finalizers can be added if the object is b");
}

TEST("kinds know their names")
{
	struct kind core = things;
	char buf[64];

	core.group = "";
	kind_resource_name(&things, buf, sizeof(buf));
	CHECK_STR(buf, "things.test.dev");
	kind_resource_name(&core, buf, sizeof(buf));
	CHECK_STR(buf, "things");
	kind_api_version(&things, buf, sizeof(buf));
	CHECK_STR(buf, "test.dev/v1");
	kind_api_version(&core, buf, sizeof(buf));
	CHECK_STR(buf, "v1");
	CHECK_STR(verb_name(VERB_DELETECOLLECTION), "deletecollection");
	CHECK(kind_subresource(&things, "scale") == &thing_subresources[1]);
	CHECK(kind_subresource(&things, "log") == NULL);
	CHECK(kind_storage(&things) == &things);
}
