// SPDX-License-Identifier: Apache-2.0
/* proto.c - Kubernetes' protobuf request bodies as JSON, by the field tables
 *
 * A body is "k8s\0" and an envelope that names kind and apiVersion around the object itself.  Objects on this wire
 * write every plain scalar, zero or not, and pointers only when set; so a zero is dropped unless its row says pointer.
 * Messages and list items are kept as they come, as a JSON client would send them.  Unknown field numbers are skipped:
 * a newer client may know more than the table.
 *
 * Input is hostile: every length is checked against what is left, nesting and the number of values are bounded.
 */
#include <inttypes.h>

#include "api/proto_types.h"
#include "api/wire.h"
#include "base/clock.h"
#include "base/jsonx.h"
#include "base/limits.h"
#include "base/mem.h"

#define PROTO_MAX_DEPTH  128    /* the deepest built-in object has 15 levels; schemas of CRDs two for each of theirs */
#define PROTO_MAX_VALUES 400000 /* two bytes can make one value; without this 3 MiB could become 300 */

static const char magic[4] = { 'k', '8', 's', '\0' };

enum wire { WIRE_VARINT = 0, WIRE_FIXED64 = 1, WIRE_BYTES = 2, WIRE_FIXED32 = 5 };

/* One field as it stands on the wire. */
struct item {
	unsigned number;
	enum wire wire;
	uint64_t value;   /* varint and fixed */
	struct str bytes; /* WIRE_BYTES */
};

struct decoder {
	const struct registry *registry;
	unsigned values;
	struct err *e;
};

static int malformed(struct decoder *d, const char *what)
{
	return err_set(d->e, ERR_BAD_REQUEST, "malformed protobuf body: %s", what);
}

static int count_value(struct decoder *d)
{
	if (++d->values > PROTO_MAX_VALUES)
		return err_set(d->e, ERR_TOO_LARGE, "the protobuf body holds more than %d values", PROTO_MAX_VALUES);
	return 0;
}

static bool read_varint(struct str *in, uint64_t *ret)
{
	uint64_t v = 0;

	for (unsigned shift = 0; shift < 70; shift += 7) {
		unsigned char c;

		if (!in->n)
			return false;
		c = (unsigned char)*in->p++;
		in->n--;
		if (shift < 64)
			v |= (uint64_t)(c & 0x7f) << shift;
		if (!(c & 0x80)) {
			*ret = v;
			return true;
		}
	}
	return false;
}

static bool read_fixed(struct str *in, size_t n, uint64_t *ret)
{
	uint64_t v = 0;

	if (in->n < n)
		return false;
	for (size_t i = 0; i < n; i++)
		v |= (uint64_t)(unsigned char)in->p[i] << (8 * i);
	in->p += n;
	in->n -= n;
	*ret = v;
	return true;
}

/* 1: a field; 0: the end; -1: nonsense. */
static int next_item(struct decoder *d, struct str *in, struct item *it)
{
	uint64_t tag;
	uint64_t len;
	bool ok;

	if (!in->n)
		return 0;
	if (!read_varint(in, &tag) || tag >> 3 == 0 || tag >> 3 > 536870911)
		return malformed(d, "bad field number");
	it->number = (unsigned)(tag >> 3);
	it->wire = (enum wire)(tag & 7);
	switch (it->wire) {
	case WIRE_VARINT:
		ok = read_varint(in, &it->value);
		break;
	case WIRE_FIXED64:
		ok = read_fixed(in, 8, &it->value);
		break;
	case WIRE_FIXED32:
		ok = read_fixed(in, 4, &it->value);
		break;
	case WIRE_BYTES:
		ok = read_varint(in, &len) && len <= in->n;
		if (ok) {
			it->bytes = (struct str){ in->p, (size_t)len };
			in->p += len;
			in->n -= (size_t)len;
		}
		break;
	default:
		return malformed(d, "unknown wire type");
	}
	return ok ? 1 : malformed(d, "it ends in the middle of a field");
}

