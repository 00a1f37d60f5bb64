// SPDX-License-Identifier: Apache-2.0
/* remote_ask_test.c - both sides of a remote session on one loop, over a Unix socket */
#include "loop/remote_ask.h"

#include "loop/remote.h"
#include "web.h"

#define PATH "/tmp/stoker-remote-ask-%d"

struct pair {
	struct web web;
	struct remote *remote; /* the server's side */
	struct remote_ask *ask;
	struct sbuf served; /* what the server's side heard */
	struct sbuf asked;  /* what the asking side heard */
	char path[64];
};

static void on_ready(void *arg, int rows, int cols)
{
	sbuf_addf(&((struct pair *)arg)->served, "ready %dx%d; ", rows, cols);
}

static void on_input(void *arg, struct str bytes)
{
	struct pair *p = arg;

	if (bytes.n < 100)
		sbuf_addf(&p->served, "in %.*s; ", STR_FMT(bytes));
	else
		sbuf_add(&p->served, bytes.p, bytes.n);
}

static void on_input_end(void *arg)
{
	sbuf_adds(&((struct pair *)arg)->served, "end; ");
}

static void on_resize(void *arg, int rows, int cols)
{
	sbuf_addf(&((struct pair *)arg)->served, "%dx%d; ", rows, cols);
}

static void on_taken(void *arg)
{
	(void)arg;
}

static void on_closed(void *arg)
{
	struct pair *p = arg;

	sbuf_adds(&p->served, "closed; ");
	p->remote = NULL;
}

static void on_opened(void *arg)
{
	sbuf_adds(&((struct pair *)arg)->asked, "opened; ");
}

static void on_output(void *arg, int stream, struct str bytes)
{
	sbuf_addf(&((struct pair *)arg)->asked, "%d %.*s; ", stream, STR_FMT(bytes));
}

static void on_ended(void *arg, int code, const struct err *e)
{
	struct pair *p = arg;

	sbuf_addf(&p->asked, "ended %d %s; ", code, e->text);
	remote_ask_free(p->ask);
	p->ask = NULL;
}

static void pair_init(struct pair *p)
{
	const struct remote_ask_handlers h = { on_opened, on_output, NULL, on_ended, p };
	struct remote_ask_place to = { .socket = p->path };
	struct err e = ERR_INIT;

	*p = (struct pair){ .served = SBUF(1 << 24), .asked = SBUF(1 << 20) };
	web_init(&p->web, NULL, NULL);
	snprintf(p->path, sizeof(p->path), PATH, (int)getpid());
	unlink(p->path);
	CHECK_INT(http_listen_unix(p->web.server, p->path, &e), 0);
	CHECK_INT(remote_ask_new(p->web.loop, &to, "/later?stdin=true", &h, &p->ask, &e), 0);
	for (int i = 0; i < 1000 && !p->web.nwaiting; i++)
		web_turn(&p->web);
	CHECK_INT(p->web.nwaiting, 1);
}

static void pair_agree(struct pair *p, bool tty)
{
	const struct remote_handlers h = { on_ready, on_input, on_input_end, on_resize, on_taken, on_closed, p };
	struct remote_wants wants = { .in = true, .out = true, .err = !tty, .tty = tty };
	struct err e = ERR_INIT;

	CHECK_INT(remote_accept(p->web.waiting[0], &wants, &h, &p->remote, &e), 0);
}

static void pair_turn_until(struct pair *p, const struct sbuf *where, const char *want)
{
	for (int i = 0; i < 5000 && !(where->n && strstr(where->p, want)); i++)
		web_turn(&p->web);
	CHECK(where->n && strstr(where->p, want));
}

static void pair_done(struct pair *p)
{
	remote_ask_free(p->ask);
	web_turn(&p->web);
	web_done(&p->web);
	unlink(p->path);
	sbuf_done(&p->served);
	sbuf_done(&p->asked);
}

