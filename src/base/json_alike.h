// SPDX-License-Identifier: Apache-2.0
/* json_alike.h - values that are much like each other kept as one, where they are equal */
#ifndef STOKER_BASE_JSON_ALIKE_H
#define STOKER_BASE_JSON_ALIKE_H

#include <jansson.h>

/* A new reference to a value that equals `v` and is made of parts of `like` wherever those are the same.  Both must
 * never change again; neither does here.  `like` may be NULL. */
json_t *json_alike(const json_t *v, const json_t *like);

/* The last objects of each sort, to which the next ones are compared. */
#define JSON_ALIKE_SORTS 64 /* a power of two */
struct json_alike {
	json_t *last[JSON_ALIKE_SORTS];
};

/* json_alike() with the last object of the same sort, which `obj` becomes.  Of one sort are objects of a kind (any
 * number) that have the same controller or, without one, the same namespace, and have come as far as each other. */
json_t *json_alike_next(struct json_alike *a, unsigned kind, const json_t *obj);
void json_alike_done(struct json_alike *a);

#endif
