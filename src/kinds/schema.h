// SPDX-License-Identifier: Apache-2.0
/* schema.h - structural OpenAPI v3 schemas of CustomResourceDefinitions: prune, default, validate */
#ifndef STOKER_KINDS_SCHEMA_H
#define STOKER_KINDS_SCHEMA_H

#include "kinds/field.h"

/* Compiled from a CRD version's openAPIV3Schema: patterns and formats are checked once, here. */
struct schema;

/* Refuses what is not structural, naming the path: spec.versions[0].schema.openAPIV3Schema.properties[x].type: Required
 * value. */
int schema_compile(const json_t *openapi, const struct path *at, struct schema **ret, struct err *e);
void schema_free(struct schema *s);
/* The JSON it was made from, borrowed. */
const json_t *schema_json(const struct schema *s);
/* Removes fields the schema does not name (unless x-kubernetes-preserve-unknown-fields), reporting each.  apiVersion,
 * kind and metadata always stay. */
void schema_prune(const struct schema *s, json_t *obj, struct decode_report *report);
void schema_default(const struct schema *s, json_t *obj);
/* Types, required, enum, pattern, format, minimum ..., minLength ..., uniqueItems, allOf/anyOf/oneOf/not,
 * int-or-string, list maps and sets, nullable.  Adds causes; returns -1 if there is any. */
int schema_validate(const struct schema *s, const json_t *obj, struct err *e);

#endif