TEST("what is asked for, said and answered arrives, and the exit status is the last")
{
	struct pair p;

	pair_init(&p);
	pair_agree(&p, false);
	pair_turn_until(&p, &p.asked, "opened; ");
	remote_ask_input(p.ask, STR("hello"));
	remote_ask_input_end(p.ask);
	pair_turn_until(&p, &p.served, "end; ");
	CHECK(strstr(p.served.p, "in hello; end; "));
	remote_output(p.remote, 1, STR("out"));
	remote_output(p.remote, 2, STR("err"));
	remote_end(p.remote, 7, NULL);
	pair_turn_until(&p, &p.asked, "ended");
	CHECK_STR(p.asked.p, "opened; 1 out; 2 err; ended 7 ; ");
	pair_done(&p);
}

TEST("a terminal's size is passed on, and input given before the server agreed is not lost")
{
	struct pair p;

	pair_init(&p);
	remote_ask_resize(p.ask, 24, 80);
	remote_ask_input(p.ask, STR("early"));
	pair_agree(&p, true);
	pair_turn_until(&p, &p.served, "in early; ");
	CHECK(strstr(p.served.p, "24x80"));
	remote_ask_resize(p.ask, 50, 132);
	pair_turn_until(&p, &p.served, "50x132; ");
	remote_end(p.remote, 0, NULL);
	pair_turn_until(&p, &p.asked, "ended 0 ; ");
	pair_done(&p);
}

TEST("a megabyte of input arrives whole")
{
	struct pair p;
	size_t n = 1 << 20;
	auto_free char *much = xmalloc(n);

	memset(much, 'x', n);
	pair_init(&p);
	pair_agree(&p, false);
	pair_turn_until(&p, &p.served, "ready");
	sbuf_reset(&p.served);
	remote_ask_input(p.ask, (struct str){ much, n });
	for (int i = 0; i < 5000 && p.served.n < n; i++)
		web_turn(&p.web);
	CHECK_INT(p.served.n, n);
	remote_end(p.remote, 0, NULL);
	pair_turn_until(&p, &p.asked, "ended 0 ; ");
	pair_done(&p);
}

TEST("a refusal is told in the server's words")
{
	static const char refusal[] = "{\"kind\":\"Status\",\"status\":\"Failure\",\"message\":\"pods \\\"a\\\" not "
				      "found\",\"reason\":\"NotFound\",\"code\":404}";
	struct pair p;

	pair_init(&p);
	http_reply(p.web.waiting[0], 404, "application/json", refusal, strlen(refusal));
	pair_turn_until(&p, &p.asked, "ended");
	CHECK_STR(p.asked.p, "ended -1 pods \"a\" not found; ");
	pair_done(&p);
}

TEST("a server that goes away is an error, not an exit status")
{
	struct pair p;

	pair_init(&p);
	pair_agree(&p, false);
	pair_turn_until(&p, &p.asked, "opened; ");
	remote_close(p.remote);
	pair_turn_until(&p, &p.asked, "ended -1 the connection to the server broke off; ");
	pair_done(&p);
}

TEST("who leaves first is gone for the server")
{
	struct pair p;

	pair_init(&p);
	pair_agree(&p, false);
	pair_turn_until(&p, &p.asked, "opened; ");
	remote_ask_free(p.ask);
	p.ask = NULL;
	pair_turn_until(&p, &p.served, "closed; ");
	pair_done(&p);
}

TEST("nobody at the socket is an error at once")
{
	const struct remote_ask_handlers h = { .ended = on_ended };
	const struct remote_ask_place to = { .socket = "/nowhere/at/all" };
	struct loop *loop = loop_new();
	struct remote_ask *a = NULL;
	struct err e = ERR_INIT;

	CHECK_INT(remote_ask_new(loop, &to, "/x", &h, &a, &e), -1);
	CHECK_STR(e.text, "cannot connect to /nowhere/at/all: No such file or directory");
	loop_free(loop);
}
