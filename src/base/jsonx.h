// SPDX-License-Identifier: Apache-2.0
/* jsonx.h - jansson's door: parsing with limits, paths, comparison
 *
 * Every other file may use jansson's own json_* accessors; parsing and printing go through here so that limits,
 * duplicate keys and numbers are treated alike everywhere.
 */
#ifndef STOKER_BASE_JSONX_H
#define STOKER_BASE_JSONX_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/str.h"

/* Parses one JSON document of any type.  Bad text is ERR_BAD_REQUEST with line and column.  Duplicate keys: the last
 * one wins, and each is told to `on_duplicate` with its dotted path (may be NULL). */
typedef void jsonx_duplicate_fn(void *arg, const char *path);
int jsonx_parse(const char *p, size_t n, jsonx_duplicate_fn *on_duplicate, void *arg, json_t **ret, struct err *e);

/* Compact text, appended. */
void jsonx_dump(const json_t *v, struct sbuf *out);
/* Two-space indented, for people. */
void jsonx_dump_pretty(const json_t *v, struct sbuf *out);

/* Walks "spec.template.metadata"; NULL if any part is absent.  Keys with dots are out of its
 * reach: use json_object_get(). */
json_t *jsonx_at(const json_t *v, const char *path);
/* As jsonx_at, returning the text or NULL. */
const char *jsonx_str(const json_t *v, const char *path);
/* Text or the fallback. */
const char *jsonx_str_or(const json_t *v, const char *path, const char *fallback);
int64_t jsonx_int_or(const json_t *v, const char *path, int64_t fallback);
/* The first of a list of objects whose member has that text, or NULL; borrowed. */
json_t *jsonx_find(const json_t *list, const char *member, const char *text);
bool jsonx_bool_or(const json_t *v, const char *path, bool fallback);
/* Sets (creating objects on the way) and takes ownership of `value`. */
void jsonx_set_new(json_t *v, const char *path, json_t *value);
/* Removes; no error if absent. */
void jsonx_del(json_t *v, const char *path);

/* Deep equality; numbers compare by value, so 1 equals 1.0. */
bool jsonx_equal(const json_t *a, const json_t *b);
/* A copy with objects and arrays of its own; texts and numbers never change and are shared.  NULL for NULL. */
json_t *jsonx_copy(const json_t *v);

/* A string without jansson's UTF-8 check failing: invalid bytes become U+FFFD. */
json_t *jsonx_string(const char *s);
json_t *jsonx_stringn(const char *s, size_t n);
json_t *jsonx_stringf(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

#endif
