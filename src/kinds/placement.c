// SPDX-License-Identifier: Apache-2.0
/* placement.c - tolerations, node selectors, node affinity: what they match */
#include "kinds/placement.h"

#include "base/jsonx.h"
#include "base/str.h"

/* --- taints --- */

struct taint taint_read(const json_t *taint)
{
	return (struct taint){ .key = jsonx_str_or(taint, "key", ""),
			       .value = jsonx_str_or(taint, "value", ""),
			       .effect = jsonx_str_or(taint, "effect", "") };
}

bool toleration_covers(const json_t *toleration, const struct taint *t)
{
	const char *effect = jsonx_str_or(toleration, "effect", "");
	const char *key = jsonx_str_or(toleration, "key", "");
	bool exists = streq(jsonx_str_or(toleration, "operator", ""), "Exists");

	if (*effect && !streq(effect, t->effect ? t->effect : ""))
		return false;
	if (*key ? !streq(key, t->key ? t->key : "") : !exists)
		return false;
	return exists || streq(jsonx_str_or(toleration, "value", ""), t->value ? t->value : "");
}

bool taint_tolerated(const json_t *tolerations, const struct taint *t)
{
	const json_t *one;
	size_t i;

	json_array_foreach (tolerations, i, one)
		if (toleration_covers(one, t))
			return true;
	return false;
}

/* --- selectors --- */

bool node_selector_matches(const json_t *selector, const json_t *labels)
{
	const char *key;
	json_t *value;

	json_object_foreach ((json_t *)selector, key, value)
		if (!str_same(json_string_value(json_object_get(labels, key)), json_string_value(value)))
			return false;
	return true;
}

static bool has_value(const json_t *values, const char *value)
{
	const json_t *v;
	size_t i;

	json_array_foreach (values, i, v)
		if (value && str_same(json_string_value(v), value))
			return true;
	return false;
}

/* Gt and Lt compare whole numbers; what is none matches neither. */
static bool compares(const json_t *values, const char *value, bool greater)
{
	const char *limit = json_string_value(json_array_get(values, 0));
	int64_t a;
	int64_t b;

	if (!value || !limit || !str_int64(value, INT64_MIN, INT64_MAX, &a) ||
	    !str_int64(limit, INT64_MIN, INT64_MAX, &b))
		return false;
	return greater ? a > b : a < b;
}

static bool expression_matches(const json_t *x, const char *value)
{
	const char *op = jsonx_str_or(x, "operator", "");
	const json_t *values = json_object_get(x, "values");

	if (streq(op, "In"))
		return has_value(values, value);
	if (streq(op, "NotIn"))
		return !has_value(values, value);
	if (streq(op, "Exists"))
		return value != NULL;
	if (streq(op, "DoesNotExist"))
		return value == NULL;
	return (streq(op, "Gt") || streq(op, "Lt")) && compares(values, value, streq(op, "Gt"));
}

/* Everything in a term must match; an empty one matches nothing. */
static bool term_matches(const json_t *term, const json_t *labels, const char *node_name)
{
	const json_t *expressions = json_object_get(term, "matchExpressions");
	const json_t *fields = json_object_get(term, "matchFields");
	const json_t *x;
	size_t i;

	json_array_foreach (expressions, i, x) {
		const char *key = jsonx_str_or(x, "key", "");

		if (!expression_matches(x, json_string_value(json_object_get(labels, key))))
			return false;
	}
	json_array_foreach (fields, i, x) {
		bool name = streq(jsonx_str_or(x, "key", ""), "metadata.name");

		if (!name || !expression_matches(x, node_name))
			return false;
	}
	return json_array_size(expressions) + json_array_size(fields) > 0;
}

const json_t *required_node_terms(const json_t *pod_spec)
{
	return jsonx_at(pod_spec,
			"affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms");
}

bool node_terms_match(const json_t *terms, const json_t *labels, const char *node_name)
{
	const json_t *term;
	size_t i;

	json_array_foreach (terms, i, term)
		if (term_matches(term, labels, node_name))
			return true;
	return terms == NULL;
}
