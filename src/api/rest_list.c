// SPDX-License-Identifier: Apache-2.0
/* rest_list.c - lists on the wire, in pieces
 *
 * A short list is one reply.  A long one is streamed: each piece is made when the client has taken the one before, all
 * at the same revision, so that fifty thousand objects cost a few hundred kilobytes and never hold the loop.  The
 * list's metadata (continue, resourceVersion) stands behind its items for that reason.
 */
#include "api/exchange.h"
#include "api/list.h"
#include "api/object.h"
#include "api/wire.h"
#include "base/clock.h"
#include "base/jsonx.h"
#include "base/limits.h"
#include "base/mem.h"
#include "base/yamlx.h"

#define PIECE_BYTES   (256 * 1024)
#define PIECE_OBJECTS 512 /* decoded objects a step may look at: well within STALL_BUDGET_MS */

struct list_stream {
	struct exchange *x;
	struct list_walk walk;
	struct sbuf out;
	bool streaming;
	bool any;
	bool want_objects;
	enum include_object include;
	struct loop_hook more;
	struct store_after after;
	bool waiting;
};

void list_stream_free(struct list_stream *l)
{
	loop_unschedule(api_loop(l->x->rest->api), &l->more);
	if (l->waiting)
		store_after_cancel(&l->after);
	list_walk_done(&l->walk);
	sbuf_done(&l->out);
	free(l);
}

static void add_head(struct list_stream *l)
{
	const struct kind *k = l->x->req.kind;
	struct accept a = l->x->accept;

	if (a.form == REPLY_TABLE) {
		json_auto_t *columns = table_columns(k);

		sbuf_addf(&l->out, "{\"kind\":\"Table\",\"apiVersion\":\"meta.k8s.io/%s\",\"columnDefinitions\":",
			  a.meta_version);
		jsonx_dump(columns, &l->out);
		sbuf_adds(&l->out, ",\"rows\":[");
	} else if (a.form == REPLY_PARTIAL_LIST || a.form == REPLY_PARTIAL) {
		sbuf_addf(&l->out,
			  "{\"kind\":\"PartialObjectMetadataList\",\"apiVersion\":\"meta.k8s.io/%s\",\"items\":[",
			  a.meta_version);
	} else {
		sbuf_addf(&l->out, "{\"kind\":\"%sList\",\"apiVersion\":\"%s%s%s\",\"items\":[", k->kind, k->group,
			  *k->group ? "/" : "", k->version);
	}
}

static void add_tail(struct list_stream *l)
{
	struct exchange *x = l->x;
	int64_t remaining;
	auto_free char *token = list_walk_token(x->rest->api, &x->req, &l->walk, &remaining);

	sbuf_addf(&l->out, "],\"metadata\":{\"resourceVersion\":\"%lld\"", (long long)l->walk.at);
	if (token)
		sbuf_addf(&l->out, ",\"continue\":\"%s\"", token);
	if (token && remaining > 0)
		sbuf_addf(&l->out, ",\"remainingItemCount\":%lld", (long long)remaining);
	sbuf_adds(&l->out, "}}\n");
}

static bool add_item(void *arg, const struct api_item *item)
{
	struct list_stream *l = arg;
	const struct kind *k = item->kind;
	json_auto_t *doc = NULL;

	if (l->any)
		sbuf_addc(&l->out, ',');
	l->any = true;
	switch (l->x->accept.form) {
	case REPLY_TABLE:
		doc = table_row(k, item->object, l->include, l->x->accept.meta_version, clock_wall());
		jsonx_dump(doc, &l->out);
		break;
	case REPLY_PARTIAL:
	case REPLY_PARTIAL_LIST:
		doc = table_partial(item->object, l->x->accept.meta_version);
		jsonx_dump(doc, &l->out);
		break;
	default:
		if (k->flags & KIND_CUSTOM) {
			object_type_prefix(k, &l->out);
			sbuf_add(&l->out, item->text.p + 1, item->text.n - 1);
		} else {
			sbuf_add(&l->out, item->text.p, item->text.n);
		}
	}
	return l->out.n < PIECE_BYTES;
}

