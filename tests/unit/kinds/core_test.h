// SPDX-License-Identifier: Apache-2.0
/* core_test.h - what the tests of core kinds share: objects from text through the front door, complaints as text */
#ifndef STOKER_CORE_TEST_H
#define STOKER_CORE_TEST_H

#include "base/jsonx.h"
#include "base/mem.h"
#include "kinds/core.h"
#include "test.h"

/* JSON with ' for ", so that tests can be read. */
static inline json_t *object(const char *text)
{
	auto_free char *json = xstrdup(text);
	struct err e = ERR_INIT;
	json_t *ret = NULL;

	for (char *p = json; *p; p++)
		if (*p == '\'')
			*p = '"';
	if (jsonx_parse(json, strlen(json), NULL, NULL, &ret, &e) < 0)
		test_fail(__FILE__, __LINE__, "bad JSON in a test: %s: %s", e.text, text);
	return ret;
}

/* As a POST would treat it before it is validated; name and namespace are put in. */
static inline json_t *created(const struct kind *k, const char *text)
{
	json_t *obj = object(text);
	struct decode_report report = { NULL };
	struct err e = ERR_INIT;

	if (!jsonx_at(obj, "metadata.name"))
		jsonx_set_new(obj, "metadata.name", json_string("x"));
	if (k->namespaced && !jsonx_at(obj, "metadata.namespace"))
		jsonx_set_new(obj, "metadata.namespace", json_string("default"));
	if (kind_decode(k, obj, &report, &e) < 0)
		test_fail(__FILE__, __LINE__, "not decoded: %s", e.text);
	if (report.unknown)
		test_fail(__FILE__, __LINE__, "unknown: %s", json_string_value(json_array_get(report.unknown, 0)));
	json_decref(report.unknown);
	if (k->prepare_create)
		k->prepare_create(obj);
	kind_default(k, obj);
	return obj;
}

/* Every cause as "field: text", joined by "; ". */
static inline char *causes(const struct err *e)
{
	struct sbuf b;

	sbuf_init(&b, 16384);
	for (unsigned i = 0; i < e->ncauses && i < ERR_MAX_CAUSES; i++)
		sbuf_addf(&b, "%s%s: %s", i ? "; " : "", err_cause_field(e, i), err_cause_text(e, i));
	return sbuf_steal(&b);
}

/* What creating the object would be answered with; "" for nothing. */
static inline char *complaint(const struct kind *k, const char *text)
{
	json_auto_t *obj = created(k, text);
	struct err e = ERR_INIT;

	kind_validate(k, obj, &e);
	return causes(&e);
}

static inline char *update_complaint(const struct kind *k, const json_t *before, const json_t *after)
{
	struct err e = ERR_INIT;

	kind_validate_update(k, after, before, &e);
	return causes(&e);
}

#define CHECK_COMPLAINT(kind_, text_, want_)                                                                           \
	do {                                                                                                           \
		auto_free char *complaint_ = complaint(kind_, text_);                                                  \
		CHECK_STR(complaint_, want_);                                                                          \
	} while (0)

/* The text of a cell, by column name; numbers as text. */
static inline char *cell(const struct kind *k, const json_t *obj, const char *column, int64_t now)
{
	for (size_t i = 0; i < k->ncolumns; i++) {
		json_auto_t *value = NULL;
		struct sbuf b;

		if (!streq(k->columns[i].name, column))
			continue;
		value = k->columns[i].cell(obj, now);
		if (json_is_string(value))
			return xstrdup(json_string_value(value));
		sbuf_init(&b, 4096);
		jsonx_dump(value, &b);
		return sbuf_steal(&b);
	}
	return xstrdup("(no such column)");
}

#define CHECK_CELL(kind_, obj_, column_, want_)                                                                        \
	do {                                                                                                           \
		auto_free char *cell_ = cell(kind_, obj_, column_, NOW);                                               \
		CHECK_STR(cell_, want_);                                                                               \
	} while (0)

#endif
