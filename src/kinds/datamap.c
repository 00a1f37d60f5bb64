// SPDX-License-Identifier: Apache-2.0
/* datamap.c - what ConfigMap and Secret share; see datamap.h */
#include "kinds/datamap.h"

#include "base/jsonx.h"
#include "kinds/names.h"

void datamap_validate_keys(const json_t *map, const struct path *at, struct err *e)
{
	const char *key;
	json_t *value;

	json_object_foreach ((json_t *)map, key, value) {
		const char *complaint = name_check_config_key(key);
		json_auto_t *text = jsonx_string(key);

		if (complaint)
			path_invalid(PATH_KEY(at, key), e, text, "%s", complaint);
	}
}

size_t datamap_text_bytes(const json_t *map)
{
	size_t n = 0;
	const char *key;
	json_t *value;

	json_object_foreach ((json_t *)map, key, value)
		n += json_string_length(value);
	return n;
}

size_t datamap_base64_bytes(const json_t *map)
{
	size_t n = 0;
	const char *key;
	json_t *value;

	json_object_foreach ((json_t *)map, key, value) {
		const char *s = json_string_value(value);
		size_t len = json_string_length(value), pad = 0;

		while (pad < 2 && pad < len && s[len - 1 - pad] == '=')
			pad++;
		n += len / 4 * 3 - (len >= 4 ? pad : 0);
	}
	return n;
}

static bool differs(const json_t *obj, const json_t *old, const char *field)
{
	const json_t *a = json_object_get(obj, field), *b = json_object_get(old, field);

	if (!json_object_size(a) && !json_object_size(b))
		return false;
	return !a || !b || !jsonx_equal(a, b);
}

void datamap_validate_update(const json_t *obj, const json_t *old, const char *const *fields, struct err *e)
{
	static const char why[] = "field is immutable when `immutable` is set";

	if (!jsonx_bool_or(old, "immutable", false))
		return;
	if (!jsonx_bool_or(obj, "immutable", false))
		path_forbidden(PATH_FIELD(NULL, "immutable"), e, "%s", why);
	for (; *fields; fields++)
		if (differs(obj, old, *fields))
			path_forbidden(PATH_FIELD(NULL, *fields), e, "%s", why);
}
