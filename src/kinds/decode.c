// SPDX-License-Identifier: Apache-2.0
/* decode.c - an object from outside becomes one the tables vouch for
 *
 * Runs on every write, so it walks the members an object has rather than the rows it could have.  Each scalar type is
 * a row of `types`: its Go name for error texts and a function that checks and, where the text has a canonical form
 * (quantities, times, base64), replaces.  Nulls count as absent.  Afterwards every other file of the server may trust
 * the types of built-in objects.
 */
#include "base/clock.h"
#include "base/jsonx.h"
#include "base/limits.h"
#include "base/mem.h"
#include "kinds/field.h"
#include "kinds/quantity.h"

struct decoder {
	struct decode_report *report;
	struct err *e;
	const struct message *owner; /* of the row at hand, for error texts */
};

/* A value to check; what it is to be replaced with goes to *ret_new, a new reference. */
typedef int decode_fn(struct decoder *d, const json_t *v, const struct field *f, const struct path *at,
		      json_t **ret_new);

static const char *last_part(const char *dotted)
{
	const char *dot = strrchr(dotted, '.');

	return dot ? dot + 1 : dotted;
}

/* "v1.PodSpec" of "io.k8s.api.core.v1.PodSpec". */
static const char *last_two_parts(const char *dotted)
{
	const char *last = last_part(dotted);
	const char *p = last > dotted ? last - 1 : last;

	while (p > dotted && p[-1] != '.')
		p--;
	return p;
}

static const char *json_type_name(const json_t *v)
{
	switch (json_typeof(v)) {
	case JSON_OBJECT:
		return "object";
	case JSON_ARRAY:
		return "array";
	case JSON_STRING:
		return "string";
	case JSON_INTEGER:
	case JSON_REAL:
		return "number";
	case JSON_TRUE:
	case JSON_FALSE:
		return "bool";
	default:
		return "null";
	}
}

static const char *go_type_name(const struct field *f);

/* `whole` is the list or map itself, else one value of it. */
static int wrong_type(struct decoder *d, const json_t *v, const struct field *f, const struct path *at, bool whole)
{
	char where[512];
	char number[32] = "";
	const char *shape = !whole || f->shape == SHAPE_ONE ? "" : f->shape == SHAPE_LIST ? "[]" : "map[string]";

	if (json_is_integer(v))
		snprintf(number, sizeof(number), " %lld", (long long)json_integer_value(v));
	else if (json_is_real(v))
		snprintf(number, sizeof(number), " %g", json_real_value(v));
	return err_set(d->e, ERR_BAD_REQUEST, "json: cannot unmarshal %s%s into Go struct field %s.%s of type %s%s",
		       json_type_name(v), number, last_part(d->owner->name), path_text(at, where, sizeof(where)), shape,
		       go_type_name(f));
}

static int bad_text(struct decoder *d, const struct path *at, const char *problem, const char *text)
{
	char where[512];

	return err_set(d->e, ERR_BAD_REQUEST, "%s: %s: \"%.200s\"", path_text(at, where, sizeof(where)), problem, text);
}

static int decode_string(struct decoder *d, const json_t *v, const struct field *f, const struct path *at,
			 json_t **ret_new)
{
	(void)ret_new;
	return json_is_string(v) ? 0 : wrong_type(d, v, f, at, false);
}

static int decode_bool(struct decoder *d, const json_t *v, const struct field *f, const struct path *at,
		       json_t **ret_new)
{
	(void)ret_new;
	return json_is_boolean(v) ? 0 : wrong_type(d, v, f, at, false);
}

static int decode_int32(struct decoder *d, const json_t *v, const struct field *f, const struct path *at,
			json_t **ret_new)
{
	json_int_t i = json_integer_value(v);

	(void)ret_new;
	return json_is_integer(v) && i >= INT32_MIN && i <= INT32_MAX ? 0 : wrong_type(d, v, f, at, false);
}

static int decode_int64(struct decoder *d, const json_t *v, const struct field *f, const struct path *at,
			json_t **ret_new)
{
	(void)ret_new;
	return json_is_integer(v) ? 0 : wrong_type(d, v, f, at, false);
}

static int decode_double(struct decoder *d, const json_t *v, const struct field *f, const struct path *at,
			 json_t **ret_new)
{
	(void)ret_new;
	return json_is_number(v) ? 0 : wrong_type(d, v, f, at, false);
}

static int decode_intstr(struct decoder *d, const json_t *v, const struct field *f, const struct path *at,
			 json_t **ret_new)
{
	return json_is_string(v) ? 0 : decode_int32(d, v, f, at, ret_new);
}

static int decode_any(struct decoder *d, const json_t *v, const struct field *f, const struct path *at,
		      json_t **ret_new)
{
	(void)d, (void)v, (void)f, (void)at, (void)ret_new;
	return 0;
}

static int value64(char c)
{
	return c >= 'A' && c <= 'Z'   ? c - 'A'
	       : c >= 'a' && c <= 'z' ? c - 'a' + 26
	       : c >= '0' && c <= '9' ? c - '0' + 52
	       : c == '+'             ? 62
	       : c == '/'             ? 63
				      : -1;
}

