// SPDX-License-Identifier: Apache-2.0
/* http.c - struct client over REST: a kubeconfig's server, or the Unix socket of this machine
 *
 * A reply that is a Failure becomes an error with the server's own words.  Watches split the stream into lines; the end
 * of the stream ends the watch with ERR_UNAVAILABLE, and whoever watches (informer.c) starts again.
 */
#include <stdio.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/jsonx.h"
#include "base/limits.h"
#include "base/mem.h"
#include "client/http_parts.h"
#include "client/lean.h"
#include "client/status.h"

/* One document instead of one a group-version, from servers that have it. */
#define AGGREGATED "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"

#define WATCH_SECONDS 300 /* and up to twice that: then the server is asked anew, which may be another by now */

struct http_call {
	struct http_client *client;
	client_done *done; /* one of the two */
	void (*raw)(void *arg, int code, struct str body, const struct err *e);
	void *arg;
	LIST_ENTRY(http_call) link;
};

struct stream {
	struct http_client *client;
	struct fetch *fetch;
	client_event *event;
	void *arg;
	struct sbuf line;
	bool lean;
	bool over;    /* its end has been told */
	bool telling; /* an event is being told, which may stop the watch */
	bool stopped;
};

static void add_path(struct sbuf *out, const struct ref *ref)
{
	sbuf_addf(out, "/%s/%s", strchr(ref->api_version, '/') ? "apis" : "api", ref->api_version);
	if (ref->ns && *ref->ns) {
		sbuf_adds(out, "/namespaces/");
		client_escape(out, ref->ns);
	}
	sbuf_addf(out, "/%s", ref->plural);
	if (ref->name) {
		sbuf_addc(out, '/');
		client_escape(out, ref->name);
	}
	if (ref->subresource)
		sbuf_addf(out, "/%s", ref->subresource);
}

static void add_param(struct sbuf *out, const char *key, const char *value)
{
	if (!value || !*value)
		return;
	sbuf_addf(out, "%c%s=", strchr(out->p, '?') ? '&' : '?', key);
	client_escape(out, value);
}

static void add_list_params(struct sbuf *out, const struct list_options *o)
{
	char limit[24];

	if (!o)
		return;
	add_param(out, "labelSelector", o->labels);
	add_param(out, "fieldSelector", o->fields);
	add_param(out, "resourceVersion", o->rv);
	add_param(out, "continue", o->cont);
	if (o->limit) {
		snprintf(limit, sizeof(limit), "%lld", (long long)o->limit);
		add_param(out, "limit", limit);
	}
}

static void call_end(struct http_call *c, int code, struct str body, const json_t *doc, const struct err *e)
{
	LIST_REMOVE(c, link);
	if (c->raw)
		c->raw(c->arg, code, body, e);
	else
		c->done(c->arg, doc, e);
	free(c);
}

static void note_trouble(struct http_client *h, const struct err *transport)
{
	if (transport->kind == ERR_NONE)
		free(TAKE(h->trouble));
	else if (!h->trouble && !h->closing)
		h->trouble = xstrdup(transport->text);
}

const char *client_trouble(const struct client *c)
{
	return c->ops == &http_ops ? ((const struct http_client *)c)->trouble : NULL;
}

static void on_reply(void *arg, int code, struct str body, const struct err *transport)
{
	struct http_call *c = arg;
	json_auto_t *doc = NULL;
	struct err e = *transport;

	note_trouble(c->client, transport);
	if (!c->raw && e.kind == ERR_NONE && jsonx_parse(body.p, body.n, NULL, NULL, &doc, &e) < 0)
		client_status_plain(code, &e);
	if (!c->raw && e.kind == ERR_NONE)
		client_status_error(doc, code, &e);
	if (c->client->patient && e.kind == ERR_NONE)
		lean(doc);
	call_end(c, code, body, e.kind == ERR_NONE ? doc : NULL, &e);
}

static struct http_call *call_new(struct http_client *h, void *arg)
{
	struct http_call *c = xcalloc(1, sizeof(*c));

	c->client = h;
	c->arg = arg;
	LIST_INSERT_HEAD(&h->calls, c, link);
	if (h->token_file && token_file_changed(h->token_file))
		fetcher_set_token(h->fetcher, token_file_text(h->token_file));
	return c;
}

static void start_text(struct client *base, const char *method, const char *path, const char *type, struct str body,
		       client_done *done, void *arg)
{
	struct http_client *h = (struct http_client *)base;
	struct http_call *c = call_new(h, arg);

	c->done = done;
	fetch_start(h->fetcher, &(struct fetch_request){ .method = method,
							 .path = path,
							 .content_type = body.n ? type : NULL,
							 .accept = "application/json",
							 .body = body,
							 .done = on_reply,
							 .arg = c });
}

