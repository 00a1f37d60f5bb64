// SPDX-License-Identifier: Apache-2.0
/* table.c - objects as `kubectl get` wants them: columns, cells, and only the metadata
 *
 * Built-in kinds compute their cells; columns of custom kinds are JSONPaths into the object.
 */
#include "api/wire.h"
#include "base/clock.h"
#include "base/jsonx.h"
#include "base/limits.h"
#include "base/mem.h"
#include "kinds/jsonpath.h"

json_t *table_columns(const struct kind *k)
{
	json_t *list = json_array();

	for (size_t i = 0; i < k->ncolumns; i++) {
		const struct column *c = &k->columns[i];

		json_array_append_new(list, json_pack("{s:s, s:s, s:s, s:s, s:i}", "name", c->name, "type", c->type,
						      "format", c->format ? c->format : "", "description",
						      c->doc ? c->doc : "", "priority", c->priority));
	}
	return list;
}

static json_t *age_cell(const json_t *v, int64_t now)
{
	char age[32];
	int64_t micros;

	if (!json_is_string(v))
		return json_null();
	if (!clock_parse_rfc3339(json_string_value(v), &micros))
		return json_string("<invalid>");
	clock_age(now - micros / 1000000, age, sizeof(age));
	return json_string(age);
}

static json_t *text_cell(const json_t *v)
{
	auto_sbuf struct sbuf text = SBUF(LIMIT_OBJECT);

	if (json_is_string(v))
		return json_incref((json_t *)v);
	jsonx_dump(v, &text);
	return jsonx_stringn(sbuf_str(&text).p, text.n);
}

/* A value of the wrong type for its column is as good as none. */
static json_t *typed_cell(const char *type, const json_t *v, int64_t now)
{
	if (!v || json_is_null(v))
		return json_null();
	if (streq(type, "string"))
		return text_cell(v);
	if (streq(type, "date"))
		return age_cell(v, now);
	if (streq(type, "integer"))
		return json_is_integer(v) ? json_incref((json_t *)v)
		       : json_is_real(v)  ? json_integer((json_int_t)json_real_value(v))
					  : json_null();
	if (streq(type, "number"))
		return json_is_number(v) ? json_incref((json_t *)v) : json_null();
	if (streq(type, "boolean"))
		return json_is_boolean(v) ? json_incref((json_t *)v) : json_null();
	return json_null();
}

static json_t *path_cell(const struct column *c, const json_t *obj, int64_t now)
{
	struct jsonpath *path;
	struct err e = ERR_INIT;
	json_t *cell;

	if (!c->path || jsonpath_parse(c->path, &path, &e) < 0)
		return json_null();
	cell = typed_cell(c->type, jsonpath_first(path, obj), now);
	jsonpath_free(path);
	return cell;
}

/* kubectl greys out (older ones hide) rows of pods that have finished. */
static json_t *row_conditions(const struct kind *k, const json_t *obj)
{
	static const struct {
		const char *phase, *message;
	} rows[] = { { "Succeeded", "The pod has completed successfully." }, { "Failed", "The pod failed." } };
	const char *phase = jsonx_str_or(obj, "status.phase", "");

	if (*k->group || !streq(k->kind, "Pod"))
		return NULL;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		if (streq(rows[i].phase, phase))
			return json_pack("[{s:s, s:s, s:s, s:s}]", "type", "Completed", "status", "True", "reason",
					 phase, "message", rows[i].message);
	return NULL;
}

static json_t *whole_object(const struct kind *k, const json_t *obj)
{
	char version[320];
	json_t *o;

	kind_api_version(k, version, sizeof(version));
	o = json_pack("{s:s, s:s}", "kind", k->kind, "apiVersion", version);
	json_object_update(o, (json_t *)obj);
	return o;
}

json_t *table_partial(const json_t *obj, const char *meta_version)
{
	const json_t *meta = json_object_get(obj, "metadata");

	return json_pack("{s:s, s:o, s:o}", "kind", "PartialObjectMetadata", "apiVersion",
			 jsonx_stringf("meta.k8s.io/%s", meta_version), "metadata",
			 meta ? json_incref((json_t *)meta) : json_object());
}

json_t *table_row(const struct kind *k, const json_t *obj, enum include_object include, const char *meta_version,
		  int64_t now)
{
	json_t *cells = json_array();
	json_t *row = json_pack("{s:o}", "cells", cells);
	json_t *conditions = row_conditions(k, obj);

	for (size_t i = 0; i < k->ncolumns; i++) {
		const struct column *c = &k->columns[i];

		json_array_append_new(cells, c->cell ? c->cell(obj, now) : path_cell(c, obj, now));
	}
	if (conditions)
		json_object_set_new(row, "conditions", conditions);
	json_object_set_new(row, "object",
			    include == INCLUDE_NONE     ? json_null()
			    : include == INCLUDE_OBJECT ? whole_object(k, obj)
							: table_partial(obj, meta_version));
	return row;
}
