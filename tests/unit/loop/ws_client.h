// SPDX-License-Identifier: Apache-2.0
/* ws_client.h - the other side of a WebSocket, for tests: masked frames by hand */
#ifndef STOKER_TEST_WS_CLIENT_H
#define STOKER_TEST_WS_CLIENT_H

#include "base/mem.h"
#include "base/str.h"
#include "test.h"

#define WS_TEST __attribute__((unused)) static

#define WS_KEY "dGhlIHNhbXBsZSBub25jZQ=="
#define WS_HEAD                                                                                                        \
	"Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: " WS_KEY "\r\n"

/* opcode with the FIN bit: 0x82 is a whole binary message */
WS_TEST void ws_frame(struct sbuf *out, unsigned char opcode, struct str body)
{
	static const unsigned char mask[4] = { 1, 2, 3, 4 };

	sbuf_addc(out, (char)opcode);
	if (body.n < 126) {
		sbuf_addc(out, (char)(0x80 | body.n));
	} else {
		bool large = body.n > UINT16_MAX;

		sbuf_addc(out, (char)(0x80 | (large ? 127 : 126)));
		for (int i = large ? 7 : 1; i >= 0; i--)
			sbuf_addc(out, (char)((uint64_t)body.n >> (8 * i)));
	}
	sbuf_add(out, mask, 4);
	for (size_t i = 0; i < body.n; i++)
		sbuf_addc(out, (char)(body.p[i] ^ mask[i % 4]));
}

/* One frame of the server off the front: false if there is not a whole one. */
WS_TEST bool ws_cut(struct str *in, unsigned *ret_opcode, struct str *ret_body)
{
	const unsigned char *p = (const unsigned char *)in->p;
	size_t head = 2;
	uint64_t n;

	if (in->n < 2)
		return false;
	n = p[1];
	if (n == 126 && in->n >= 4) {
		n = (uint64_t)p[2] << 8 | p[3];
		head = 4;
	} else if (n == 127 && in->n >= 10) {
		n = 0;
		for (int i = 2; i < 10; i++)
			n = n << 8 | p[i];
		head = 10;
	}
	if (in->n < head || in->n - head < n)
		return false;
	*ret_opcode = p[0];
	*ret_body = (struct str){ in->p + head, n };
	in->p += head + n;
	in->n -= head + n;
	return true;
}

/* Frames in words: "82:\1hello; 88:; ", unprintable bytes as \NUMBER. */
WS_TEST void ws_read(struct str in, struct sbuf *words)
{
	unsigned opcode;
	struct str body;

	while (ws_cut(&in, &opcode, &body)) {
		sbuf_addf(words, "%02x:", opcode);
		for (size_t i = 0; i < body.n; i++) {
			unsigned char c = (unsigned char)body.p[i];

			if (c < ' ' || c > '~')
				sbuf_addf(words, "\\%u", c);
			else
				sbuf_addc(words, (char)c);
		}
		sbuf_adds(words, "; ");
	}
	if (in.n)
		sbuf_adds(words, "cut; ");
}

#endif
