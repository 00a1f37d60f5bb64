// SPDX-License-Identifier: Apache-2.0
/* quick_test.c - replies read in pieces of any size */
#include "client/quick.h"

#include "base/mem.h"
#include "test.h"

static bool keep(void *arg, struct str piece)
{
	sbuf_add(arg, piece.p, piece.n);
	return true;
}

/* The body of a reply that comes `step` bytes at a time; NULL if it is none. */
static char *fed(const char *text, size_t step, int *ret_code, enum reply_state *ret_state)
{
	auto_sbuf struct sbuf body = SBUF(1000);
	struct err e = ERR_INIT;
	size_t n = strlen(text);
	struct reply r;
	bool ok = true;

	reply_init(&r);
	for (size_t at = 0; ok && at < n && r.state != REPLY_DONE; at += step)
		ok = reply_feed(&r, (struct str){ text + at, n - at < step ? n - at : step }, keep, &body, &e) >= 0;
	*ret_code = r.code;
	*ret_state = r.state;
	reply_done(&r);
	return ok ? sbuf_steal(&body) : NULL;
}

TEST("a reply is read whole, however it is cut")
{
	static const struct {
		const char *text;
		int code;
		const char *body; /* NULL: no HTTP */
		enum reply_state state;
	} rows[] = {
		{ "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello", 200, "hello", REPLY_DONE },
		{ "HTTP/1.1 201 Created\r\ncontent-length:2\r\nX: y\r\n\r\n{}", 201, "{}", REPLY_DONE },
		{ "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\nA\r\n0123456789\r\n0\r\n\r\n", 200,
		  "abc0123456789", REPLY_DONE },
		{ "HTTP/1.1 200 OK\r\nTransfer-Encoding: Chunked\r\n\r\n1;x=y\r\na\r\n0\r\nT: v\r\n\r\n", 200, "a",
		  REPLY_DONE },
		{ "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n", 404, "",
		  REPLY_DONE },
		{ "HTTP/1.1 204 No Content\r\n\r\n", 204, "", REPLY_DONE },
		{ "HTTP/1.0 200 OK\r\n\r\nto the end", 200, "to the end", REPLY_BODY },
		{ "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhello", 200, "hello", REPLY_BODY },
		{ "HTTP/1.1 200 OK\r\nContent-Length: x\r\n\r\n", 200, NULL, REPLY_HEAD },
		{ "HTTP/1.1 200 OK\r\nno colon\r\n\r\n", 200, NULL, REPLY_HEAD },
		{ "HTTP/1.1 9 OK\r\n\r\n", 9, NULL, REPLY_HEAD },
		{ "SSH-2.0-x\r\n", 0, NULL, REPLY_HEAD },
		{ "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n", 200, NULL, REPLY_CHUNK },
		{ "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nab\r\n", 200, NULL, REPLY_CHUNK },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		for (size_t step = 1; step < 80; step += 6) {
			enum reply_state state;
			int code;
			auto_free char *body = fed(rows[i].text, step, &code, &state);

			CHECK_STR(body, rows[i].body);
			CHECK_INT(code, rows[i].code);
			CHECK_INT(state, rows[i].state);
		}
}
