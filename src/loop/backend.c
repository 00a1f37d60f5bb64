// SPDX-License-Identifier: Apache-2.0
/* backend.c - a reply from bytes, by libhttp-parser
 *
 * Bytes come from loop/sock.c, through loop/tls_pipe.c where that is wanted.  A handler may free the backend in the
 * middle of a parse: every way in counts itself in `entered`, the last one out frees, and `dead` stops the parser.
 */
#include "loop/backend.h"

#include <http_parser.h>

#include "base/mem.h"
#include "loop/sock.h"
#include "loop/tls_pipe.h"

#define CONNECT_MS 30000

struct backend {
	struct backend_handlers h;
	struct sock *sock;
	struct tls_pipe *tls; /* NULL: plain */
	struct loop_timer timer;
	struct http_parser parser;
	struct sbuf text; /* names and values of the head, each ended by NUL */
	struct span {
		size_t name, value;
	} spans[BACKEND_HEADERS_MAX];
	size_t nspans;
	bool in_value;
	bool no_body;
	bool headed;   /* the owner has the head */
	bool complete; /* the reply is over */
	bool raw;      /* after 101 */
	unsigned entered;
	bool dead;
};

static void leave(struct backend *b)
{
	if (--b->entered || !b->dead)
		return;
	tls_pipe_free(b->tls);
	sbuf_done(&b->text);
	free(b);
}

static void fail(struct backend *b, const struct err *e)
{
	if (b->dead || b->complete)
		return;
	b->complete = true;
	b->h.failed(b->h.arg, e);
}

static void end(struct backend *b)
{
	if (b->dead || b->complete)
		return;
	b->complete = true;
	b->h.end(b->h.arg);
}

/* --- the parser --- */

static int on_field(http_parser *p, const char *at, size_t n)
{
	struct backend *b = p->data;

	if (b->headed) /* trailers */
		return 0;
	if (b->in_value || !b->nspans) {
		if (b->nspans == BACKEND_HEADERS_MAX)
			return -1;
		if (b->nspans)
			sbuf_addc(&b->text, '\0');
		b->spans[b->nspans++] = (struct span){ .name = b->text.n };
		b->in_value = false;
	}
	sbuf_add(&b->text, at, n);
	return b->text.over ? -1 : 0;
}

static int on_value(http_parser *p, const char *at, size_t n)
{
	struct backend *b = p->data;

	if (b->headed)
		return 0;
	if (!b->in_value) {
		sbuf_addc(&b->text, '\0');
		b->spans[b->nspans - 1].value = b->text.n;
		b->in_value = true;
	}
	sbuf_add(&b->text, at, n);
	return b->text.over ? -1 : 0;
}

static bool has_no_body(const struct backend *b)
{
	return b->no_body || b->parser.status_code == 204 || b->parser.status_code == 304;
}

static void tell_head(struct backend *b)
{
	auto_free struct backend_head *head = xcalloc(1, sizeof(*head));

	sbuf_addc(&b->text, '\0');
	head->code = b->parser.status_code;
	head->sized = has_no_body(b) || (b->parser.flags & F_CONTENTLENGTH);
	for (size_t i = 0; i < b->nspans; i++) {
		/* A name without a value is possible only at the end of a line. */
		const char *value = b->spans[i].value ? b->text.p + b->spans[i].value : "";

		head->headers[head->n++] = (struct backend_header){ b->text.p + b->spans[i].name, value };
	}
	b->headed = true;
	b->h.head(b->h.arg, head);
}

/* 0: a body follows; 1: none does; 2: no more HTTP. */
static int on_headers(http_parser *p)
{
	struct backend *b = p->data;
	int code = p->status_code;

	if (code >= 100 && code < 200 && code != 101) {
		sbuf_reset(&b->text);
		b->nspans = 0;
		b->in_value = false;
		return 1;
	}
	b->raw = code == 101;
	tell_head(b);
	if (b->dead)
		return -1;
	return b->raw ? 2 : has_no_body(b);
}

static int on_body(http_parser *p, const char *at, size_t n)
{
	struct backend *b = p->data;

	b->h.body(b->h.arg, (struct str){ at, n });
	return b->dead ? -1 : 0;
}

static int on_complete(http_parser *p)
{
	struct backend *b = p->data;

	if (b->headed && !b->raw)
		end(b);
	return b->dead ? -1 : 0;
}

static const http_parser_settings settings = {
	.on_header_field = on_field,
	.on_header_value = on_value,
	.on_headers_complete = on_headers,
	.on_body = on_body,
	.on_message_complete = on_complete,
};

