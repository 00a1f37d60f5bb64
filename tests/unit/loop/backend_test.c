// SPDX-License-Identifier: Apache-2.0
/* backend_test.c - a request to another server, here our own, plain and over TLS */
#include <sys/stat.h>

#include "loop/backend.h"
#include "loop/sock.h"
#include "web.h"

struct client {
	struct backend *backend;
	struct sbuf head, body;
	bool sized, free_at_head;
	unsigned ended, failed;
	enum err_kind kind;
};

static void on_head(void *arg, const struct backend_head *head)
{
	struct client *c = arg;

	sbuf_addf(&c->head, "%d;", head->code);
	for (size_t i = 0; i < head->n; i++)
		sbuf_addf(&c->head, "%s=%s;", head->headers[i].name, head->headers[i].value);
	c->sized = head->sized;
	if (c->free_at_head)
		backend_free(TAKE(c->backend));
}

static void on_body(void *arg, struct str bytes)
{
	sbuf_add(&((struct client *)arg)->body, bytes.p, bytes.n);
}

static void on_end(void *arg)
{
	((struct client *)arg)->ended++;
}

static void on_failed(void *arg, const struct err *e)
{
	struct client *c = arg;

	c->failed++;
	c->kind = e->kind;
}

static void begin(struct web *w, struct client *c, int port, bool tls, const char *request)
{
	const struct backend_handlers h = {
		.head = on_head, .body = on_body, .end = on_end, .failed = on_failed, .arg = c
	};
	struct err e = ERR_INIT;
	int fd = sock_dial("127.0.0.1", port, &e);

	*c = (struct client){ .head = SBUF(1 << 16), .body = SBUF(16 << 20), .free_at_head = c->free_at_head };
	CHECK(fd >= 0);
	c->backend = backend_new(w->loop, fd, tls, str_of(request), str_starts(request, "HEAD"), &h);
}

static void wait(struct web *w, const struct client *c)
{
	for (int i = 0; i < 5000 && c->backend && !c->ended && !c->failed; i++)
		web_turn(w);
}

static void done(struct client *c)
{
	backend_free(c->backend);
	sbuf_done(&c->head);
	sbuf_done(&c->body);
}

TEST("a reply comes whole, plain and over TLS, and large bodies cross both ways")
{
	auto_free char *dir = xasprintf("%s/backend", test_dir());
	auto_sbuf struct sbuf request = SBUF(4 << 20);
	struct pki *pki = NULL;
	struct err e = ERR_INIT;

	mkdir(dir, 0700);
	CHECK_INT(pki_open(dir, NULL, &pki, &e), 0);
	sbuf_addf(&request, "POST /now HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n", 1 << 20);
	for (int i = 0; i < 1 << 20; i++)
		sbuf_addc(&request, (char)('a' + i % 26));
	for (int tls = 0; tls < 2; tls++) {
		struct tls_server *server = tls ? tls_server_new(pki) : NULL;
		struct client c = { .ended = 0 };
		struct web w;

		web_init(&w, server, NULL);
		begin(&w, &c, w.port, tls, request.p);
		wait(&w, &c);
		CHECK_INT(c.ended, 1);
		CHECK_INT(c.failed, 0);
		CHECK(str_starts(c.head.p, "200;Content-Type=text/plain;Date="));
		CHECK(strstr(c.head.p, ";X-Test=one  two;"));
		CHECK(c.sized);
		CHECK(c.body.n == (1 << 20) + strlen("POST /now ;"));
		CHECK(str_starts(c.body.p, "POST /now abcdef"));
		done(&c);
		begin(&w, &c, w.port, tls, "HEAD /now HTTP/1.1\r\n\r\n");
		wait(&w, &c);
		CHECK_INT(c.ended, 1);
		CHECK(c.sized && !c.body.n);
		done(&c);
		web_done(&w);
		tls_server_free(server);
	}
	pki_free(pki);
}

