// SPDX-License-Identifier: Apache-2.0
/* owner_notes.h - an Event on the job whose pods wait or are evicted, because that is where people look first */
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
/* Its pod is evicted, and what is made of it anew shall know when and why ("by job/urgent, which has a higher
 * priority").  True: `done` will be called. */
bool owner_preempted(struct client *c, struct events *ev, const json_t *pod, const char *words, client_done *done,
		     void *arg);
/* What is noted there, for a person: "; preempted at 14:20 by job/urgent, which has a higher priority". */
void say_preempted(const char *note, int64_t now_ms, struct sbuf *out);

#endif
