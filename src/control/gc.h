// SPDX-License-Identifier: Apache-2.0
/* gc.h - garbage collection by ownerReferences: background, foreground, orphan */
#ifndef STOKER_CONTROL_GC_H
#define STOKER_CONTROL_GC_H

#include "client/client.h"
#include "control/workqueue.h"

struct gc;
struct gc *gc_new(struct client *c);
void gc_free(struct gc *g);
struct workqueue_counts gc_counts(const struct gc *g);

/* What is known of one owner of an object. */
enum gc_owner {
	GC_OWNER_UNKNOWN, /* the question could not be answered: do nothing */
	GC_OWNER_PRESENT,
	GC_OWNER_ABSENT, /* no object of that name, or one with another uid */
	GC_OWNER_WAITING /* being deleted in the foreground: waits for its dependents */
};

enum gc_verdict {
	GC_KEEP,
	GC_DELETE,            /* nobody owns it any more */
	GC_DELETE_FOREGROUND, /* its last owner waits for it */
	GC_DROP_REFS          /* keep it, but forget the owners that are gone */
};

/* The pure half: what becomes of an object with these owners. */
enum gc_verdict gc_plan(const enum gc_owner *owners, size_t n);

#endif
