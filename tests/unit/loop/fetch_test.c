// SPDX-License-Identifier: Apache-2.0
/* fetch_test.c - the client against the server, over TLS and a Unix socket */
#include "loop/fetch.h"

#include <sys/stat.h>

#include "web.h"

struct answer {
	struct web *web;
	int code;
	unsigned calls, pieces, wrong;
	size_t bytes;
	enum err_kind kind;
	char body[4096];
	struct fetcher *fetcher; /* to be freed from inside the callback */
	struct fetch *cancel;    /* likewise cancelled */
};

static void on_done(void *arg, int code, struct str body, const struct err *e)
{
	struct answer *a = arg;

	a->calls++;
	a->code = code;
	a->kind = e->kind;
	snprintf(a->body, sizeof(a->body), "%.*s", STR_FMT(body));
	if (a->fetcher)
		fetcher_free(a->fetcher);
}

static void on_piece(void *arg, struct str piece)
{
	struct answer *a = arg;

	a->pieces++;
	snprintf(a->body, sizeof(a->body), "%.*s", STR_FMT(piece));
	if (a->cancel)
		fetch_cancel(a->cancel);
}

static void on_count(void *arg, struct str piece)
{
	struct answer *a = arg;

	for (size_t i = 0; i < piece.n; i++)
		if (piece.p[i] != 'a' + (char)((a->bytes + i) % 26))
			a->wrong++;
	a->bytes += piece.n;
}

static void wait_for(struct web *w, const unsigned *count, unsigned want)
{
	for (int i = 0; i < 10000 && *count < want; i++)
		web_turn(w);
	CHECK_INT(*count, want);
}

struct site {
	struct web web;
	struct pki *pki;
	struct tls_server *tls;
	char url[64];
	struct fetch_config config;
};

static void site_init(struct site *s, const char *name)
{
	auto_free char *dir = xasprintf("%s/%s", test_dir(), name);
	struct err e = ERR_INIT;

	mkdir(dir, 0700);
	CHECK_INT(pki_open(dir, NULL, &s->pki, &e), 0);
	s->tls = tls_server_new(s->pki);
	web_init(&s->web, s->tls, NULL);
	snprintf(s->url, sizeof(s->url), "https://127.0.0.1:%d", s->web.port);
	s->config = (struct fetch_config){ .base_url = s->url,
					   .ca_pem = pki_ca_pem(s->pki).p,
					   .cert_pem = pki_admin_cert_pem(s->pki).p,
					   .key_pem = pki_admin_key_pem(s->pki).p,
					   .user_agent = "test" };
}

static void site_done(struct site *s)
{
	web_done(&s->web);
	tls_server_free(s->tls);
	pki_free(s->pki);
}

static struct fetcher *new_fetcher(struct site *s)
{
	struct fetcher *f = NULL;
	struct err e = ERR_INIT;

	CHECK_INT(fetcher_new(s->web.loop, &s->config, &f, &e), 0);
	CHECK_STR(e.text, "");
	return f;
}

TEST("a client certificate of our CA is who its holder is")
{
	struct site s;
	struct answer a = { 0 };
	struct fetcher *f;
	struct fetch_request req = { .method = "POST",
				     .path = "/now",
				     .content_type = "application/json",
				     .body = STR("{}"),
				     .done = on_done,
				     .arg = &a };

	site_init(&s, "tls1");
	f = new_fetcher(&s);
	for (unsigned i = 1; i <= 3; i++) {
		fetch_start(f, &req);
		wait_for(&s.web, &a.calls, i);
		CHECK_INT(a.code, 200);
		CHECK_STR(a.body, "POST /now {};");
	}
	CHECK_STR(s.web.user, "admin");
	CHECK_STR(s.web.group, "system:masters");
	CHECK(!s.web.local);
	CHECK_INT(http_server_connections(s.web.server), 1);
	fetcher_free(f);

	s.config.cert_pem = s.config.key_pem = NULL;
	f = new_fetcher(&s);
	fetch_start(f, &req);
	wait_for(&s.web, &a.calls, 4);
	CHECK_STR(s.web.user, "");
	fetcher_free(f);
	site_done(&s);
}

