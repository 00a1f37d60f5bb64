// SPDX-License-Identifier: Apache-2.0
/* condition.c - see condition.h */
#include "kinds/condition.h"

#include "base/jsonx.h"

json_t *condition_in(const json_t *list, const char *type)
{
	return jsonx_find(list, "type", type);
}

const json_t *condition_of(const json_t *obj, const char *type)
{
	return condition_in(jsonx_at(obj, "status.conditions"), type);
}

const char *condition_status(const json_t *obj, const char *type)
{
	return jsonx_str_or(condition_of(obj, type), "status", "");
}

bool condition_holds(const json_t *obj, const char *type)
{
	return streq(condition_status(obj, type), "True");
}
