// SPDX-License-Identifier: Apache-2.0
/* str.h - borrowed views, and buffers born with a ceiling */
#ifndef STOKER_BASE_STR_H
#define STOKER_BASE_STR_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* A borrowed run of bytes; not terminated. */
struct str {
	const char *p;
	size_t n;
};

#define STR(lit)   ((struct str){ lit, sizeof(lit) - 1 })
#define STR_FMT(s) (int)(s).n, (s).p /* for %.*s */

static inline struct str str_of(const char *s)
{
	return (struct str){ s, s ? strlen(s) : 0 };
}

static inline bool streq(const char *a, const char *b)
{
	return strcmp(a, b) == 0;
}

bool str_eq(struct str a, const char *b);
bool str_starts(const char *s, const char *prefix);
bool str_ends(const char *s, const char *suffix);
/* Equal where both may be NULL. */
bool str_same(const char *a, const char *b);
/* Cuts the part before the first `sep` off *rest and returns it; false when *rest is used up.  An empty
 * string has one empty part. */
bool str_split(struct str *rest, char sep, struct str *ret_part);
struct str str_trim(struct str s);
/* Whole string as a decimal number in [min, max]; false leaves *ret untouched. */
bool str_int64(const char *s, int64_t min, int64_t max, int64_t *ret);
bool str_is_utf8(const char *p, size_t n);

/* A growing byte buffer with a maximum.  Appending past it sets `over` and drops the rest, so that a long chain of
 * appends needs one check at the end.  p is NUL-terminated whenever it is not NULL. */
struct sbuf {
	char *p;
	size_t n;
	size_t cap;
	size_t max;
	bool over;
};

/* For declarations; a scope-owned buffer is always born with it. */
#define SBUF(max_) ((struct sbuf){ .max = (max_) })
void sbuf_init(struct sbuf *b, size_t max);
void sbuf_done(struct sbuf *b);
void sbuf_reset(struct sbuf *b);
void sbuf_add(struct sbuf *b, const void *p, size_t n);
void sbuf_adds(struct sbuf *b, const char *s);
void sbuf_addc(struct sbuf *b, char c);
void sbuf_addf(struct sbuf *b, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void sbuf_vaddf(struct sbuf *b, const char *fmt, va_list ap) __attribute__((format(printf, 2, 0)));
/* s as a JSON string with its quotes. */
void sbuf_add_json_string(struct sbuf *b, const char *s, size_t n);
/* The text, never NULL; the caller owns it and the buffer is empty again. */
char *sbuf_steal(struct sbuf *b);
struct str sbuf_str(const struct sbuf *b);

#define auto_sbuf __attribute__((cleanup(sbuf_done)))

/* base64 with padding; decode returns false on any foreign character. */
void base64_encode(const void *p, size_t n, struct sbuf *out);
bool base64_decode(const char *p, size_t n, struct sbuf *out);
void base64url_encode(const void *p, size_t n, struct sbuf *out); /* no padding, for JWT */
bool base64url_decode(const char *p, size_t n, struct sbuf *out);
/* How many bytes from s on need no escape in a JSON string. */
size_t json_plain_run(const char *s, size_t n);
void hex_encode(const void *p, size_t n, struct sbuf *out);

#endif
