// SPDX-License-Identifier: Apache-2.0
/* first_fit.h - nodes with what is left of them, and the first that has room for a pod; pure
 *
 * Sums of what pods ask for are kept as pods come and go, so one decision looks at nodes only.  Pods that ask for the
 * same share one `struct shape`, and a shape that found no room is not tried again before something has been freed.
 */
#ifndef STOKER_SCHED_FIRST_FIT_H
#define STOKER_SCHED_FIRST_FIT_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/str.h"

struct fit;
struct shape;

struct fit *fit_new(void);
void fit_free(struct fit *f);

/* A Node as it is now; what does not matter to pods changes nothing. */
void fit_set_node(struct fit *f, const json_t *node);
void fit_remove_node(struct fit *f, const char *name);
size_t fit_count_nodes(const struct fit *f);

/* What a pod asks for; one reference, to be given back by fit_drop_shape() before fit_free(). */
struct shape *fit_shape(struct fit *f, const json_t *pod);
void fit_drop_shape(struct fit *f, struct shape *s);

/* Counts a pod at a node, which need not be known yet; somewhere else it was is forgotten. */
void fit_put_pod(struct fit *f, const char *uid, struct shape *s, const char *node);
/* The pod has finished or gone. */
void fit_take_pod(struct fit *f, const char *uid);
/* Where it is counted, or NULL. */
const char *fit_node_of(const struct fit *f, const char *uid);

/* The first node by name that takes the pod, or NULL. */
const char *fit_find(struct fit *f, struct shape *s);
/* Several pods that are to be placed together. */
struct fit_want {
	const char *uid;
	struct shape *shape;
	bool placed;
};
/* Counts as many as it can at nodes that take them, if these are `least` at least; otherwise nothing changes and
 * ret_why says why the first that failed has no room beside the others.  How many there is room for. */
size_t fit_put_all(struct fit *f, struct fit_want *wants, size_t n, size_t least, struct sbuf *ret_why);
/* Grows whenever something may have made room; never 0. */
uint64_t fit_epoch(const struct fit *f);
/* True if the shape has found no room since something was freed last: fit_find() would say NULL again. */
bool fit_failed(const struct fit *f, const struct shape *s);
/* Why there is no room, in Kubernetes' words: "0/1 nodes are available: 1 Insufficient cpu."  Borrowed until the next
 * call. */
const char *fit_why(struct fit *f, struct shape *s);

#endif