TEST("a server has to prove who it is, and the client too, where that is asked for")
{
	auto_free char *dir = xasprintf("%s/trust", test_dir());
	auto_free char *other_dir = xasprintf("%s/other", test_dir());
	struct pki *pki = NULL, *other = NULL;
	struct err e = ERR_INIT;

	mkdir(dir, 0700);
	mkdir(other_dir, 0700);
	CHECK_INT(pki_open(dir, NULL, &pki, &e), 0);
	CHECK_INT(pki_open(other_dir, NULL, &other, &e), 0);
	const struct {
		struct tls_trust trust;
		bool taken, good; /* the words are of use; the server is the right one */
	} rows[] = {
		{ { .host = "127.0.0.1", .ca_pem = pki_ca_pem(pki).p }, true, true },
		{ { .host = "localhost", .ca_pem = pki_ca_pem(pki).p }, true, true },
		{ { .host = "127.0.0.1",
		    .ca_pem = pki_ca_pem(pki).p,
		    .cert_pem = pki_admin_cert_pem(pki).p,
		    .key_pem = pki_admin_key_pem(pki).p },
		  true,
		  true },
		{ { .host = "127.0.0.1", .ca_pem = pki_ca_pem(other).p }, true, false },
		{ { .host = "127.0.0.1", .ca_pem = pki_ca_pem(other).p, .insecure = true }, true, true },
		{ { .host = "127.0.0.1" }, true, false },
		{ { .host = "192.0.2.1", .ca_pem = pki_ca_pem(pki).p }, true, false },
		{ { .host = "elsewhere", .ca_pem = pki_ca_pem(pki).p }, true, false },
		{ { .host = "127.0.0.1", .ca_pem = "nothing" }, false, false },
		{ { .host = "127.0.0.1", .ca_pem = pki_ca_pem(pki).p, .cert_pem = "x", .key_pem = "y" }, false, false },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct tls_server *server = tls_server_new(pki);
		struct client c = { .ended = 0 };
		struct web w;

		web_init(&w, server, NULL);
		begin(&w, &c, w.port, true, "GET /now HTTP/1.1\r\nHost: x\r\n\r\n");
		err_clear(&e);
		CHECK_INT(backend_trust(c.backend, &rows[i].trust, &e), rows[i].taken ? 0 : -1);
		if (rows[i].taken) {
			wait(&w, &c);
			CHECK_INT(c.ended, rows[i].good);
			CHECK_INT(c.failed, !rows[i].good);
		}
		done(&c);
		web_done(&w);
		tls_server_free(server);
	}
	pki_free(other);
	pki_free(pki);
}

TEST("a server that is not there, speaks otherwise or not at all is told apart")
{
	struct client c = { .ended = 0 };
	struct web w;
	int port;

	web_init(&w, NULL, NULL);
	begin(&w, &c, w.port, true, "GET /now HTTP/1.1\r\n\r\n"); /* TLS to a plain server */
	wait(&w, &c);
	CHECK_INT(c.failed, 1);
	CHECK_INT(c.kind, ERR_UNAVAILABLE);
	done(&c);
	c.free_at_head = true;
	begin(&w, &c, w.port, false, "GET /now HTTP/1.1\r\n\r\n");
	wait(&w, &c);
	CHECK(c.head.n && !c.backend && !c.ended && !c.failed && !c.body.n);
	done(&c);
	c.free_at_head = false;
	begin(&w, &c, w.port, false, "GET /later HTTP/1.1\r\n\r\n");
	for (int i = 0; i < 1000 && !w.nwaiting; i++)
		web_turn(&w);
	port = w.port;
	http_stream_abort(w.waiting[0]);
	wait(&w, &c);
	CHECK_INT(c.failed, 1);
	CHECK_INT(c.kind, ERR_BAD_REQUEST);
	done(&c);
	http_server_free(w.server);
	w.server = NULL;
	begin(&w, &c, port, false, "GET /now HTTP/1.1\r\n\r\n");
	wait(&w, &c);
	CHECK_INT(c.failed, 1);
	CHECK_INT(c.kind, ERR_UNAVAILABLE);
	done(&c);
	loop_free(w.loop);
}
