// SPDX-License-Identifier: Apache-2.0
#include "kinds/field.h"

#include "base/jsonx.h"
#include "base/mem.h"
#include "kinds/kind.h"
#include "test.h"

/* A small kind with one of everything. */
static const struct field port_fields[] = {
	F(1, "port", INT32, .flags = FIELD_REQUIRED, .has_min = true, .min = 1),
	F(2, "protocol", STRING, .dflt = "\"TCP\"", .values = "TCP|UDP"),
};
static const struct message port = MESSAGE("test.v1.Port", port_fields);

static void source_defaults(json_t *obj)
{
	if (!json_object_get(obj, "file"))
		json_object_set_new(obj, "empty", json_object());
}

static void source_validate(const json_t *obj, const struct path *at, struct err *e)
{
	if (json_object_get(obj, "file") && json_object_get(obj, "empty"))
		path_forbidden(PATH_FIELD(at, "empty"), e, "may not specify more than 1 source");
}

static const struct field empty_fields[] = { F(1, "medium", STRING, .dflt = "\"disk\"") };
static const struct message empty = MESSAGE("test.v1.Empty", empty_fields);

static const struct field source_fields[] = {
	F(1, "file", STRING),
	F(2, "empty", OBJECT, .msg = &empty),
};
static const struct message source =
	MESSAGE("test.v1.Source", source_fields, .defaults = source_defaults, .validate = source_validate);

static const struct field volume_fields[] = {
	F(1, "name", STRING, .flags = FIELD_REQUIRED),
	F(2, "volumeSource", OBJECT, .msg = &source, .flags = FIELD_INLINE),
};
static const struct message volume = MESSAGE("test.v1.Volume", volume_fields);

static const struct field spec_fields[] = {
	F(1, "image", STRING, .flags = FIELD_REQUIRED),
	F(2, "on", BOOL),
	F(3, "replicas", INT32, .flags = FIELD_POINTER, .dflt = "1", .has_min = true, .min = 0),
	F(4, "big", INT64),
	F(5, "ratio", DOUBLE),
	F(6, "secret", BYTES),
	F(7, "when", TIME),
	F(8, "precisely", MICROTIME),
	FM(9, "limits", QUANTITY),
	F(10, "target", INTSTR),
	F(11, "extra", ANY),
	FL(12, "ports", OBJECT, .msg = &port),
	FM(13, "named", OBJECT, .msg = &port),
	FL(14, "args", STRING, .values = "a|b"),
	FL(15, "volumes", OBJECT, .msg = &volume),
	F(16, "period", INT32, .dflt = "10"),
	F(17, "options", OBJECT, .msg = &empty, .dflt = "{}"),
	FL(18, "modes", STRING, .dflt = "[\"x\",\"y\"]"),
	F(19, "flag", BOOL, .dflt = "true"),
};
static const struct message spec = MESSAGE("test.v1.ThingSpec", spec_fields);

static const struct field thing_fields[] = {
	F(1, "metadata", OBJECT, .msg = &meta_object),
	F(2, "spec", OBJECT, .msg = &spec),
};
static const struct message thing = MESSAGE("test.v1.Thing", thing_fields);

static json_t *parse(const char *s)
{
	struct err e = ERR_INIT;
	json_t *v = NULL;

	if (jsonx_parse(s, strlen(s), NULL, NULL, &v, &e) < 0)
		test_fail(__FILE__, __LINE__, "%s: %s", s, e.text);
	return v;
}

static const char *dump(const json_t *v)
{
	static char out[4096];
	auto_sbuf struct sbuf b = SBUF(sizeof(out) - 1);

	jsonx_dump(v, &b);
	snprintf(out, sizeof(out), "%s", sbuf_str(&b).p);
	return out;
}

/* spec after decoding, or the error's text. */
static const char *decoded(const char *spec_text)
{
	static char out[2048];
	auto_free char *text = xasprintf("{\"spec\":%s}", spec_text);
	json_auto_t *v = parse(text);
	struct err e = ERR_INIT;

	if (message_decode(&thing, v, NULL, &e) < 0) {
		CHECK_INT(e.kind, ERR_BAD_REQUEST);
		snprintf(out, sizeof(out), "%s", e.text);
	} else {
		snprintf(out, sizeof(out), "%s", dump(json_object_get(v, "spec")));
	}
	return out;
}

