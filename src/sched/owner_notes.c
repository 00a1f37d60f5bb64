// SPDX-License-Identifier: Apache-2.0
/* owner_notes.c - see owner_notes.h */
#include "sched/owner_notes.h"

#include "base/jsonx.h"
#include "base/mem.h"
#include "sched/pod_work.h"

#define OWNERS_MOST 4096 /* more than wait at a time, as a rule; then all are forgotten */

void owner_notes_init(struct owner_notes *o)
{
	map_init(&o->said, NULL);
}

void owner_notes_done(struct owner_notes *o)
{
	map_done(&o->said);
}

void owner_note(struct owner_notes *o, struct events *ev, const json_t *pod, enum work_why why, const char *text)
{
	const json_t *owner = pod_controller(pod);
	const char *uid = jsonx_str(owner, "uid");
	json_auto_t *about = NULL;

	/* The reason and not its words: those of one job's pods differ. */
	if (!uid || map_find(&o->said, uid) == (void *)(why + 1L))
		return;
	if (o->said.n >= OWNERS_MOST) {
		map_done(&o->said);
		map_init(&o->said, NULL);
	}
	map_set(&o->said, uid, (void *)(why + 1L));
	about = json_pack("{s:O, s:O, s:{s:O, s:O, s:O}}", "apiVersion", json_object_get(owner, "apiVersion"), "kind",
			  json_object_get(owner, "kind"), "metadata", "namespace", jsonx_at(pod, "metadata.namespace"),
			  "name", json_object_get(owner, "name"), "uid", json_object_get(owner, "uid"));
	if (about)
		events_note(ev, about, "Normal", "Waiting", "Waiting: %s", text);
}
