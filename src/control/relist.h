// SPDX-License-Identifier: Apache-2.0
/* relist.h - all objects of a resource, page by page, after a watch was lost
 *
 * The new watch shows what is there, but not what went meanwhile: that is whatever was known and is not in this list.
 */
#ifndef STOKER_CONTROL_RELIST_H
#define STOKER_CONTROL_RELIST_H

#include "control/resources.h"

struct relist;

struct relist_handlers {
	void (*object)(void *arg, const json_t *obj);
	/* Once: the uids of all (keys of a JSON object, borrowed) and the revision to watch from; or an error.  The
	 * relist is gone after it. */
	void (*done)(void *arg, const json_t *uids, const char *rv, const struct err *e);
	void *arg;
};

struct relist *relist_new(struct client *c, const struct resource *r, const struct relist_handlers *h);
/* No call follows. */
void relist_free(struct relist *l);

#endif
