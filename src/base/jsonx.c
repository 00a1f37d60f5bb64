// SPDX-License-Identifier: Apache-2.0
/* jsonx.c - jansson with our rules
 *
 * jansson either refuses duplicate keys or silently takes the last.  Kubernetes wants to warn and name them, so a text
 * is first read strictly; only if that finds a duplicate is it read again leniently, after scan_duplicates() has walked
 * the text to find the paths.  Depth is counted before jansson sees the text, so that no walker of ours recurses deeper
 * than LIMIT_JSON_DEPTH.
 */
#include "base/jsonx.h"

#include <stdarg.h>

#include "base/json_read.h"
#include "base/limits.h"
#include "base/map.h"
#include "base/mem.h"

static bool depth_within(const char *p, size_t n, unsigned limit)
{
	unsigned depth = 0;

	for (size_t i = 0; i < n; i++) {
		switch (p[i]) {
		case '"':
			for (i++; i < n && p[i] != '"'; i++)
				if (p[i] == '\\')
					i++;
			break;
		case '{':
		case '[':
			if (++depth > limit)
				return false;
			break;
		case '}':
		case ']':
			depth -= depth > 0;
			break;
		default:
			break;
		}
	}
	return true;
}

/* One level of the text while looking for duplicate keys; the text is known to be valid JSON. */
struct scan {
	const char *p, *end;
	jsonx_duplicate_fn *fn;
	void *arg;
	struct sbuf path;
};

static struct str scan_string(struct scan *s)
{
	const char *from = ++s->p;
	struct str v;

	while (*s->p != '"')
		s->p += *s->p == '\\' ? 2 : 1;
	v = (struct str){ from, (size_t)(s->p - from) };
	s->p++;
	return v;
}

static void scan_space(struct scan *s)
{
	while (s->p < s->end && strchr(" \t\r\n,:", *s->p))
		s->p++;
}

static void scan_value(struct scan *s);

static void scan_object(struct scan *s)
{
	struct map seen;
	size_t base = s->path.n;

	map_init(&seen, NULL);
	s->p++;
	for (scan_space(s); *s->p != '}'; scan_space(s)) {
		struct str key = scan_string(s);
		auto_free char *name = xstrndup(key.p, key.n);

		sbuf_addf(&s->path, "%s%s", base ? "." : "", name);
		if (map_find(&seen, name))
			s->fn(s->arg, s->path.p);
		map_set(&seen, name, s);
		scan_value(s);
		s->path.n = base;
	}
	s->p++;
	map_done(&seen);
}

static void scan_array(struct scan *s)
{
	size_t base = s->path.n;
	size_t i = 0;

	s->p++;
	for (scan_space(s); *s->p != ']'; scan_space(s)) {
		sbuf_addf(&s->path, "[%zu]", i++);
		scan_value(s);
		s->path.n = base;
	}
	s->p++;
}

static void scan_value(struct scan *s)
{
	scan_space(s);
	switch (*s->p) {
	case '{':
		scan_object(s);
		break;
	case '[':
		scan_array(s);
		break;
	case '"':
		scan_string(s);
		break;
	default:
		while (s->p < s->end && !strchr(",}] \t\r\n", *s->p))
			s->p++;
	}
}

static void report_duplicates(const char *p, size_t n, jsonx_duplicate_fn *fn, void *arg)
{
	struct scan s = { .p = p, .end = p + n, .fn = fn, .arg = arg };

	sbuf_init(&s.path, LIMIT_BODY);
	scan_value(&s);
	sbuf_done(&s.path);
}

int jsonx_parse(const char *p, size_t n, jsonx_duplicate_fn *on_duplicate, void *arg, json_t **ret, struct err *e)
{
	json_error_t je;
	json_t *v = json_read(p, n, LIMIT_JSON_DEPTH);

	if (v) {
		*ret = v;
		return 0;
	}
	if (!depth_within(p, n, LIMIT_JSON_DEPTH))
		return err_set(e, ERR_BAD_REQUEST, "JSON is nested deeper than %d levels", LIMIT_JSON_DEPTH);
	v = json_loadb(p, n, JSON_DECODE_ANY | JSON_REJECT_DUPLICATES, &je);
	if (!v && json_error_code(&je) == json_error_duplicate_key) {
		v = json_loadb(p, n, JSON_DECODE_ANY, &je);
		if (v && on_duplicate)
			report_duplicates(p, n, on_duplicate, arg);
	}
	if (!v)
		return err_set(e, ERR_BAD_REQUEST, "invalid JSON at line %d, column %d: %s", je.line, je.column,
			       je.text);
	*ret = v;
	return 0;
}

