// SPDX-License-Identifier: Apache-2.0
/* spdy.c - frames to streams and back
 *
 *	control   1|version 15|type 16|flags 8|length 24|...
 *	data      0|stream 31        |flags 8|length 24|bytes
 *
 * Control frames are collected, within a bound, and looked up in a table; data is handed on as it comes.  A stream is
 * in the table until both sides have ended it or one has reset it.  What comes for a stream that is not there is
 * dropped: the client may have sent it before it heard.
 */
#include "loop/spdy.h"

#include "base/mem.h"

#define HEAD_LEN   8
#define VERSION    3
#define FLAG_FIN   0x01
#define FRAME_DATA (32u * 1024) /* bytes of a data frame we send; the client keeps a frame in memory */

#define STATUS_REFUSED 3
#define STATUS_CANCEL  5

enum frame_type { SYN_STREAM = 1, SYN_REPLY = 2, RST_STREAM = 3, PING = 6, GOAWAY = 7, HEADERS = 8 };

struct stream {
	uint32_t id;
	bool in, out; /* still open in that direction */
};

struct spdy {
	struct spdy_handlers h;
	struct spdy_unpacker *unpacker;
	struct spdy_packer *packer;
	struct stream *streams; /* by id, which only grows */
	size_t nstreams, cap;
	uint32_t last_id;
	bool leaving;
	/* the frame under way */
	unsigned char head[HEAD_LEN];
	size_t head_n;
	uint32_t left; /* bytes of it still to come */
	struct sbuf control;
};

struct spdy *spdy_new(const struct spdy_handlers *h)
{
	struct spdy *s = xcalloc(1, sizeof(*s));

	s->h = *h;
	s->unpacker = spdy_unpacker_new();
	s->packer = spdy_packer_new();
	sbuf_init(&s->control, SPDY_CONTROL_MAX);
	return s;
}

void spdy_free(struct spdy *s)
{
	if (!s)
		return;
	spdy_unpacker_free(s->unpacker);
	spdy_packer_free(s->packer);
	sbuf_done(&s->control);
	free(s->streams);
	free(s);
}

size_t spdy_streams(const struct spdy *s)
{
	return s->nstreams;
}

/* --- the table of streams --- */

static struct stream *find(const struct spdy *s, uint32_t id)
{
	size_t low = 0;
	size_t high = s->nstreams;

	while (low < high) {
		size_t mid = (low + high) / 2;

		if (s->streams[mid].id == id)
			return &s->streams[mid];
		if (s->streams[mid].id < id)
			low = mid + 1;
		else
			high = mid;
	}
	return NULL;
}

static void drop(struct spdy *s, uint32_t id)
{
	struct stream *st = find(s, id);
	size_t at;

	if (!st)
		return;
	at = (size_t)(st - s->streams);
	memmove(st, st + 1, (s->nstreams - at - 1) * sizeof(*st));
	s->nstreams--;
}

/* --- sending --- */

static void put32(unsigned char *p, uint32_t v)
{
	p[0] = (unsigned char)(v >> 24);
	p[1] = (unsigned char)(v >> 16);
	p[2] = (unsigned char)(v >> 8);
	p[3] = (unsigned char)v;
}

static uint32_t get32(const char *p)
{
	const unsigned char *u = (const unsigned char *)p;

	return (uint32_t)u[0] << 24 | (uint32_t)u[1] << 16 | (uint32_t)u[2] << 8 | u[3];
}

static void send_frame(struct spdy *s, uint32_t first, unsigned flags, struct str body)
{
	unsigned char head[HEAD_LEN];

	put32(head, first);
	put32(head + 4, (uint32_t)flags << 24 | (uint32_t)body.n);
	s->h.send(s->h.arg, (struct str){ (const char *)head, sizeof(head) }, body);
}

static void send_control(struct spdy *s, enum frame_type type, struct str body)
{
	send_frame(s, 0x80000000u | VERSION << 16 | (uint32_t)type, 0, body);
}

/* For the frames that are two numbers. */
static void send_pair(struct spdy *s, enum frame_type type, uint32_t a, uint32_t b)
{
	unsigned char body[8];

	put32(body, a);
	put32(body + 4, b);
	send_control(s, type, (struct str){ (const char *)body, sizeof(body) });
}

static void send_reply(struct spdy *s, uint32_t id)
{
	auto_sbuf struct sbuf body = SBUF(4096);
	unsigned char number[4];

	put32(number, id);
	sbuf_add(&body, number, sizeof(number));
	spdy_pack(s->packer, NULL, &body);
	send_control(s, SYN_REPLY, sbuf_str(&body));
}

void spdy_send(struct spdy *s, uint32_t id, struct str bytes, bool end)
{
	struct stream *st = find(s, id);

	if (!st || !st->out)
		return;
	while (bytes.n || end) {
		struct str piece = { bytes.p, bytes.n < FRAME_DATA ? bytes.n : FRAME_DATA };
		bool last = piece.n == bytes.n;

		send_frame(s, id, last && end ? FLAG_FIN : 0, piece);
		bytes.p += piece.n;
		bytes.n -= piece.n;
		if (last)
			break;
	}
	if (!end)
		return;
	st->out = false;
	if (!st->in)
		drop(s, id);
}

void spdy_reset(struct spdy *s, uint32_t id)
{
	if (!find(s, id))
		return;
	drop(s, id);
	send_pair(s, RST_STREAM, id, STATUS_CANCEL);
}

void spdy_goaway(struct spdy *s)
{
	if (!s->leaving)
		send_pair(s, GOAWAY, s->last_id, 0);
	s->leaving = true;
}

