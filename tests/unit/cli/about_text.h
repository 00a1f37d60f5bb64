// SPDX-License-Identifier: Apache-2.0
/* about_text.h - objects for the tests of pages and tables, from JSON with single quotes */
#ifndef STOKER_TEST_ABOUT_TEXT_H
#define STOKER_TEST_ABOUT_TEXT_H

#include "base/clock.h"
#include "base/jsonx.h"
#include "base/mem.h"
#include "cli/about.h"
#include "test.h"

#define ABOUT_NOW 1767225600 /* 2026-01-01T00:00:00Z */

static inline json_t *about_json(const char *text)
{
	auto_free char *copy = xstrdup(text);
	json_t *v;

	for (char *p = copy; *p; p++)
		if (*p == '\'')
			*p = '"';
	v = json_loads(copy, 0, NULL);
	if (!v)
		test_fail(__FILE__, __LINE__, "%s", text);
	return v;
}

/* Adds the objects of an array in text; NULL is none. */
static inline void about_add(json_t *to, const char *text)
{
	json_auto_t *more = text ? about_json(text) : NULL;

	json_array_extend(to, more);
}

static inline struct about about_of(const struct kind *k, const char *obj, const char *pods, const char *events)
{
	struct about a;

	about_init(&a);
	a.now = ABOUT_NOW;
	a.kind = k;
	a.obj = about_json(obj);
	a.ns = xstrdup(jsonx_str_or(a.obj, "metadata.namespace", ""));
	a.name = xstrdup(jsonx_str_or(a.obj, "metadata.name", "x"));
	about_add(a.pods, pods);
	about_add(a.events, events);
	return a;
}

#endif
