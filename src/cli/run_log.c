// SPDX-License-Identifier: Apache-2.0
/* run_log.c - see run_log.h
 *
 * A stream that ends before the container has is opened again, and what was already shown is skipped: by its length,
 * as long as the server still has all of it, else by the time of the last piece.
 */
#include "cli/run_log.h"

#include <stdio.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/limits.h"
#include "base/mem.h"
#include "cli/output.h"

#define RETRY_MS   300
#define WHOLE_LOG  (8u * 1024 * 1024) /* a log that is shorter has not been rotated anywhere */
#define LINE_LIMIT (1024 * 1024)

struct run_log {
	struct run_log_options o;
	char *ns, *pod, *container, *mark;
	void *stream;
	uint64_t shown; /* bytes */
	uint64_t skip;  /* of those that come now */
	int64_t last;   /* when, seconds since 1970 */
	struct sbuf line;
	struct loop_timer retry;
	int errors;
	bool ending, done;
};

#define ERRORS_MAX 100 /* half a minute without a server or a pod */

static void write_out(struct run_log *l, const char *p, size_t n)
{
	if (fwrite(p, 1, n, stdout) != n)
		l->o.deaf(l->o.arg);
}

static void write_line(struct run_log *l)
{
	static const char *const colours[] = { "\033[36m", "\033[33m", "\033[32m", "\033[35m", "\033[34m", "\033[31m" };
	bool coloured = output_colours(STDOUT_FILENO);
	auto_sbuf struct sbuf out = SBUF(LINE_LIMIT + 1024);

	sbuf_addf(&out, "%s%s |%s %s\n", coloured ? colours[l->o.number % ARRAY_SIZE(colours)] : "", l->mark,
		  coloured ? "\033[0m" : "", l->line.p ? l->line.p : "");
	write_out(l, out.p, out.n);
	sbuf_reset(&l->line);
}

static void show(struct run_log *l, struct str piece)
{
	const char *nl;

	if (!l->mark) {
		write_out(l, piece.p, piece.n);
		return;
	}
	while (piece.n && (nl = memchr(piece.p, '\n', piece.n))) {
		size_t n = (size_t)(nl - piece.p);

		sbuf_add(&l->line, piece.p, n);
		write_line(l);
		piece.p += n + 1;
		piece.n -= n + 1;
	}
	sbuf_add(&l->line, piece.p, piece.n);
}

static void on_piece(void *arg, struct str piece)
{
	struct run_log *l = arg;
	size_t old = piece.n < l->skip ? piece.n : (size_t)l->skip;

	l->errors = 0;
	l->skip -= old;
	piece.p += old;
	piece.n -= old;
	if (!piece.n)
		return;
	l->shown += piece.n;
	l->last = clock_wall();
	show(l, piece);
	if (fflush(stdout) != 0)
		l->o.deaf(l->o.arg);
}

static void finish(struct run_log *l)
{
	if (l->line.n)
		write_line(l);
	fflush(stdout);
	l->done = true;
}

static void on_end(void *arg, const struct err *e)
{
	struct run_log *l = arg;

	l->stream = NULL;
	if ((l->ending && e->kind == ERR_NONE) || e->kind == ERR_NOT_FOUND || ++l->errors > ERRORS_MAX)
		finish(l);
	else
		loop_timer_set(l->o.client->loop, &l->retry, RETRY_MS);
}

static void open_stream(void *arg)
{
	struct run_log *l = arg;
	auto_sbuf struct sbuf path = SBUF(LIMIT_URL);
	char since[CLOCK_RFC3339_LEN];

	sbuf_adds(&path, "/api/v1/namespaces/");
	client_escape(&path, l->ns);
	sbuf_adds(&path, "/pods/");
	client_escape(&path, l->pod);
	sbuf_adds(&path, "/log?follow=true&container=");
	client_escape(&path, l->container);
	l->skip = l->shown;
	if (l->shown > WHOLE_LOG) {
		clock_rfc3339(l->last + 1, since);
		sbuf_adds(&path, "&sinceTime=");
		client_escape(&path, since);
		l->skip = 0;
	}
	l->stream = l->o.client->ops->stream(l->o.client, path.p, on_piece, on_end, l);
}

struct run_log *run_log_new(const struct run_log_options *o)
{
	struct run_log *l = xcalloc(1, sizeof(*l));

	l->o = *o;
	l->ns = xstrdup(o->ns);
	l->pod = xstrdup(o->pod);
	l->container = xstrdup(o->container);
	l->mark = o->mark ? xstrdup(o->mark) : NULL;
	l->line = SBUF(LINE_LIMIT);
	l->retry = (struct loop_timer){ .fire = open_stream, .arg = l };
	open_stream(l);
	return l;
}

void run_log_free(struct run_log *l)
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
	free(l->mark);
	free(l);
}

void run_log_ending(struct run_log *l)
{
	l->ending = true;
}

bool run_log_is_done(const struct run_log *l)
{
	return l->done;
}

uint64_t run_log_shown(const struct run_log *l)
{
	return l->shown;
}
