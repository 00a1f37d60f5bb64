// SPDX-License-Identifier: Apache-2.0
/* queue.h - what workloads and pods say about the queue they wait in, and who may wait there; pure */
#ifndef STOKER_KINDS_QUEUE_H
#define STOKER_KINDS_QUEUE_H

#include <jansson.h>
#include <stdbool.h>

#include "base/str.h"

#define QUEUE_LABEL           "stoker.dev/queue" /* on namespaces also as an annotation */
#define QUEUE_DEFAULT         "batch"
#define USER_ANNOTATION       "stoker.dev/user" /* who is charged: set by the server alone */
#define GROUP_ANNOTATION      "stoker.dev/group"
#define WALLTIME_ANNOTATION   "stoker.dev/walltime"
#define EXCLUSIVE_ANNOTATION  "stoker.dev/exclusive" /* "true": a pod wants its node for itself */
#define NOT_BEFORE_ANNOTATION "stoker.dev/not-before"
#define HOLD_ANNOTATION       "stoker.dev/hold"

/* Who asks.  An admin's work has no user. */
struct queue_visitor {
	const char *user;
	bool (*in_group)(void *arg, const char *group);
	/* Whether it comes from a host of that name; NULL: nobody knows where it comes from, and any name is right. */
	bool (*on_host)(void *arg, const char *pattern);
	void *arg;
};
/* Whether spec.acl, which may be NULL, lets the visitor in; otherwise the rule that does not: "user ben is not in
 * acl.users".  -name keeps one out, +name is name; after an @ stands from where. */
bool queue_acl_allows(const json_t *acl, const struct queue_visitor *v, struct sbuf *ret_why);

/* Properties that nodes must have for this queue's work: spec.nodeProperties, and those that PBS's default for
 * neednodes names.  Owned. */
json_t *queue_properties(const json_t *spec);

#endif
