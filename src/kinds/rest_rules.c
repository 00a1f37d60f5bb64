// SPDX-License-Identifier: Apache-2.0
/* rest_rules.c - small rules that kinds of several groups share, in Kubernetes' words */
#include "kinds/rest_rules.h"

#include <ctype.h>

#include "base/mem.h"

const char *const category_all[] = { "all", NULL };

#define SCALE_VERBS V(GET) | V(UPDATE) | V(PATCH)

const struct subresource status_only[1] = { { "status", VERBS_STATUS } };
const struct subresource status_scale[2] = {
	{ "status", VERBS_STATUS },
	{ "scale", SCALE_VERBS, "autoscaling", "v1", "Scale" },
};

bool value_is_empty(const json_t *v)
{
	switch (v ? json_typeof(v) : JSON_NULL) {
	case JSON_NULL:
		return true;
	case JSON_STRING:
		return json_string_length(v) == 0;
	case JSON_ARRAY:
		return json_array_size(v) == 0;
	case JSON_OBJECT:
		return json_object_size(v) == 0;
	default:
		return false;
	}
}

json_t *object_in(json_t *obj, const char *name)
{
	json_t *v = json_object_get(obj, name);

	if (!v || json_is_null(v)) {
		json_object_set_new(obj, name, json_object());
		v = json_object_get(obj, name);
	}
	return json_is_object(v) ? v : NULL;
}

void set_if_absent(json_t *obj, const char *name, json_t *value)
{
	const json_t *v = json_object_get(obj, name);

	if (v && !json_is_null(v))
		json_decref(value);
	else
		json_object_set_new(obj, name, value);
}

void status_begin(json_t *obj)
{
	json_object_set_new(obj, "status", json_object());
}

void rule_fixed(const json_t *obj, const json_t *old, const char *path, struct err *e)
{
	const json_t *now = jsonx_at(obj, path), *was = jsonx_at(old, path);

	if (value_is_empty(now) && value_is_empty(was))
		return;
	if (!now || !was || !jsonx_equal(now, was))
		path_invalid(PATH_FIELD(NULL, path), e, now ? now : json_null(), "field is immutable");
}

static bool is_percent(const char *s)
{
	size_t n = strlen(s);

	if (n < 2 || s[n - 1] != '%')
		return false;
	for (size_t i = 0; i + 1 < n; i++)
		if (!isdigit((unsigned char)s[i]))
			return false;
	return true;
}

void rule_int_or_percent(const json_t *v, const struct path *at, struct err *e)
{
	if (json_is_integer(v) && json_integer_value(v) < 0)
		path_invalid(at, e, v, "must be greater than or equal to 0");
	if (json_is_string(v) && !is_percent(json_string_value(v)))
		path_invalid(at, e, v,
			     "a valid percent string must be a numeric string followed by an ending '%%' (e.g. '1%%',  "
			     "or '93%%', regex used for validation is '[0-9]+%%')");
}

/* Percentages that matter have at most three digits; more are clamped. */
static long percent_of(const json_t *v)
{
	const char *s = json_is_string(v) ? json_string_value(v) : NULL;

	if (!s || !is_percent(s))
		return -1;
	return strtol(s, NULL, 10);
}

void rule_at_most_100_percent(const json_t *v, const struct path *at, struct err *e)
{
	rule_int_or_percent(v, at, e);
	if (percent_of(v) > 100)
		path_invalid(at, e, v, "must not be greater than 100%%");
}

bool intstr_is_zero(const json_t *v)
{
	return json_is_integer(v) ? json_integer_value(v) == 0 : percent_of(v) == 0;
}

void rule_name(const json_t *obj, const char *name, const char *(*check)(const char *), const struct path *at,
	       struct err *e)
{
	const json_t *v = json_object_get(obj, name);
	const char *complaint = json_is_string(v) && json_string_length(v) > 0 ? check(json_string_value(v)) : NULL;

	if (complaint)
		path_invalid(PATH_FIELD(at, name), e, v, "%s", complaint);
}

void rule_max_items(const json_t *list, size_t max, const struct path *at, struct err *e)
{
	char where[256];

	if (json_array_size(list) > max)
		err_cause(e, CAUSE_TOO_MANY, path_text(at, where, sizeof(where)),
			  "Too many: %zu: must have at most %zu items", json_array_size(list), max);
}

void rule_some(const json_t *list, const struct path *at, struct err *e, const char *detail)
{
	if (json_array_size(list) == 0)
		path_required(at, e, detail);
}
