// SPDX-License-Identifier: Apache-2.0
/* watch.c - watchers and what feeds them
 *
 *	LISTING --all objects sent--> BEHIND --history used up--> LIVE
 *	                                ^                          |
 *	                                +---- reader too slow -----+
 *
 * Committed changes come from the store in order and go to LIVE watchers at once; the line is made once for all
 * watchers of the same shape.  LISTING and BEHIND advance in bounded steps from the loop's work phase, each in its turn
 * and as many as a turn may hold the loop for, and only while the reader keeps up, so that a slow one costs its place
 * and no memory.  Everything a watcher is sent was committed before; so where it starts is decided by its first step,
 * not by the request, which may have come in a turn with writes.
 */
#include "api/watch.h"

#include "api/list.h"
#include "api/object.h"
#include "api/verbs.h"
#include "api/watch_line.h"
#include "base/clock.h"
#include "base/jsonx.h"
#include "base/limits.h"
#include "base/mem.h"
#include "loop/http.h"

#define STEP_OBJECTS       256 /* looked at in one step of LISTING */
#define STEP_REVISIONS     128 /* read in one step of BEHIND */
#define STEP_BYTES         (256 * 1024)
#define TURN_MS            (STALL_BUDGET_MS / 2) /* of steps */
#define STUCK_MS           20000                 /* a watcher that takes nothing for this long is cut off */
#define TICK_MS            10000 /* stuck readers, and bookmarks every sixth; armed only while there are watchers */
#define TICKS_PER_BOOKMARK 6

enum watch_state { LISTING, BEHIND, LIVE };

struct watcher {
	struct watch_hub *hub;
	struct watcher *next, **pprev; /* of the same stored kind */
	struct watcher *run_next;
	bool queued;
	bool stopped; /* while readers are called: released when they are done */
	enum watch_state state;
	bool placed;   /* `walk` or `since` says where it is */
	bool from_now; /* BEHIND, from the revision of the first step */
	bool last;     /* its kind has gone: it ends when it has told everything */
	struct api_request req;
	char *ns;
	int kind;
	struct watch_shape shape;
	bool bookmarks;
	bool mark_list_end;
	bool columns_sent;
	struct list_walk walk;
	int64_t since;       /* BEHIND: last revision dealt with */
	int64_t progress_ms; /* when the reader last took everything */
	struct watch_sink sink;
	struct loop_timer timeout;
};

struct watch_hub {
	struct api *api;
	struct store_subscriber sub;
	struct watcher **by_kind;
	int nkinds;
	size_t count;
	struct watcher *runnable, **run_last;
	unsigned telling; /* readers are being called, who may stop any watch: nobody is unlinked */
	unsigned stopped; /* meanwhile */
	struct loop_hook work;
	struct loop_timer tick;
	unsigned ticks;
};

/* ---- leaving ---- */

static void unlink_watcher(struct watcher *w)
{
	struct watch_hub *hub = w->hub;

	*w->pprev = w->next;
	if (w->next)
		w->next->pprev = w->pprev;
	if (w->queued) {
		struct watcher **p = &hub->runnable;

		while (*p != w)
			p = &(*p)->run_next;
		*p = w->run_next;
		if (!*p)
			hub->run_last = p;
	}
	if (--hub->count == 0)
		loop_timer_clear(&hub->tick);
}

static void release(struct watcher *w)
{
	unlink_watcher(w);
	loop_timer_done(&w->timeout);
	list_walk_done(&w->walk);
	selector_free((struct selector *)w->req.labels);
	selector_free((struct selector *)w->req.field_sel);
	free(w->ns);
	free(w);
}

void watch_stop(struct watcher *w)
{
	if (!w->hub->telling) {
		release(w);
		return;
	}
	w->stopped = true;
	w->hub->stopped++;
	loop_timer_clear(&w->timeout);
}

static void tell_end(struct watch_hub *hub)
{
	if (--hub->telling || !hub->stopped)
		return;
	hub->stopped = 0;
	for (int k = 0; k < hub->nkinds; k++) {
		struct watcher *next;

		for (struct watcher *w = hub->by_kind[k]; w; w = next) {
			next = w->next;
			if (w->stopped)
				release(w);
		}
	}
}

static void end(struct watcher *w, bool cut)
{
	struct watch_sink sink = w->sink;

	watch_stop(w);
	sink.end(sink.arg, cut);
}

