// SPDX-License-Identifier: Apache-2.0
/* json_read.c - reads plain JSON quickly
 *
 * jansson takes a text character by character through its decoder and copies each string three times, which is a third
 * of what a create costs.  This reader takes the JSON that clients really send and gives up on the rest: duplicate
 * keys, surrogate pairs, U+0000, fractions and exponents, deep nesting, anything malformed.  Giving up is never an
 * error, so it needs no words for one; what it accepts, jansson would have accepted with the same value.
 */
#include "base/json_read.h"

#include <stdint.h>

#include "base/limits.h"
#include "base/mem.h"

struct reader {
	const char *p, *end;
	unsigned depth;
	struct sbuf text; /* of a string with escapes */
};

static json_t *read_value(struct reader *r);

static void skip_space(struct reader *r)
{
	while (r->p < r->end && (*r->p == ' ' || *r->p == '\n' || *r->p == '\t' || *r->p == '\r'))
		r->p++;
}

static bool take(struct reader *r, char c)
{
	if (r->p == r->end || *r->p != c)
		return false;
	r->p++;
	return true;
}

/* One escape behind its backslash, into r->text. */
static bool read_escape(struct reader *r)
{
	static const char from[] = "\"\\/bfnrt", to[] = "\"\\/\b\f\n\r\t";
	const char *at = r->p < r->end && *r->p ? strchr(from, *r->p) : NULL;
	uint32_t c = 0;

	if (at) {
		sbuf_addc(&r->text, to[at - from]);
		r->p++;
		return true;
	}
	if (!take(r, 'u') || r->end - r->p < 4)
		return false;
	for (int i = 0; i < 4; i++, r->p++) {
		char d = *r->p;

		if (!(d >= '0' && d <= '9') && !((d | 0x20) >= 'a' && (d | 0x20) <= 'f'))
			return false;
		c = c << 4 | (uint32_t)(d <= '9' ? d - '0' : (d | 0x20) - 'a' + 10);
	}
	if (c == 0 || (c >= 0xd800 && c < 0xe000))
		return false;
	if (c < 0x80) {
		sbuf_addc(&r->text, (char)c);
		return true;
	}
	if (c >= 0x800)
		sbuf_addc(&r->text, (char)(0xe0 | c >> 12));
	sbuf_addc(&r->text, (char)(c >= 0x800 ? 0x80 | (c >> 6 & 63) : 0xc0 | c >> 6));
	sbuf_addc(&r->text, (char)(0x80 | (c & 63)));
	return true;
}

/* The text between two quotes, borrowed from the document or, with escapes, from r->text. */
static bool read_text(struct reader *r, struct str *ret)
{
	const char *from;
	bool escaped = false;

	if (!take(r, '"'))
		return false;
	sbuf_reset(&r->text);
	for (;;) {
		from = r->p;
		r->p += json_plain_run(from, (size_t)(r->end - from));
		if (r->p == r->end || !str_is_utf8(from, (size_t)(r->p - from)))
			return false;
		*ret = (struct str){ from, (size_t)(r->p - from) };
		if (*r->p == '"' && !escaped)
			break;
		sbuf_add(&r->text, ret->p, ret->n);
		*ret = sbuf_str(&r->text);
		if (*r->p == '"')
			break;
		escaped = true;
		if (!take(r, '\\') || !read_escape(r))
			return false;
	}
	r->p++;
	return !r->text.over;
}

static json_t *read_object(struct reader *r)
{
	json_auto_t *obj = json_object();
	size_t n = 0;

	r->p++;
	skip_space(r);
	if (take(r, '}'))
		return json_incref(obj);
	do {
		struct str key;
		json_t *v;
		auto_free char *kept = NULL;

		skip_space(r);
		if (!read_text(r, &key))
			return NULL;
		if (key.p == r->text.p) /* which the value may need */
			key.p = kept = xstrndup(key.p, key.n);
		skip_space(r);
		if (!take(r, ':') || !(v = read_value(r)))
			return NULL;
		json_object_setn_new_nocheck(obj, key.p, key.n, v);
		if (json_object_size(obj) != ++n)
			return NULL; /* a duplicate */
		skip_space(r);
	} while (take(r, ','));
	return take(r, '}') ? json_incref(obj) : NULL;
}

