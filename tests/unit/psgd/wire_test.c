// SPDX-License-Identifier: Apache-2.0
#include "psgd/wire.h"

#include <math.h>

#include "base/mem.h"
#include "test.h"

static const struct hello sample = {
	.mode = MODE_SSP,
	.rank = 1,
	.ranks = 3,
	.server = 1,
	.servers = 2,
	.backup = 1,
	.staleness = 4,
	.params = 101770,
	.alpha = 0.3f,
	.model = "784-128-10",
};

TEST("a head is read as it was written")
{
	const struct wire_head in = { WIRE_PUSH, WIRE_READY | WIRE_ENDED, 4096, 1u << 20, (uint64_t)1 << 40, 0.1f };
	uint8_t bytes[WIRE_HEAD];
	struct err e = ERR_INIT;
	struct wire_head out;

	wire_head_encode(&in, bytes);
	CHECK_INT(wire_head_decode(bytes, &out, &e), 0);
	CHECK_INT(out.type, in.type);
	CHECK_INT(out.flags, in.flags);
	CHECK_INT(out.len, in.len);
	CHECK_INT(out.round, in.round);
	CHECK_INT(out.ticks, in.ticks);
	CHECK(out.rate == in.rate);
}

TEST("a head that is not one is refused with its reason")
{
	static const struct {
		size_t at;
		uint8_t value;
		const char *text;
	} rows[] = {
		{ 0, 'X', "the other side does not speak psgd's protocol" },
		{ 4, 1, "the other side speaks version 1 of the protocol, not 2" },
		{ 5, 0, "message of unknown type 0" },
		{ 5, WIRE__COUNT, "message of unknown type 12" },
		{ 5, WIRE_PULL, "PULL with a body of 8 bytes" },
		{ 5, WIRE_ERROR, NULL },
		{ 8, 7, "PUSH with a body of 7 bytes" },
		{ 11, 0xff, "PUSH with a body of 4278190088 bytes" },
		{ 15, 0x7f, "PUSH with a learning rate that is not a number" },
	};
	const struct wire_head good = { .type = WIRE_PUSH, .len = 8, .rate = 1.0f };

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		uint8_t bytes[WIRE_HEAD];
		struct err e = ERR_INIT;
		struct wire_head out;

		wire_head_encode(&good, bytes);
		bytes[rows[i].at] = rows[i].value;
		CHECK_INT(wire_head_decode(bytes, &out, &e), rows[i].text ? -1 : 0);
		if (rows[i].text)
			CHECK_STR(e.text, rows[i].text);
	}
}

TEST("a body of blocks has one byte for each, and only floats can be in shared memory")
{
	static const struct {
		enum wire_type type;
		uint32_t len;
		int want;
	} rows[] = {
		{ WIRE_PUSH, 3, 0 },
		{ WIRE_WEIGHTS, WIRE_MAX_BLOCKS, 0 },
		{ WIRE_PUSH, WIRE_MAX_BLOCKS + 1, -1 },
		{ WIRE_INIT, 4, -1 },
		{ WIRE_PULL, 0, -1 },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		const struct wire_head in = { .type = rows[i].type, .flags = WIRE_MAPPED, .len = rows[i].len };
		uint8_t bytes[WIRE_HEAD];
		struct err e = ERR_INIT;
		struct wire_head out;

		wire_head_encode(&in, bytes);
		CHECK_INT(wire_head_decode(bytes, &out, &e), rows[i].want);
	}
	CHECK_INT(wire_blocks(1), 1);
	CHECK_INT(wire_blocks(WIRE_BLOCK), 1);
	CHECK_INT(wire_blocks(WIRE_BLOCK + 1), 2);
}

TEST("an invitation is read as it was written, and its name leads nowhere else")
{
	const struct invitation in = { .secret = "0123456789abcde", .name = "psgd-0a1b" };
	static const char *const bad[] = { "", "../psgd", "psgd/x", "psgd.x", "PSGD" };
	uint8_t bytes[WIRE_DOOR];
	struct invitation out;
	struct err e = ERR_INIT;

	invitation_encode(&in, bytes);
	CHECK_INT(invitation_decode(bytes, &out, &e), 0);
	CHECK(memcmp(&in, &out, sizeof(in)) == 0);
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		snprintf((char *)bytes + WIRE_SECRET, WIRE_DOOR_NAME, "%s", bad[i]);
		CHECK_INT(invitation_decode(bytes, &out, &e), -1);
	}
	memset(bytes, 'a', sizeof(bytes));
	CHECK_INT(invitation_decode(bytes, &out, &e), -1);
}

TEST("HELLO is read as it was written")
{
	uint8_t bytes[WIRE_HELLO];
	struct err e = ERR_INIT;
	struct hello out;

	hello_encode(&sample, bytes);
	CHECK_INT(hello_decode(bytes, sizeof(bytes), &out, &e), 0);
	CHECK_INT(hello_compare(&sample, &out, &e), 0);
	CHECK_INT(out.rank, 1);
	CHECK_INT(hello_decode(bytes, sizeof(bytes) - 1, &out, &e), -1);
}

TEST("numbers of HELLO that are out of bounds are refused before they are used")
{
	struct hello rows[] = { sample, sample, sample, sample, sample, sample, sample, sample };

	rows[0].servers = 0;
	rows[1].server = 2;
	rows[2].ranks = WIRE_MAX_RANKS + 1;
	rows[3].rank = 3;
	rows[4].backup = 3;
	rows[5].params = (uint64_t)WIRE_MAX_FLOATS * 2;
	rows[6].alpha = NAN;
	memcpy(rows[7].model, "../../x", 8);
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		uint8_t bytes[WIRE_HELLO];
		struct err e = ERR_INIT;
		struct hello out;

		hello_encode(&rows[i], bytes);
		CHECK_INT(hello_decode(bytes, sizeof(bytes), &out, &e), -1);
	}
}

TEST("trainers that disagree are told about what")
{
	struct hello rows[] = { sample, sample, sample, sample };
	static const char *const texts[] = {
		"--mode: this server works in mode ssp, not sync",
		"this server holds a model 784-128-10, not 784-10",
		"trainers: this server works with 3, not 4",
		"--staleness: this server works with 4, not 9",
	};

	rows[0].mode = MODE_SYNC;
	memcpy(rows[1].model, "784-10", 7);
	rows[2].ranks = 4;
	rows[3].staleness = 9;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct err e = ERR_INIT;

		CHECK_INT(hello_compare(&sample, &rows[i], &e), -1);
		CHECK_STR(e.text, texts[i]);
	}
}

TEST("modes have names")
{
	for (enum mode m = 0; m < MODE__COUNT; m++)
		CHECK_INT(mode_of(mode_name(m)), m);
	CHECK_INT(mode_of("downpour"), MODE__COUNT);
}