/* The last value of field `number` in a small message (Time, Quantity ...); all zero if it is not there. */
static int find_item(struct decoder *d, struct str in, unsigned number, struct item *ret)
{
	struct item it = { 0 };
	int r;

	*ret = (struct item){ 0 };
	while ((r = next_item(d, &in, &it)) > 0)
		if (it.number == number)
			*ret = it;
	return r;
}

/* --- values --- */

static int decode_message(struct decoder *d, const struct message *m, struct str in, json_t *obj, int depth);
static int decode_envelope(struct decoder *d, struct str body, int depth, json_t **ret);

static int make_string(struct decoder *d, struct str s, json_t **ret)
{
	if (s.n && memchr(s.p, '\0', s.n))
		return malformed(d, "a string holds a NUL byte");
	if (!str_is_utf8(s.p, s.n))
		return malformed(d, "a string is not UTF-8");
	*ret = json_stringn(s.n ? s.p : "", s.n);
	return 0;
}

static int make_time(struct decoder *d, struct str in, bool micro, json_t **ret)
{
	char text[CLOCK_MICRO_LEN];
	struct item seconds;
	struct item nanos;
	int64_t s;

	if (!in.n)
		return 0; /* the zero time is an empty message */
	if (find_item(d, in, 1, &seconds) < 0 || find_item(d, in, 2, &nanos) < 0)
		return -1;
	s = (int64_t)seconds.value;
	if (s < -30610224000 || s > 253402300799 || nanos.value > 999999999) /* years 1000 to 9999 */
		return malformed(d, "a time is out of range");
	if (micro)
		clock_rfc3339_micro(s * 1000000 + (int64_t)nanos.value / 1000, text);
	else
		clock_rfc3339(s, text);
	*ret = json_string(text);
	return 0;
}

/* Go's text of a duration: 1h30m0s, 1.5s, 250ms. */
static json_t *duration_text(int64_t ns)
{
	uint64_t u = ns < 0 ? 0 - (uint64_t)ns : (uint64_t)ns;
	uint64_t unit = u < 1000 ? 1 : u < 1000000 ? 1000 : u < 1000000000 ? 1000000 : 1000000000;
	const char *suffix = unit == 1 ? "ns" : unit == 1000 ? "\xc2\xb5s" : unit == 1000000 ? "ms" : "s";
	uint64_t whole = u / unit;
	auto_sbuf struct sbuf out = SBUF(64);
	char frac[16];
	size_t digits = 0;

	if (!u)
		return json_string("0s");
	sbuf_adds(&out, ns < 0 ? "-" : "");
	if (unit == 1000000000 && whole >= 3600)
		sbuf_addf(&out, "%" PRIu64 "h", whole / 3600);
	if (unit == 1000000000 && whole >= 60)
		sbuf_addf(&out, "%" PRIu64 "m", whole / 60 % 60);
	sbuf_addf(&out, "%" PRIu64, unit == 1000000000 ? whole % 60 : whole);
	for (uint64_t rest = u % unit, place = unit / 10; rest; rest %= place, place /= 10)
		frac[digits++] = (char)('0' + rest / place);
	if (digits)
		sbuf_addf(&out, ".%.*s", (int)digits, frac);
	sbuf_adds(&out, suffix);
	return json_string(sbuf_str(&out).p);
}

static int make_quantity(struct decoder *d, struct str in, json_t **ret)
{
	struct item text;

	if (find_item(d, in, 1, &text) < 0)
		return -1;
	return make_string(d, text.bytes.n ? text.bytes : STR("0"), ret);
}

static int make_intstr(struct decoder *d, struct str in, json_t **ret)
{
	struct item type;
	struct item number;
	struct item text;

	if (find_item(d, in, 1, &type) < 0 || find_item(d, in, 2, &number) < 0 || find_item(d, in, 3, &text) < 0)
		return -1;
	if (type.value == 1)
		return make_string(d, text.bytes, ret);
	*ret = json_integer((int32_t)number.value);
	return 0;
}

