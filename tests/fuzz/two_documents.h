// SPDX-License-Identifier: Apache-2.0
/* two_documents.h - a fuzz input that is two JSON documents, separated by a zero byte or the first newline */
#ifndef STOKER_FUZZ_TWO_DOCUMENTS_H
#define STOKER_FUZZ_TWO_DOCUMENTS_H

#include <stdint.h>

#include "base/jsonx.h"

/* Both documents as new references; false if either does not parse. */
static inline bool two_documents(const uint8_t *data, size_t n, json_t **ret_one, json_t **ret_two)
{
	const char *p = (const char *)data;
	const char *cut = n ? memchr(p, '\0', n) : NULL;
	struct err e = ERR_INIT;
	size_t first;

	if (!cut)
		cut = n ? memchr(p, '\n', n) : NULL;
	if (!cut)
		return false;
	first = (size_t)(cut - p);
	if (jsonx_parse(p, first, NULL, NULL, ret_one, &e) < 0)
		return false;
	if (jsonx_parse(cut + 1, n - first - 1, NULL, NULL, ret_two, &e) < 0) {
		json_decref(*ret_one);
		return false;
	}
	return true;
}

#endif
