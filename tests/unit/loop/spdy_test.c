// SPDX-License-Identifier: Apache-2.0
/* spdy_test.c - frames to streams and back */
#include <zlib.h>

#include "base/jsonx.h"
#include "spdy_client.h"

struct side {
	struct spdy *spdy;
	struct sbuf events, sent;
	const char *refuse;
};

static bool on_opened(void *arg, uint32_t id, const json_t *headers)
{
	struct side *s = arg;
	const char *type = jsonx_str_or(headers, "streamtype", "-");

	if (s->refuse && streq(type, s->refuse))
		return false;
	sbuf_addf(&s->events, "opened %u %s; ", id, type);
	return true;
}

static void on_data(void *arg, uint32_t id, struct str bytes)
{
	sbuf_addf(&((struct side *)arg)->events, "data %u %.*s; ", id, STR_FMT(bytes));
}

static void on_ended(void *arg, uint32_t id)
{
	sbuf_addf(&((struct side *)arg)->events, "ended %u; ", id);
}

static void on_reset(void *arg, uint32_t id)
{
	sbuf_addf(&((struct side *)arg)->events, "reset %u; ", id);
}

static void on_send(void *arg, struct str head, struct str body)
{
	sbuf_add(&((struct side *)arg)->sent, head.p, head.n);
	sbuf_add(&((struct side *)arg)->sent, body.p, body.n);
}

static void side_init(struct side *s)
{
	const struct spdy_handlers h = { on_opened, on_data, on_ended, on_reset, on_send, s };

	*s = (struct side){ .events = SBUF(1 << 20), .sent = SBUF(1 << 24) };
	s->spdy = spdy_new(&h);
}

static void side_done(struct side *s)
{
	spdy_free(s->spdy);
	sbuf_done(&s->events);
	sbuf_done(&s->sent);
}

static const char *said(const struct side *s)
{
	static char text[65536];
	auto_sbuf struct sbuf words = SBUF(sizeof(text));

	client_read(sbuf_str(&s->sent), &words);
	snprintf(text, sizeof(text), "%s", words.p ? words.p : "");
	return text;
}

TEST("the dictionary is the one of SPDY/3")
{
	CHECK_INT(adler32(1, (const unsigned char *)spdy_dictionary, SPDY_DICTIONARY_LEN), 0xe3c6a7c2u);
}

TEST("a session as kubectl has it goes the same way in one piece and byte by byte")
{
	for (int step = 1; step < 3; step++) {
		struct spdy_client c;
		struct side s;
		struct err e = ERR_INIT;
		size_t piece;

		client_init(&c);
		side_init(&s);
		client_open(&c, 1, json_pack("{s:s}", "streamtype", "error"), false);
		client_open(&c, 3, json_pack("{s:s, s:s}", "streamtype", "stdin", "x", "y"), false);
		client_open(&c, 5, json_pack("{s:s}", "streamtype", "stdout"), true);
		client_data(&c, 3, "hi", false);
		client_frame(&c, CONTROL(6), 0, (struct str){ "\0\0\0\7", 4 });
		client_frame(&c, CONTROL(6), 0, (struct str){ "\0\0\0\10", 4 });
		client_frame(&c, CONTROL(4), 0, STR("settings are nothing to us"));
		client_data(&c, 3, "!", true);
		client_data(&c, 3, "too late", false);
		client_data(&c, 77, "nobody", true);
		client_reset(&c, 5);
		client_reset(&c, 5);
		piece = step == 1 ? 1 : c.out.n;
		for (size_t at = 0; at < c.out.n; at += piece)
			CHECK_INT(spdy_feed(s.spdy, (struct str){ c.out.p + at, piece }, &e), 0);
		CHECK_STR(s.events.p, step == 1
					      ? "opened 1 error; opened 3 stdin; opened 5 stdout; ended 5; data 3 h; "
						"data 3 i; data 3 !; ended 3; reset 5; "
					      : "opened 1 error; opened 3 stdin; opened 5 stdout; ended 5; data 3 hi; "
						"data 3 !; ended 3; reset 5; ");
		CHECK_STR(said(&s), "reply 1; reply 3; reply 5; ping 7; ");
		CHECK_INT(spdy_streams(s.spdy), 2);
		side_done(&s);
		client_done(&c);
	}
}