static void send(struct watcher *w, const struct sbuf *line)
{
	if (line->over || !line->n)
		return;
	w->sink.write(w->sink.arg, sbuf_str(line), NULL);
}

/* The object of one change, shared by all that keep it. */
struct shared_object {
	const struct kind *kind;
	bool deleted;
	json_t *obj;
};

static void send_object(struct watcher *w, const struct watch_event *ev, struct shared_object *shared)
{
	bool deleted = streq(ev->type, "DELETED");

	if (w->stopped)
		return;
	if (shared->kind != w->shape.kind || shared->deleted != deleted) {
		json_decref(shared->obj);
		*shared = (struct shared_object){ w->shape.kind, deleted, watch_object(&w->shape, ev) };
	}
	w->sink.object(w->sink.arg, ev->type, shared->obj);
}

static void send_own_object(struct watcher *w, const struct watch_event *ev)
{
	struct shared_object own = { 0 };

	send_object(w, ev, &own);
	json_decref(own.obj);
}

static void send_bookmark(struct watcher *w, int64_t rv, bool list_end)
{
	auto_sbuf struct sbuf line = SBUF(LIMIT_BODY);

	if (w->sink.object)
		return;
	watch_line_bookmark(&w->shape, rv, list_end, &line);
	send(w, &line);
}

static void end_expired(struct watcher *w)
{
	auto_sbuf struct sbuf line = SBUF(LIMIT_BODY);
	struct err e = ERR_INIT;

	err_set(&e, ERR_EXPIRED, "too old resource version: %lld (%lld)", (long long)w->since,
		(long long)store_oldest(api_store(w->hub->api)));
	watch_line_error(&e, &line);
	send(w, &line);
	end(w, false);
}

/* ---- steps ---- */

static void make_runnable(struct watcher *w)
{
	struct watch_hub *hub = w->hub;

	if (w->queued || w->stopped)
		return;
	w->queued = true;
	w->run_next = NULL;
	*hub->run_last = w;
	hub->run_last = &w->run_next;
	loop_schedule(api_loop(hub->api), &hub->work);
}

static bool in_scope(const struct watcher *w, const char *ns)
{
	return !w->ns || streq(w->ns, ns);
}

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

static void step_listing(struct watcher *w)
{
	json_auto_t *objects = json_array();
	struct listing l = { .w = w, .lines = SBUF(LIMIT_REPLY_QUEUE), .objects = objects };
	struct api_request stored = w->req;
	struct err e = ERR_INIT;
	json_t *obj;
	size_t i;
	int r;

	stored.kind = kind_storage(w->req.kind); /* watch_line converts */
	r = list_walk_step(w->hub->api, &stored, &w->walk,
			   w->sink.object || w->shape.form != WATCH_JSON || w->shape.kind->from_storage, STEP_OBJECTS,
			   add_listed, &l, &e);
	send(w, &l.lines);
	sbuf_done(&l.lines);
	json_array_foreach (objects, i, obj)
		send_own_object(w, &(struct watch_event){ "ADDED", obj, { "", 0 }, w->walk.at });
	if (w->stopped)
		return;
	if (r < 0) {
		w->since = w->walk.at;
		end_expired(w);
		return;
	}
	if (w->walk.done) {
		w->state = BEHIND;
		w->since = w->walk.at;
		if (w->mark_list_end)
			send_bookmark(w, w->walk.at, true);
	}
	make_runnable(w);
}

/* Type of event a change is for this watcher, or NULL: objects enter and leave a selection. */
static const char *event_type(const struct watcher *w, const json_t *obj, const json_t *old)
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
	char *body;
	size_t n;
	bool mine;
};

struct reading {
	struct watcher *w;
	struct revision rows[STEP_REVISIONS];
	size_t n;
	size_t bytes;
};

