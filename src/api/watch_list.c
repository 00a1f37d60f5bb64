// SPDX-License-Identifier: Apache-2.0
/* watch_list.c - LISTING: what a watcher is told of the objects there are
 *
 * Clients in this process keep what they are told, and at the start of a server a dozen of them ask for the same.  So
 * those of one kind that begin in the same turn go together: the first leads, its walk is everybody's, each object is
 * decoded once and is one and the same for all.
 */
#include "api/verbs.h"
#include "api/watch_parts.h"
#include "base/limits.h"
#include "base/mem.h"

#define STEP_OBJECTS 256 /* looked at in one step, */
#define STEP_DECODED 64  /* and for clients in this process, who do something about each */

/* ---- going together ---- */

/* A list of everything, for a client in this process, that has not begun.  One of a namespace or of a single object is
 * found without looking at the others. */
static bool may_go_together(const struct watcher *w)
{
	return w->sink.object && w->state == LISTING && !w->placed && !w->stopped && !w->ns &&
	       !selector_field_equals(w->req.field_sel, "metadata.name");
}

void watch_gather(struct watcher *w)
{
	if (!may_go_together(w))
		return;
	for (struct watcher *f = w->hub->by_kind[w->kind]; f; f = f->next) {
		if (f == w || !may_go_together(f))
			continue;
		f->placed = true;
		f->leader = w;
		w->leads = true;
	}
}

/* Those that followed it follow the first of them. */
void watch_hand_over(struct watcher *w)
{
	struct watcher *next = NULL;

	for (struct watcher *f = w->hub->by_kind[w->kind]; f; f = f->next) {
		if (f->leader != w)
			continue;
		f->leader = next;
		if (next) {
			next->leads = true;
			continue;
		}
		next = f;
		next->walk = w->walk;
		w->walk = (struct list_walk){ 0 };
		watch_make_runnable(next);
	}
}

/* ---- a step ---- */

struct listing {
	struct watcher *w;
	struct sbuf lines;
	json_t *objects; /* told after the step: a reader in this process may call the store, a list's reader may not */
};

static bool add_listed(void *arg, const struct api_item *item)
{
	struct listing *l = arg;
	struct watcher *w = l->w;
	struct watch_event ev = { "ADDED", item->object, item->text, w->walk.at };

	if (w->sink.object) {
		json_array_append(l->objects, item->object);
		return true;
	}
	watch_line(&w->shape, &ev, !w->columns_sent, &l->lines);
	w->columns_sent = true;
	return l->lines.n < STEP_BYTES;
}

static void end_list(struct watcher *w, int64_t at)
{
	w->state = BEHIND;
	w->since = at;
	w->leader = NULL;
	w->leads = false;
	list_walk_done(&w->walk);
	if (w->mark_list_end)
		watch_send_bookmark(w, at, true);
	watch_make_runnable(w);
}

/* Tells all that go together; selectors are the followers' own. */
static void tell_listed(struct watcher *w, json_t *obj)
{
	struct watch_event ev = { "ADDED", obj, { "", 0 }, w->walk.at };
	struct shared_object shared = { 0 };

	for (struct watcher *f = w->hub->by_kind[w->kind]; f; f = f->next)
		if ((f == w || f->leader == w) && (!w->leads || list_matches(&f->req, obj)))
			watch_send_object(f, &ev, &shared);
	json_decref(shared.obj);
}

void watch_step_listing(struct watcher *w)
{
	json_auto_t *objects = json_array();
	struct listing l = { .w = w, .lines = SBUF(LIMIT_REPLY_QUEUE), .objects = objects };
	struct api_request stored = w->req;
	struct err e = ERR_INIT;
	json_t *obj;
	size_t i;
	int r;

	stored.kind = kind_storage(w->req.kind); /* watch_line converts */
	if (w->leads)
		stored.labels = stored.field_sel = NULL;
	r = list_walk_step(w->hub->api, &stored, &w->walk,
			   w->sink.object || w->shape.form != WATCH_JSON || w->shape.kind->from_storage,
			   w->sink.object ? STEP_DECODED : STEP_OBJECTS, add_listed, &l, &e);
	watch_send(w, &l.lines);
	sbuf_done(&l.lines);
	json_array_foreach (objects, i, obj)
		tell_listed(w, obj);
	if (r < 0) {
		w->since = w->walk.at;
		if (!w->stopped)
			watch_end_expired(w);
		return;
	}
	if (!w->walk.done) {
		watch_make_runnable(w);
		return;
	}
	for (struct watcher *f = w->hub->by_kind[w->kind]; f; f = f->next)
		if (f->leader == w)
			end_list(f, w->walk.at);
	end_list(w, w->walk.at);
}
