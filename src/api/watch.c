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
 *
 * Clients in this process keep what they are told, so all of them get the same object, and of that the parts that are
 * also in the object before it (base/json_alike.h).
 */
#include "api/watch.h"

#include "api/object.h"
#include "api/verbs.h"
#include "api/watch_parts.h"
#include "base/clock.h"
#include "base/jsonx.h"
#include "base/limits.h"
#include "base/mem.h"
#include "loop/http.h"

#define TURN_MS            (STALL_BUDGET_MS / 5) /* of steps */
#define STUCK_MS           20000                 /* a watcher that takes nothing for this long is cut off */
#define TICK_MS            10000 /* stuck readers, and bookmarks every sixth; armed only while there are watchers */
#define TICKS_PER_BOOKMARK 6

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
	hub->outside -= !w->sink.object;
	if (--hub->count == 0)
		loop_timer_clear(&hub->tick);
}

static void release(struct watcher *w)
{
	if (w->leads)
		watch_hand_over(w);
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

void watch_send(struct watcher *w, const struct sbuf *line)
{
	if (line->over || !line->n)
		return;
	w->sink.write(w->sink.arg, sbuf_str(line), NULL);
}

static json_t *make_object(struct watcher *w, const struct watch_event *ev, bool deleted)
{
	json_t *obj = watch_object(&w->shape, ev);
	json_t *alike;

	if (deleted)
		return obj;
	alike = json_alike_next(&w->hub->alike, (unsigned)w->kind, obj);
	json_decref(obj);
	return alike;
}

void watch_send_object(struct watcher *w, const struct watch_event *ev, struct shared_object *shared)
{
	bool deleted = streq(ev->type, "DELETED");

	if (w->stopped)
		return;
	if (shared->kind != w->shape.kind || shared->deleted != deleted) {
		json_decref(shared->obj);
		*shared = (struct shared_object){ w->shape.kind, deleted, make_object(w, ev, deleted) };
	}
	w->sink.object(w->sink.arg, ev->type, shared->obj);
}

void watch_send_bookmark(struct watcher *w, int64_t rv, bool list_end)
{
	auto_sbuf struct sbuf line = SBUF(LIMIT_BODY);

	if (w->sink.object) {
		json_auto_t *mark = watch_bookmark(&w->shape, rv, list_end);

		if (!w->stopped)
			w->sink.object(w->sink.arg, "BOOKMARK", mark);
		return;
	}
	watch_line_bookmark(&w->shape, rv, list_end, &line);
	watch_send(w, &line);
}

void watch_end_expired(struct watcher *w)
{
	auto_sbuf struct sbuf line = SBUF(LIMIT_BODY);
	struct err e = ERR_INIT;

	err_set(&e, ERR_EXPIRED, "too old resource version: %lld (%lld)", (long long)w->since,
		(long long)store_oldest(api_store(w->hub->api)));
	watch_line_error(&e, &line);
	watch_send(w, &line);
	end(w, false);
}

/* ---- steps ---- */

void watch_make_runnable(struct watcher *w)
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

/* Before the first step, when nothing is uncommitted. */
static void find_place(struct watcher *w)
{
	struct err e = ERR_INIT;

	if (w->placed)
		return;
	watch_gather(w);
	w->placed = true;
	if (w->state == LISTING && list_walk_init(w->hub->api, &w->req, &w->walk, &e) < 0)
		watch_end_expired(w);
	else if (w->from_now)
		w->since = store_revision(api_store(w->hub->api));
}

static void step(struct watcher *w)
{
	if (w->stopped || w->leader || w->sink.pending(w->sink.arg) >= LIMIT_WATCH_QUEUE)
		return; /* by a reader before it; its leader makes the step; or watch_drained() comes back */
	find_place(w);
	if (w->stopped)
		return;
	if (w->state == LISTING)
		watch_step_listing(w);
	else if (w->state == BEHIND)
		watch_step_behind(w);
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
	int64_t until = clock_cpu_ns() + TURN_MS * 1000000LL;
	size_t n = 0;

	for (const struct watcher *w = hub->runnable; w; w = w->run_next)
		n++;
	hub->telling++;
	while (n-- > 0 && !store_dirty(api_store(hub->api)) && clock_cpu_ns() <= until)
		step(next_runnable(hub));
	tell_end(hub);
	if (hub->runnable)
		loop_schedule(api_loop(hub->api), &hub->work);
}

void watch_drained(struct watcher *w)
{
	w->progress_ms = clock_mono_ms();
	if (w->state != LIVE)
		watch_make_runnable(w);
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

/* What may wait in the queue of one that keeps up. */
static size_t queue_most(const struct watch_hub *hub)
{
	size_t each = LIMIT_WATCH_QUEUES / hub->outside;

	if (each > LIMIT_WATCH_QUEUE_FEW)
		return LIMIT_WATCH_QUEUE_FEW;
	return each < LIMIT_WATCH_QUEUE ? LIMIT_WATCH_QUEUE : each;
}

static void deliver(struct watcher *w, const struct change *ch, struct line_cache *cache)
{
	struct watch_event ev = { .rv = ch->rv };
	size_t i;

	ev.type = watch_event_type(w, ch->obj, ch->old);
	if (!ev.type)
		return;
	ev.obj = streq(ev.type, "DELETED") ? ch->old : ch->obj;
	if (ev.obj == ch->obj)
		ev.body = ch->body;
	if (ch->lean)
		ev.managers = ch->body;
	if (w->sink.object) {
		watch_send_object(w, &ev, &cache->object);
		return;
	}
	i = cached_line(cache, w, &ev);
	w->columns_sent = true;
	w->sink.write(w->sink.arg, sbuf_str(&cache->rows[i].text), &cache->rows[i].shared);
	if (w->sink.pending(w->sink.arg) >= queue_most(w->hub)) {
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
			if (w->state == LIVE && !w->stopped && watch_in_scope(w, ch->ns))
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
				watch_send_bookmark(w, rv, false);
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
		watch_send_bookmark(w, store_revision(api_store(w->hub->api)), false);
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
	hub->outside += !w->sink.object;
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
	watch_make_runnable(w);
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
		watch_make_runnable(w);
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
	json_alike_done(&hub->alike);
	free(hub->by_kind);
	free(hub);
}

size_t watch_count(const struct watch_hub *hub)
{
	return hub->count;
}
