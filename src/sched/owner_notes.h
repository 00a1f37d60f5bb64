// SPDX-License-Identifier: Apache-2.0
/* owner_notes.h - an Event on the job whose pods wait, because that is where people look first */
#ifndef STOKER_SCHED_OWNER_NOTES_H
#define STOKER_SCHED_OWNER_NOTES_H

#include "base/map.h"
#include "client/events.h"
#include "sched/work.h"

/* What was said last to whom; zeroed after owner_notes_done(). */
struct owner_notes {
	struct map said; /* uid -> text */
};
void owner_notes_init(struct owner_notes *o);
void owner_notes_done(struct owner_notes *o);
/* Of the pod's controller, if it has one; nothing if that was told of the same reason already. */
void owner_note(struct owner_notes *o, struct events *ev, const json_t *pod, enum work_why why, const char *text);

#endif
