// SPDX-License-Identifier: Apache-2.0
/* fuzz_websocket.c - bytes through the WebSocket machine
 *
 * Each input goes through twice, in one piece and in pieces whose size its first byte says; messages must agree as long
 * as no rule is broken.
 */
#include <assert.h>
#include <stdint.h>

#include "base/mem.h"
#include "loop/websocket.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

struct side {
	struct websocket *ws;
	struct sbuf got, sent;
	bool inside;
};

static void on_piece(void *arg, struct str bytes, unsigned flags)
{
	struct side *s = arg;

	assert(s->inside == !(flags & WEBSOCKET_FIRST));
	s->inside = !(flags & WEBSOCKET_LAST);
	sbuf_add(&s->got, bytes.p, bytes.n);
	if (flags & WEBSOCKET_LAST)
		websocket_send(s->ws, flags & WEBSOCKET_TEXT, &(struct str){ "ok", 2 }, 1);
}

static void on_send(void *arg, struct str bytes)
{
	sbuf_add(&((struct side *)arg)->sent, bytes.p, bytes.n);
}

static bool run(const char *p, size_t n, size_t step, struct side *s)
{
	bool open = true;

	*s = (struct side){ .got = SBUF(1 << 20), .sent = SBUF(1 << 20) };
	s->ws = websocket_new(&(struct websocket_handlers){ on_piece, on_send, s });
	for (size_t at = 0; at < n && open;) {
		size_t piece = n - at < step ? n - at : step;

		open = websocket_feed(s->ws, (struct str){ p + at, piece });
		at += piece;
	}
	websocket_bye(s->ws, WEBSOCKET_NORMAL);
	websocket_free(s->ws);
	return open;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	struct side whole;
	struct side pieces;
	bool open;

	if (n < 2)
		return 0;
	open = run((const char *)data + 1, n - 1, n, &whole);
	open = run((const char *)data + 1, n - 1, (size_t)data[0] % 16 + 1, &pieces) && open;
	/* How soon a broken message is seen depends on its pieces. */
	assert(!open || whole.got.n == pieces.got.n);
	sbuf_done(&whole.got);
	sbuf_done(&whole.sent);
	sbuf_done(&pieces.got);
	sbuf_done(&pieces.sent);
	return 0;
}