static json_t *read_array(struct reader *r)
{
	json_auto_t *list = json_array();

	r->p++;
	skip_space(r);
	if (take(r, ']'))
		return json_incref(list);
	do {
		json_t *v = read_value(r);

		if (!v)
			return NULL;
		json_array_append_new(list, v);
		skip_space(r);
	} while (take(r, ','));
	return take(r, ']') ? json_incref(list) : NULL;
}

/* Whole numbers of up to 18 digits, which always fit. */
static json_t *read_integer(struct reader *r)
{
	bool minus = take(r, '-');
	const char *from = r->p;
	json_int_t v = 0;

	while (r->p < r->end && *r->p >= '0' && *r->p <= '9' && r->p - from < 18)
		v = v * 10 + (*r->p++ - '0');
	if (r->p == from || (*from == '0' && r->p - from > 1))
		return NULL;
	/* What may follow a number ends it; the rest is a fraction, an exponent, more digits or rubbish. */
	if (r->p < r->end && !strchr(",]} \n\r\t", *r->p))
		return NULL;
	return json_integer(minus ? -v : v);
}

static bool take_word(struct reader *r, const char *word, size_t n)
{
	if ((size_t)(r->end - r->p) < n || memcmp(r->p, word, n) != 0)
		return false;
	r->p += n;
	return true;
}

static json_t *read_value(struct reader *r)
{
	struct str text;
	json_t *v;

	skip_space(r);
	if (r->p == r->end)
		return NULL;
	switch (*r->p) {
	case '{':
	case '[':
		if (r->depth == 0)
			return NULL;
		r->depth--;
		v = *r->p == '{' ? read_object(r) : read_array(r);
		r->depth++;
		return v;
	case '"':
		return read_text(r, &text) ? json_stringn_nocheck(text.p, text.n) : NULL;
	case 't':
		return take_word(r, "true", 4) ? json_true() : NULL;
	case 'f':
		return take_word(r, "false", 5) ? json_false() : NULL;
	case 'n':
		return take_word(r, "null", 4) ? json_null() : NULL;
	default:
		return read_integer(r);
	}
}

json_t *json_read(const char *p, size_t n, unsigned max_depth)
{
	struct reader r = { .p = p, .end = p + n, .depth = max_depth, .text = SBUF(n) };
	json_t *v = read_value(&r);

	skip_space(&r);
	if (v && r.p != r.end) {
		json_decref(v);
		v = NULL;
	}
	sbuf_done(&r.text);
	return v;
}

/* ---- one member ---- */

static bool skip_text(struct reader *r)
{
	if (!take(r, '"'))
		return false;
	for (;;) {
		r->p += json_plain_run(r->p, (size_t)(r->end - r->p));
		if (take(r, '"'))
			return true;
		if (r->end - r->p < 2 || *r->p != '\\')
			return false;
		r->p += 2;
	}
}

/* Whatever is in it must only be balanced. */
static bool skip_value(struct reader *r)
{
	size_t open = 0;

	do {
		if (r->p == r->end)
			return false;
		if (*r->p == '"') {
			if (!skip_text(r))
				return false;
			continue;
		}
		open += *r->p == '{' || *r->p == '[';
		open -= *r->p == '}' || *r->p == ']';
		r->p++;
	} while (open || (r->p < r->end && !strchr(",]}", *r->p)));
	return true;
}

/* At the value of that member, or with *ret_there false behind the object. */
static bool find_member(struct reader *r, const char *name, bool *ret_there)
{
	struct str key;

	*ret_there = false;
	if (!take(r, '{'))
		return false;
	if (take(r, '}'))
		return true;
	do {
		if (!read_text(r, &key) || !take(r, ':'))
			return false;
		*ret_there = str_eq(key, name);
		if (*ret_there)
			return true;
		if (!skip_value(r))
			return false;
	} while (take(r, ','));
	return take(r, '}');
}

bool json_find_member(struct str text, const char *outer, const char *inner, struct str *ret)
{
	struct reader r = { .p = text.p, .end = text.p + text.n, .depth = LIMIT_JSON_DEPTH, .text = SBUF(text.n) };
	bool there = false;
	bool good = find_member(&r, outer, &there) && (!there || find_member(&r, inner, &there));
	const char *begin = r.p;

	*ret = (struct str){ "", 0 };
	good = good && (!there || skip_value(&r));
	if (good && there)
		*ret = (struct str){ begin, (size_t)(r.p - begin) };
	sbuf_done(&r.text);
	return good;
}