/* RawExtension, FieldsV1, JSON: the text of any value in field 1. */
static int make_any(struct decoder *d, struct str in, int depth, json_t **ret)
{
	struct item raw;

	if (find_item(d, in, 1, &raw) < 0)
		return -1;
	if (!raw.bytes.n)
		return 0;
	if (proto_is_magic(raw.bytes))
		return decode_envelope(d, raw.bytes, depth + 1, ret);
	return jsonx_parse(raw.bytes.p, raw.bytes.n, NULL, NULL, ret, d->e);
}

/* ExtraValue, the lists of strings in `extra` of the review kinds. */
static int make_string_list(struct decoder *d, struct str in, json_t **ret)
{
	json_auto_t *list = json_array();
	struct item it = { 0 };
	json_t *s;
	int r;

	while ((r = next_item(d, &in, &it)) > 0) {
		if (it.number != 1 || it.wire != WIRE_BYTES)
			continue;
		if (count_value(d) < 0 || make_string(d, it.bytes, &s) < 0)
			return -1;
		json_array_append_new(list, s);
	}
	*ret = r < 0 ? NULL : TAKE(list);
	return r;
}

/* Whole numbers look like those of JSON clients: 10, not 10.0.  NULL for NaN and infinity, which JSON cannot say. */
static json_t *make_double(uint64_t bits)
{
	double v;

	memcpy(&v, &bits, sizeof(v));
	if (v > -1e15 && v < 1e15 && v == (double)(int64_t)v)
		return json_integer((json_int_t)v);
	return json_real(v);
}

/* One value of the row's type.  *ret stays NULL where there is nothing to keep. */
static int make_value(struct decoder *d, const struct field *f, const struct item *it, int depth, json_t **ret)
{
	auto_sbuf struct sbuf b64 = SBUF(LIMIT_BODY * 2);
	struct item inner;

	if (count_value(d) < 0)
		return -1;
	switch ((enum field_type)f->type) {
	case FIELD_STRING:
		return make_string(d, it->bytes, ret);
	case FIELD_BOOL:
		*ret = json_boolean(it->value != 0);
		return 0;
	case FIELD_INT32:
		*ret = json_integer((int32_t)it->value);
		return 0;
	case FIELD_INT64:
		*ret = json_integer((int64_t)it->value);
		return 0;
	case FIELD_DOUBLE:
		*ret = make_double(it->value);
		return *ret ? 0 : malformed(d, "a number is not finite");
	case FIELD_BYTES:
		base64_encode(it->bytes.p, it->bytes.n, &b64);
		*ret = json_string(sbuf_str(&b64).p);
		return 0;
	case FIELD_TIME:
	case FIELD_MICROTIME:
		return make_time(d, it->bytes, f->type == FIELD_MICROTIME, ret);
	case FIELD_QUANTITY:
		return make_quantity(d, it->bytes, ret);
	case FIELD_INTSTR:
		return make_intstr(d, it->bytes, ret);
	case FIELD_DURATION:
		if (find_item(d, it->bytes, 1, &inner) < 0)
			return -1;
		*ret = duration_text((int64_t)inner.value);
		return 0;
	case FIELD_ANY:
		return make_any(d, it->bytes, depth, ret);
	case FIELD_OBJECT:
		*ret = json_object();
		if (decode_message(d, f->msg, it->bytes, *ret, depth + 1) < 0)
			return -1;
		*ret = proto_unwrap(f->msg, *ret);
		return 0;
	}
	return 0;
}

/* Is the item's wire type one that the row's type can have? */
static bool wire_fits(const struct field *f, enum wire w)
{
	switch ((enum field_type)f->type) {
	case FIELD_BOOL:
	case FIELD_INT32:
	case FIELD_INT64:
		return w == WIRE_VARINT;
	case FIELD_DOUBLE:
		return w == WIRE_FIXED64;
	default:
		return w == WIRE_BYTES;
	}
}

