// SPDX-License-Identifier: Apache-2.0
/* log_rest.c - see log_rest.h
 *
 * Each stream is followed by itself, and what was written before is skipped by its length: in the log both are one, in
 * an order that may differ a little from that in which they came.  Of a log that may have lost its beginning, because
 * it is long, only what came after the last piece is asked for.
 */
#include "pbs/log_rest.h"

#include "base/clock.h"
#include "base/limits.h"
#include "base/mem.h"
#include "client/terminal.h"

#define WHOLE_LOG (4u * 1024 * 1024) /* with the times of its lines, a log of so much output is surely still whole */

struct part {
	const struct pbs_rest *rest;
	int stream;
	uint64_t skip;
	void *handle;
	struct err e;
};

uint64_t log_rest_query(struct sbuf *out, const char *container, int stream, const struct terminal_told *told)
{
	char since[CLOCK_MICRO_LEN];

	sbuf_addf(out, "/log?follow=true&stream=%s&container=", stream == 2 ? "Stderr" : "Stdout");
	client_escape(out, container);
	if (told->bytes[0] + told->bytes[1] <= WHOLE_LOG)
		return told->bytes[stream == 2];
	clock_rfc3339_micro(told->last_us + 1, since);
	sbuf_adds(out, "&sinceTime=");
	client_escape(out, since);
	return 0;
}

static void on_piece(void *arg, struct str piece)
{
	struct part *p = arg;
	size_t old = piece.n < p->skip ? piece.n : (size_t)p->skip;

	p->skip -= old;
	if (piece.n > old)
		terminal_write(p->stream, (struct str){ piece.p + old, piece.n - old }, p->rest->told);
}

static void on_end(void *arg, const struct err *e)
{
	struct part *p = arg;

	p->handle = NULL;
	p->e = *e;
}

static void begin(struct client *c, struct part *p)
{
	auto_sbuf struct sbuf path = SBUF(LIMIT_URL);

	sbuf_adds(&path, p->rest->pod);
	p->skip = log_rest_query(&path, p->rest->container, p->stream, p->rest->told);
	p->handle = c->ops->stream(c, path.p, on_piece, on_end, p);
}

static void on_input_end(void *arg, int code, const struct err *e)
{
	(void)arg;
	(void)code;
	(void)e;
}

int log_rest_write(struct client *c, const struct pbs_rest *rest, const bool *stop, struct err *e)
{
	struct part parts[] = { { .rest = rest, .stream = 1, .e = ERR_INIT },
				{ .rest = rest, .stream = 2, .e = ERR_INIT } };
	struct terminal_wants wants = { .path = rest->input, .in = true, .tty = true, .ended = on_input_end };
	struct terminal *input = NULL;
	struct err ignored = ERR_INIT;

	if (rest->input) /* a program that does not run takes none */
		(void)!terminal_new(c, &wants, &input, &ignored);
	for (size_t i = 0; i < ARRAY_SIZE(parts); i++)
		begin(c, &parts[i]);
	while (!*stop && (parts[0].handle || parts[1].handle))
		loop_turn(c->loop, false);
	for (size_t i = 0; i < ARRAY_SIZE(parts); i++)
		if (parts[i].handle)
			c->ops->stream_stop(c, parts[i].handle);
	terminal_free(input);
	*e = parts[0].e.kind != ERR_NONE ? parts[0].e : parts[1].e;
	return e->kind == ERR_NONE ? 0 : -1;
}