TEST("certificates of another CA are trusted by neither side")
{
	struct site s;
	struct site other;
	struct answer a = { 0 };
	struct fetcher *f;
	struct fetch_request req = { .method = "GET", .path = "/now", .done = on_done, .arg = &a };

	site_init(&s, "tls2");
	site_init(&other, "tls3");
	s.config.cert_pem = other.config.cert_pem;
	s.config.key_pem = other.config.key_pem;
	f = new_fetcher(&s);
	fetch_start(f, &req);
	wait_for(&s.web, &a.calls, 1);
	CHECK_INT(a.code, 0);
	CHECK_INT(a.kind, ERR_UNAVAILABLE);
	fetcher_free(f);

	s.config.cert_pem = s.config.key_pem = NULL;
	s.config.ca_pem = other.config.ca_pem;
	f = new_fetcher(&s);
	fetch_start(f, &req);
	wait_for(&s.web, &a.calls, 2);
	CHECK_INT(a.kind, ERR_UNAVAILABLE);
	CHECK_INT(s.web.requests, 0);
	fetcher_free(f);
	site_done(&s);
	site_done(&other);
}

TEST("bytes that are no TLS end the connection and nothing else")
{
	struct site s;
	int fd;

	site_init(&s, "tls4");
	fd = web_connect(&s.web);
	web_ask(&s.web, fd, "GET / HTTP/1.1\r\n\r\n", NULL);
	CHECK_INT(http_server_connections(s.web.server), 0);
	CHECK_INT(s.web.requests, 0);
	close(fd);
	site_done(&s);
}

TEST("large bodies cross TLS both ways")
{
	const size_t n = 2u << 20;
	struct site s;
	struct answer a = { 0 };
	struct fetcher *f;
	char *body = xmalloc(n);
	struct fetch_request req = { .method = "PUT", .path = "/now", .body = { body, n }, .done = on_done, .arg = &a };

	memset(body, 'x', n);
	site_init(&s, "tls5");
	f = new_fetcher(&s);
	fetch_start(f, &req);
	wait_for(&s.web, &a.calls, 1);
	CHECK_INT(a.code, 200);
	CHECK(str_starts(a.body, "PUT /now xxx"));
	fetcher_free(f);
	free(body);
	site_done(&s);
}

TEST("a stream arrives piece by piece, and can be left from inside a piece")
{
	struct site s;
	struct answer a = { 0 };
	struct fetcher *f;
	struct fetch_request req = {
		.method = "GET", .path = "/stream", .done = on_done, .piece = on_piece, .arg = &a
	};
	struct fetch *stream;

	site_init(&s, "tls6");
	f = new_fetcher(&s);
	stream = fetch_start(f, &req);
	wait_for(&s.web, &s.web.nwaiting, 1);
	http_stream_write(s.web.waiting[0], "one", 3);
	wait_for(&s.web, &a.pieces, 1);
	CHECK_STR(a.body, "one");
	http_stream_write(s.web.waiting[0], "two", 3);
	http_stream_end(s.web.waiting[0]);
	wait_for(&s.web, &a.calls, 1);
	CHECK_INT(a.pieces, 2);
	CHECK_INT(a.code, 200);

	stream = fetch_start(f, &req);
	a.cancel = stream;
	wait_for(&s.web, &s.web.nwaiting, 2);
	http_stream_write(s.web.waiting[1], "three", 5);
	wait_for(&s.web, &s.web.closed, 1);
	CHECK_INT(a.pieces, 3);
	CHECK_INT(a.calls, 1);
	fetcher_free(f);
	site_done(&s);
}

TEST("a stream that TLS cannot send at once arrives whole and in order")
{
	static char alphabet[26 * 4000];
	struct site s;
	struct answer a = { 0 };
	struct fetcher *f;
	struct fetch_request req = {
		.method = "GET", .path = "/stream", .done = on_done, .piece = on_count, .arg = &a
	};
	struct http_shared *shared;

	for (size_t i = 0; i < sizeof(alphabet); i++)
		alphabet[i] = (char)('a' + i % 26);
	shared = http_shared_new(&(struct str){ alphabet, sizeof(alphabet) }, 1);
	site_init(&s, "tls7");
	f = new_fetcher(&s);
	fetch_start(f, &req);
	wait_for(&s.web, &s.web.nwaiting, 1);
	for (int i = 0; i < 60; i++) {
		http_stream_write_shared(s.web.waiting[0], shared);
		http_stream_write(s.web.waiting[0], alphabet, 26 * 7);
		if (i % 10 == 0)
			web_turn(&s.web);
	}
	http_stream_end(s.web.waiting[0]);
	http_shared_unref(shared);
	wait_for(&s.web, &a.calls, 1);
	CHECK_INT(a.bytes, 60 * (sizeof(alphabet) + 26 * 7));
	CHECK_INT(a.wrong, 0);
	CHECK_INT(a.kind, ERR_NONE);
	fetcher_free(f);
	site_done(&s);
}

