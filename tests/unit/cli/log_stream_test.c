// SPDX-License-Identifier: Apache-2.0
#include "cli/log_stream.h"

#include "base/mem.h"
#include "test.h"

/* A server that the test plays. */
struct fake {
	struct client client;
	void (*piece)(void *arg, struct str piece);
	void (*done)(void *arg, const struct err *e);
	void *arg;
	int opened;
	char *path;
	struct sbuf lines;
};

static void *fake_stream(struct client *c, const char *path, void (*piece)(void *arg, struct str piece),
			 void (*done)(void *arg, const struct err *e), void *arg)
{
	struct fake *f = (struct fake *)c;

	free(f->path);
	f->path = xstrdup(path);
	f->piece = piece;
	f->done = done;
	f->arg = arg;
	f->opened++;
	return f;
}

static void fake_stop(struct client *c, void *stream)
{
	(void)c;
	(void)stream;
}

static const struct client_ops fake_ops = { .stream = fake_stream, .stream_stop = fake_stop };

static void on_line(void *arg, struct str line)
{
	sbuf_addf(&((struct fake *)arg)->lines, "<%.*s>", STR_FMT(line));
}

static void fake_init(struct fake *f)
{
	*f = (struct fake){ .client = { .ops = &fake_ops, .loop = loop_new() }, .lines = SBUF(4096) };
}

static void fake_done(struct fake *f)
{
	loop_free(f->client.loop);
	free(f->path);
	sbuf_done(&f->lines);
}

static struct log_stream *follow(struct fake *f)
{
	return log_stream_new(&(struct log_stream_options){ .client = &f->client,
							    .ns = "lab",
							    .pod = "p",
							    .container = "c",
							    .line = on_line,
							    .arg = f,
							    .timestamps = true });
}

static void send(struct fake *f, const char *text)
{
	f->piece(f->arg, str_of(text));
}

static void end(struct fake *f, enum err_kind kind)
{
	struct err e = { .kind = kind };

	f->done(f->arg, &e);
}

TEST("a stream that breaks goes on where it was, in the middle of a line")
{
	struct fake f;

	fake_init(&f);
	struct log_stream *l = follow(&f);
	CHECK_STR(f.path, "/api/v1/namespaces/lab/pods/p/log?follow=true&container=c&timestamps=true");
	send(&f, "one\ntw");
	send(&f, "o\nth");
	end(&f, ERR_UNAVAILABLE);
	while (f.opened < 2)
		loop_turn(f.client.loop, false);
	send(&f, "one\n");
	send(&f, "two\nthree\nfou");
	CHECK_STR(f.lines.p, "<one><two><three>");
	CHECK_INT(log_stream_count(l), 17);
	log_stream_ending(l);
	CHECK(!log_stream_is_done(l));
	end(&f, ERR_NONE);
	CHECK(log_stream_is_done(l));
	CHECK_STR(f.lines.p, "<one><two><three><fou>");
	log_stream_free(l);
	fake_done(&f);
}

TEST("a stream that ends by itself is opened again until the container has ended")
{
	struct fake f;

	fake_init(&f);
	struct log_stream *l = follow(&f);
	end(&f, ERR_NONE);
	CHECK(!log_stream_is_done(l));
	while (f.opened < 2)
		loop_turn(f.client.loop, false);
	end(&f, ERR_NOT_FOUND); /* the pod is gone */
	CHECK(log_stream_is_done(l));
	log_stream_free(l);
	fake_done(&f);
}

TEST("the output of a run that another one follows is not opened again")
{
	struct fake f;

	fake_init(&f);
	struct log_stream *l = follow(&f);
	log_stream_last(l);
	CHECK(!log_stream_is_done(l)); /* something may still come */
	send(&f, "last\n");
	end(&f, ERR_UNAVAILABLE);
	CHECK(log_stream_is_done(l));
	log_stream_free(l);
	l = follow(&f);
	end(&f, ERR_NONE);
	log_stream_last(l);
	CHECK(log_stream_is_done(l));
	CHECK_INT(f.opened, 2);
	CHECK_STR(f.lines.p, "<last>");
	log_stream_free(l);
	fake_done(&f);
}
