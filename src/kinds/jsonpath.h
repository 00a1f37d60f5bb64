// SPDX-License-Identifier: Apache-2.0
/* jsonpath.h - the JSONPath of printer columns: .a.b, ['a.b'], [0], [-1:], [*], [?(@.type=="X")] */
#ifndef STOKER_KINDS_JSONPATH_H
#define STOKER_KINDS_JSONPATH_H

#include <jansson.h>

#include "base/err.h"

struct jsonpath;

/* Text with or without a leading '.' or '$'; errors name the column of the first bad character. */
int jsonpath_parse(const char *text, struct jsonpath **ret, struct err *e);
void jsonpath_free(struct jsonpath *p);
/* First match (borrowed) or NULL. */
json_t *jsonpath_first(const struct jsonpath *p, const json_t *doc);
/* Every match, a new array of references. */
json_t *jsonpath_all(const struct jsonpath *p, const json_t *doc);

#endif
