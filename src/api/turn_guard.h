// SPDX-License-Identifier: Apache-2.0
/* turn_guard.h - for what is remembered of the store: it holds only if the turn's commit succeeds
 *
 * Whoever keeps something in memory that follows writes, or was read while writes were pending, watches the turn.  If
 * it fails, nothing of it has happened, and `lost` tells the owner to forget what it knows.
 */
#ifndef STOKER_API_TURN_GUARD_H
#define STOKER_API_TURN_GUARD_H

#include "store/store.h"

struct turn_guard {
	void (*lost)(void *arg);
	void *arg;
	struct store_after after;
	bool waiting;
};

/* After something of this turn was taken in; any number of times. */
void turn_guard_watch(struct turn_guard *g, struct store *store);
/* After reading: the same if the turn has writes by now. */
void turn_guard_watch_read(struct turn_guard *g, struct store *store);
void turn_guard_done(struct turn_guard *g);

#endif
