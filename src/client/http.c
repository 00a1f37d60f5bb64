// SPDX-License-Identifier: Apache-2.0
/* http.c - struct client over REST: a kubeconfig's server, or the Unix socket of this machine
 *
 * A reply that is a Failure becomes an error with the server's own words.  Watches split the stream into lines; the end
 * of the stream ends the watch with ERR_UNAVAILABLE, and whoever watches (informer.c) starts again.
 */
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/jsonx.h"
#include "base/limits.h"
#include "base/mem.h"
#include "client/client.h"
#include "client/kubeconfig.h"
#include "loop/fetch.h"

/* One document instead of one a group-version, from servers that have it. */
#define AGGREGATED "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"

struct http_client {
	struct client base;
	struct kubeconfig config;
	char *socket;
	char *ns;
	char *impersonate;
	const char *headers[2];
	struct fetcher *fetcher;
};

struct call {
	client_done *done;
	void *arg;
};

struct stream {
	struct fetch *fetch;
	client_event *event;
	void *arg;
	struct sbuf line;
	bool over;    /* its end has been told */
	bool telling; /* an event is being told, which may stop the watch */
	bool stopped;
};

void client_escape(struct sbuf *out, const char *s)
{
	for (; *s; s++) {
		unsigned char c = (unsigned char)*s;

		if ((c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || strchr("-_.~", c))
			sbuf_addc(out, (char)c);
		else
			sbuf_addf(out, "%%%02X", c);
	}
}

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

/* The server's Status as an error; 0 if the reply is a success. */
static int status_error(const json_t *doc, int code, struct err *e)
{
	const char *text = jsonx_str(doc, "message");

	if (code >= 200 && code < 300 && !str_same(jsonx_str(doc, "status"), "Failure"))
		return 0;
	err_set(e, err_kind_of(jsonx_str(doc, "reason"), code), "%s",
		text ? text : "the server answered with an error and no explanation");
	e->retry_after = (int)jsonx_int_or(doc, "details.retryAfterSeconds", 0);
	return -1;
}

static void on_reply(void *arg, int code, struct str body, const struct err *transport)
{
	struct call *c = arg;
	json_auto_t *doc = NULL;
	struct err e = *transport;

	if (e.kind == ERR_NONE && jsonx_parse(body.p, body.n, NULL, NULL, &doc, &e) < 0)
		err_set(&e, ERR_INTERNAL, "the server's answer (%d) is not JSON", code);
	if (e.kind == ERR_NONE)
		status_error(doc, code, &e);
	c->done(c->arg, e.kind == ERR_NONE ? doc : NULL, &e);
	free(c);
}

static void start(struct client *base, const char *method, const char *path, const char *type, const json_t *body,
		  client_done *done, void *arg)
{
	struct http_client *h = (struct http_client *)base;
	struct call *c = xcalloc(1, sizeof(*c));
	auto_sbuf struct sbuf text = SBUF(LIMIT_BODY);

	c->done = done;
	c->arg = arg;
	if (body)
		jsonx_dump(body, &text);
	fetch_start(h->fetcher, &(struct fetch_request){ .method = method,
							 .path = path,
							 .content_type = body ? type : NULL,
							 .accept = "application/json",
							 .body = sbuf_str(&text),
							 .done = on_reply,
							 .arg = c });
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

static void http_create(struct client *c, const struct ref *ref, const json_t *obj, client_done *done, void *arg)
{
	auto_sbuf struct sbuf path = SBUF(LIMIT_URL);

	add_path(&path, ref);
	start(c, "POST", path.p, "application/json", obj, done, arg);
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
	const json_t *obj;
	const char *type;

	if (!str_trim(line).n || jsonx_parse(line.p, line.n, NULL, NULL, &event, &e) < 0)
		return;
	type = jsonx_str_or(event, "type", "");
	obj = json_object_get(event, "object");
	if (streq(type, "ERROR")) {
		status_error(obj, (int)jsonx_int_or(obj, "code", 500), &e);
		s->over = true;
		s->event(s->arg, type, NULL, &e);
		return;
	}
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
	if (e.kind == ERR_NONE && code >= 300 && jsonx_parse(body.p, body.n, NULL, NULL, &doc, &e) == 0)
		status_error(doc, code, &e);
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

	s->event = event;
	s->arg = arg;
	s->line = SBUF(LIMIT_BODY);
	add_path(&path, ref);
	add_list_params(&path, o);
	add_param(&path, "watch", "true");
	add_param(&path, "allowWatchBookmarks", "true");
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

	fetch_start(h->fetcher, &(struct fetch_request){ .method = method,
							 .path = path,
							 .accept = AGGREGATED ",application/json,*/*",
							 .body = body,
							 .done = done,
							 .arg = arg });
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
		status_error(doc, code, &e);
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

static void http_free(struct client *base)
{
	struct http_client *h = (struct http_client *)base;

	fetcher_free(h->fetcher);
	kubeconfig_done(&h->config);
	free(h->socket);
	free(h->ns);
	free(h->impersonate);
	free(h);
}

static const struct client_ops http_ops = {
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

/* ---- finding the server ---- */

static char *own_name(void)
{
	struct passwd *pw = getpwuid(geteuid());

	return xstrdup(geteuid() == 0 || !pw ? "default" : pw->pw_name);
}

/* Fills socket or config by the order of the contract. */
static int find_server(struct http_client *h, const struct client_options *o, struct err *e)
{
	const char *env_socket = getenv("STOKER_SOCKET");
	const char *env_config = getenv("KUBECONFIG");
	const char *file = o->kubeconfig ? o->kubeconfig : env_config && *env_config ? env_config : NULL;
	auto_sbuf struct sbuf path = SBUF(LIMIT_URL);
	auto_free char *first = NULL;

	if (o->socket || (env_socket && *env_socket && !o->kubeconfig)) {
		h->socket = xstrdup(o->socket ? o->socket : env_socket);
		return 0;
	}
	if (file) {
		first = xstrndup(file, strcspn(file, ":"));
		return kubeconfig_read(first, o->context, &h->config, e);
	}
	default_socket_path(&path);
	if (access(path.p, F_OK) < 0)
		return err_set(
			e, ERR_UNAVAILABLE,
			"no server found: %s does not exist. Start one with `stoker serve`, or name one with --socket, "
			"--kubeconfig, $STOKER_SOCKET or $KUBECONFIG",
			path.p);
	h->socket = sbuf_steal(&path);
	return 0;
}

int client_http_new(struct loop *loop, const struct client_options *o, struct client **ret, struct err *e)
{
	struct http_client *h = xcalloc(1, sizeof(*h));
	struct fetch_config fc = { .user_agent = "stoker/" STOKER_VERSION };

	h->base = (struct client){ .ops = &http_ops, .loop = loop };
	if (find_server(h, o, e) < 0) {
		http_free(&h->base);
		return -1;
	}
	h->ns = h->socket ? own_name() : xstrdup(h->config.ns ? h->config.ns : "default");
	fc.unix_socket = h->socket;
	fc.base_url = h->socket ? "http://localhost" : h->config.server;
	fc.ca_pem = h->config.ca_pem;
	fc.cert_pem = h->config.cert_pem;
	fc.key_pem = h->config.key_pem;
	fc.token = h->config.token;
	fc.insecure = h->config.insecure;
	if (o->as) {
		h->impersonate = xasprintf("Impersonate-User: %s", o->as);
		h->headers[0] = h->impersonate;
		fc.headers = h->headers;
	}
	if (fetcher_new(loop, &fc, &h->fetcher, e) < 0) {
		http_free(&h->base);
		return -1;
	}
	*ret = &h->base;
	return 0;
}

const char *client_default_namespace(const struct client *c)
{
	return c->ops == &http_ops ? ((const struct http_client *)c)->ns : "default";
}
