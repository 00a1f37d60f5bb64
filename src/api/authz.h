// SPDX-License-Identifier: Apache-2.0
/* authz.h - may you: RBAC with Kubernetes' own rules */
#ifndef STOKER_API_AUTHZ_H
#define STOKER_API_AUTHZ_H

#include "api/api.h"

struct authz_attributes {
	const char *verb; /* "get", "deletecollection", "impersonate" ... */
	/* resources */
	const char *group, *resource, *subresource, *ns, *name; /* "" where absent */
	/* or a path such as /healthz when resource is NULL */
	const char *path;
};

struct authz *authz_new(struct api *api);
void authz_free(struct authz *a);
/* Makes the default cluster roles and bindings that are missing and brings the stored ones up to date (aggregation
 * included). */
int authz_bootstrap(struct authz *a, struct err *e);
bool authz_allowed(struct authz *a, const struct caller *c, const struct authz_attributes *at);
/* ERR_FORBIDDEN in Kubernetes' words if not: `pods "x" is forbidden: User "u" cannot get resource "pods" in API group
 * "" in the namespace "n"`. */
int authz_require(struct authz *a, const struct caller *c, const struct authz_attributes *at, struct err *e);
/* Reads roles and bindings anew on the next question: for who wrote one and asks in the same turn, before the commit
 * has told everyone. */
void authz_forget(struct authz *a);
/* Escalation: writing a (Cluster)Role or binding needs every right it gives (or verb escalate/bind). */
int authz_check_escalation(struct authz *a, const struct caller *c, const struct kind *k, const json_t *obj,
			   const json_t *old, struct err *e);
/* The review kinds: fills in status (SubjectAccessReview, SelfSubject..., LocalSubject..., SelfSubjectRulesReview;
 * also TokenReview and SelfSubjectReview, so that one call serves every kind of review). */
int authz_review(struct authz *a, const struct caller *c, const struct kind *k, json_t *review, struct err *e);

#endif
