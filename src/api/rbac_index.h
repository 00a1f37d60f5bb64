// SPDX-License-Identifier: Apache-2.0
/* rbac_index.h - roles and bindings in memory, found by subject; fed by authz.c, pure */
#ifndef STOKER_API_RBAC_INDEX_H
#define STOKER_API_RBAC_INDEX_H

#include "api/rbac_rules.h"

enum rbac_kind { RBAC_ROLE, RBAC_CLUSTERROLE, RBAC_ROLEBINDING, RBAC_CLUSTERROLEBINDING, RBAC_KIND__COUNT };

struct rbac_index;

/* A binding of one role to one subject. */
struct rbac_grant {
	const struct rbac_rules *rules; /* of the role; none while there is no such role */
	const char *binding;            /* its name */
	const char *ns;                 /* of the binding, "" for a ClusterRoleBinding */
	const char *role_kind, *role_name;
	const char *subject_kind, *subject_ns, *subject_name;
};

struct rbac_index *rbac_index_new(void);
void rbac_index_free(struct rbac_index *x);
/* Puts the object's present state in; NULL takes it out.  obj is immutable and kept by reference. */
void rbac_index_set(struct rbac_index *x, enum rbac_kind kind, const char *ns, const char *name, const json_t *obj);

/* Calls fn for every grant of the caller that counts in `ns` ("" or NULL: at the cluster scope) until it returns false.
 */
void rbac_index_visit(const struct rbac_index *x, const struct caller *c, const char *ns,
		      bool (*fn)(void *arg, const struct rbac_grant *g), void *arg);
/* The grant that allows it, borrowed, or NULL. */
const struct rbac_grant *rbac_index_find(const struct rbac_index *x, const struct caller *c,
					 const struct authz_attributes *at);

#endif
