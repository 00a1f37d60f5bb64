// SPDX-License-Identifier: Apache-2.0
/* uid_queue.h - uids in the order in which they came; both ends cost the same however long it is */
#ifndef STOKER_CONTROL_UID_QUEUE_H
#define STOKER_CONTROL_UID_QUEUE_H

#include <stddef.h>
#include <stdint.h>

struct uid_queue {
	char **items; /* a ring */
	size_t first, n, cap;
	uint64_t pushed, stolen; /* ever */
};

void uid_queue_done(struct uid_queue *q);
void uid_queue_push(struct uid_queue *q, const char *uid);
/* The oldest, which is the caller's now; NULL if there is none. */
char *uid_queue_steal(struct uid_queue *q);

#endif