/* Every write and every event is printed, so this is done by hand: jansson's own printer calls back for each fragment
 * and checks UTF-8 that its parser has checked already. */
static void dump_value(const json_t *v, struct sbuf *out);

static void dump_object(const json_t *v, struct sbuf *out)
{
	const char *key;
	json_t *item;
	char sep = '{';

	if (json_object_size(v) == 0) {
		sbuf_add(out, "{}", 2);
		return;
	}
	json_object_foreach ((json_t *)v, key, item) {
		sbuf_addc(out, sep);
		sbuf_add_json_string(out, key, strlen(key));
		sbuf_addc(out, ':');
		dump_value(item, out);
		sep = ',';
	}
	sbuf_addc(out, '}');
}

static void dump_array(const json_t *v, struct sbuf *out)
{
	size_t n = json_array_size(v);

	sbuf_addc(out, '[');
	for (size_t i = 0; i < n; i++) {
		if (i)
			sbuf_addc(out, ',');
		dump_value(json_array_get(v, i), out);
	}
	sbuf_addc(out, ']');
}

/* The shortest that reads back as the same: 0.36, not 0.35999999999999999. */
static void dump_real(const json_t *v, struct sbuf *out)
{
	char text[64];
	size_t n = 0;

	for (int digits = 15; digits <= 17; digits++) {
		n = json_dumpb(v, text, sizeof(text) - 1, JSON_ENCODE_ANY | JSON_REAL_PRECISION(digits));
		n = n < sizeof(text) ? n : 0;
		text[n] = 0;
		if (strtod(text, NULL) == json_real_value(v))
			break;
	}
	sbuf_add(out, text, n);
}

static void dump_value(const json_t *v, struct sbuf *out)
{
	switch (json_typeof(v)) {
	case JSON_OBJECT:
		dump_object(v, out);
		break;
	case JSON_ARRAY:
		dump_array(v, out);
		break;
	case JSON_STRING:
		sbuf_add_json_string(out, json_string_value(v), json_string_length(v));
		break;
	case JSON_INTEGER:
		sbuf_addf(out, "%lld", (long long)json_integer_value(v));
		break;
	case JSON_REAL:
		dump_real(v, out);
		break;
	case JSON_TRUE:
		sbuf_add(out, "true", 4);
		break;
	case JSON_FALSE:
		sbuf_add(out, "false", 5);
		break;
	case JSON_NULL:
		sbuf_add(out, "null", 4);
		break;
	}
}

void jsonx_dump(const json_t *v, struct sbuf *out)
{
	dump_value(v, out);
}

static int append(const char *p, size_t n, void *arg)
{
	sbuf_add(arg, p, n);
	return 0;
}

void jsonx_dump_pretty(const json_t *v, struct sbuf *out)
{
	json_dump_callback(v, append, out, JSON_INDENT(2) | JSON_ENCODE_ANY);
	sbuf_addc(out, '\n');
}

json_t *jsonx_find(const json_t *list, const char *member, const char *text)
{
	json_t *one;
	size_t i;

	json_array_foreach (list, i, one)
		if (str_same(jsonx_str(one, member), text))
			return one;
	return NULL;
}

json_t *jsonx_at(const json_t *v, const char *path)
{
	struct str rest = str_of(path);
	struct str part;

	while (v && str_split(&rest, '.', &part))
		v = json_object_getn(v, part.p, part.n);
	return (json_t *)v;
}

const char *jsonx_str(const json_t *v, const char *path)
{
	return json_string_value(jsonx_at(v, path));
}

const char *jsonx_str_or(const json_t *v, const char *path, const char *fallback)
{
	const char *s = jsonx_str(v, path);

	return s ? s : fallback;
}

