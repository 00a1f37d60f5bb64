// SPDX-License-Identifier: Apache-2.0
/* log_stream.c - see log_stream.h
 *
 * A stream that ends before the container has is opened again, and what was already told is skipped: by its length,
 * as long as the server still has all of it, else by the time of the last piece.
 */
#include "cli/log_stream.h"

#include "base/clock.h"
#include "base/limits.h"
#include "base/mem.h"

#define RETRY_MS   300
#define ERRORS_MAX 100                /* half a minute without a server or a pod */
#define WHOLE_LOG  (8u * 1024 * 1024) /* a log that is shorter has not been rotated anywhere */
#define LINE_LIMIT (1024 * 1024)

struct log_stream {
	struct log_stream_options o;
	char *ns, *pod, *container;
	void *stream;
	uint64_t told; /* bytes */
	uint64_t skip; /* of those that come now */
	int64_t last;  /* when, seconds since 1970 */
	struct sbuf line;
	struct loop_timer retry;
	int errors;
	bool ending, final, done;
};

static void tell_line(struct log_stream *l)
{
	l->o.line(l->o.arg, l->line.n ? sbuf_str(&l->line) : STR(""));
	sbuf_reset(&l->line);
}

static void tell_lines(struct log_stream *l, struct str piece)
{
	const char *nl;

	while (piece.n && (nl = memchr(piece.p, '\n', piece.n))) {
		size_t n = (size_t)(nl - piece.p);

		sbuf_add(&l->line, piece.p, n);
		tell_line(l);
		piece.p += n + 1;
		piece.n -= n + 1;
	}
	sbuf_add(&l->line, piece.p, piece.n);
}

static void on_piece(void *arg, struct str piece)
{
	struct log_stream *l = arg;
	size_t old = piece.n < l->skip ? piece.n : (size_t)l->skip;

	l->errors = 0;
	l->skip -= old;
	piece.p += old;
	piece.n -= old;
	if (!piece.n)
		return;
	l->told += piece.n;
	l->last = clock_wall();
	if (l->o.line)
		tell_lines(l, piece);
	else
		l->o.piece(l->o.arg, piece);
}

static void finish(struct log_stream *l)
{
	if (l->line.n)
		tell_line(l);
	l->done = true;
}

static void on_end(void *arg, const struct err *e)
{
	struct log_stream *l = arg;

	l->stream = NULL;
	if (l->final || (l->ending && e->kind == ERR_NONE) || e->kind == ERR_NOT_FOUND || ++l->errors > ERRORS_MAX)
		finish(l);
	else
		loop_timer_set(l->o.client->loop, &l->retry, RETRY_MS);
}

static void open_stream(void *arg)
{
	struct log_stream *l = arg;
	auto_sbuf struct sbuf path = SBUF(LIMIT_URL);
	char since[CLOCK_RFC3339_LEN];

	sbuf_adds(&path, "/api/v1/namespaces/");
	client_escape(&path, l->ns);
	sbuf_adds(&path, "/pods/");
	client_escape(&path, l->pod);
	sbuf_adds(&path, "/log?follow=true&container=");
	client_escape(&path, l->container);
	if (l->o.timestamps)
		sbuf_adds(&path, "&timestamps=true");
	l->skip = l->told;
	if (l->told > WHOLE_LOG) {
		clock_rfc3339(l->last + 1, since);
		sbuf_adds(&path, "&sinceTime=");
		client_escape(&path, since);
		l->skip = 0;
	}
	l->stream = l->o.client->ops->stream(l->o.client, path.p, on_piece, on_end, l);
}

struct log_stream *log_stream_new(const struct log_stream_options *o)
{
	struct log_stream *l = xcalloc(1, sizeof(*l));

	l->o = *o;
	l->ns = xstrdup(o->ns);
	l->pod = xstrdup(o->pod);
	l->container = xstrdup(o->container);
	l->line = SBUF(LINE_LIMIT);
	l->retry = (struct loop_timer){ .fire = open_stream, .arg = l };
	open_stream(l);
	return l;
}

void log_stream_free(struct log_stream *l)
{
	if (!l)
		return;
	if (l->stream)
		l->o.client->ops->stream_stop(l->o.client, l->stream);
	loop_timer_done(&l->retry);
	sbuf_done(&l->line);
	free(l->ns);
	free(l->pod);
	free(l->container);
	free(l);
}

void log_stream_ending(struct log_stream *l)
{
	l->ending = true;
}

void log_stream_last(struct log_stream *l)
{
	l->final = true;
	if (l->stream || l->done)
		return;
	loop_timer_clear(&l->retry);
	finish(l);
}

bool log_stream_is_done(const struct log_stream *l)
{
	return l->done;
}

uint64_t log_stream_count(const struct log_stream *l)
{
	return l->told;
}
