// SPDX-License-Identifier: Apache-2.0
/* rest_proxy.c - pods/NAME/proxy/PATH and services/NAME/proxy/PATH: a web server in a pod, seen through the API
 *
 * The request goes on as it came but for what is between client and server (proxy_head.c), the reply streams back.
 * Where the client asks for another protocol, and the backend agrees, the exchange ends and two connections are joined;
 * notebooks and dashboards work by WebSockets.  A side that does not take what it is sent holds up the other.
 */
#include <strings.h>

#include "api/proxy.h"
#include "base/jsonx.h"
#include "base/limits.h"
#include "base/mem.h"

#define QUEUE_BYTES (256u * 1024)
#define HEAD_BYTES  (LIMIT_URL + LIMIT_HEADERS + 8192)

struct proxy {
	struct exchange *x;         /* NULL after an upgrade: */
	struct http_tunnel *tunnel; /* then this */
	struct backend *backend;
	char *host, *prefix, *upgrade;
	bool started; /* the reply's head has left */
	bool backend_paused, client_paused;
};

static void proxy_free(void *arg)
{
	struct proxy *p = arg;

	if (!p)
		return;
	backend_free(p->backend);
	free(p->host);
	free(p->prefix);
	free(p->upgrade);
	free(p);
}

/* The exchange lets go of the proxy; the caller frees it. */
static struct exchange *detach(struct proxy *p)
{
	struct exchange *x = TAKE(p->x);

	x->stream = NULL;
	return x;
}

/* ---- the tunnel ---- */

static void on_client_data(void *arg, struct str bytes)
{
	struct proxy *p = arg;

	backend_write(p->backend, bytes);
	if (!p->client_paused && backend_pending(p->backend) > QUEUE_BYTES) {
		p->client_paused = true;
		http_tunnel_pause(p->tunnel, true);
	}
}

static void on_client_drained(void *arg)
{
	struct proxy *p = arg;

	if (p->backend_paused)
		backend_pause(p->backend, false);
	p->backend_paused = false;
}

static void on_client_closed(void *arg)
{
	proxy_free(arg);
}

/* ---- the backend ---- */

static void add_headers(struct proxy *p, const struct backend_head *head)
{
	struct http_request *http = p->x->http;
	const char *connection = NULL;

	for (size_t i = 0; i < head->n; i++)
		if (strcasecmp(head->headers[i].name, "Connection") == 0)
			connection = head->headers[i].value;
	for (size_t i = 0; i < head->n; i++) {
		const char *name = head->headers[i].name;
		const char *value = head->headers[i].value;
		auto_sbuf struct sbuf location = SBUF(BACKEND_HEAD_MAX);

		if (strcasecmp(name, "Content-Length") == 0 ? !head->sized || head->code == 101
							    : proxy_keeps(name, connection))
			continue;
		if (strcasecmp(name, "Location") == 0) {
			proxy_location(value, p->host, p->prefix, &location);
			value = location.p;
		}
		http_add_header(http, name, value);
	}
}

static void join(struct proxy *p)
{
	const struct http_tunnel_handlers h = {
		.data = on_client_data, .drained = on_client_drained, .closed = on_client_closed, .arg = p
	};
	struct exchange *x = detach(p);

	exchange_keep_peer(x);
	p->tunnel = http_upgrade(x->http, p->upgrade, &h);
	exchange_upgraded(x);
}

static void on_failed(void *arg, const struct err *e);

static void on_head(void *arg, const struct backend_head *head)
{
	struct proxy *p = arg;
	struct exchange *x = p->x;
	struct err e = ERR_INIT;

	if (head->code == 101 && !p->upgrade) {
		err_set(&e, ERR_BAD_REQUEST, "it switched protocols unasked");
		on_failed(p, &e);
		return;
	}
	p->started = true;
	add_headers(p, head);
	if (head->code == 101) {
		join(p);
		return;
	}
	exchange_audit(x, head->code);
	http_stream_relay(x->http, head->code, head->sized);
	http_stream_on_drained(x->http, on_client_drained, p);
}