static void start(struct client *base, const char *method, const char *path, const char *type, const json_t *body,
		  client_done *done, void *arg)
{
	auto_sbuf struct sbuf text = SBUF(LIMIT_BODY);

	if (body)
		jsonx_dump(body, &text);
	start_text(base, method, path, type, sbuf_str(&text), done, arg);
}

static void http_get(struct client *c, const struct ref *ref, client_done *done, void *arg)
{
	auto_sbuf struct sbuf path = SBUF(LIMIT_URL);

	add_path(&path, ref);
	start(c, "GET", path.p, NULL, NULL, done, arg);
}

static void http_list(struct client *c, const struct ref *ref, const struct list_options *o, client_done *done,
		      void *arg)
{
	auto_sbuf struct sbuf path = SBUF(LIMIT_URL);

	add_path(&path, ref);
	add_list_params(&path, o);
	start(c, "GET", path.p, NULL, NULL, done, arg);
}

void http_post(struct http_client *h, const struct ref *ref, struct str text, client_done *done, void *arg)
{
	auto_sbuf struct sbuf path = SBUF(LIMIT_URL);

	add_path(&path, ref);
	if (ref->dry_run)
		add_param(&path, "dryRun", "All");
	start_text(&h->base, "POST", path.p, "application/json", text, done, arg);
}

static void http_create(struct client *c, const struct ref *ref, const json_t *obj, client_done *done, void *arg)
{
	struct http_client *h = (struct http_client *)c;
	auto_sbuf struct sbuf text = SBUF(LIMIT_BODY);

	if (h->patient && !ref->dry_run && creation_start(h, ref, obj, done, arg))
		return;
	jsonx_dump(obj, &text);
	http_post(h, ref, sbuf_str(&text), done, arg);
}

static void http_update(struct client *c, const struct ref *ref, const json_t *obj, client_done *done, void *arg)
{
	auto_sbuf struct sbuf path = SBUF(LIMIT_URL);

	add_path(&path, ref);
	start(c, "PUT", path.p, "application/json", obj, done, arg);
}

static void http_patch(struct client *c, const struct ref *ref, const char *type, const json_t *patch,
		       client_done *done, void *arg)
{
	static const struct {
		const char *name, *media;
	} types[] = {
		{ "merge", "application/merge-patch+json" },
		{ "strategic", "application/strategic-merge-patch+json" },
		{ "json", "application/json-patch+json" },
		{ "apply", "application/apply-patch+yaml" },
	};
	auto_sbuf struct sbuf path = SBUF(LIMIT_URL);
	const char *media = types[0].media;

	for (size_t i = 0; i < ARRAY_SIZE(types); i++)
		if (streq(types[i].name, type))
			media = types[i].media;
	add_path(&path, ref);
	add_param(&path, "fieldManager", "stoker");
	start(c, "PATCH", path.p, media, patch, done, arg);
}

static void http_remove(struct client *c, const struct ref *ref, const json_t *options, client_done *done, void *arg)
{
	auto_sbuf struct sbuf path = SBUF(LIMIT_URL);

	add_path(&path, ref);
	start(c, "DELETE", path.p, "application/json", options, done, arg);
}

/* ---- watches ---- */

static void take_line(struct stream *s, struct str line)
{
	json_auto_t *event = NULL;
	struct err e = ERR_INIT;
	json_t *obj;
	const char *type;

	if (!str_trim(line).n || jsonx_parse(line.p, line.n, NULL, NULL, &event, &e) < 0)
		return;
	type = jsonx_str_or(event, "type", "");
	obj = json_object_get(event, "object");
	if (streq(type, "ERROR")) {
		client_status_error(obj, (int)jsonx_int_or(obj, "code", 500), &e);
		s->over = true;
		s->event(s->arg, type, NULL, &e);
		return;
	}
	if (s->lean)
		lean(obj);
	s->event(s->arg, type, obj, &e);
}

static void stream_free(struct stream *s)
{
	sbuf_done(&s->line);
	free(s);
}

static void on_piece(void *arg, struct str piece)
{
	struct stream *s = arg;
	const char *nl;

	s->telling = true;
	while (piece.n && !s->over && !s->stopped && (nl = memchr(piece.p, '\n', piece.n))) {
		size_t n = (size_t)(nl - piece.p);

		sbuf_add(&s->line, piece.p, n);
		if (!s->line.over)
			take_line(s, sbuf_str(&s->line));
		sbuf_reset(&s->line);
		piece.p += n + 1;
		piece.n -= n + 1;
	}
	s->telling = false;
	if (s->stopped)
		stream_free(s);
	else if (!s->over)
		sbuf_add(&s->line, piece.p, piece.n);
}

