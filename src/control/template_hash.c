// SPDX-License-Identifier: Apache-2.0
/* template_hash.c - FNV-1a over the values in a fixed order, told in letters that make no words */
#include "control/template_hash.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/mem.h"
#include "base/str.h"

#define FNV_OFFSET 2166136261u
#define FNV_PRIME  16777619u

static void feed(uint32_t *h, const void *p, size_t n)
{
	const unsigned char *c = p;

	for (size_t i = 0; i < n; i++)
		*h = (*h ^ c[i]) * FNV_PRIME;
}

static void feed_text(uint32_t *h, char type, const char *s, size_t n)
{
	feed(h, &type, 1);
	feed(h, s, n);
	feed(h, "", 1); /* so that "ab","c" is not "a","bc" */
}

static void feed_int(uint32_t *h, int64_t v)
{
	char text[24];

	feed_text(h, 'i', text, (size_t)snprintf(text, sizeof(text), "%" PRId64, v));
}

static int by_text(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static void feed_value(uint32_t *h, const json_t *v);

static void feed_object(uint32_t *h, const json_t *v)
{
	auto_free const char **keys = xcalloc(json_object_size(v) + 1, sizeof(*keys));
	const char *key;
	json_t *member;
	size_t n = 0;

	json_object_foreach ((json_t *)v, key, member)
		if (!json_is_null(member))
			keys[n++] = key;
	qsort(keys, n, sizeof(*keys), by_text);
	feed(h, "{", 1);
	for (size_t i = 0; i < n; i++) {
		feed_text(h, 'k', keys[i], strlen(keys[i]));
		feed_value(h, json_object_get(v, keys[i]));
	}
	feed(h, "}", 1);
}

static void feed_value(uint32_t *h, const json_t *v)
{
	char real[40];
	json_t *item;
	size_t i;

	switch (json_typeof(v)) {
	case JSON_OBJECT:
		feed_object(h, v);
		break;
	case JSON_ARRAY:
		feed(h, "[", 1);
		json_array_foreach (v, i, item)
			feed_value(h, item);
		feed(h, "]", 1);
		break;
	case JSON_STRING:
		feed_text(h, 's', json_string_value(v), json_string_length(v));
		break;
	case JSON_INTEGER:
		feed_int(h, json_integer_value(v));
		break;
	case JSON_REAL:
		feed_text(h, 'r', real, (size_t)snprintf(real, sizeof(real), "%.17g", json_real_value(v)));
		break;
	case JSON_TRUE:
	case JSON_FALSE:
	case JSON_NULL:
		feed(h, json_is_true(v) ? "t" : json_is_false(v) ? "f" : "n", 1);
		break;
	}
}

char *template_hash(const json_t *template, int64_t collisions)
{
	static const char alphabet[] = "bcdfghjklmnpqrstvwxz2456789";
	uint32_t h = FNV_OFFSET;
	char *out;

	if (template)
		feed_value(&h, template);
	if (collisions)
		feed_int(&h, collisions);
	out = xasprintf("%" PRIu32, h);
	for (char *c = out; *c; c++)
		*c = alphabet[(unsigned char)*c % (sizeof(alphabet) - 1)];
	return out;
}
