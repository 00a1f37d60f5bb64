// SPDX-License-Identifier: Apache-2.0
/* namespace_left.h - what is still in a namespace that is going, in the words of its conditions */
#ifndef STOKER_CONTROL_NAMESPACE_LEFT_H
#define STOKER_CONTROL_NAMESPACE_LEFT_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

struct namespace_left {
	int64_t objects;    /* how many, of all resources */
	json_t *resources;  /* "pods." -> how many */
	json_t *finalizers; /* name -> on how many objects */
};

/* Begins anew; also on zeroed memory. */
void namespace_left_reset(struct namespace_left *l);
void namespace_left_done(struct namespace_left *l);
/* One resource's list, or the first page of it.  Takes no note of an empty one. */
void namespace_left_add(struct namespace_left *l, const char *api_version, const char *plural, const json_t *list);

/* The namespace's status.conditions, owned.  What has not changed since `old` (or NULL) keeps its time. */
json_t *namespace_left_conditions(const struct namespace_left *l, const json_t *old, int64_t now);

#endif