static void on_stream_end(void *arg, int code, struct str body, const struct err *transport)
{
	struct stream *s = arg;
	struct err e = *transport;
	json_auto_t *doc = NULL;

	s->fetch = NULL;
	note_trouble(s->client, transport);
	if (e.kind == ERR_NONE && code >= 300 && jsonx_parse(body.p, body.n, NULL, NULL, &doc, &e) < 0)
		client_status_plain(code, &e);
	else if (e.kind == ERR_NONE && code >= 300)
		client_status_error(doc, code, &e);
	if (e.kind == ERR_NONE)
		err_set(&e, ERR_UNAVAILABLE, "the watch ended");
	if (!s->over)
		s->event(s->arg, "", NULL, &e);
}

static void *http_watch(struct client *base, const struct ref *ref, const struct list_options *o, client_event *event,
			void *arg)
{
	struct http_client *h = (struct http_client *)base;
	auto_sbuf struct sbuf path = SBUF(LIMIT_URL);
	struct stream *s = xcalloc(1, sizeof(*s));
	char seconds[24];

	snprintf(seconds, sizeof(seconds), "%d", WATCH_SECONDS + (int)(clock_mono_ns() / 1000 % WATCH_SECONDS));
	s->client = h;
	s->event = event;
	s->arg = arg;
	s->lean = h->patient;
	s->line = SBUF(LIMIT_BODY);
	add_path(&path, ref);
	add_list_params(&path, o);
	add_param(&path, "watch", "true");
	add_param(&path, "allowWatchBookmarks", "true");
	add_param(&path, "timeoutSeconds", seconds);
	s->fetch = fetch_start(h->fetcher, &(struct fetch_request){ .method = "GET",
								    .path = path.p,
								    .accept = "application/json",
								    .done = on_stream_end,
								    .piece = on_piece,
								    .arg = s });
	return s;
}

static void http_watch_stop(struct client *c, void *watch)
{
	struct stream *s = watch;

	(void)c;
	if (s->fetch)
		fetch_cancel(s->fetch);
	s->stopped = true;
	if (!s->telling)
		stream_free(s);
}

static void http_raw(struct client *base, const char *method, const char *path, struct str body,
		     void (*done)(void *arg, int code, struct str body, const struct err *e), void *arg)
{
	struct http_client *h = (struct http_client *)base;
	struct http_call *c = call_new(h, arg);

	c->raw = done;
	fetch_start(h->fetcher, &(struct fetch_request){ .method = method,
							 .path = path,
							 .accept = AGGREGATED ",application/json,*/*",
							 .body = body,
							 .done = on_reply,
							 .arg = c });
}

/* ---- text as it comes ---- */

struct text {
	struct fetch *fetch;
	void (*piece)(void *arg, struct str piece);
	void (*done)(void *arg, const struct err *e);
	void *arg;
};

static void on_text_piece(void *arg, struct str piece)
{
	struct text *t = arg;

	t->piece(t->arg, piece);
}

static void on_text_end(void *arg, int code, struct str body, const struct err *transport)
{
	struct text *t = arg;
	struct err e = *transport;
	json_auto_t *doc = NULL;

	if (e.kind == ERR_NONE && code >= 300) {
		jsonx_parse(body.p, body.n, NULL, NULL, &doc, &e);
		err_clear(&e);
		client_status_error(doc, code, &e);
	}
	t->done(t->arg, &e);
	free(t);
}

static void *http_stream(struct client *base, const char *path, void (*piece)(void *arg, struct str piece),
			 void (*done)(void *arg, const struct err *e), void *arg)
{
	struct http_client *h = (struct http_client *)base;
	struct text *t = xcalloc(1, sizeof(*t));

	t->piece = piece;
	t->done = done;
	t->arg = arg;
	t->fetch = fetch_start(h->fetcher, &(struct fetch_request){ .method = "GET",
								    .path = path,
								    .accept = "*/*",
								    .done = on_text_end,
								    .piece = on_text_piece,
								    .arg = t });
	return t;
}

static void http_stream_stop(struct client *c, void *stream)
{
	struct text *t = stream;

	(void)c;
	fetch_cancel(t->fetch);
	free(t);
}

/* Who still waits is told, so that nobody holds on to an answer that will never come. */
static void http_free(struct client *base)
{
	struct http_client *h = (struct http_client *)base;
	struct err e = ERR_INIT;

	err_set(&e, ERR_UNAVAILABLE, "the connection to the server was given up");
	h->closing = true;
	fetcher_free(h->fetcher);
	while (!LIST_EMPTY(&h->calls))
		call_end(LIST_FIRST(&h->calls), 0, STR(""), NULL, &e);
	creations_end(h, &e);
	kubeconfig_done(&h->config);
	token_file_free(h->token_file);
	free(h->socket);
	free(h->ns);
	free(h->impersonate);
	free(h->trouble);
	free(h);
}

const struct client_ops http_ops = {
	.get = http_get,
	.list = http_list,
	.create = http_create,
	.update = http_update,
	.patch = http_patch,
	.remove = http_remove,
	.watch = http_watch,
	.watch_stop = http_watch_stop,
	.raw = http_raw,
	.stream = http_stream,
	.stream_stop = http_stream_stop,
	.free = http_free,
};
