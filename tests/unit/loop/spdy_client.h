// SPDX-License-Identifier: Apache-2.0
/* spdy_client.h - the other side of SPDY, for tests: builds frames by hand */
#ifndef STOKER_TEST_SPDY_CLIENT_H
#define STOKER_TEST_SPDY_CLIENT_H

#include "base/mem.h"
#include "loop/spdy.h"
#include "test.h"

#define SPDY_TEST __attribute__((unused)) static

struct spdy_client {
	struct spdy_packer *packer;
	struct sbuf out;
};

SPDY_TEST void client_init(struct spdy_client *c)
{
	c->packer = spdy_packer_new();
	sbuf_init(&c->out, 1 << 24);
}

SPDY_TEST void client_done(struct spdy_client *c)
{
	spdy_packer_free(c->packer);
	sbuf_done(&c->out);
}

SPDY_TEST void client_number(struct sbuf *b, uint32_t v)
{
	const char bytes[] = { (char)(v >> 24), (char)(v >> 16), (char)(v >> 8), (char)v };

	sbuf_add(b, bytes, sizeof(bytes));
}

SPDY_TEST void client_frame(struct spdy_client *c, uint32_t first, unsigned flags, struct str body)
{
	client_number(&c->out, first);
	client_number(&c->out, flags << 24 | (uint32_t)body.n);
	sbuf_add(&c->out, body.p, body.n);
}

#define CONTROL(type) (0x80030000u | (type))

SPDY_TEST void client_data(struct spdy_client *c, uint32_t id, const char *text, bool fin)
{
	client_frame(c, id, fin, str_of(text));
}

/* Takes the headers. */
SPDY_TEST void client_open(struct spdy_client *c, uint32_t id, json_t *headers, bool fin)
{
	auto_sbuf struct sbuf body = SBUF(1 << 20);

	client_number(&body, id);
	client_number(&body, 0);
	sbuf_add(&body, "\0\0", 2);
	spdy_pack(c->packer, headers, &body);
	json_decref(headers);
	client_frame(c, CONTROL(1), fin, sbuf_str(&body));
}

SPDY_TEST void client_reset(struct spdy_client *c, uint32_t id)
{
	auto_sbuf struct sbuf body = SBUF(64);

	client_number(&body, id);
	client_number(&body, 5);
	client_frame(c, CONTROL(3), 0, sbuf_str(&body));
}

/* What the server sent, in words: "reply 1; data 1 hello; end 1; reset 3; ping 7; goaway; " */
SPDY_TEST void client_read(struct str in, struct sbuf *words)
{
	const unsigned char *p = (const unsigned char *)in.p;
	size_t n = in.n;

	while (n >= 8) {
		uint32_t first = (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
		size_t length = (size_t)p[5] << 16 | (size_t)p[6] << 8 | p[7];
		uint32_t id = n >= 12 ? (uint32_t)p[8] << 24 | (uint32_t)p[9] << 16 | (uint32_t)p[10] << 8 | p[11] : 0;

		if (length > n - 8) {
			sbuf_adds(words, "cut; ");
			return;
		}
		if (first == CONTROL(2))
			sbuf_addf(words, "reply %u; ", id);
		else if (first == CONTROL(3))
			sbuf_addf(words, "reset %u; ", id);
		else if (first == CONTROL(6))
			sbuf_addf(words, "ping %u; ", id);
		else if (first == CONTROL(7))
			sbuf_adds(words, "goaway; ");
		else if (length)
			sbuf_addf(words, "data %u %.*s; ", first, (int)length, (const char *)p + 8);
		if (!(first & 0x80000000u) && p[4] & 1)
			sbuf_addf(words, "end %u; ", first);
		p += 8 + length;
		n -= 8 + length;
	}
}

#endif