TEST("values of the right type stay, those with a canonical form get it")
{
	static const struct {
		const char *in, *out;
	} rows[] = {
		{ "{\"image\":\"x\",\"on\":true,\"replicas\":0,\"big\":9007199254740993}", NULL },
		{ "{\"ratio\":2}", NULL },
		{ "{\"ratio\":0.5}", NULL },
		{ "{\"target\":80}", NULL },
		{ "{\"target\":\"http\"}", NULL },
		{ "{\"extra\":{\"a\":[null,1]}}", NULL },
		{ "{\"image\":null,\"ports\":null,\"limits\":{\"a\":null}}", "{\"limits\":{}}" },
		{ "{\"args\":[null,\"a\"],\"ports\":[null]}", "{\"args\":[\"\",\"a\"],\"ports\":[{}]}" },
		{ "{\"limits\":{\"cpu\":0.5,\"gpu\":2,\"memory\":\"1024Mi\",\"x\":\"0.1\"}}",
		  "{\"limits\":{\"cpu\":\"500m\",\"gpu\":\"2\",\"memory\":\"1Gi\",\"x\":\"100m\"}}" },
		{ "{\"when\":\"2020-01-02T03:04:05Z\"}", NULL },
		{ "{\"when\":\"2020-01-02T03:04:05.9+01:00\"}", "{\"when\":\"2020-01-02T02:04:05Z\"}" },
		{ "{\"precisely\":\"2020-01-02T03:04:05Z\"}", "{\"precisely\":\"2020-01-02T03:04:05.000000Z\"}" },
		{ "{\"secret\":\"aGk=\"}", NULL },
		{ "{\"secret\":\"\"}", NULL },
		{ "{\"secret\":\"aG\\nk=\\n\"}", "{\"secret\":\"aGk=\"}" },
		{ "{\"secret\":\"aGl=\"}", "{\"secret\":\"aGk=\"}" },
		{ "{\"secret\":\"QR==\"}", "{\"secret\":\"QQ==\"}" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		CHECK_STR(decoded(rows[i].in), rows[i].out ? rows[i].out : rows[i].in);
}

TEST("a wrong type is told with path, what was found and what was wanted")
{
	static const struct {
		const char *in, *text;
	} rows[] = {
		{ "{\"image\":5}",
		  "json: cannot unmarshal number 5 into Go struct field ThingSpec.spec.image of type string" },
		{ "{\"on\":\"true\"}",
		  "json: cannot unmarshal string into Go struct field ThingSpec.spec.on of type bool" },
		{ "{\"replicas\":\"2\"}",
		  "json: cannot unmarshal string into Go struct field ThingSpec.spec.replicas of type int32" },
		{ "{\"replicas\":2147483648}", "json: cannot unmarshal number 2147483648 into Go struct field "
					       "ThingSpec.spec.replicas of type int32" },
		{ "{\"replicas\":1.5}",
		  "json: cannot unmarshal number 1.5 into Go struct field ThingSpec.spec.replicas of type int32" },
		{ "{\"ports\":{}}",
		  "json: cannot unmarshal object into Go struct field ThingSpec.spec.ports of type []v1.Port" },
		{ "{\"limits\":[]}", "json: cannot unmarshal array into Go struct field ThingSpec.spec.limits of type "
				     "map[string]resource.Quantity" },
		{ "{\"ports\":[{\"port\":1},{\"port\":true}]}",
		  "json: cannot unmarshal bool into Go struct field Port.spec.ports[1].port of type int32" },
		{ "{\"ports\":[5]}",
		  "json: cannot unmarshal number 5 into Go struct field ThingSpec.spec.ports[0] of type v1.Port" },
		{ "{\"named\":{\"a\":{\"port\":\"x\"}}}",
		  "json: cannot unmarshal string into Go struct field Port.spec.named[a].port of type int32" },
		{ "{\"target\":true}",
		  "json: cannot unmarshal bool into Go struct field ThingSpec.spec.target of type intstr.IntOrString" },
		{ "{\"limits\":{\"cpu\":\"lots\"}}", "spec.limits[cpu]: quantities must match the regular expression "
						     "'^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$': \"lots\"" },
		{ "{\"when\":\"noon\"}", "spec.when: not an RFC3339 time like 2006-01-02T15:04:05Z: \"noon\"" },
		{ "{\"secret\":\"a!\"}", "spec.secret: illegal base64 data: \"a!\"" },
		{ "{\"secret\":\"abcde\"}", "spec.secret: illegal base64 data: \"abcde\"" },
	};
	json_auto_t *list = json_array();
	struct err e = ERR_INIT;

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		CHECK_STR(decoded(rows[i].in), rows[i].text);
	CHECK(message_decode(&thing, list, NULL, &e) < 0);
	CHECK_STR(e.text, "json: cannot unmarshal array into Go value of type v1.Thing");
}

TEST("unknown fields are removed and reported, apiVersion and kind are not")
{
	json_auto_t *v = parse("{\"apiVersion\":\"v1\",\"kind\":\"Thing\",\"foo\":1,\"spec\":{\"imagee\":\"x\","
			       "\"image\":\"y\",\"ports\":[{\"prt\":1,\"port\":2}],\"volumes\":[{\"name\":\"a\","
			       "\"file\":\"/x\",\"volumeSource\":{}}],\"kind\":\"z\"}}");
	struct decode_report report = { 0 };
	struct err e = ERR_INIT;

	CHECK_INT(message_decode(&thing, v, &report, &e), 0);
	CHECK_STR(dump(report.unknown),
		  "[\"foo\",\"spec.imagee\",\"spec.ports[0].prt\",\"spec.volumes[0].volumeSource\",\"spec.kind\"]");
	CHECK_STR(dump(v),
		  "{\"apiVersion\":\"v1\",\"kind\":\"Thing\",\"spec\":{\"image\":\"y\",\"ports\":[{\"port\":2}],"
		  "\"volumes\":[{\"name\":\"a\",\"file\":\"/x\"}]}}");
	json_decref(report.unknown);
}

TEST("the report of unknown fields is bounded")
{
	json_auto_t *v = json_object();
	struct decode_report report = { 0 };
	struct err e = ERR_INIT;

	for (int i = 0; i < 1000; i++) {
		auto_free char *key = xasprintf("f%d", i);

		json_object_set_new(v, key, json_integer(1));
	}
	CHECK_INT(message_decode(&thing, v, &report, &e), 0);
	CHECK_INT(json_array_size(report.unknown), DECODE_MAX_UNKNOWN);
	CHECK_INT(json_object_size(v), 0);
	json_decref(report.unknown);
}

TEST("defaults fill in what is absent, everywhere, and keep what was said")
{
	json_auto_t *v = parse("{\"ports\":[{\"port\":1},{\"port\":2,\"protocol\":\"UDP\"},{\"protocol\":\"\"}],"
			       "\"named\":{\"a\":{}},\"replicas\":0,\"period\":0,\"flag\":false,"
			       "\"volumes\":[{\"name\":\"a\"},{\"name\":\"b\",\"file\":\"/x\"}]}");

	message_default(&spec, v);
	CHECK_STR(dump(json_object_get(v, "ports")),
		  "[{\"port\":1,\"protocol\":\"TCP\"},{\"port\":2,\"protocol\":\"UDP\"},{\"protocol\":\"TCP\"}]");
	CHECK_STR(dump(json_object_get(v, "named")), "{\"a\":{\"protocol\":\"TCP\"}}");
	CHECK_STR(dump(json_object_get(v, "volumes")),
		  "[{\"name\":\"a\",\"empty\":{\"medium\":\"disk\"}},{\"name\":\"b\",\"file\":\"/x\"}]");
	CHECK_INT(jsonx_int_or(v, "replicas", -1), 0);
	CHECK_INT(jsonx_int_or(v, "period", -1), 10);
	CHECK(!jsonx_bool_or(v, "flag", true));
	CHECK_STR(dump(json_object_get(v, "modes")), "[\"x\",\"y\"]");
	CHECK_STR(jsonx_str(v, "options.medium"), "disk");
}

static void check_causes(const char *spec_text, const char *want)
{
	json_auto_t *v = parse(spec_text);
	auto_sbuf struct sbuf got = SBUF(4096);
	struct err e = ERR_INIT;
	int rc = message_validate(&spec, v, PATH_FIELD(NULL, "spec"), &e);

	CHECK_INT(rc, *want ? -1 : 0);
	for (unsigned i = 0; i < e.ncauses; i++)
		sbuf_addf(&got, "%s%s: %s", i ? "; " : "", err_cause_field(&e, i), err_cause_text(&e, i));
	CHECK_STR(sbuf_str(&got).p, want);
}

TEST("rows are checked in Kubernetes' words")
{
	check_causes("{\"image\":\"x\"}", "");
	check_causes("{}", "spec.image: Required value");
	check_causes("{\"image\":\"\"}", "spec.image: Required value");
	check_causes("{\"image\":\"x\",\"replicas\":-1}",
		     "spec.replicas: Invalid value: -1: must be greater than or equal to 0");
	check_causes("{\"image\":\"x\",\"args\":[\"a\",\"c\"]}",
		     "spec.args[1]: Unsupported value: \"c\": supported values: \"a\", \"b\"");
	check_causes("{\"image\":\"x\",\"ports\":[{\"port\":0},{}]}",
		     "spec.ports[0].port: Invalid value: 0: must be greater than or equal to 1; "
		     "spec.ports[1].port: Required value");
	check_causes("{\"image\":\"x\",\"named\":{\"a/b\":{\"port\":1,\"protocol\":\"XXX\"}}}",
		     "spec.named[a/b].protocol: Unsupported value: \"XXX\": supported values: \"TCP\", \"UDP\"");
	check_causes("{\"image\":\"x\",\"volumes\":[{\"file\":\"/\",\"empty\":{}}]}",
		     "spec.volumes[0].name: Required value; "
		     "spec.volumes[0].empty: Forbidden: may not specify more than 1 source");
}

TEST("paths and complaints are worded as Kubernetes words them")
{
	const struct path at = { .name = "spec" };
	char buf[64];
	char tiny[8];
	struct err e = ERR_INIT;
	json_auto_t *text = json_string("a\"b");
	json_auto_t *object = parse("{\"a\":1}");

	CHECK_STR(path_text(PATH_FIELD(PATH_INDEX(PATH_FIELD(&at, "env"), 2), "name"), buf, sizeof(buf)),
		  "spec.env[2].name");
	CHECK_STR(path_text(PATH_KEY(PATH_FIELD(NULL, "labels"), "a/b"), buf, sizeof(buf)), "labels[a/b]");
	CHECK_STR(path_text(NULL, buf, sizeof(buf)), "");
	CHECK_STR(path_text(PATH_FIELD(&at, "containers"), tiny, sizeof(tiny)), "spec.co");
	path_required(&at, &e, "say something");
	path_invalid(&at, &e, text, "no %s", "good");
	path_invalid(&at, &e, object, "no");
	path_duplicate(&at, &e, text);
	path_forbidden(&at, &e, "not %d", 1);
	path_invalid(&at, &e, NULL, "no");
	CHECK_STR(err_cause_text(&e, 0), "Required value: say something");
	CHECK_STR(err_cause_text(&e, 1), "Invalid value: \"a\\\"b\": no good");
	CHECK_STR(err_cause_text(&e, 2), "Invalid value: {\"a\":1}: no");
	CHECK_STR(err_cause_text(&e, 3), "Duplicate value: \"a\\\"b\"");
	CHECK_STR(err_cause_text(&e, 4), "Forbidden: not 1");
	CHECK_STR(err_cause_text(&e, 5), "Invalid value: null: no");
	CHECK_INT(e.causes[3].kind, CAUSE_DUPLICATE);
}

TEST("rows are found by name and by number")
{
	CHECK_STR(message_field(&volume, "file")->name, "file");
	CHECK(message_field(&volume, "volumeSource") == NULL);
	CHECK(message_field(&spec, "") == NULL);
	CHECK(message_field(&spec, "imag") == NULL);
	CHECK_STR(message_field_number(&volume, 2)->name, "volumeSource");
	CHECK_STR(message_field_number(&meta_object, 17)->name, "managedFields");
	CHECK(message_field_number(&spec, 0) == NULL);
	CHECK(message_field_number(&spec, 99) == NULL);
}
