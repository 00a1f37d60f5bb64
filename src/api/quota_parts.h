// SPDX-License-Identifier: Apache-2.0
/* quota_parts.h - what the files of quota.h share
 *
 *	quota_name.c    what a name such as requests.cpu or count/jobs.batch measures
 *	quota_scope.c   which pods count for a quota
 *	quota_rules.c   whether there is room
 *	quota.c         the account: which quotas there are and what is used of them
 *	quota_status.c  telling it in their status
 *
 * The first three are pure.
 */
#ifndef STOKER_API_QUOTA_PARTS_H
#define STOKER_API_QUOTA_PARTS_H

#include "api/quota.h"
#include "api/stored.h"
#include "api/turn_guard.h"
#include "base/map.h"
#include "kinds/resource_list.h"

enum quota_measure {
	QUOTA_NOTHING,    /* a name that nothing here uses */
	QUOTA_COUNT,      /* objects: `what` is the plural, `of` the group */
	QUOTA_PODS,       /* pods that have not ended */
	QUOTA_REQUEST,    /* their requests of `what` */
	QUOTA_LIMIT,      /* their limits of `what` */
	QUOTA_CLAIMS,     /* claims of class `of` */
	QUOTA_STORAGE,    /* what claims ask for: of class `of`, or all */
	QUOTA_NODE_PORTS, /* of services */
	QUOTA_BALANCERS,  /* services of type LoadBalancer */
	QUOTA_MEASURE__COUNT
};

/* One line of spec.hard. */
struct quota_item {
	char *name;
	enum quota_measure measure;
	char *what, *of; /* owned; or NULL */
	struct quantity hard, used;
};

struct quota {
	char *name;
	json_t *spec;
	json_t *scopes; /* ScopedResourceSelectorRequirements, all of which must hold; empty: everything counts */
	struct quota_item *items;
	size_t n; /* in order of names */
};

/* One object as quotas see it, and what has been found out about it so far. */
struct quota_subject {
	const struct kind *kind;
	const json_t *obj;
	bool pod;
	bool live; /* a pod that has not ended */
	bool summed;
	struct resource_list requests, limits;
};

/* --- quota_name.c --- */
void quota_item_init(struct quota_item *i, const char *name);
void quota_item_done(struct quota_item *i);
/* `as_of`: a pod that should have left by then does not count as live. */
void quota_subject_init(struct quota_subject *s, const struct kind *k, const json_t *obj, int64_t as_of);
void quota_subject_done(struct quota_subject *s);
/* When a pod that is being deleted counts no more, whether it has gone or not; 0 if it is not being deleted. */
int64_t quota_pod_deadline(const json_t *pod);
/* How much of an item one object is. */
struct quantity quota_measure(struct quota_subject *s, const struct quota_item *i);

/* --- quota_scope.c --- */
/* scopes and scopeSelector of a spec as one array, a new reference. */
json_t *quota_scopes(const json_t *spec);
bool quota_matches(const struct quota *q, const struct quota_subject *s);

/* --- quota_rules.c --- */
struct quota *quota_new(const json_t *obj);
void quota_free(struct quota *q);
/* Takes over what was used under an older spec; false if that does not say everything. */
bool quota_inherit(struct quota *q, const struct quota *old);
/* `now` has taken the place of `before`; either may be NULL.  True if that made a difference. */
bool quota_charge(struct quota *q, struct quota_subject *now, struct quota_subject *before);
/* A pod must say what it needs of what is rationed.  ERR_FORBIDDEN without the "... is forbidden: " of its object. */
int quota_check_stated(const struct quota *q, const struct quota_subject *s, struct err *e);
/* `before` is the state that `now` takes the place of, or NULL. */
int quota_check_room(const struct quota *q, struct quota_subject *now, struct quota_subject *before, struct err *e);
/* {"hard", "used"}, a new reference. */
json_t *quota_status(const struct quota *q);

/* --- quota.c --- */
/* A namespace that has quotas. */
struct quota_space {
	char *ns;
	struct quota **quotas; /* in order of names */
	size_t n, cap;
	bool counted;     /* `used` is true */
	int64_t as_of;    /* by this time's light */
	int64_t deadline; /* when a pod that is being deleted may stop to count; 0: none does */
	unsigned leaving; /* how many pods are being deleted */
	bool queued;      /* its status may be behind */
	struct quota_space *next;
};

enum { QUOTA_PODS_KIND, QUOTA_CLAIMS_KIND, QUOTA_SERVICES_KIND, QUOTA_OWN_KIND, QUOTA_KIND__COUNT };

struct quotas {
	struct api *api;
	struct stored_kind kinds[QUOTA_KIND__COUNT];
	struct map spaces; /* namespace -> struct quota_space */
	bool loaded;
	struct turn_guard guard;
	/* quota_status.c's */
	struct quota_space *queue; /* spaces to tell */
	struct loop_hook hook;
	struct loop_timer retry, deadline;
};

int quotas_load(struct quotas *qs, struct err *e);
/* Makes `used` true. */
int quota_space_count(struct quotas *qs, struct quota_space *s, struct err *e);

/* --- quota_status.c --- */
void quota_status_init(struct quotas *qs);
void quota_status_done(struct quotas *qs);
/* Its status will be true with this turn's commit. */
void quota_status_queue(struct quotas *qs, struct quota_space *s);
void quota_status_forget(struct quotas *qs, struct quota_space *s);
/* The space has a pod whose deadline is at that time. */
void quota_status_wake(struct quotas *qs, struct quota_space *s, int64_t deadline);

#endif
