// SPDX-License-Identifier: Apache-2.0
/* rbac_aggregate.c - the rules of a ClusterRole that gathers others by label; pure */
#include "api/rbac_rules.h"

#include "base/jsonx.h"
#include "base/mem.h"
#include "kinds/selector.h"

static bool has_rule(const json_t *rules, const json_t *rule)
{
	size_t i;
	json_t *item;

	json_array_foreach (rules, i, item) {
		if (jsonx_equal(item, rule))
			return true;
	}
	return false;
}

static void gather(json_t *into, const json_t *role)
{
	size_t i;
	json_t *rule;

	json_array_foreach (json_object_get(role, "rules"), i, rule) {
		if (!has_rule(into, rule))
			json_array_append(into, rule);
	}
}

static int by_name(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* In order of names, so that the same roles always give the same text and nothing is written twice. */
static void gather_selected(json_t *into, const char *self, const struct selector *s, const json_t *roles)
{
	const char **names = xcalloc(json_object_size(roles) + 1, sizeof(*names));
	size_t n = 0;
	const char *name;
	json_t *role;

	json_object_foreach ((json_t *)roles, name, role) {
		if (!streq(name, self) && selector_match_labels(s, jsonx_at(role, "metadata.labels")))
			names[n++] = name;
	}
	qsort(names, n, sizeof(*names), by_name);
	for (size_t i = 0; i < n; i++)
		gather(into, json_object_get(roles, names[i]));
	free(names);
}

json_t *rbac_aggregate(const char *self, const json_t *selectors, const json_t *roles)
{
	json_t *ret = json_array();
	size_t i;
	json_t *item;

	json_array_foreach (selectors, i, item) {
		struct selector *s = NULL;
		struct err e = ERR_INIT;

		/* Validation refuses bad selectors on the way in; one that got here anyway picks nothing. */
		if (selector_from_json(item, &s, &e) < 0)
			continue;
		gather_selected(ret, self, s, roles);
		selector_free(s);
	}
	return ret;
}