static void parse(struct backend *b, struct str in)
{
	size_t used = http_parser_execute(&b->parser, &settings, in.p, in.n);
	struct err e = ERR_INIT;

	if (b->dead || b->complete)
		return;
	if (b->raw) {
		if (used < in.n)
			b->h.body(b->h.arg, (struct str){ in.p + used, in.n - used });
		return;
	}
	if (HTTP_PARSER_ERRNO(&b->parser) == HPE_OK)
		return;
	err_set(&e, ERR_BAD_REQUEST, "malformed HTTP response");
	fail(b, &e);
}

static void take(void *arg, struct str plain)
{
	struct backend *b = arg;

	if (b->dead || b->complete)
		return;
	if (b->raw)
		b->h.body(b->h.arg, plain);
	else
		parse(b, plain);
}

/* --- the socket --- */

static void send_sealed(void *arg, struct str sealed)
{
	struct backend *b = arg;

	if (!b->dead)
		sock_write(b->sock, sealed.p, sealed.n);
}

static void feed_tls(struct backend *b, struct str sealed)
{
	struct err e = ERR_INIT;

	if (tls_pipe_feed(b->tls, sealed, &e) < 0)
		fail(b, &e);
}

static void on_connected(void *arg)
{
	struct backend *b = arg;

	b->entered++;
	loop_timer_clear(&b->timer);
	if (b->tls)
		feed_tls(b, STR(""));
	leave(b);
}

static void on_data(void *arg, struct str bytes)
{
	struct backend *b = arg;

	b->entered++;
	if (b->tls)
		feed_tls(b, bytes);
	else
		take(b, bytes);
	leave(b);
}

static void on_ended(void *arg)
{
	struct backend *b = arg;
	struct err e = ERR_INIT;

	b->entered++;
	if (!b->raw && !b->complete)
		http_parser_execute(&b->parser, &settings, NULL, 0); /* a body may go on to the end */
	if (b->raw)
		end(b);
	err_set(&e, ERR_BAD_REQUEST, "EOF");
	fail(b, &e);
	leave(b);
}

static void on_drained(void *arg)
{
	struct backend *b = arg;

	if (b->h.drained)
		b->h.drained(b->h.arg);
}

static void on_failed(void *arg, const struct err *e)
{
	struct backend *b = arg;

	b->entered++;
	if (b->raw)
		end(b);
	fail(b, e);
	leave(b);
}

static void on_late(void *arg)
{
	struct err e = ERR_INIT;

	err_set(&e, ERR_UNAVAILABLE, "cannot connect: no answer in %d seconds", CONNECT_MS / 1000);
	on_failed(arg, &e);
}

/* --- from the owner --- */

struct backend *backend_new(struct loop *loop, int fd, bool tls, struct str request, bool no_body,
			    const struct backend_handlers *h)
{
	struct backend *b = xcalloc(1, sizeof(*b));
	const struct sock_handlers handlers = { .connected = on_connected,
						.data = on_data,
						.ended = on_ended,
						.drained = on_drained,
						.failed = on_failed,
						.arg = b };

	b->h = *h;
	b->no_body = no_body;
	sbuf_init(&b->text, BACKEND_HEAD_MAX);
	http_parser_init(&b->parser, HTTP_RESPONSE);
	b->parser.data = b;
	b->sock = sock_new(loop, fd, &handlers);
	b->timer = (struct loop_timer){ .fire = on_late, .arg = b };
	loop_timer_set(loop, &b->timer, CONNECT_MS);
	if (tls)
		b->tls = tls_pipe_new(&(struct tls_pipe_handlers){ send_sealed, take, b });
	backend_write(b, request);
	return b;
}

int backend_trust(struct backend *b, const struct tls_trust *trust, struct err *e)
{
	return tls_pipe_trust(b->tls, trust, e);
}

void backend_free(struct backend *b)
{
	if (!b || b->dead)
		return;
	b->entered++;
	b->dead = true;
	sock_free(b->sock);
	loop_timer_done(&b->timer);
	leave(b);
}

void backend_write(struct backend *b, struct str bytes)
{
	struct err e = ERR_INIT;

	if (!b->tls)
		sock_write(b->sock, bytes.p, bytes.n);
	else if (tls_pipe_write(b->tls, bytes, &e) < 0)
		fail(b, &e);
}

size_t backend_pending(const struct backend *b)
{
	return sock_pending(b->sock);
}

void backend_pause(struct backend *b, bool paused)
{
	sock_pause(b->sock, paused);
}
