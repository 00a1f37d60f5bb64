// SPDX-License-Identifier: Apache-2.0
/* json_read.h - the quick reader behind jsonx_parse() */
#ifndef STOKER_BASE_JSON_READ_H
#define STOKER_BASE_JSON_READ_H

#include <jansson.h>

/* The document, or NULL if it is wrong or has something unusual in it: then jansson decides, and finds the words. */
json_t *json_read(const char *p, size_t n, unsigned max_depth);

#endif
