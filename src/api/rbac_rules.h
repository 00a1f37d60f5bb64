// SPDX-License-Identifier: Apache-2.0
/* rbac_rules.h - what one RBAC rule allows, and which rules cover which; pure */
#ifndef STOKER_API_RBAC_RULES_H
#define STOKER_API_RBAC_RULES_H

#include "api/authz.h"

#define RBAC_GROUP "rbac.authorization.k8s.io"

/* One list of a rule; the texts belong to the JSON it was read from. */
struct words {
	const char **items;
	size_t n;
	bool any; /* one of them is "*" */
};

struct rbac_rule {
	struct words verbs, groups, resources, names, urls;
};

struct rbac_rules {
	struct rbac_rule *rules;
	size_t n;
	json_t *source; /* the array they were read from; immutable while we hold it */
};

/* Reads a Role's `rules` array (NULL: none) and keeps a reference to it.  Whatever has the wrong type is left out. */
void rbac_rules_init(struct rbac_rules *r, const json_t *array);
void rbac_rules_done(struct rbac_rules *r);

bool rbac_rule_allows(const struct rbac_rule *rule, const struct authz_attributes *at);

/* True if `have` together give every right of `want`.  Otherwise appends a line for each right that is missing, sorted,
 * as Kubernetes writes them: {APIGroups:[""], Resources:["pods"], Verbs:["get"]}. */
bool rbac_covers(const struct rbac_rule *const *have, size_t nhave, const struct rbac_rules *want,
		 struct sbuf *missing);

/* The rules of aggregated role `self`: every rule, once, of the other roles that one of the selectors picks.  `roles`
 * is an object of name -> ClusterRole.  A new array. */
json_t *rbac_aggregate(const char *self, const json_t *selectors, const json_t *roles);

/* `stored` (an array of rules, may be NULL) with the rules of `wanted` that it does not cover put at its end: a new
 * array, or NULL if it covers all of them. */
json_t *rbac_with_missing(const json_t *stored, const json_t *wanted);

#endif