static bool is_base64(const char *p, size_t n)
{
	size_t pad = 0;
	int last = 0;

	if (n % 4)
		return false;
	while (pad < 2 && pad < n && p[n - 1 - pad] == '=')
		pad++;
	for (size_t i = 0; i < n - pad; i++) {
		last = value64(p[i]);
		if (last < 0)
			return false;
	}
	/* Bits that no byte uses must be zero, or two texts would mean the same bytes. */
	return pad == 0 || (last & (pad == 1 ? 3 : 15)) == 0;
}

/* Go's decoder skips line ends and forgives stray low bits in the last digit; its encoder writes neither. */
static int decode_bytes(struct decoder *d, const json_t *v, const struct field *f, const struct path *at,
			json_t **ret_new)
{
	static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
	const char *s = json_string_value(v);
	size_t n = json_string_length(v);
	auto_sbuf struct sbuf clean = SBUF(n);

	if (!s)
		return wrong_type(d, v, f, at, false);
	if (is_base64(s, n))
		return 0;
	for (size_t i = 0; i < n; i++)
		if (s[i] != '\n' && s[i] != '\r')
			sbuf_addc(&clean, s[i]);
	if (clean.n >= 4 && clean.p[clean.n - 1] == '=') {
		size_t pad = clean.p[clean.n - 2] == '=' ? 2 : 1;
		char *last = &clean.p[clean.n - 1 - pad];
		int bits = value64(*last);

		if (bits >= 0)
			*last = digits[bits & (pad == 1 ? 0x3c : 0x30)];
	}
	if (!is_base64(sbuf_str(&clean).p, clean.n))
		return bad_text(d, at, "illegal base64 data", s);
	*ret_new = json_stringn_nocheck(sbuf_str(&clean).p, clean.n);
	return 0;
}

static bool is_canonical_time(const char *s)
{
	static const char shape[] = "dddd-dd-ddTdd:dd:ddZ";

	for (size_t i = 0; i < sizeof(shape); i++)
		if (shape[i] == 'd' ? s[i] < '0' || s[i] > '9' : s[i] != shape[i])
			return false;
	return true;
}

static int decode_time(struct decoder *d, const json_t *v, const struct field *f, const struct path *at,
		       json_t **ret_new)
{
	const char *s = json_string_value(v);
	char text[CLOCK_MICRO_LEN];
	int64_t micros;

	if (!s)
		return wrong_type(d, v, f, at, false);
	if (!clock_parse_rfc3339(s, &micros))
		return bad_text(d, at, "not an RFC3339 time like 2006-01-02T15:04:05Z", s);
	if (f->type == FIELD_MICROTIME) {
		clock_rfc3339_micro(micros, text);
	} else {
		if (is_canonical_time(s))
			return 0;
		/* Towards the past, so that -0.5 s is not the next second. */
		clock_rfc3339(micros / 1000000 - (micros % 1000000 < 0), text);
	}
	if (!streq(text, s))
		*ret_new = json_string_nocheck(text);
	return 0;
}

static int decode_quantity(struct decoder *d, const json_t *v, const struct field *f, const struct path *at,
			   json_t **ret_new)
{
	const char *s = json_string_value(v);
	char number[32];
	char text[QUANTITY_TEXT];
	struct quantity q;

	if (json_is_integer(v)) {
		snprintf(number, sizeof(number), "%lld", (long long)json_integer_value(v));
		s = number;
	} else if (json_is_real(v)) {
		/* 15 digits give back what was written; 17 would turn 0.1 into 0.10000000000000001. */
		snprintf(number, sizeof(number), "%.15g", json_real_value(v));
		s = number;
	}
	if (!s)
		return wrong_type(d, v, f, at, false);
	if (!quantity_parse(s, &q))
		return bad_text(d, at,
				"quantities must match the regular expression "
				"'^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'",
				s);
	quantity_text(&q, text);
	if (!json_is_string(v) || !streq(text, s))
		*ret_new = json_string_nocheck(text);
	return 0;
}

static const struct {
	const char *go;
	decode_fn *decode;
} types[] = {
	[FIELD_STRING] = { "string", decode_string },
	[FIELD_BOOL] = { "bool", decode_bool },
	[FIELD_INT32] = { "int32", decode_int32 },
	[FIELD_INT64] = { "int64", decode_int64 },
	[FIELD_DOUBLE] = { "float64", decode_double },
	[FIELD_BYTES] = { "[]uint8", decode_bytes },
	[FIELD_TIME] = { "v1.Time", decode_time },
	[FIELD_MICROTIME] = { "v1.MicroTime", decode_time },
	[FIELD_DURATION] = { "string", decode_string },
	[FIELD_QUANTITY] = { "resource.Quantity", decode_quantity },
	[FIELD_ANY] = { "json", decode_any },
	[FIELD_INTSTR] = { "intstr.IntOrString", decode_intstr },
	[FIELD_OBJECT] = { NULL, NULL },
};

static const char *go_type_name(const struct field *f)
{
	return f->type == FIELD_OBJECT ? last_two_parts(f->msg->name) : types[f->type].go;
}

