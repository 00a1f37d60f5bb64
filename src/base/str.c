// SPDX-License-Identifier: Apache-2.0
/* str.c - views, the growing buffer and its encodings */
#include "base/str.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>

#include "base/mem.h"

#define ADDF_GUESS 64

bool str_eq(struct str a, const char *b)
{
	return strlen(b) == a.n && memcmp(a.p, b, a.n) == 0;
}

bool str_starts(const char *s, const char *prefix)
{
	return strncmp(s, prefix, strlen(prefix)) == 0;
}

bool str_ends(const char *s, const char *suffix)
{
	size_t n = strlen(s);
	size_t m = strlen(suffix);

	return n >= m && memcmp(s + n - m, suffix, m) == 0;
}

bool str_same(const char *a, const char *b)
{
	return a == b || (a && b && strcmp(a, b) == 0);
}

bool str_split(struct str *rest, char sep, struct str *ret_part)
{
	const char *at;

	if (!rest->p)
		return false;
	at = rest->n ? memchr(rest->p, sep, rest->n) : NULL;
	if (!at) {
		*ret_part = *rest;
		*rest = (struct str){ NULL, 0 };
		return true;
	}
	*ret_part = (struct str){ rest->p, (size_t)(at - rest->p) };
	rest->n -= ret_part->n + 1;
	rest->p = at + 1;
	return true;
}

struct str str_trim(struct str s)
{
	while (s.n && isspace((unsigned char)s.p[0])) {
		s.p++;
		s.n--;
	}
	while (s.n && isspace((unsigned char)s.p[s.n - 1]))
		s.n--;
	return s;
}

bool str_int64(const char *s, int64_t min, int64_t max, int64_t *ret)
{
	char *end;
	long long v;

	if (!isdigit((unsigned char)s[0]) && !(s[0] == '-' && isdigit((unsigned char)s[1])))
		return false;
	errno = 0;
	v = strtoll(s, &end, 10);
	if (errno || *end || v < min || v > max)
		return false;
	*ret = v;
	return true;
}

bool str_is_utf8(const char *p, size_t n)
{
	const unsigned char *s = (const unsigned char *)p;

	for (size_t i = 0; i < n;) {
		unsigned char c = s[i];
		uint64_t w;

		if (n - i >= sizeof(w)) { /* eight of ASCII */
			memcpy(&w, s + i, sizeof(w));
			if (!(w & 0x8080808080808080u)) {
				i += sizeof(w);
				continue;
			}
		}
		size_t more = c < 0x80                ? 0
			      : c >= 0xc2 && c < 0xe0 ? 1
			      : (c & 0xf0) == 0xe0    ? 2
			      : c >= 0xf0 && c < 0xf5 ? 3
						      : 9;

		if (more > 3 || n - i <= more)
			return false;
		for (size_t k = 1; k <= more; k++)
			if ((s[i + k] & 0xc0) != 0x80)
				return false;
		if ((c == 0xe0 && s[i + 1] < 0xa0) || (c == 0xed && s[i + 1] > 0x9f) ||
		    (c == 0xf0 && s[i + 1] < 0x90) || (c == 0xf4 && s[i + 1] > 0x8f))
			return false;
		i += more + 1;
	}
	return true;
}

void sbuf_init(struct sbuf *b, size_t max)
{
	*b = (struct sbuf){ .max = max };
}

void sbuf_done(struct sbuf *b)
{
	free(b->p);
	*b = (struct sbuf){ .max = b->max };
}

void sbuf_reset(struct sbuf *b)
{
	b->n = 0;
	b->over = false;
	if (b->p)
		b->p[0] = '\0';
}

/* Room for n more bytes and the NUL; false, and over, past the ceiling. */
static bool reserve(struct sbuf *b, size_t n)
{
	size_t cap;

	if (b->over || n > b->max - b->n) {
		b->over = true;
		return false;
	}
	if (b->n + n + 1 <= b->cap)
		return true;
	cap = b->cap ? b->cap * 2 : 64;
	while (cap < b->n + n + 1)
		cap *= 2;
	b->p = xrealloc(b->p, cap);
	b->cap = cap;
	return true;
}

void sbuf_add(struct sbuf *b, const void *p, size_t n)
{
	if (!reserve(b, n))
		return;
	if (n)
		memcpy(b->p + b->n, p, n);
	b->n += n;
	b->p[b->n] = '\0';
}

void sbuf_adds(struct sbuf *b, const char *s)
{
	sbuf_add(b, s, strlen(s));
}

void sbuf_addc(struct sbuf *b, char c)
{
	if (!reserve(b, 1))
		return;
	b->p[b->n++] = c;
	b->p[b->n] = '\0';
}

