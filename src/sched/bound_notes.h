// SPDX-License-Identifier: Apache-2.0
/* bound_notes.h - the Event on a pod that it has a node now, told when there is time for it */
#ifndef STOKER_SCHED_BOUND_NOTES_H
#define STOKER_SCHED_BOUND_NOTES_H

#include <stdbool.h>

#include "client/events.h"

/* Zeroed is empty. */
struct bound_notes {
	struct bound_note *items;
	size_t first, n, cap;
};
void bound_notes_done(struct bound_notes *b);
/* To be told; everything is copied. */
void bound_note(struct bound_notes *b, const json_t *pod, const char *node);
/* Tells the oldest; false: there is none. */
bool bound_notes_tell(struct bound_notes *b, struct events *ev);

#endif
