// SPDX-License-Identifier: Apache-2.0
/* json_read.h - the quick reader behind jsonx_parse() */
#ifndef STOKER_BASE_JSON_READ_H
#define STOKER_BASE_JSON_READ_H

#include <jansson.h>
#include <stdbool.h>

#include "base/str.h"

/* The document, or NULL if it is wrong or has something unusual in it: then jansson decides, and finds the words. */
json_t *json_read(const char *p, size_t n, unsigned max_depth);

/* The text of one member of an object within an object, such as metadata.managedFields, without reading the rest; empty
 * if it is not there.  For text that was checked when it was taken in; false if it has something unusual in it. */
bool json_find_member(struct str text, const char *outer, const char *inner, struct str *ret);

#endif
