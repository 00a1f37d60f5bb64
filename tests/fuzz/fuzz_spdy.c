// SPDX-License-Identifier: Apache-2.0
/* fuzz_spdy.c - bytes through the SPDY machine
 *
 * Each input goes through twice, in one piece and in pieces whose size its first byte says; the answers must agree.
 */
#include <assert.h>
#include <stdint.h>

#include "base/mem.h"
#include "loop/spdy.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

struct side {
	struct spdy *spdy;
	struct sbuf sent;
	size_t got;
};

static bool on_opened(void *arg, uint32_t id, const json_t *headers)
{
	(void)arg;
	assert(json_is_object(headers));
	return id % 4 == 1;
}

static void on_data(void *arg, uint32_t id, struct str bytes)
{
	((struct side *)arg)->got += bytes.n + id;
}

/* Answers from within, as a session does. */
static void on_ended(void *arg, uint32_t id)
{
	struct side *s = arg;

	if (id % 8 == 1)
		spdy_send(s->spdy, id, STR("done"), true);
	else
		spdy_reset(s->spdy, id);
}

static void on_reset(void *arg, uint32_t id)
{
	((struct side *)arg)->got += id;
}

static void on_send(void *arg, struct str head, struct str body)
{
	sbuf_add(&((struct side *)arg)->sent, head.p, head.n);
	sbuf_add(&((struct side *)arg)->sent, body.p, body.n);
}

static int run(const char *p, size_t n, size_t step, struct side *s)
{
	const struct spdy_handlers h = { on_opened, on_data, on_ended, on_reset, on_send, s };
	struct err e = ERR_INIT;
	int rc = 0;

	*s = (struct side){ .sent = SBUF(1 << 20) };
	s->spdy = spdy_new(&h);
	for (size_t at = 0; at < n && rc == 0;) {
		size_t piece = n - at < step ? n - at : step;

		rc = spdy_feed(s->spdy, (struct str){ p + at, piece }, &e);
		at += piece;
	}
	assert(spdy_streams(s->spdy) <= SPDY_STREAMS_MAX);
	spdy_free(s->spdy);
	return rc;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	struct side whole;
	struct side pieces;
	int a;
	int b;

	if (n < 2)
		return 0;
	a = run((const char *)data + 1, n - 1, n, &whole);
	b = run((const char *)data + 1, n - 1, (size_t)data[0] % 16 + 1, &pieces);
	assert(a == b && whole.sent.n == pieces.sent.n);
	assert(!whole.sent.n || memcmp(whole.sent.p, pieces.sent.p, whole.sent.n) == 0);
	sbuf_done(&whole.sent);
	sbuf_done(&pieces.sent);
	return 0;
}