static bool is_packable(const struct field *f)
{
	return f->type == FIELD_BOOL || f->type == FIELD_INT32 || f->type == FIELD_INT64 || f->type == FIELD_DOUBLE;
}

/* A scalar that only says "I was not set".  A required number may well be 0. */
static bool is_zero(const struct field *f, const json_t *v)
{
	bool required = f->flags & FIELD_REQUIRED;

	if (f->flags & FIELD_POINTER)
		return false;
	switch ((enum field_type)f->type) {
	case FIELD_STRING:
	case FIELD_BYTES:
		return json_string_length(v) == 0;
	case FIELD_BOOL:
		return json_is_false(v) && !required;
	case FIELD_INT32:
	case FIELD_INT64:
		return json_integer_value(v) == 0 && !required;
	case FIELD_DOUBLE:
		return json_number_value(v) == 0 && !required;
	default:
		return false;
	}
}

/* --- shapes --- */

static int decode_one(struct decoder *d, const struct field *f, const struct item *it, json_t *obj, int depth)
{
	json_t *old = json_object_get(obj, f->name);
	json_auto_t *v = NULL;

	if (f->type == FIELD_OBJECT && json_is_object(old)) /* a message in two parts is merged */
		return decode_message(d, f->msg, it->bytes, old, depth + 1);
	if (make_value(d, f, it, depth, &v) < 0)
		return -1;
	if (v && !is_zero(f, v))
		json_object_set(obj, f->name, v);
	else
		json_object_del(obj, f->name);
	return 0;
}

static json_t *child_of_type(json_t *obj, const char *name, json_type type)
{
	json_t *v = json_object_get(obj, name);

	if (v && json_typeof(v) == type)
		return v;
	v = type == JSON_ARRAY ? json_array() : json_object();
	json_object_set_new(obj, name, v);
	return v;
}

static int append_value(struct decoder *d, const struct field *f, const struct item *it, json_t *list, int depth)
{
	json_t *v = NULL;
	int r = make_value(d, f, it, depth, &v);

	if (r < 0) {
		json_decref(v);
		return r;
	}
	json_array_append_new(list, v ? v : json_null());
	return 0;
}

static int decode_packed(struct decoder *d, const struct field *f, struct str in, json_t *list)
{
	struct item it = { .wire = f->type == FIELD_DOUBLE ? WIRE_FIXED64 : WIRE_VARINT };

	while (in.n) {
		if (f->type == FIELD_DOUBLE ? !read_fixed(&in, 8, &it.value) : !read_varint(&in, &it.value))
			return malformed(d, "a packed list ends in the middle of a number");
		if (append_value(d, f, &it, list, 0) < 0)
			return -1;
	}
	return 0;
}

static int decode_entry(struct decoder *d, const struct field *f, struct str in, json_t *map, int depth)
{
	struct item key;
	struct item value;
	json_auto_t *k = NULL;
	json_t *v = NULL;
	int r;

	if (find_item(d, in, 1, &key) < 0 || find_item(d, in, 2, &value) < 0)
		return -1;
	if (value.number && !wire_fits(f, value.wire))
		return malformed(d, "a map value has the wrong wire type");
	if (make_string(d, key.bytes, &k) < 0)
		return -1;
	r = proto_is_extra(f) ? make_string_list(d, value.bytes, &v) : make_value(d, f, &value, depth, &v);
	if (r < 0) {
		json_decref(v);
		return r;
	}
	json_object_set_new(map, json_string_value(k), v ? v : json_null());
	return 0;
}

