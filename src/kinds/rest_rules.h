// SPDX-License-Identifier: Apache-2.0
/* rest_rules.h - small rules and rows that kinds of several groups share
 *
 * Paths are those of the object as people write it.  `at` is where a message stands; a kind's own rules start at the
 * object itself and pass NULL.
 */
#ifndef STOKER_KINDS_REST_RULES_H
#define STOKER_KINDS_REST_RULES_H

#include "base/jsonx.h"
#include "base/mem.h"
#include "kinds/kind.h"

/* The rows of a condition whose protobuf numbers are the usual ones. */
#define CONDITION_ROWS                                                                                                 \
	F(1, "type", STRING, .flags = FIELD_REQUIRED, .doc = "What is being told, one condition a type."),             \
		F(2, "status", STRING, .flags = FIELD_REQUIRED, .doc = "True, False or Unknown."),                     \
		F(3, "lastTransitionTime", TIME, .doc = "When status last changed."),                                  \
		F(4, "reason", STRING, .doc = "One word for programs: why status is what it is."),                     \
		F(5, "message", STRING, .doc = "The same for people.")

extern const char *const category_all[];         /* "all": shown by `kubectl get all` */
extern const struct subresource status_only[1];  /* status */
extern const struct subresource status_scale[2]; /* status and scale */

/* An array of rows and its length, in a kind's record. */
#define KIND_COLUMNS(rows_)      .columns = (rows_), .ncolumns = ARRAY_SIZE(rows_)
#define KIND_SUBRESOURCES(rows_) .subresources = (rows_), .nsubresources = ARRAY_SIZE(rows_)
#define KIND_SELECTABLE(rows_)   .selectable = (rows_), .nselectable = ARRAY_SIZE(rows_)

/* Defines a cell that shows the number at `path_`, 0 where there is none. */
#define CELL_INT(fn_, path_)                                                                                           \
	static json_t *fn_(const json_t *obj, int64_t now)                                                             \
	{                                                                                                              \
		(void)now;                                                                                             \
		return json_integer(jsonx_int_or(obj, path_, 0));                                                      \
	}

/* Defines a cell that shows the text at `path_`, or `none_`. */
#define CELL_STR(fn_, path_, none_)                                                                                    \
	static json_t *fn_(const json_t *obj, int64_t now)                                                             \
	{                                                                                                              \
		(void)now;                                                                                             \
		return jsonx_string(jsonx_str_or(obj, path_, none_));                                                  \
	}

/* NULL, null, "", [] and {}. */
bool value_is_empty(const json_t *v);
/* Member `name` of obj, made if it is missing; NULL if it is there and no object. */
json_t *object_in(json_t *obj, const char *name);
/* Sets obj's member if it has none; takes `value`. */
void set_if_absent(json_t *obj, const char *name, json_t *value);
/* prepare_create of kinds whose status begins empty. */
void status_begin(json_t *obj);

/* `path`: Invalid value: ...: field is immutable, where the two differ. */
void rule_fixed(const json_t *obj, const json_t *old, const char *path, struct err *e);
/* An integer >= 0 or a percentage; nothing if v is NULL. */
void rule_int_or_percent(const json_t *v, const struct path *at, struct err *e);
/* The same, at most 100%. */
void rule_at_most_100_percent(const json_t *v, const struct path *at, struct err *e);
/* 0 or "0%". */
bool intstr_is_zero(const json_t *v);
/* Member `name`, if present, passes `check` (kinds/names.h). */
void rule_name(const json_t *obj, const char *name, const char *(*check)(const char *), const struct path *at,
	       struct err *e);
/* A list with more than `max` members is "Too many". */
void rule_max_items(const json_t *list, size_t max, const struct path *at, struct err *e);
/* A list of at least one member; `detail` as for path_required(). */
void rule_some(const json_t *list, const struct path *at, struct err *e, const char *detail);

#endif