static int decode_object(struct decoder *d, const struct message *m, json_t *obj, const struct path *at);

/* One value of a row, be it the whole field, a list's item or a map's value. */
static int decode_value(struct decoder *d, const struct message *m, const struct field *f, json_t *v,
			const struct path *at, json_t **ret_new)
{
	if (f->type != FIELD_OBJECT) {
		d->owner = m;
		return types[f->type].decode(d, v, f, at, ret_new);
	}
	if (!json_is_object(v)) {
		d->owner = m;
		return wrong_type(d, v, f, at, false);
	}
	return decode_object(d, f->msg, v, at);
}

/* What Go makes of a null among a list's items. */
static json_t *zero_value(const struct field *f)
{
	switch (f->type) {
	case FIELD_OBJECT:
		return json_object();
	case FIELD_BOOL:
		return json_false();
	case FIELD_INT32:
	case FIELD_INT64:
	case FIELD_DOUBLE:
	case FIELD_INTSTR:
		return json_integer(0);
	case FIELD_QUANTITY:
		return json_string("0");
	case FIELD_ANY:
		return json_null();
	default:
		return json_string("");
	}
}

static int decode_list(struct decoder *d, const struct message *m, const struct field *f, json_t *list,
		       const struct path *at)
{
	for (size_t i = 0; i < json_array_size(list); i++) {
		json_t *item = json_array_get(list, i);
		json_t *changed = NULL;

		if (json_is_null(item)) {
			json_array_set_new(list, i, zero_value(f));
			continue;
		}
		if (decode_value(d, m, f, item, PATH_INDEX(at, i), &changed) < 0)
			return -1;
		if (changed)
			json_array_set_new(list, i, changed);
	}
	return 0;
}

static int decode_map(struct decoder *d, const struct message *m, const struct field *f, json_t *map,
		      const struct path *at)
{
	const char *key;
	json_t *v;
	void *next;

	json_object_foreach_safe (map, next, key, v) {
		json_t *changed = NULL;

		if (json_is_null(v) && f->type != FIELD_ANY) {
			json_object_del(map, key);
			continue;
		}
		if (decode_value(d, m, f, v, PATH_KEY(at, key), &changed) < 0)
			return -1;
		if (changed)
			json_object_iter_set_new(map, json_object_key_to_iter(key), changed);
	}
	return 0;
}

static int decode_field(struct decoder *d, const struct message *m, const struct field *f, json_t *v,
			const struct path *at, json_t **ret_new)
{
	if (f->shape == SHAPE_ONE)
		return decode_value(d, m, f, v, at, ret_new);
	if (f->shape == SHAPE_LIST ? !json_is_array(v) : !json_is_object(v)) {
		d->owner = m;
		return wrong_type(d, v, f, at, true);
	}
	return f->shape == SHAPE_LIST ? decode_list(d, m, f, v, at) : decode_map(d, m, f, v, at);
}

static void report_unknown(struct decoder *d, const struct path *at)
{
	char where[1024];

	if (!d->report)
		return;
	if (!d->report->unknown)
		d->report->unknown = json_array();
	if (json_array_size(d->report->unknown) < DECODE_MAX_UNKNOWN)
		json_array_append_new(d->report->unknown, jsonx_string(path_text(at, where, sizeof(where))));
}

/* apiVersion and kind open every body, whether its table has rows for them or not. */
static bool is_type_meta(const char *key, const json_t *v, const struct path *at)
{
	return !at && json_is_string(v) && (streq(key, "apiVersion") || streq(key, "kind"));
}

static int decode_object(struct decoder *d, const struct message *m, json_t *obj, const struct path *at)
{
	const char *key;
	json_t *v;
	void *next;

	json_object_foreach_safe (obj, next, key, v) {
		const struct path here = { .up = at, .name = key };
		const struct field *f;
		json_t *changed = NULL;

		f = message_field(m, key);
		if (!f && is_type_meta(key, v, at))
			continue;
		if (!f) {
			report_unknown(d, &here);
			json_object_del(obj, key);
			continue;
		}
		if (json_is_null(v)) {
			json_object_del(obj, key);
			continue;
		}
		if (decode_field(d, m, f, v, &here, &changed) < 0)
			return -1;
		if (changed)
			json_object_iter_set_new(obj, json_object_key_to_iter(key), changed);
	}
	return 0;
}

int message_decode_at(const struct message *m, json_t *obj, const struct path *at, struct decode_report *report,
		      struct err *e)
{
	struct decoder d = { .report = report, .e = e, .owner = m };
	char where[512];

	if (!json_is_object(obj))
		return err_set(e, ERR_BAD_REQUEST, "json: cannot unmarshal %s into Go value %s%sof type %s",
			       obj ? json_type_name(obj) : "nothing", path_text(at, where, sizeof(where)),
			       at ? " " : "", last_two_parts(m->name));
	return decode_object(&d, m, obj, at);
}

int message_decode(const struct message *m, json_t *obj, struct decode_report *report, struct err *e)
{
	return message_decode_at(m, obj, NULL, report, e);
}
