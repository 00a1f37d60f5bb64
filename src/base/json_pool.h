// SPDX-License-Identifier: Apache-2.0
/* json_pool.h - memory of JSON values, of which there are very many, all of them small */
#ifndef STOKER_BASE_JSON_POOL_H
#define STOKER_BASE_JSON_POOL_H

#include <stddef.h>

/* From here on jansson takes its memory from the pool.  To be called before the first value is made, by programs of one
 * thread that keep many values; under a sanitizer it does nothing. */
void json_pool_use(void);

/* What jansson calls. */
void *json_pool_alloc(size_t n);
void json_pool_free(void *p);

/* Bytes taken from the kernel: in pieces that are in use, and in empty ones kept for the next value. */
struct json_pool_bytes {
	size_t used, kept;
};
struct json_pool_bytes json_pool_bytes(void);

#endif
