// SPDX-License-Identifier: Apache-2.0
/* rest_test.h - an object through the front door, for the tests of kinds outside core/v1
 *
 * JSON is written with ' for " so that tables stay readable.
 */
#ifndef STOKER_REST_TEST_H
#define STOKER_REST_TEST_H

#include <stdlib.h>

#include "base/jsonx.h"
#include "base/mem.h"
#include "kinds/builtin.h"
#include "kinds/rest.h"
#include "test.h"

#define TEST_NOW 1000000000 /* 2001-09-09T01:46:40Z */

static inline json_t *test_json(const char *text)
{
	auto_free char *copy = xstrdup(text);
	struct err e = ERR_INIT;
	json_t *v = NULL;

	for (char *c = copy; *c; c++)
		if (*c == '\'')
			*c = '"';
	if (jsonx_parse(copy, strlen(copy), NULL, NULL, &v, &e) < 0)
		test_fail(__FILE__, __LINE__, "%s: %s", e.text, text);
	return v;
}

/* `base` with `change` laid over it; a null takes away. */
static inline json_t *test_changed(const char *base, const char *change)
{
	json_t *obj = test_json(base);
	json_auto_t *over = test_json(change);

	json_object_update_recursive(obj, over);
	return obj;
}

/* What the API does before it stores a new object.  Complaints go to e. */
static inline void test_admit(const struct kind *k, json_t *obj, struct err *e)
{
	jsonx_set_new(obj, "metadata.uid", json_string("u-1"));
	jsonx_set_new(obj, "metadata.creationTimestamp", json_string("2001-09-09T00:46:40Z"));
	if (k->namespaced)
		jsonx_set_new(obj, "metadata.namespace", json_string("default"));
	if (kind_decode(k, obj, NULL, e) < 0)
		return;
	if (k->prepare_create)
		k->prepare_create(obj);
	kind_default(k, obj);
	kind_validate(k, obj, e);
}

/* Every complaint, one a line: "spec.x: Required value". */
static inline char *test_causes(const struct err *e)
{
	struct sbuf out;

	sbuf_init(&out, 65536);
	if (e->kind != ERR_NONE && e->ncauses == 0)
		sbuf_adds(&out, e->text);
	for (unsigned i = 0; i < e->ncauses && i < ERR_MAX_CAUSES; i++)
		sbuf_addf(&out, "%s%s: %s", i ? "\n" : "", err_cause_field(e, i), err_cause_text(e, i));
	return sbuf_steal(&out);
}

/* One row of a table of rules: what changes in a good object, and what is said then. */
struct rule_row {
	const char *change, *want;
};

static inline void test_rules(const struct kind *k, const char *base, const struct rule_row *rows, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		json_auto_t *obj = test_changed(base, rows[i].change);
		struct err e = ERR_INIT;
		auto_free char *got = NULL;

		test_admit(k, obj, &e);
		got = test_causes(&e);
		if (strcmp(got, rows[i].want) != 0)
			test_fail(__FILE__, __LINE__, "%s with %s says\n      %s\n  not %s", k->kind, rows[i].change,
				  got, rows[i].want);
	}
}

/* The same for changes of an object that exists. */
static inline void test_updates(const struct kind *k, const char *base, const struct rule_row *rows, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		json_auto_t *old = test_json(base), *obj = NULL, *over = test_json(rows[i].change);
		struct err e = ERR_INIT;
		auto_free char *got = NULL;

		test_admit(k, old, &e);
		obj = jsonx_copy(old);
		json_object_update_recursive(obj, over);
		kind_validate_update(k, obj, old, &e);
		got = test_causes(&e);
		if (strcmp(got, rows[i].want) != 0)
			test_fail(__FILE__, __LINE__, "%s changed by %s says\n      %s\n  not %s", k->kind,
				  rows[i].change, got, rows[i].want);
	}
}

/* The cells of an object, joined by "|". */
static inline char *test_cells(const struct kind *k, const json_t *obj)
{
	struct sbuf out;

	sbuf_init(&out, 65536);
	for (size_t i = 0; i < k->ncolumns; i++) {
		json_auto_t *cell = k->columns[i].cell(obj, TEST_NOW);

		if (i)
			sbuf_addc(&out, '|');
		if (json_is_string(cell))
			sbuf_adds(&out, json_string_value(cell));
		else
			jsonx_dump(cell, &out);
	}
	return sbuf_steal(&out);
}

#endif