TEST("a fetch over the Unix socket works, one to nowhere says where")
{
	struct web w;
	struct answer a = { 0 };
	auto_free char *path = xasprintf("%s/fetch.sock", test_dir());
	struct fetch_config config = { .base_url = "http://localhost", .unix_socket = path };
	struct fetcher *f = NULL;
	struct err e = ERR_INIT;
	struct fetch_request req = { .method = "GET", .path = "/now", .done = on_done, .arg = &a };

	web_init(&w, NULL, NULL);
	CHECK_INT(http_listen_unix(w.server, path, &e), 0);
	CHECK_INT(fetcher_new(w.loop, &config, &f, &e), 0);
	fetch_start(f, &req);
	wait_for(&w, &a.calls, 1);
	CHECK_STR(a.body, "GET /now ;");
	CHECK(w.local);
	fetcher_free(f);

	config.unix_socket = "/nonexistent/stoker.sock";
	CHECK_INT(fetcher_new(w.loop, &config, &f, &e), 0);
	a.fetcher = f;
	fetch_start(f, &req);
	fetch_start(f, &req);
	wait_for(&w, &a.calls, 2);
	web_turn(&w);
	CHECK_INT(a.calls, 2);
	CHECK_INT(a.kind, ERR_UNAVAILABLE);
	web_done(&w);
}

TEST("many requests wait for a few, in order, and a stream waits for nobody")
{
	enum { MANY = 60, FEW = 16 };
	struct site s;
	struct answer answers[MANY] = { 0 };
	struct answer stream = { 0 };
	struct fetch *waiting[MANY];
	unsigned answered = 0;
	struct fetcher *f;

	site_init(&s, "many");
	f = new_fetcher(&s);
	for (int i = 0; i < MANY; i++)
		waiting[i] = fetch_start(f, &(struct fetch_request){ .method = "POST",
								     .path = "/now",
								     .body = STR("x"),
								     .done = on_done,
								     .arg = &answers[i] });
	fetch_start(f,
		    &(struct fetch_request){
			    .method = "GET", .path = "/stream", .done = on_done, .piece = on_piece, .arg = &stream });
	fetch_cancel(waiting[MANY - 1]); /* one that has not begun */
	fetch_cancel(waiting[0]);        /* and one that has */
	for (int i = 0; i < 100000 && answered < MANY - 2; i++) {
		web_turn(&s.web);
		answered = 0;
		for (int k = 0; k < MANY; k++)
			answered += answers[k].calls;
		CHECK(http_server_connections(s.web.server) <= FEW + 2);
	}
	CHECK_INT(answered, MANY - 2);
	CHECK_INT(answers[0].calls + answers[MANY - 1].calls, 0);
	CHECK_INT(answers[30].code, 200);
	CHECK_STR(answers[30].body, "POST /now x;");
	wait_for(&s.web, &s.web.nwaiting, 1);
	fetcher_free(f);
	site_done(&s);
}

TEST("a new token is for what begins after it")
{
	struct site s;
	struct answer a = { 0 };
	struct fetcher *f;

	site_init(&s, "token");
	s.config.token = "old";
	f = new_fetcher(&s);
	fetcher_set_token(f, "new");
	fetch_start(f, &(struct fetch_request){ .method = "GET", .path = "/later", .done = on_done, .arg = &a });
	wait_for(&s.web, &s.web.nwaiting, 1);
	CHECK_STR(http_header(s.web.waiting[0], "Authorization"), "Bearer new");
	http_reply(s.web.waiting[0], 200, "text/plain", "", 0);
	wait_for(&s.web, &a.calls, 1);
	fetcher_free(f);
	site_done(&s);
}
