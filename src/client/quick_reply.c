// SPDX-License-Identifier: Apache-2.0
/* quick_reply.c - reads an HTTP/1.1 reply from our own server, in pieces of any size
 *
 * Only what a server may send to a client that offers nothing: a length, chunks, or the end of the connection.
 */
#include <ctype.h>
#include <stdlib.h>
#include <strings.h>

#include "base/limits.h"
#include "base/mem.h"
#include "client/quick.h"

enum { LINE_MAX_BYTES = 65536 };

void reply_init(struct reply *r)
{
	*r = (struct reply){ .line = SBUF(LINE_MAX_BYTES) };
}

void reply_done(struct reply *r)
{
	sbuf_done(&r->line);
}

static int malformed(struct err *e)
{
	return err_set(e, ERR_UNAVAILABLE, "the server's answer is not HTTP");
}

static bool number(const char *text, int base, uint64_t *ret)
{
	char *end;

	if (!isxdigit((unsigned char)text[0]))
		return false;
	*ret = strtoull(text, &end, base);
	return (!*end || *end == ';' || *end == ' ') && *ret <= INT64_MAX;
}

static int status_line(struct reply *r, const char *line, struct err *e)
{
	if (!str_starts(line, "HTTP/1.") || strlen(line) < strlen("HTTP/1.1 200") || line[8] != ' ')
		return malformed(e);
	r->code = (int)strtol(line + 9, NULL, 10);
	return r->code >= 100 && r->code <= 599 ? 0 : malformed(e);
}

static int header(struct reply *r, char *line, struct err *e)
{
	char *colon = strchr(line, ':');
	struct str value;

	if (!colon)
		return malformed(e);
	*colon = 0;
	value = str_trim(str_of(colon + 1));
	if (strcasecmp(line, "Content-Length") == 0) {
		r->sized = number(value.p, 10, &r->left);
		return r->sized ? 0 : malformed(e);
	}
	if (strcasecmp(line, "Transfer-Encoding") == 0)
		r->chunked = value.n == strlen("chunked") && strncasecmp(value.p, "chunked", value.n) == 0;
	if (strcasecmp(line, "Connection") == 0)
		r->close = value.n == strlen("close") && strncasecmp(value.p, "close", value.n) == 0;
	return 0;
}

/* The head is over: what follows? */
static void begin_body(struct reply *r)
{
	bool interim = r->code < 200;

	if (interim) {
		r->code = 0;
		return;
	}
	if (r->code == 204 || r->code == 304)
		r->state = REPLY_DONE;
	else if (r->chunked)
		r->state = REPLY_CHUNK;
	else
		r->state = r->sized && !r->left ? REPLY_DONE : REPLY_BODY;
	r->close |= !r->chunked && !r->sized && r->state == REPLY_BODY;
}

static int chunk_line(struct reply *r, const char *line, struct err *e)
{
	if (!number(line, 16, &r->left))
		return malformed(e);
	r->state = r->left ? REPLY_BODY : REPLY_TRAILER;
	return 0;
}

static int take_line(struct reply *r, char *line, struct err *e)
{
	switch (r->state) {
	case REPLY_HEAD:
		if (!r->code)
			return status_line(r, line, e);
		if (line[0])
			return header(r, line, e);
		begin_body(r);
		return 0;
	case REPLY_CHUNK:
		return chunk_line(r, line, e);
	case REPLY_CHUNK_END:
		r->state = REPLY_CHUNK;
		return line[0] ? malformed(e) : 0;
	default: /* trailers are nothing to us */
		r->state = line[0] ? REPLY_TRAILER : REPLY_DONE;
		return 0;
	}
}

/* Up to the end of a line; how much of it was read, or -1. */
static int feed_line(struct reply *r, struct str bytes, struct err *e)
{
	const char *end = memchr(bytes.p, '\n', bytes.n);
	size_t n = end ? (size_t)(end - bytes.p) + 1 : bytes.n;
	auto_free char *line = NULL;

	sbuf_add(&r->line, bytes.p, n);
	if (r->line.over || (r->line.n && memchr(r->line.p, 0, r->line.n)))
		return malformed(e);
	if (!end)
		return (int)n;
	line = sbuf_steal(&r->line);
	line[strcspn(line, "\r\n")] = 0;
	return take_line(r, line, e) < 0 ? -1 : (int)n;
}

static int feed_body(struct reply *r, struct str bytes, reply_piece *piece, void *arg, struct err *e)
{
	bool counted = r->chunked || r->sized;
	size_t n = counted && r->left < bytes.n ? (size_t)r->left : bytes.n;

	r->left -= counted ? n : 0;
	if (counted && !r->left)
		r->state = r->chunked ? REPLY_CHUNK_END : REPLY_DONE;
	if (n && !piece(arg, (struct str){ bytes.p, n })) {
		err_clear(e);
		return -1;
	}
	return (int)n;
}

int reply_feed(struct reply *r, struct str bytes, reply_piece *piece, void *arg, struct err *e)
{
	size_t at = 0;

	while (at < bytes.n && r->state != REPLY_DONE) {
		struct str rest = { bytes.p + at, bytes.n - at };
		int n = r->state == REPLY_BODY ? feed_body(r, rest, piece, arg, e) : feed_line(r, rest, e);

		if (n < 0)
			return -1;
		at += (size_t)n;
	}
	return (int)at;
}
