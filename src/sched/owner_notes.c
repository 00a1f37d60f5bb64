// SPDX-License-Identifier: Apache-2.0
/* owner_notes.c - see owner_notes.h */
#include "sched/owner_notes.h"

#include "base/clock.h"
#include "base/jsonx.h"
#include "base/mem.h"
#include "kinds/work_rules.h"
#include "kinds/workloads.h"
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

/* The pod's controller as far as a pod knows it: a new object, or NULL. */
static json_t *owner_of(const json_t *pod)
{
	const json_t *owner = pod_controller(pod);

	return json_pack("{s:O*, s:O*, s:{s:O*, s:O*, s:O*}}", "apiVersion", json_object_get(owner, "apiVersion"),
			 "kind", json_object_get(owner, "kind"), "metadata", "namespace",
			 jsonx_at(pod, "metadata.namespace"), "name", json_object_get(owner, "name"), "uid",
			 json_object_get(owner, "uid"));
}

void owner_note(struct owner_notes *o, struct events *ev, const json_t *pod, enum work_why why, const char *text)
{
	const char *uid = jsonx_str(pod_controller(pod), "uid");
	json_auto_t *about = NULL;

	/* The reason and not its words: those of one job's pods differ. */
	if (!uid || map_find(&o->said, uid) == (void *)(why + 1L))
		return;
	if (o->said.n >= OWNERS_MOST) {
		map_done(&o->said);
		map_init(&o->said, NULL);
	}
	map_set(&o->said, uid, (void *)(why + 1L));
	about = owner_of(pod);
	if (about)
		events_note(ev, about, "Normal", "Waiting", "Waiting: %s", text);
}

bool owner_preempted(struct client *c, struct events *ev, const json_t *pod, const char *words, client_done *done,
		     void *arg)
{
	json_auto_t *about = owner_of(pod);
	const struct kind *kind = workload_of(about);
	json_auto_t *patch = NULL;
	char now[CLOCK_RFC3339_LEN];
	char version[64];

	if (!kind)
		return false;
	events_note(ev, about, "Normal", "Preempted", "Preempted %s", words);
	clock_rfc3339(clock_wall(), now);
	patch = json_pack("{s:{s:O*, s:{s:o}}}", "metadata", "uid", jsonx_at(about, "metadata.uid"), "annotations",
			  PREEMPTED_ANNOTATION, jsonx_stringf("%s %s", now, words));
	kind_api_version(kind, version, sizeof(version));
	c->ops->patch(c,
		      &(struct ref){ .api_version = version,
				     .plural = kind->plural,
				     .ns = jsonx_str(about, "metadata.namespace"),
				     .name = jsonx_str(about, "metadata.name") },
		      "merge", patch, done, arg);
	return true;
}

void say_preempted(const char *note, int64_t now_ms, struct sbuf *out)
{
	struct str rest = str_of(note);
	struct str when;
	char time[CLOCK_RFC3339_LEN];
	char text[CLOCK_SHORT_LEN];
	int64_t us;

	if (!str_split(&rest, ' ', &when) || when.n >= sizeof(time))
		return;
	snprintf(time, sizeof(time), "%.*s", (int)when.n, when.p);
	if (!clock_parse_rfc3339(time, &us))
		return;
	clock_short(us / 1000000, now_ms / 1000, text);
	sbuf_addf(out, "; preempted at %s %.*s", text, (int)rest.n, rest.p);
}