static int decode_field(struct decoder *d, const struct field *f, const struct item *it, json_t *obj, int depth)
{
	if (f->shape == SHAPE_MAP) {
		if (it->wire != WIRE_BYTES)
			return malformed(d, "a map entry has the wrong wire type");
		return decode_entry(d, f, it->bytes, child_of_type(obj, f->name, JSON_OBJECT), depth);
	}
	if (f->shape == SHAPE_LIST && it->wire == WIRE_BYTES && is_packable(f))
		return decode_packed(d, f, it->bytes, child_of_type(obj, f->name, JSON_ARRAY));
	if (!wire_fits(f, it->wire))
		return malformed(d, "a field has the wrong wire type");
	if (f->shape == SHAPE_LIST)
		return append_value(d, f, it, child_of_type(obj, f->name, JSON_ARRAY), depth);
	if (f->flags & FIELD_INLINE)
		return decode_message(d, f->msg, it->bytes, obj, depth + 1);
	return decode_one(d, f, it, obj, depth);
}

static int decode_message(struct decoder *d, const struct message *m, struct str in, json_t *obj, int depth)
{
	struct item it = { 0 };
	int r;

	if (depth > PROTO_MAX_DEPTH)
		return malformed(d, "it is nested too deep");
	while ((r = next_item(d, &in, &it)) > 0) {
		const struct field *f = proto_field(m, it.number);

		if (f && decode_field(d, f, &it, obj, depth) < 0)
			return -1;
	}
	return r;
}

/* --- the envelope --- */

bool proto_is_magic(struct str body)
{
	return body.n >= sizeof(magic) && memcmp(body.p, magic, sizeof(magic)) == 0;
}

static int decode_typed(struct decoder *d, const struct item *type, const struct item *raw, int depth, json_t *obj)
{
	const struct message *m;
	struct item version;
	struct item kind;
	json_t *v;

	if (find_item(d, type->bytes, 1, &version) < 0 || find_item(d, type->bytes, 2, &kind) < 0)
		return -1;
	if (make_string(d, kind.bytes, &v) < 0)
		return -1;
	json_object_set_new(obj, "kind", v);
	if (make_string(d, version.bytes, &v) < 0)
		return -1;
	json_object_set_new(obj, "apiVersion", v);
	m = registry_message(d->registry, json_string_value(v), jsonx_str(obj, "kind"));
	if (!m)
		return err_set(d->e, ERR_BAD_REQUEST, "no kind \"%s\" is registered for version \"%s\"",
			       jsonx_str(obj, "kind"), json_string_value(v));
	return decode_message(d, m, raw->bytes, obj, depth);
}

static int decode_envelope(struct decoder *d, struct str body, int depth, json_t **ret)
{
	struct str in = { body.p + sizeof(magic), body.n - sizeof(magic) };
	struct item type;
	struct item raw;
	struct item encoding;
	struct item content;
	json_auto_t *obj = NULL;

	if (find_item(d, in, 1, &type) < 0 || find_item(d, in, 2, &raw) < 0 || find_item(d, in, 3, &encoding) < 0 ||
	    find_item(d, in, 4, &content) < 0)
		return -1;
	if (encoding.bytes.n)
		return malformed(d, "encoded contents are not supported");
	if (str_eq(content.bytes.n ? content.bytes : STR(""), "application/json"))
		return jsonx_parse(raw.bytes.p, raw.bytes.n, NULL, NULL, ret, d->e);
	if (depth > PROTO_MAX_DEPTH)
		return malformed(d, "it is nested too deep");
	obj = json_object();
	if (decode_typed(d, &type, &raw, depth, obj) < 0)
		return -1;
	*ret = TAKE(obj);
	return 0;
}

int proto_decode(const struct registry *r, struct str body, json_t **ret, struct err *e)
{
	struct decoder d = { .registry = r, .e = e };

	if (!proto_is_magic(body))
		return malformed(&d, "it does not begin with \"k8s\\0\"");
	if (body.n > LIMIT_BODY)
		return err_set(e, ERR_TOO_LARGE, "the request body has %zu bytes; at most %u are allowed", body.n,
			       LIMIT_BODY);
	return decode_envelope(&d, body, 0, ret);
}
