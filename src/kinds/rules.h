// SPDX-License-Identifier: Apache-2.0
/* rules.h - the checks that many messages share, in Kubernetes' words
 *
 * Each looks at one value, which may be NULL (absent: no complaint unless said otherwise), and adds causes to e.
 */
#ifndef STOKER_KINDS_RULES_H
#define STOKER_KINDS_RULES_H

#include "kinds/field.h"
#include "kinds/quantity.h"

/* Whether s is one of "A|B|C". */
bool rule_one_of(const char *s, const char *values);
/* Whether s is base['key']. */
bool rule_subscript(const char *s, const char *base);

/* obj's member must be there and not "". */
void rule_required(const json_t *obj, const char *name, const struct path *at, struct err *e);
/* A non-empty text must please `check` (names.h). */
void rule_text(const json_t *value, const struct path *at, struct err *e, const char *(*check)(const char *));
/* Every text of an array must. */
void rule_texts(const json_t *array, const struct path *at, struct err *e, const char *(*check)(const char *));
/* path_invalid for a text, where an absent one is shown as "". */
void rule_invalid(const json_t *value, const struct path *at, struct err *e, const char *why);
void rule_not_found(const struct path *at, struct err *e, const char *value);
void rule_too_long(const struct path *at, struct err *e, size_t bytes);
void rule_immutable(const json_t *value, const json_t *old, const struct path *at, struct err *e);

void rule_range(const json_t *value, int64_t min, int64_t max, const struct path *at, struct err *e);
void rule_port(const json_t *value, const struct path *at, struct err *e);
void rule_port_or_name(const json_t *value, const struct path *at, struct err *e);
void rule_file_mode(const json_t *value, const struct path *at, struct err *e); /* 0 to 0777 */
void rule_relative_path(const json_t *value, const struct path *at, struct err *e);
void rule_absolute_path(const json_t *value, const struct path *at, struct err *e);
void rule_ip(const json_t *value, const struct path *at, struct err *e);
void rule_cidr(const json_t *value, const struct path *at, struct err *e);
/* Keys and values of a map are labels. */
void rule_labels(const json_t *map, const struct path *at, struct err *e);

/* A number or text as a quantity; false if it is none. */
bool rule_quantity_parse(const json_t *value, struct quantity *ret);
/* Not negative. */
void rule_quantity(const json_t *value, const struct path *at, struct err *e);
void rule_quantities(const json_t *map, const struct path *at, struct err *e);

/* Items of an array whose `name` occurred before; absent and empty names are left to others. */
void rule_unique(const json_t *array, const char *name, const struct path *at, struct err *e);

#endif
