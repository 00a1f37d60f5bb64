// SPDX-License-Identifier: Apache-2.0
/* run_log.c - see run_log.h */
#include "cli/run_log.h"

#include <stdio.h>
#include <unistd.h>

#include "base/mem.h"
#include "cli/output.h"

struct run_log {
	struct run_log_options o;
	char *mark;
	struct log_stream *stream;
};

static const char *colour(size_t number)
{
	static const char *const colours[] = { "\033[36m", "\033[33m", "\033[32m", "\033[35m", "\033[34m", "\033[31m" };

	return colours[number % ARRAY_SIZE(colours)];
}

static void on_piece(void *arg, struct str piece)
{
	struct run_log *l = arg;

	if (fwrite(piece.p, 1, piece.n, stdout) != piece.n || fflush(stdout) != 0)
		l->o.deaf(l->o.arg);
}

static void on_line(void *arg, struct str line)
{
	struct run_log *l = arg;
	bool coloured = output_colours(STDOUT_FILENO);

	printf("%s%s |%s ", coloured ? colour(l->o.number) : "", l->mark, coloured ? "\033[0m" : "");
	fwrite(line.p, 1, line.n, stdout);
	putchar('\n');
	if (fflush(stdout) != 0)
		l->o.deaf(l->o.arg);
}

struct run_log *run_log_new(const struct run_log_options *o)
{
	struct run_log *l = xcalloc(1, sizeof(*l));
	struct log_stream_options from = {
		.client = o->client, .ns = o->ns, .pod = o->pod, .container = o->container, .arg = l
	};

	l->o = *o;
	l->mark = o->mark ? xstrdup(o->mark) : NULL;
	if (l->mark)
		from.line = on_line;
	else
		from.piece = on_piece;
	l->stream = log_stream_new(&from);
	return l;
}

void run_log_free(struct run_log *l)
{
	if (!l)
		return;
	log_stream_free(l->stream);
	free(l->mark);
	free(l);
}

struct log_stream *run_log_stream(struct run_log *l)
{
	return l->stream;
}