static void on_body(void *arg, struct str bytes)
{
	struct proxy *p = arg;
	size_t pending;

	if (p->tunnel) {
		http_tunnel_write(p->tunnel, bytes.p, bytes.n);
		pending = http_tunnel_pending(p->tunnel);
	} else {
		http_stream_write(p->x->http, bytes.p, bytes.n);
		pending = http_stream_pending(p->x->http);
	}
	if (pending > QUEUE_BYTES && !p->backend_paused) {
		p->backend_paused = true;
		backend_pause(p->backend, true);
	}
}

static void on_drained(void *arg)
{
	struct proxy *p = arg;

	if (p->client_paused)
		http_tunnel_pause(p->tunnel, false);
	p->client_paused = false;
}

static void finish(struct proxy *p, bool whole)
{
	struct exchange *x;
	struct http_request *http;

	if (p->tunnel) {
		http_tunnel_close(p->tunnel);
		proxy_free(p);
		return;
	}
	x = detach(p);
	http = x->http;
	proxy_free(p);
	http_on_close(http, NULL, NULL);
	if (whole)
		http_stream_end(http);
	else
		http_stream_abort(http);
	exchange_free(x);
}

static void on_end(void *arg)
{
	finish(arg, true);
}

/* Nobody there is 503; somebody who does not speak HTTP is 502, for which there is no kind of error. */
static void refuse(struct exchange *x, const struct err *why)
{
	bool gateway = why->kind == ERR_BAD_REQUEST;
	json_t *status;

	err_set(&x->err, ERR_UNAVAILABLE, "error trying to reach service: %s", why->text);
	if (!gateway) {
		exchange_finish(x);
		return;
	}
	status = status_from_err(&x->err, &(struct status_subject){ .kind = x->req.kind, .name = x->req.name });
	json_object_set_new(status, "code", json_integer(502));
	exchange_reply_json(x, 502, status);
}

static void on_failed(void *arg, const struct err *e)
{
	struct proxy *p = arg;
	struct exchange *x;

	if (p->started) {
		finish(p, false);
		return;
	}
	x = detach(p);
	refuse(x, e);
	proxy_free(p);
}

/* ---- the request ---- */

/* Relative links of a page at ".../proxy" would leave the proxy: the client is sent to ".../proxy/". */
static void send_to_slash(struct exchange *x)
{
	struct str path = http_path(x->http);
	struct str query = http_query(x->http);
	auto_free char *location = xasprintf("%.*s/%s%.*s", STR_FMT(path), query.n ? "?" : "", STR_FMT(query));

	http_add_header(x->http, "Location", location);
	exchange_reply_text(x, 301, "text/plain", STR(""));
}

static const char *wanted_upgrade(const struct http_request *http)
{
	const char *protocol = http_header(http, "Upgrade");

	return protocol && http_wants_upgrade(http, protocol) ? protocol : NULL;
}

static int begin(struct exchange *x, struct proxy *p, struct err *e)
{
	const struct backend_handlers h = {
		.head = on_head, .body = on_body, .end = on_end, .drained = on_drained, .failed = on_failed, .arg = p
	};
	const char *method = http_method(x->http);
	struct str body = http_body(x->http);
	struct str path = x->proxied.n ? x->proxied : STR("/");
	const char *upgrade = wanted_upgrade(x->http);
	struct proxy_target to = { .fd = -1 };
	auto_sbuf struct sbuf request = SBUF(HEAD_BYTES + LIMIT_BODY);

	if (proxy_dial(x, &to, e) < 0)
		return -1;
	p->host = to.host;
	p->prefix = xstrndup(http_path(x->http).p, http_path(x->http).n - x->proxied.n);
	p->upgrade = upgrade ? xstrdup(upgrade) : NULL;
	proxy_request_head(x->http, method, path, to.host, upgrade, &request);
	sbuf_add(&request, body.p, body.n);
	p->backend = backend_new(api_loop(x->rest->api), to.fd, to.tls, sbuf_str(&request), streq(method, "HEAD"), &h);
	return 0;
}

void rest_proxy(struct exchange *x)
{
	const char *method = http_method(x->http);
	struct proxy *p;

	if (!x->proxied.n && (streq(method, "GET") || streq(method, "HEAD")) && !wanted_upgrade(x->http)) {
		send_to_slash(x);
		return;
	}
	p = xcalloc(1, sizeof(*p));
	p->x = x;
	if (begin(x, p, &x->err) < 0) {
		proxy_free(p);
		exchange_finish(x);
		return;
	}
	x->stream = p;
	x->stream_free = proxy_free;
}