int64_t jsonx_int_or(const json_t *v, const char *path, int64_t fallback)
{
	const json_t *i = jsonx_at(v, path);

	return json_is_integer(i) ? json_integer_value(i) : fallback;
}

bool jsonx_bool_or(const json_t *v, const char *path, bool fallback)
{
	const json_t *b = jsonx_at(v, path);

	return json_is_boolean(b) ? json_is_true(b) : fallback;
}

void jsonx_set_new(json_t *v, const char *path, json_t *value)
{
	struct str rest = str_of(path);
	struct str part;

	while (str_split(&rest, '.', &part)) {
		json_t *child;

		if (!rest.p) {
			json_object_setn_new(v, part.p, part.n, value);
			return;
		}
		child = json_object_getn(v, part.p, part.n);
		if (!json_is_object(child)) {
			child = json_object();
			json_object_setn_new(v, part.p, part.n, child);
		}
		v = child;
	}
}

void jsonx_del(json_t *v, const char *path)
{
	const char *dot = strrchr(path, '.');
	auto_free char *parent = dot ? xstrndup(path, (size_t)(dot - path)) : NULL;

	if (dot)
		v = jsonx_at(v, parent);
	if (v)
		json_object_del(v, dot ? dot + 1 : path);
}

bool jsonx_equal(const json_t *a, const json_t *b)
{
	const char *key;
	json_t *va;

	if (a == b)
		return true;
	if (!a || !b)
		return false;
	if (json_is_number(a) && json_is_number(b))
		return json_is_integer(a) && json_is_integer(b) ? json_integer_value(a) == json_integer_value(b)
								: json_number_value(a) == json_number_value(b);
	if (json_typeof(a) != json_typeof(b))
		return false;
	if (json_is_object(a)) {
		if (json_object_size(a) != json_object_size(b))
			return false;
		json_object_foreach ((json_t *)a, key, va)
			if (!jsonx_equal(va, json_object_get(b, key)))
				return false;
		return true;
	}
	if (json_is_array(a)) {
		if (json_array_size(a) != json_array_size(b))
			return false;
		for (size_t i = 0; i < json_array_size(a); i++)
			if (!jsonx_equal(json_array_get(a, i), json_array_get(b, i)))
				return false;
		return true;
	}
	return json_equal(a, b);
}

/* jansson's own deep copy looks for cycles in a table of printed addresses, which is most of its time; a document that
 * was parsed, or built without putting anything into itself, has none. */
json_t *jsonx_copy(const json_t *v)
{
	const char *key;
	json_t *copy;
	json_t *item;
	size_t n;

	if (json_is_object(v)) {
		copy = json_object();
		json_object_keylen_foreach((json_t *)v, key, n, item)
			json_object_setn_new_nocheck(copy, key, n, jsonx_copy(item));
		return copy;
	}
	if (json_is_array(v)) {
		copy = json_array();
		json_array_foreach ((json_t *)v, n, item)
			json_array_append_new(copy, jsonx_copy(item));
		return copy;
	}
	return json_incref((json_t *)v);
}

json_t *jsonx_stringn(const char *s, size_t n)
{
	json_t *v = json_stringn(s, n);
	auto_sbuf struct sbuf clean = SBUF(n * 3 + 1);

	if (v)
		return v;
	for (size_t i = 0; i < n;) {
		size_t len = 1;

		while (len < 4 && i + len <= n && !str_is_utf8(s + i, len))
			len++;
		if (i + len <= n && len < 5 && str_is_utf8(s + i, len)) {
			sbuf_add(&clean, s + i, len);
			i += len;
		} else {
			sbuf_adds(&clean, "\xef\xbf\xbd");
			i++;
		}
	}
	return json_stringn(clean.p ? clean.p : "", clean.n);
}

json_t *jsonx_string(const char *s)
{
	return jsonx_stringn(s, strlen(s));
}

json_t *jsonx_stringf(const char *fmt, ...)
{
	auto_free char *s = NULL;
	va_list ap;

	va_start(ap, fmt);
	s = xvasprintf(fmt, ap);
	va_end(ap);
	return jsonx_string(s);
}