/* --- frames that come --- */

static int broken(struct err *e, const char *what)
{
	return err_set(e, ERR_BAD_REQUEST, "the client broke the rules of SPDY: %s", what);
}

/* The client has ended its side. */
static void end_input(struct spdy *s, uint32_t id)
{
	struct stream *st = find(s, id);

	if (!st || !st->in)
		return;
	st->in = false;
	if (!st->out)
		drop(s, id);
	s->h.ended(s->h.arg, id);
}

static int on_syn_stream(struct spdy *s, unsigned flags, struct str body, struct err *e)
{
	json_auto_t *headers = NULL;
	uint32_t id;

	if (body.n < 10)
		return broken(e, "a short SYN_STREAM");
	id = get32(body.p) & 0x7fffffffu;
	if (!(id & 1) || id <= s->last_id)
		return broken(e, "a stream number out of turn");
	/* Unpacked in any case: the next block builds on this one. */
	if (spdy_unpack(s->unpacker, (struct str){ body.p + 10, body.n - 10 }, &headers, e) < 0)
		return -1;
	s->last_id = id;
	if (s->leaving || s->nstreams == SPDY_STREAMS_MAX) {
		send_pair(s, RST_STREAM, id, STATUS_REFUSED);
		return 0;
	}
	ARRAY_PUSH(s->streams, s->nstreams, s->cap, ((struct stream){ .id = id, .in = true, .out = true }));
	send_reply(s, id);
	if (!s->h.opened(s->h.arg, id, headers)) {
		drop(s, id);
		send_pair(s, RST_STREAM, id, STATUS_REFUSED);
		return 0;
	}
	if (flags & FLAG_FIN)
		end_input(s, id);
	return 0;
}

static int on_rst_stream(struct spdy *s, unsigned flags, struct str body, struct err *e)
{
	uint32_t id;

	(void)flags;
	if (body.n != 8)
		return broken(e, "a RST_STREAM of the wrong length");
	id = get32(body.p) & 0x7fffffffu;
	if (!find(s, id))
		return 0;
	drop(s, id);
	s->h.reset(s->h.arg, id);
	return 0;
}

static int on_ping(struct spdy *s, unsigned flags, struct str body, struct err *e)
{
	(void)flags;
	if (body.n != 4)
		return broken(e, "a PING of the wrong length");
	if (get32(body.p) & 1) /* else it would answer one of ours, and we send none */
		send_control(s, PING, body);
	return 0;
}

static int on_headers(struct spdy *s, unsigned flags, struct str body, struct err *e)
{
	json_auto_t *headers = NULL;

	(void)flags;
	if (body.n < 4)
		return broken(e, "a short HEADERS");
	return spdy_unpack(s->unpacker, (struct str){ body.p + 4, body.n - 4 }, &headers, e);
}

static int on_goaway(struct spdy *s, unsigned flags, struct str body, struct err *e)
{
	(void)flags;
	(void)body;
	(void)e;
	s->leaving = true;
	return 0;
}

/* SETTINGS, WINDOW_UPDATE and what else there is say nothing to us. */
static int (*const on_control[])(struct spdy *s, unsigned flags, struct str body, struct err *e) = {
	[SYN_STREAM] = on_syn_stream, [RST_STREAM] = on_rst_stream, [PING] = on_ping,
	[GOAWAY] = on_goaway,         [HEADERS] = on_headers,
};

static bool is_control(const struct spdy *s)
{
	return s->head[0] & 0x80;
}

static int begin_frame(struct spdy *s, struct err *e)
{
	s->left = get32((const char *)s->head + 4) & 0xffffffu;
	if (!is_control(s))
		return 0;
	if (((s->head[0] & 0x7f) << 8 | s->head[1]) != VERSION)
		return broken(e, "not version 3");
	if (s->left > SPDY_CONTROL_MAX)
		return broken(e, "a control frame that is too long");
	sbuf_reset(&s->control);
	return 0;
}

static int end_frame(struct spdy *s, struct err *e)
{
	unsigned type = (unsigned)s->head[2] << 8 | s->head[3];
	unsigned flags = s->head[4];

	s->head_n = 0;
	if (!is_control(s)) {
		if (flags & FLAG_FIN)
			end_input(s, get32((const char *)s->head) & 0x7fffffffu);
		return 0;
	}
	if (type >= ARRAY_SIZE(on_control) || !on_control[type])
		return 0;
	return on_control[type](s, flags, sbuf_str(&s->control), e);
}

static void take_data(struct spdy *s, struct str piece)
{
	uint32_t id = get32((const char *)s->head) & 0x7fffffffu;
	const struct stream *st = find(s, id);

	if (is_control(s))
		sbuf_add(&s->control, piece.p, piece.n);
	else if (st && st->in)
		s->h.data(s->h.arg, id, piece);
}

int spdy_feed(struct spdy *s, struct str in, struct err *e)
{
	while (in.n) {
		if (s->head_n < HEAD_LEN) {
			s->head[s->head_n++] = (unsigned char)*in.p++;
			in.n--;
			if (s->head_n == HEAD_LEN && begin_frame(s, e) < 0)
				return -1;
		} else {
			struct str piece = { in.p, in.n < s->left ? in.n : s->left };

			in.p += piece.n;
			in.n -= piece.n;
			s->left -= (uint32_t)piece.n;
			take_data(s, piece);
		}
		if (s->head_n == HEAD_LEN && !s->left && end_frame(s, e) < 0)
			return -1;
	}
	return 0;
}
