// SPDX-License-Identifier: Apache-2.0
#include "api/wire.h"
#include "base/jsonx.h"
#include "base/mem.h"
#include "proto_bodies.h"
#include "test.h"

static int nibble(char c)
{
	return c <= '9' ? c - '0' : c - 'a' + 10;
}

static void from_hex(const char *hex, struct sbuf *out)
{
	for (; hex[0] && hex[1]; hex += 2)
		sbuf_addc(out, (char)(nibble(hex[0]) << 4 | nibble(hex[1])));
}

TEST("bodies of kubectl decode to what it prints")
{
	struct registry *r = registry_new();

	for (size_t i = 0; i < ARRAY_SIZE(proto_bodies); i++) {
		auto_sbuf struct sbuf body = SBUF(65536);
		auto_sbuf struct sbuf text = SBUF(65536);
		json_auto_t *got = NULL;
		json_auto_t *want = json_loads(proto_bodies[i].json, 0, NULL);
		struct err e = ERR_INIT;

		from_hex(proto_bodies[i].hex, &body);
		if (proto_decode(r, sbuf_str(&body), &got, &e) < 0) {
			test_fail(__FILE__, __LINE__, "%s: %s", proto_bodies[i].name, e.text);
			continue;
		}
		jsonx_dump(got, &text);
		if (!json_equal(got, want))
			test_fail(__FILE__, __LINE__, "%s is\n%s\nnot\n%s", proto_bodies[i].name, text.p,
				  proto_bodies[i].json);
		CHECK(str_starts(text.p, "{\"kind\":"));
	}
	registry_free(r);
}

TEST("a body cut anywhere is an error or less of an object, never a crash")
{
	struct registry *r = registry_new();

	for (size_t i = 0; i < ARRAY_SIZE(proto_bodies); i++) {
		auto_sbuf struct sbuf body = SBUF(65536);

		from_hex(proto_bodies[i].hex, &body);
		for (size_t n = 0; n < body.n; n++) {
			auto_free char *part = xmemdup(body.p, n ? n : 1); /* exact size, for the sanitizer */
			json_auto_t *got = NULL;
			struct err e = ERR_INIT;

			if (proto_decode(r, (struct str){ part, n }, &got, &e) < 0)
				CHECK(e.kind == ERR_BAD_REQUEST);
		}
	}
	registry_free(r);
}

TEST("a kind nobody knows is named")
{
	struct registry *r = registry_new();
	static const char body[] = "k8s\0\x0a\x09\x0a\x02"
				   "v1\x12\x03"
				   "Abc";
	json_t *got = NULL;
	struct err e = ERR_INIT;

	CHECK_INT(proto_decode(r, (struct str){ body, sizeof(body) - 1 }, &got, &e), -1);
	CHECK_STR(e.text, "no kind \"Abc\" is registered for version \"v1\"");
	CHECK_INT(e.kind, ERR_BAD_REQUEST);
	registry_free(r);
}

TEST("the number of values is bounded")
{
	struct registry *r = registry_new();
	auto_sbuf struct sbuf body = SBUF(3u << 20);
	json_t *got = NULL;
	struct err e = ERR_INIT;
	static const char head[] = "k8s\0\x0a\x09\x0a\x02v1\x12\x03Pod\x12";
	const unsigned count = 500000;
	const unsigned len = count * 2;

	/* A Pod whose spec is half a million empty containers (field 2 of Pod, field 2 of PodSpec). */
	sbuf_add(&body, head, sizeof(head) - 1);
	for (unsigned v = len + 4; v || !body.n; v >>= 7)
		sbuf_addc(&body, (char)((v & 0x7f) | (v >= 0x80 ? 0x80 : 0)));
	sbuf_addc(&body, 0x12);
	for (unsigned v = len; v; v >>= 7)
		sbuf_addc(&body, (char)((v & 0x7f) | (v >= 0x80 ? 0x80 : 0)));
	for (unsigned i = 0; i < count; i++)
		sbuf_add(&body, "\x12\0", 2);
	CHECK_INT(proto_decode(r, sbuf_str(&body), &got, &e), -1);
	CHECK_INT(e.kind, ERR_TOO_LARGE);
	registry_free(r);
}

TEST("only bodies with the magic are protobuf")
{
	CHECK(proto_is_magic((struct str){ "k8s\0", 4 }));
	CHECK(!proto_is_magic((struct str){ "k8s", 3 }));
	CHECK(!proto_is_magic((struct str){ "{}", 2 }));
	CHECK(!proto_is_magic((struct str){ NULL, 0 }));
}