TEST("what goes out is framed, ends once, and streams ended by both sides are forgotten")
{
	struct spdy_client c;
	struct side s;
	struct err e = ERR_INIT;
	char *much = xcalloc(1, 100000);

	client_init(&c);
	side_init(&s);
	s.refuse = "odd";
	client_open(&c, 1, json_pack("{s:s}", "streamtype", "a"), false);
	client_open(&c, 3, json_pack("{s:s}", "streamtype", "odd"), false);
	client_open(&c, 5, NULL, true);
	CHECK_INT(spdy_feed(s.spdy, sbuf_str(&c.out), &e), 0);
	CHECK_STR(s.events.p, "opened 1 a; opened 5 -; ended 5; ");
	CHECK_STR(said(&s), "reply 1; reply 3; reset 3; reply 5; ");
	sbuf_reset(&s.sent);
	spdy_send(s.spdy, 1, STR("x"), false);
	spdy_send(s.spdy, 1, STR(""), false);
	spdy_send(s.spdy, 1, STR("y"), true);
	spdy_send(s.spdy, 1, STR("z"), true);
	spdy_send(s.spdy, 3, STR("z"), true);
	spdy_send(s.spdy, 5, STR(""), true);
	CHECK_STR(said(&s), "data 1 x; data 1 y; end 1; end 5; ");
	CHECK_INT(spdy_streams(s.spdy), 1);
	spdy_reset(s.spdy, 1);
	spdy_reset(s.spdy, 1);
	spdy_goaway(s.spdy);
	spdy_goaway(s.spdy);
	CHECK_STR(said(&s), "data 1 x; data 1 y; end 1; end 5; reset 1; goaway; ");
	CHECK_INT(spdy_streams(s.spdy), 0);
	sbuf_reset(&s.sent);
	sbuf_reset(&c.out);
	client_open(&c, 7, NULL, false);
	CHECK_INT(spdy_feed(s.spdy, sbuf_str(&c.out), &e), 0);
	CHECK_STR(said(&s), "reset 7; ");
	side_done(&s);
	client_done(&c);

	client_init(&c);
	side_init(&s);
	client_open(&c, 1, NULL, false);
	CHECK_INT(spdy_feed(s.spdy, sbuf_str(&c.out), &e), 0);
	sbuf_reset(&s.sent);
	spdy_send(s.spdy, 1, (struct str){ much, 100000 }, false);
	CHECK_INT(s.sent.n, 100000 + 4 * 8);
	free(much);
	side_done(&s);
	client_done(&c);
}

TEST("a client that breaks the rules is told which")
{
	static const struct {
		uint32_t first;
		struct str body;
		const char *want;
	} rows[] = {
		{ 0x80020001u, STR(""), "the client broke the rules of SPDY: not version 3" },
		{ CONTROL(1), STR("short"), "the client broke the rules of SPDY: a short SYN_STREAM" },
		{ CONTROL(1),
		  { "\0\0\0\2\0\0\0\0\0\0", 10 },
		  "the client broke the rules of SPDY: a stream number out of turn" },
		{ CONTROL(1), { "\0\0\0\1\0\0\0\0\0\0garbage", 17 }, "a SPDY header block cannot be unpacked" },
		{ CONTROL(1), { "\0\0\0\1\0\0\0\0\0\0", 10 }, "a SPDY header block is malformed" },
		{ CONTROL(3), STR("short"), "the client broke the rules of SPDY: a RST_STREAM of the wrong length" },
		{ CONTROL(6), STR("short"), "the client broke the rules of SPDY: a PING of the wrong length" },
		{ CONTROL(8), STR("x"), "the client broke the rules of SPDY: a short HEADERS" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct spdy_client c;
		struct side s;
		struct err e = ERR_INIT;

		client_init(&c);
		side_init(&s);
		client_frame(&c, rows[i].first, 0, rows[i].body);
		CHECK(spdy_feed(s.spdy, sbuf_str(&c.out), &e) < 0);
		CHECK_STR(e.text, rows[i].want);
		side_done(&s);
		client_done(&c);
	}
}

TEST("a control frame, a header block and the number of streams have their limits")
{
	struct spdy_client c;
	struct side s;
	struct err e = ERR_INIT;
	auto_sbuf struct sbuf huge = SBUF(1 << 20);

	client_init(&c);
	side_init(&s);
	sbuf_add(&c.out, "\x80\3\0\1\0\xff\xff\xff", 8);
	CHECK(spdy_feed(s.spdy, sbuf_str(&c.out), &e) < 0);
	CHECK_STR(e.text, "the client broke the rules of SPDY: a control frame that is too long");
	side_done(&s);

	side_init(&s);
	sbuf_reset(&c.out);
	for (uint32_t i = 0; i <= SPDY_STREAMS_MAX; i++)
		client_open(&c, 2 * i + 1, NULL, false);
	CHECK_INT(spdy_feed(s.spdy, sbuf_str(&c.out), &e), 0);
	CHECK_INT(spdy_streams(s.spdy), SPDY_STREAMS_MAX);
	CHECK(str_ends(said(&s), "reset 2049; "));
	side_done(&s);
	client_done(&c);

	/* A small block that would unpack to much. */
	client_init(&c);
	side_init(&s);
	for (int i = 0; i < 60000; i++)
		sbuf_addc(&huge, 'a');
	client_open(&c, 1, json_pack("{s:s, s:s}", "a", "b", "c", huge.p), false);
	CHECK_INT(spdy_feed(s.spdy, sbuf_str(&c.out), &e), 0);
	side_done(&s);
	client_done(&c);
	{
		unsigned char packed[4096];
		uLongf n = sizeof(packed);
		char *zeros = xcalloc(1, 200000);
		auto_sbuf struct sbuf body = SBUF(8192);

		CHECK_INT(compress(packed, &n, (unsigned char *)zeros, 200000), Z_OK);
		client_init(&c);
		side_init(&s);
		sbuf_add(&body, "\0\0\0\1\0\0\0\0\0\0", 10);
		sbuf_add(&body, packed, n);
		client_frame(&c, CONTROL(1), 0, sbuf_str(&body));
		CHECK(spdy_feed(s.spdy, sbuf_str(&c.out), &e) < 0);
		CHECK_INT(e.kind, ERR_TOO_LARGE);
		free(zeros);
		side_done(&s);
		client_done(&c);
	}
}