static bool add_revision(void *arg, const struct record *r)
{
	struct reading *rd = arg;
	struct revision *row = &rd->rows[rd->n++];

	*row = (struct revision){ .rv = r->rv, .prev = r->prev, .op = r->op, .mine = in_scope(rd->w, r->ns) };
	if (row->mine) {
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

static void send_revision(struct watcher *w, const struct revision *row)
{
	auto_sbuf struct sbuf line = SBUF(LIMIT_REPLY_QUEUE);
	struct err e = ERR_INIT;
	json_auto_t *state = NULL;
	json_auto_t *old = NULL;
	struct watch_event ev = { .rv = row->rv };

	if (object_parse((struct str){ row->body, row->n }, &state, &e) < 0)
		return;
	if (row->op == STORE_UPDATED)
		old = load_previous(w, row);
	ev.type = event_type(w, row->op == STORE_DELETED ? NULL : state, row->op == STORE_DELETED ? state : old);
	if (!ev.type)
		return;
	ev.obj = streq(ev.type, "DELETED") && old ? old : state;
	if (ev.obj == state)
		ev.body = (struct str){ row->body, row->n };
	if (w->sink.object) {
		send_own_object(w, &ev);
		return;
	}
	watch_line(&w->shape, &ev, !w->columns_sent, &line);
	w->columns_sent = true;
	send(w, &line);
}

static void step_behind(struct watcher *w)
{
	struct store *store = api_store(w->hub->api);
	struct reading rd = { .w = w };
	struct err e = ERR_INIT;

	if (store_history(store, w->kind, w->since, add_revision, &rd, &e) < 0) {
		end_expired(w);
		return;
	}
	for (size_t i = 0; i < rd.n; i++) {
		if (rd.rows[i].mine)
			send_revision(w, &rd.rows[i]);
		w->since = rd.rows[i].rv;
		free(rd.rows[i].body);
	}
	if (rd.n < STEP_REVISIONS && rd.bytes < STEP_BYTES)
		w->state = LIVE;
	else
		make_runnable(w);
}

/* Before the first step, when nothing is uncommitted. */
static void find_place(struct watcher *w)
{
	struct err e = ERR_INIT;

	if (w->placed)
		return;
	w->placed = true;
	if (w->state == LISTING && list_walk_init(w->hub->api, &w->req, &w->walk, &e) < 0)
		end_expired(w);
	else if (w->from_now)
		w->since = store_revision(api_store(w->hub->api));
}

static void step(struct watcher *w)
{
	if (w->stopped || w->sink.pending(w->sink.arg) >= LIMIT_WATCH_QUEUE)
		return; /* by a reader before it; or watch_drained() comes back */
	find_place(w);
	if (w->stopped)
		return;
	if (w->state == LISTING)
		step_listing(w);
	else if (w->state == BEHIND)
		step_behind(w);
	if (w->last && w->state == LIVE && !w->stopped)
		end(w, false);
}

static struct watcher *next_runnable(struct watch_hub *hub)
{
	struct watcher *w = hub->runnable;

	hub->runnable = w->run_next;
	if (!hub->runnable)
		hub->run_last = &hub->runnable;
	w->queued = false;
	return w;
}

/* Runs in the work phase: the turn's writes are committed, so history is complete up to here, until a reader writes.
 * Who has had a step goes to the end of the queue, behind those that have not. */
static void on_work(void *arg)
{
	struct watch_hub *hub = arg;
	int64_t until = clock_mono_ms() + TURN_MS;
	size_t n = 0;

	for (const struct watcher *w = hub->runnable; w; w = w->run_next)
		n++;
	hub->telling++;
	while (n-- > 0 && !store_dirty(api_store(hub->api)) && clock_mono_ms() <= until)
		step(next_runnable(hub));
	tell_end(hub);
	if (hub->runnable)
		loop_schedule(api_loop(hub->api), &hub->work);
}

void watch_drained(struct watcher *w)
{
	w->progress_ms = clock_mono_ms();
	if (w->state != LIVE)
		make_runnable(w);
}

/* ---- live ---- */

#define LINES_MAX 8

/* Lines already made for this change; watchers of one shape share them. */
struct line_cache {
	struct {
		struct watch_shape shape;
		const char *type;
		bool first;
		struct sbuf text;
		struct http_shared *shared;
	} rows[LINES_MAX];
	size_t n;
	struct shared_object object;
};

static void clear_line(struct line_cache *c, size_t i)
{
	sbuf_done(&c->rows[i].text);
	if (c->rows[i].shared)
		http_shared_unref(c->rows[i].shared);
}

/* Row of the line for this watcher, made if it is the first of its shape. */
static size_t cached_line(struct line_cache *c, struct watcher *w, const struct watch_event *ev)
{
	const struct watch_shape *s = &w->shape;
	bool first = s->form == WATCH_TABLE && !w->columns_sent;

	for (size_t i = 0; i < c->n; i++)
		if (c->rows[i].shape.kind == s->kind && c->rows[i].shape.form == s->form &&
		    c->rows[i].shape.include == s->include && c->rows[i].first == first &&
		    streq(c->rows[i].shape.meta_version, s->meta_version) && streq(c->rows[i].type, ev->type))
			return i;
	if (c->n == LINES_MAX)
		clear_line(c, --c->n);
	c->rows[c->n].shape = *s;
	c->rows[c->n].type = ev->type;
	c->rows[c->n].first = first;
	c->rows[c->n].text = SBUF(LIMIT_REPLY_QUEUE);
	c->rows[c->n].shared = NULL;
	watch_line(s, ev, first, &c->rows[c->n].text);
	return c->n++;
}

static void deliver(struct watcher *w, const struct change *ch, struct line_cache *cache)
{
	struct watch_event ev = { .rv = ch->rv };
	size_t i;

	ev.type = event_type(w, ch->obj, ch->old);
	if (!ev.type)
		return;
	ev.obj = streq(ev.type, "DELETED") ? ch->old : ch->obj;
	if (ev.obj == ch->obj)
		ev.body = ch->body;
	if (ch->lean)
		ev.managers = ch->body;
	if (w->sink.object) {
		send_object(w, &ev, &cache->object);
		return;
	}
	i = cached_line(cache, w, &ev);
	w->columns_sent = true;
	w->sink.write(w->sink.arg, sbuf_str(&cache->rows[i].text), &cache->rows[i].shared);
	if (w->sink.pending(w->sink.arg) >= LIMIT_WATCH_QUEUE) {
		w->state = BEHIND;
		w->since = ch->rv;
		w->progress_ms = clock_mono_ms();
	}
}

static void on_changes(void *arg, const struct change *changes, size_t n)
{
	struct watch_hub *hub = arg;

	for (size_t i = 0; i < n; i++) {
		const struct change *ch = &changes[i];
		struct line_cache cache = { .n = 0 };

		if (ch->kind >= hub->nkinds)
			continue;
		hub->telling++;
		for (struct watcher *w = hub->by_kind[ch->kind]; w; w = w->next)
			if (w->state == LIVE && !w->stopped && in_scope(w, ch->ns))
				deliver(w, ch, &cache);
		tell_end(hub);
		for (size_t k = 0; k < cache.n; k++)
			clear_line(&cache, k);
		json_decref(cache.object.obj);
	}
}

/* ---- time ---- */

static void on_tick(void *arg)
{
	struct watch_hub *hub = arg;
	int64_t now = clock_mono_ms();
	int64_t rv = store_revision(api_store(hub->api));

	bool mark = ++hub->ticks % TICKS_PER_BOOKMARK == 0;

	for (int k = 0; k < hub->nkinds; k++) {
		struct watcher *next;

		for (struct watcher *w = hub->by_kind[k]; w; w = next) {
			next = w->next;
			if (w->state == LIVE && w->bookmarks && mark && !store_dirty(api_store(hub->api)))
				send_bookmark(w, rv, false);
			else if (w->state != LIVE && now - w->progress_ms > STUCK_MS &&
				 w->sink.pending(w->sink.arg) >= LIMIT_WATCH_QUEUE)
				end(w, true);
		}
	}
	if (hub->count)
		loop_timer_set(api_loop(hub->api), &hub->tick, TICK_MS);
}

static void on_timeout(void *arg)
{
	struct watcher *w = arg;

	if (w->bookmarks && w->state == LIVE && !store_dirty(api_store(w->hub->api)))
		send_bookmark(w, store_revision(api_store(w->hub->api)), false);
	end(w, false);
}

/* ---- arriving ---- */

static void link_watcher(struct watch_hub *hub, struct watcher *w)
{
	if (w->kind >= hub->nkinds) {
		int n = w->kind + 32;

		hub->by_kind = xreallocarray(hub->by_kind, (size_t)n, sizeof(*hub->by_kind));
		memset(hub->by_kind + hub->nkinds, 0, (size_t)(n - hub->nkinds) * sizeof(*hub->by_kind));
		for (int k = 0; k < hub->nkinds; k++)
			if (hub->by_kind[k])
				hub->by_kind[k]->pprev = &hub->by_kind[k];
		hub->nkinds = n;
	}
	w->next = hub->by_kind[w->kind];
	w->pprev = &hub->by_kind[w->kind];
	if (w->next)
		w->next->pprev = &w->next;
	hub->by_kind[w->kind] = w;
	if (hub->count++ == 0)
		loop_timer_set(api_loop(hub->api), &hub->tick, TICK_MS);
}

/* Where it starts: behind a revision, or with a list. */
static int set_start(struct watcher *w, const struct watch_options *o, struct err *e)
{
	w->state = o->skip_list ? BEHIND : LISTING;
	w->since = o->since;
	w->from_now = o->skip_list && !o->since;
	if (o->skip_list)
		return 0;
	if (o->since > store_revision(api_store(w->hub->api))) {
		struct api_request future = w->req;
		char rv[32];

		snprintf(rv, sizeof(rv), "%lld", (long long)o->since);
		future.rv = rv;
		return list_revision(w->hub->api, &future, &w->since, e);
	}
	w->req.limit = 0;
	w->req.cont = NULL;
	w->req.rv = NULL;
	w->req.rv_match = NULL;
	return 0;
}

int watch_start(struct watch_hub *hub, const struct api_request *req, const struct watch_options *o,
		const struct watch_sink *sink, struct watcher **ret, struct err *e)
{
	struct watcher *w;

	if (!(req->kind->verbs & V(WATCH)))
		return err_set(e, ERR_NO_METHOD, "%s", "");
	if (verb_authorize(hub->api, req, e) < 0)
		return -1;
	w = xcalloc(1, sizeof(*w));
	w->hub = hub;
	w->req = *req;
	w->ns = req->kind->namespaced && *req->ns ? xstrdup(req->ns) : NULL;
	w->req.ns = w->ns ? w->ns : "";
	w->shape = (struct watch_shape){ req->kind, o->form, o->include, o->meta_version };
	w->bookmarks = o->bookmarks;
	w->mark_list_end = o->initial_events;
	w->sink = *sink;
	w->progress_ms = clock_mono_ms();
	w->timeout = (struct loop_timer){ .fire = on_timeout, .arg = w };
	if (api_store_kind(hub->api, req->kind, &w->kind, e) < 0 || set_start(w, o, e) < 0) {
		list_walk_done(&w->walk);
		free(w->ns);
		free(w);
		return -1;
	}
	link_watcher(hub, w);
	loop_timer_set(api_loop(hub->api), &w->timeout, o->timeout_seconds * 1000);
	make_runnable(w);
	*ret = w;
	return 0;
}

struct watch_hub *watch_hub_new(struct api *api)
{
	struct watch_hub *hub = xcalloc(1, sizeof(*hub));

	hub->api = api;
	hub->run_last = &hub->runnable;
	hub->work = (struct loop_hook){ .run = on_work, .arg = hub, .phase = LOOP_WORK };
	hub->tick = (struct loop_timer){ .fire = on_tick, .arg = hub };
	hub->sub = (struct store_subscriber){ .fn = on_changes, .arg = hub };
	store_subscribe(api_store(api), &hub->sub);
	return hub;
}

void watch_hub_drain(struct watch_hub *hub)
{
	for (int k = 0; k < hub->nkinds; k++) {
		struct watcher *next;

		for (struct watcher *w = hub->by_kind[k]; w; w = next) {
			next = w->next;
			if (!w->sink.object)
				end(w, false);
		}
	}
}

void watch_hub_retire(struct watch_hub *hub, int store_kind)
{
	for (struct watcher *w = store_kind < hub->nkinds ? hub->by_kind[store_kind] : NULL; w; w = w->next) {
		if (w->sink.object)
			continue;
		w->last = true;
		make_runnable(w);
	}
}

void watch_hub_free(struct watch_hub *hub)
{
	if (!hub)
		return;
	for (int k = 0; k < hub->nkinds; k++)
		while (hub->by_kind[k])
			end(hub->by_kind[k], false);
	loop_unschedule(api_loop(hub->api), &hub->work);
	loop_timer_done(&hub->tick);
	store_unsubscribe(api_store(hub->api), &hub->sub);
	free(hub->by_kind);
	free(hub);
}

size_t watch_count(const struct watch_hub *hub)
{
	return hub->count;
}
