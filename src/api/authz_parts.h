// SPDX-License-Identifier: Apache-2.0
/* authz_parts.h - what the files of authorization share: authz.c, rbac_reconcile.c, escalation.c, reviews.c */
#ifndef STOKER_API_AUTHZ_PARTS_H
#define STOKER_API_AUTHZ_PARTS_H

#include "api/rbac_index.h"
#include "api/stored.h"

struct authz {
	struct api *api;
	struct stored_kind kinds[RBAC_KIND__COUNT];
	struct rbac_index *index; /* NULL: not loaded */
	bool unreadable;          /* the last load failed; said once */
	struct store_subscriber subscriber;
	struct store_after settled; /* waits for the commit when the index was loaded in a turn with writes */
	bool waiting;
	struct loop_hook aggregate;
};

/* The loaded index; NULL if the store cannot be read. */
const struct rbac_index *authz_index(struct authz *a);
/* Writes back the rules of aggregated cluster roles that differ from what they gather. */
int authz_aggregate(struct authz *a, struct err *e);
/* The grant that allows it.  NULL also for system:masters, who need none: see authz_is_master. */
const struct rbac_grant *authz_find_grant(struct authz *a, const struct caller *c, const struct authz_attributes *at);
bool authz_is_master(const struct caller *c);

#endif
