// SPDX-License-Identifier: Apache-2.0
/* node_rules.c - does a node take such a pod at all: taints, selectors, affinity; pure
 *
 * In Kubernetes' order, so that the first refusal is the one it would name.
 */
#include "base/jsonx.h"
#include "base/mem.h"
#include "sched/parts.h"

#define NOT_READY     "node.kubernetes.io/not-ready"
#define UNSCHEDULABLE "node.kubernetes.io/unschedulable"

/* --- taints --- */

static bool tolerates(const json_t *t, const char *key, const char *value, const char *effect)
{
	const char *its_effect = jsonx_str_or(t, "effect", "");
	const char *its_key = jsonx_str_or(t, "key", "");
	bool exists = streq(jsonx_str_or(t, "operator", ""), "Exists");

	if (*its_effect && !streq(its_effect, effect))
		return false;
	if (*its_key ? !streq(its_key, key) : !exists)
		return false;
	return exists || streq(jsonx_str_or(t, "value", ""), value);
}

static bool is_tolerated(const struct shape *s, const char *key, const char *value, const char *effect)
{
	const json_t *t;
	size_t i;

	json_array_foreach (s->tolerations, i, t)
		if (tolerates(t, key, value, effect))
			return true;
	return false;
}

static bool taint_refuses(const struct node_view *n, const struct shape *s, struct sbuf *why)
{
	const json_t *t;
	size_t i;

	json_array_foreach (n->taints, i, t) {
		const char *key = jsonx_str_or(t, "key", "");
		const char *value = jsonx_str_or(t, "value", "");
		const char *effect = jsonx_str_or(t, "effect", "");

		if (streq(effect, "PreferNoSchedule") || is_tolerated(s, key, value, effect))
			continue;
		sbuf_addf(why, "node(s) had untolerated taint {%s: %s}", key, value);
		return true;
	}
	return false;
}

/* --- selectors --- */

static bool selector_refuses(const json_t *selector, const json_t *labels)
{
	const char *key;
	json_t *value;

	json_object_foreach ((json_t *)selector, key, value)
		if (!str_same(json_string_value(json_object_get(labels, key)), json_string_value(value)))
			return true;
	return false;
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
static bool term_matches(const json_t *term, const struct node_view *n)
{
	const json_t *expressions = json_object_get(term, "matchExpressions");
	const json_t *fields = json_object_get(term, "matchFields");
	const json_t *x;
	size_t i;

	json_array_foreach (expressions, i, x) {
		const char *key = jsonx_str_or(x, "key", "");

		if (!expression_matches(x, json_string_value(json_object_get(n->labels, key))))
			return false;
	}
	json_array_foreach (fields, i, x) {
		bool name = streq(jsonx_str_or(x, "key", ""), "metadata.name");

		if (!name || !expression_matches(x, n->name))
			return false;
	}
	return json_array_size(expressions) + json_array_size(fields) > 0;
}

static bool affinity_refuses(const json_t *terms, const struct node_view *n)
{
	const json_t *term;
	size_t i;

	json_array_foreach (terms, i, term)
		if (term_matches(term, n))
			return false;
	return terms != NULL;
}

bool node_refuses(const struct node_view *n, const struct shape *s, struct sbuf *why)
{
	if (n->unschedulable && !is_tolerated(s, UNSCHEDULABLE, "", "NoSchedule")) {
		sbuf_adds(why, "node(s) were unschedulable");
		return true;
	}
	/* A node that has not said that it is ready has this taint, even before somebody writes it down. */
	if (!n->ready && !is_tolerated(s, NOT_READY, "", "NoSchedule")) {
		sbuf_adds(why, "node(s) had untolerated taint {" NOT_READY ": }");
		return true;
	}
	if (taint_refuses(n, s, why))
		return true;
	if (selector_refuses(s->selector, n->labels) || affinity_refuses(s->terms, n)) {
		sbuf_adds(why, "node(s) didn't match Pod's node affinity/selector");
		return true;
	}
	return false;
}
