// SPDX-License-Identifier: Apache-2.0
/* condition.h - finds conditions: what objects say of themselves in status.conditions, one of each type */
#ifndef STOKER_KINDS_CONDITION_H
#define STOKER_KINDS_CONDITION_H

#include <jansson.h>
#include <stdbool.h>

/* The one of that type in a list, or NULL; borrowed. */
json_t *condition_in(const json_t *list, const char *type);
/* The same of an object. */
const json_t *condition_of(const json_t *obj, const char *type);
/* "True", "False", "Unknown"; "" if the object says nothing of it. */
const char *condition_status(const json_t *obj, const char *type);
bool condition_holds(const json_t *obj, const char *type);

#endif
