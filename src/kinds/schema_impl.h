// SPDX-License-Identifier: Apache-2.0
/* schema_impl.h - the compiled schema, shared by schema.c, schema_default.c and schema_validate.c only */
#ifndef STOKER_KINDS_SCHEMA_IMPL_H
#define STOKER_KINDS_SCHEMA_IMPL_H

#include "base/map.h"
#include "kinds/regex.h"
#include "kinds/schema.h"

enum schema_type {
	TYPE_NONE, /* not said: only with preserve-unknown-fields or int-or-string, and below allOf ... */
	TYPE_OBJECT,
	TYPE_ARRAY,
	TYPE_STRING,
	TYPE_INTEGER,
	TYPE_NUMBER,
	TYPE_BOOLEAN,
	TYPE__COUNT
};

enum schema_junctor { ALL_OF, ANY_OF, ONE_OF, NOT, JUNCTOR__COUNT };

struct schema_bound {
	bool set, exclusive;
	double value;
};

/* One schema of the tree.  JSON values are borrowed from the schema's own document. */
struct schema_node {
	enum schema_type type;
	bool nullable, preserve, embedded, int_or_string;
	bool list_set, list_map;
	struct map properties;          /* name -> struct schema_node * */
	struct schema_node *items;      /* of arrays */
	struct schema_node *additional; /* additionalProperties; NULL: none */
	bool additional_any;            /* additionalProperties: true */
	const json_t *required, *enums, *dflt, *list_keys;
	const char *pattern, *format;
	struct regex *regex;
	struct schema_bound min, max, multiple;
	int64_t min_length, max_length, min_items, max_items, min_props, max_props; /* -1: none */
	struct schema_node **junctors[JUNCTOR__COUNT];
	size_t njunctors[JUNCTOR__COUNT];
};

struct schema {
	json_t *json;
	struct schema_node *root;
};

extern const char *const schema_type_names[TYPE__COUNT];

/* schema_validate.c: one value against one node, for defaults too.  e NULL: only the answer. */
int schema_node_validate(const struct schema_node *n, const json_t *v, const struct path *at, bool root, struct err *e);
/* schema_format.c: false if `s` is not of the format; formats it does not know are anything. */
bool schema_format_ok(const char *format, const char *s);

#endif
