// SPDX-License-Identifier: Apache-2.0
/* watch_behind.c - BEHIND: what a watcher is told from the store's history
 *
 * Clients in this process that stand at the same place, as those do that were listed together, go on together: a
 * revision is read and decoded once, and what they keep of it is one object.
 */
#include "api/object.h"
#include "api/verbs.h"
#include "api/watch_parts.h"
#include "base/limits.h"
#include "base/mem.h"

#define STEP_REVISIONS 128 /* read in one step */

bool watch_in_scope(const struct watcher *w, const char *ns)
{
	return !w->ns || streq(w->ns, ns);
}

/* Objects enter and leave a selection. */
const char *watch_event_type(const struct watcher *w, const json_t *obj, const json_t *old)
{
	bool now = obj && list_matches(&w->req, obj);
	bool before = old && list_matches(&w->req, old);

	if (now)
		return before ? "MODIFIED" : "ADDED";
	return before ? "DELETED" : NULL;
}

struct revision {
	int64_t rv, prev;
	enum store_op op;
	char *ns, *body;
	size_t n;
};

struct reading {
	struct watcher **members;
	size_t nmembers, cap;
	struct revision rows[STEP_REVISIONS];
	size_t n;
	size_t bytes;
};

static bool is_beside(const struct watcher *f, const struct watcher *w)
{
	return f->sink.object && w->sink.object && f->state == BEHIND && f->placed && f->since == w->since &&
	       !f->stopped;
}

static void find_members(struct reading *rd, struct watcher *w)
{
	ARRAY_PUSH(rd->members, rd->nmembers, rd->cap, w);
	for (struct watcher *f = w->hub->by_kind[w->kind]; f; f = f->next)
		if (f != w && is_beside(f, w))
			ARRAY_PUSH(rd->members, rd->nmembers, rd->cap, f);
}

static bool is_wanted(const struct reading *rd, const char *ns)
{
	for (size_t i = 0; i < rd->nmembers; i++)
		if (watch_in_scope(rd->members[i], ns))
			return true;
	return false;
}

static bool add_revision(void *arg, const struct record *r)
{
	struct reading *rd = arg;
	struct revision *row = &rd->rows[rd->n++];

	*row = (struct revision){ .rv = r->rv, .prev = r->prev, .op = r->op };
	if (is_wanted(rd, r->ns)) {
		row->ns = xstrdup(r->ns);
		row->body = xstrndup(r->body.p, r->body.n);
		row->n = r->body.n;
		rd->bytes += r->body.n;
	}
	return rd->n < STEP_REVISIONS && rd->bytes < STEP_BYTES;
}

/* What an update replaced: needed only where selectors may have changed their mind. */
static json_t *load_previous(struct watcher *w, const struct revision *row)
{
	struct err e = ERR_INIT;
	struct record r;
	json_t *obj = NULL;

	if (!row->prev || store_at(api_store(w->hub->api), row->prev, &r, &e) < 0)
		return NULL;
	object_parse(r.body, &obj, &e);
	return obj;
}

static void send_line(struct watcher *w, const struct watch_event *ev)
{
	auto_sbuf struct sbuf line = SBUF(LIMIT_REPLY_QUEUE);

	watch_line(&w->shape, ev, !w->columns_sent, &line);
	w->columns_sent = true;
	watch_send(w, &line);
}

static void send_revision(const struct reading *rd, const struct revision *row)
{
	bool deleted = row->op == STORE_DELETED;
	struct shared_object shared = { 0 };
	struct err e = ERR_INIT;
	json_auto_t *state = NULL;
	json_auto_t *old = NULL;

	if (object_parse((struct str){ row->body, row->n }, &state, &e) < 0)
		return;
	if (row->op == STORE_UPDATED)
		old = load_previous(rd->members[0], row);
	for (size_t i = 0; i < rd->nmembers; i++) {
		struct watcher *w = rd->members[i];
		struct watch_event ev = { .rv = row->rv };

		if (watch_in_scope(w, row->ns))
			ev.type = watch_event_type(w, deleted ? NULL : state, deleted ? state : old);
		if (!ev.type)
			continue;
		ev.obj = streq(ev.type, "DELETED") && old ? old : state;
		if (ev.obj == state)
			ev.body = (struct str){ row->body, row->n };
		if (w->sink.object)
			watch_send_object(w, &ev, &shared);
		else
			send_line(w, &ev);
	}
	json_decref(shared.obj);
}

void watch_step_behind(struct watcher *w)
{
	struct reading rd = { 0 };
	struct err e = ERR_INIT;
	bool whole;

	find_members(&rd, w);
	if (store_history(api_store(w->hub->api), w->kind, w->since, add_revision, &rd, &e) < 0) {
		free(rd.members);
		watch_end_expired(w);
		return;
	}
	for (size_t i = 0; i < rd.n; i++) {
		if (rd.rows[i].body)
			send_revision(&rd, &rd.rows[i]);
		free(rd.rows[i].body);
		free(rd.rows[i].ns);
	}
	whole = rd.n < STEP_REVISIONS && rd.bytes < STEP_BYTES;
	for (size_t i = 0; i < rd.nmembers; i++) {
		if (rd.n)
			rd.members[i]->since = rd.rows[rd.n - 1].rv;
		if (whole)
			rd.members[i]->state = LIVE;
		else
			watch_make_runnable(rd.members[i]);
	}
	free(rd.members);
}
