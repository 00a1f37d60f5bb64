// SPDX-License-Identifier: Apache-2.0
/* cells.h - the cells that several kinds' tables share
 *
 * Every function returns a new reference.  "<none>", "<unknown>" and "<unset>" are spelled as kubectl's users know
 * them.
 */
#ifndef STOKER_KINDS_CELLS_H
#define STOKER_KINDS_CELLS_H

#include "kinds/kind.h"

/* Of an object's metadata. */
json_t *cell_name(const json_t *obj, int64_t now);
json_t *cell_age(const json_t *obj, int64_t now);
json_t *cell_created_at(const json_t *obj, int64_t now);

/* Age of a time in text; NULL or empty is "<unknown>". */
json_t *cell_age_of(const char *rfc3339, int64_t now);
/* Names and images of a pod spec's containers, joined by commas. */
json_t *cell_containers(const json_t *pod_spec);
json_t *cell_images(const json_t *pod_spec);
/* A LabelSelector as text: "a=b,c in (d,e)"; "<none>" when empty or NULL. */
json_t *cell_label_selector(const json_t *label_selector);
/* A plain map: "a=b,c=d", sorted; "<none>" when empty or NULL. */
json_t *cell_map_selector(const json_t *map);
json_t *cell_int_or(const json_t *obj, const char *path, int64_t dflt);
/* Text at path, or the fallback when absent or empty. */
json_t *cell_text_or(const json_t *obj, const char *path, const char *fallback);
/* Strings of an array, joined; the fallback when there are none. */
json_t *cell_join(const json_t *array, const char *sep, const char *fallback);
/* "RWO,RWX" of an accessModes array. */
json_t *cell_access_modes(const json_t *modes);

/* Keys of an object, sorted; the caller frees the array, the texts are borrowed. */
const char **cells_sorted_keys(const json_t *map, size_t *ret_n);

#define COLUMN_NAME                                                                                                    \
	{                                                                                                              \
		.name = "Name", .type = "string", .format = "name",                                                    \
		.doc = "Name of the object, unique in its namespace.", .cell = cell_name                               \
	}
#define COLUMN_AGE                                                                                                     \
	{                                                                                                              \
		.name = "Age", .type = "string", .format = "", .doc = "Time since the object was created.",            \
		.cell = cell_age                                                                                       \
	}
#define COLUMN_CREATED_AT                                                                                              \
	{                                                                                                              \
		.name = "Created At", .type = "date", .format = "", .doc = "When the object was created.",             \
		.cell = cell_created_at                                                                                \
	}
/* A column of text, and one shown only with -o wide. */
#define COLUMN(name_, doc_, cell_)                                                                                     \
	{                                                                                                              \
		.name = name_, .type = "string", .format = "", .doc = doc_, .cell = cell_                              \
	}
#define COLUMN_INT(name_, doc_, cell_)                                                                                 \
	{                                                                                                              \
		.name = name_, .type = "integer", .format = "", .doc = doc_, .cell = cell_                             \
	}
#define COLUMN_WIDE(name_, doc_, cell_)                                                                                \
	{                                                                                                              \
		.name = name_, .type = "string", .format = "", .doc = doc_, .priority = 1, .cell = cell_               \
	}

#endif