void sbuf_vaddf(struct sbuf *b, const char *fmt, va_list ap)
{
	va_list again;
	size_t room;
	int n;

	/* Most texts fit the first guess and are formatted once. */
	if (!reserve(b, b->max - b->n < ADDF_GUESS ? 0 : ADDF_GUESS))
		return;
	room = b->cap - b->n;
	va_copy(again, ap);
	n = vsnprintf(b->p + b->n, room, fmt, again);
	va_end(again);
	if (n < 0 || !reserve(b, (size_t)n)) {
		b->p[b->n] = '\0';
		return;
	}
	if ((size_t)n >= room)
		vsnprintf(b->p + b->n, (size_t)n + 1, fmt, ap);
	b->n += (size_t)n;
}

void sbuf_addf(struct sbuf *b, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	sbuf_vaddf(b, fmt, ap);
	va_end(ap);
}

/* Length of the run at p that needs no escape, eight bytes at a time: a byte needs one if it is below 0x20, '"' or
 * '\\'. */
size_t json_plain_run(const char *p, size_t n)
{
	const uint64_t ones = 0x0101010101010101ull;
	const uint64_t high = 0x8080808080808080ull;
	size_t i = 0;

	for (; i + 8 <= n; i += 8) {
		uint64_t v;
		uint64_t quote;
		uint64_t slash;

		memcpy(&v, p + i, 8);
		quote = v ^ (ones * '"');
		slash = v ^ (ones * '\\');
		if ((((v - ones * 0x20) & ~v) | ((quote - ones) & ~quote) | ((slash - ones) & ~slash)) & high)
			break;
	}
	while (i < n && (unsigned char)p[i] >= 0x20 && p[i] != '"' && p[i] != '\\')
		i++;
	return i;
}

void sbuf_add_json_string(struct sbuf *b, const char *s, size_t n)
{
	sbuf_addc(b, '"');
	for (size_t i = 0; i < n; i++) {
		size_t run = json_plain_run(s + i, n - i);
		unsigned char c;
		char esc[8];

		sbuf_add(b, s + i, run);
		i += run;
		if (i == n)
			break;
		c = (unsigned char)s[i];
		if (c == '"' || c == '\\')
			snprintf(esc, sizeof(esc), "\\%c", c);
		else if (c == '\n' || c == '\t')
			snprintf(esc, sizeof(esc), "\\%c", c == '\n' ? 'n' : 't');
		else
			snprintf(esc, sizeof(esc), "\\u%04x", c);
		sbuf_adds(b, esc);
	}
	sbuf_addc(b, '"');
}

char *sbuf_steal(struct sbuf *b)
{
	char *p = b->p ? b->p : xstrdup("");

	*b = (struct sbuf){ .max = b->max };
	return p;
}

struct str sbuf_str(const struct sbuf *b)
{
	return (struct str){ b->p ? b->p : "", b->n };
}

static const char b64[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
static const char b64url[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

static void encode64(const void *p, size_t n, const char *alphabet, bool pad, struct sbuf *out)
{
	const unsigned char *s = p;

	for (size_t i = 0; i < n; i += 3) {
		size_t have = n - i < 3 ? n - i : 3;
		uint32_t v =
			(uint32_t)s[i] << 16 | (have > 1 ? (uint32_t)s[i + 1] << 8 : 0) | (have > 2 ? s[i + 2] : 0);
		char quad[4] = { alphabet[v >> 18], alphabet[v >> 12 & 63], alphabet[v >> 6 & 63], alphabet[v & 63] };

		if (have < 3)
			quad[3] = '=';
		if (have < 2)
			quad[2] = '=';
		sbuf_add(out, quad, pad ? 4 : have + 1);
	}
}

static int value64(char c, const char *alphabet)
{
	const char *at = c ? strchr(alphabet, c) : NULL;

	return at ? (int)(at - alphabet) : -1;
}

static bool decode64(const char *p, size_t n, const char *alphabet, struct sbuf *out)
{
	uint32_t v = 0;
	int bits = 0;

	for (size_t i = 0; i < n; i++) {
		int d = value64(p[i], alphabet);

		if (d < 0)
			return false;
		v = v << 6 | (uint32_t)d;
		bits += 6;
		if (bits >= 8) {
			bits -= 8;
			sbuf_addc(out, (char)(v >> bits & 0xff));
		}
	}
	return bits < 6 && (v & ((1u << bits) - 1)) == 0;
}

void base64_encode(const void *p, size_t n, struct sbuf *out)
{
	encode64(p, n, b64, true, out);
}

bool base64_decode(const char *p, size_t n, struct sbuf *out)
{
	if (n % 4)
		return false;
	if (n && p[n - 1] == '=')
		n -= p[n - 2] == '=' ? 2 : 1;
	return decode64(p, n, b64, out);
}

void base64url_encode(const void *p, size_t n, struct sbuf *out)
{
	encode64(p, n, b64url, false, out);
}

bool base64url_decode(const char *p, size_t n, struct sbuf *out)
{
	return decode64(p, n, b64url, out);
}

void hex_encode(const void *p, size_t n, struct sbuf *out)
{
	static const char digits[] = "0123456789abcdef";
	const unsigned char *s = p;

	for (size_t i = 0; i < n; i++) {
		char pair[2] = { digits[s[i] >> 4], digits[s[i] & 15] };

		sbuf_add(out, pair, sizeof(pair));
	}
}