static void fail(struct list_stream *l)
{
	struct exchange *x = l->x;
	struct http_request *http = x->http;

	if (!l->streaming) {
		x->list = NULL;
		list_stream_free(l);
		exchange_finish(x);
		return;
	}
	http_on_close(http, NULL, NULL);
	http_stream_abort(http); /* half a list may not look like a whole one */
	exchange_free(x);
}

/* YAML and indented JSON need the whole document. */
static void reply_whole(struct list_stream *l)
{
	struct exchange *x = l->x;
	struct err e = ERR_INIT;
	json_t *doc = NULL;

	if (l->out.over || jsonx_parse(l->out.p, l->out.n, NULL, NULL, &doc, &e) < 0) {
		err_set(&x->err, ERR_TOO_LARGE,
			"the list is too long for this form; ask for application/json or use limit=");
		fail(l);
		return;
	}
	exchange_reply_json(x, 200, doc);
}

static void finish(struct list_stream *l)
{
	struct exchange *x = l->x;
	struct http_request *http = x->http;

	add_tail(l);
	if (x->accept.form == REPLY_YAML || x->pretty) {
		reply_whole(l);
		return;
	}
	exchange_count(x, 200);
	http_on_close(http, NULL, NULL);
	if (!l->streaming) {
		http_reply(http, 200, "application/json", l->out.p, l->out.n);
	} else {
		http_stream_write(http, l->out.p, l->out.n);
		http_stream_end(http);
	}
	exchange_free(x);
}

static void on_drained(void *arg)
{
	struct list_stream *l = arg;

	loop_schedule(api_loop(l->x->rest->api), &l->more);
}

static void flush_piece(struct list_stream *l)
{
	struct http_request *http = l->x->http;

	if (l->x->accept.form == REPLY_YAML || l->x->pretty || l->out.n < PIECE_BYTES) {
		loop_schedule(api_loop(l->x->rest->api), &l->more); /* nothing to send yet: go on next turn */
		return;
	}
	if (!l->streaming) {
		l->streaming = true;
		http_stream_start(http, 200, "application/json");
		http_stream_on_drained(http, on_drained, l);
	}
	http_stream_write(http, l->out.p, l->out.n);
	sbuf_reset(&l->out);
	if (!http_stream_pending(http)) /* HEAD: nothing is sent, so nothing will drain */
		on_drained(l);
}

static void step(void *arg)
{
	struct list_stream *l = arg;
	struct exchange *x = l->x;

	if (list_walk_step(x->rest->api, &x->req, &l->walk, l->want_objects, PIECE_OBJECTS, add_item, l, &x->err) < 0)
		fail(l);
	else if (l->walk.done)
		finish(l);
	else
		flush_piece(l);
}

/* A list made in a turn that has written waits for the commit: it may not show what could still be undone. */
static void on_committed(void *arg, const struct err *e)
{
	struct list_stream *l = arg;

	l->waiting = false;
	if (e->kind != ERR_NONE) {
		l->x->err = *e;
		fail(l);
		return;
	}
	if (list_walk_init(l->x->rest->api, &l->x->req, &l->walk, &l->x->err) < 0) {
		fail(l);
		return;
	}
	add_head(l);
	step(l);
}

void rest_list(struct exchange *x)
{
	struct list_stream *l = xcalloc(1, sizeof(*l));
	struct store *store = api_store(x->rest->api);

	l->x = x;
	x->list = l;
	l->out = SBUF(LIMIT_REPLY_QUEUE);
	l->more = (struct loop_hook){ .run = step, .arg = l, .phase = LOOP_WORK };
	l->include = negotiate_include(exchange_param(x, "includeObject"));
	l->want_objects = x->accept.form != REPLY_JSON && x->accept.form != REPLY_YAML;
	if (x->req.name) { /* the old watch path names an object, a list does not */
		err_set(&x->err, ERR_NO_METHOD, "%s", "");
		fail(l);
		return;
	}
	if (store_dirty(store)) {
		l->after = (struct store_after){ .fn = on_committed, .arg = l };
		l->waiting = true;
		store_after(store, &l->after);
		return;
	}
	on_committed(l, &(struct err){ .kind = ERR_NONE });
}
