// SPDX-License-Identifier: Apache-2.0
/* Connections of a server without its loop, over pairs of sockets.  The slice has two blocks. */
#include <sys/socket.h>

#include "base/mem.h"
#include "psgd/server_parts.h"
#include "test.h"

#define N (SLICE_BLOCK + 10)

struct rig {
	struct server_settings settings;
	struct server server;
	struct conn *conns[2];
	int ends[2]; /* the trainers' */
	struct region own[2];
};

static void rig_init(struct rig *r, enum mode mode)
{
	const struct hello h = {
		.mode = mode, .ranks = 2, .servers = 1, .params = N, .staleness = 1, .alpha = 0.5f, .model = "1-1"
	};
	struct err e = ERR_INIT;

	*r = (struct rig){ .settings = { .servers = 1 },
			   .server = { .epoll = -1,
				       .ended_at = -1,
				       .failure = ERR_INIT,
				       .door = DOOR_NONE,
				       .weights = REGION_NONE,
				       .nconns = 2 } };
	r->server.settings = &r->settings;
	r->server.conns = r->conns;
	slice_init(&r->server.slice, &h, NULL);
	slice_begin(&r->server.slice, 0);
	for (uint32_t i = 0; i < 2; i++) {
		int pair[2];

		CHECK_INT(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, pair), 0);
		r->ends[i] = pair[1];
		r->conns[i] = conn_new(&r->server, pair[0]);
		r->conns[i]->greeted = true;
		r->conns[i]->rank = i;
		CHECK_INT(region_new(N, mode_is_elastic(mode), &r->own[i], &e), 0);
		CHECK_INT(region_map(r->own[i].fd, N, (struct part){ 0, N }, mode_is_elastic(mode), &r->conns[i]->peer,
				     &e),
			  0);
	}
}

static void rig_done(struct rig *r)
{
	for (int i = 0; i < 2; i++) {
		if (r->conns[i])
			conn_free(r->conns[i]);
		region_done(&r->own[i]);
		close(r->ends[i]);
	}
	slice_done(&r->server.slice);
}

static void fill(struct rig *r, int who, float value)
{
	for (size_t i = 0; i < N; i++)
		r->own[who].floats[i] = value;
}

/* A mapped push of which only `blocks` blocks are there yet. */
static void push(struct rig *r, int who, uint64_t round, size_t blocks)
{
	const struct wire_head h = { .type = WIRE_PUSH, .flags = WIRE_MAPPED, .len = 2, .round = round, .rate = 1 };
	uint8_t bytes[WIRE_HEAD];

	wire_head_encode(&h, bytes);
	CHECK_INT(send(r->ends[who], bytes, sizeof(bytes), 0), WIRE_HEAD);
	CHECK_INT(send(r->ends[who], wire_tokens, blocks, 0), (int)blocks);
	conn_readable(r->conns[who]);
}

/* The answer's head, and how many blocks of it are there; -1 if there is no answer. */
static int answer_of(struct rig *r, int who, struct wire_head *ret)
{
	uint8_t bytes[WIRE_HEAD];
	struct err e = ERR_INIT;
	ssize_t n;

	conn_pump(r->conns[who]);
	if (recv(r->ends[who], bytes, sizeof(bytes), 0) != WIRE_HEAD)
		return -1;
	CHECK_INT(wire_head_decode(bytes, ret, &e), 0);
	n = recv(r->ends[who], bytes, sizeof(bytes), 0);
	return n < 0 ? 0 : (int)n;
}

TEST("the answer to a push tells the round that its last block will have, when its first one goes")
{
	struct wire_head h = { 0 };
	struct rig r;

	rig_init(&r, MODE_SYNC);
	fill(&r, 0, 2);
	fill(&r, 1, 4);
	push(&r, 0, 0, 2);
	CHECK_INT(answer_of(&r, 0, &h), -1);
	push(&r, 1, 0, 1);
	CHECK_INT(answer_of(&r, 0, &h), 1);
	CHECK_INT(h.type, WIRE_WEIGHTS);
	CHECK_INT(h.flags, WIRE_MAPPED | WIRE_READY);
	CHECK_INT(h.len, 2);
	CHECK_INT(h.round, 1);
	CHECK_INT(h.ticks, 1);
	CHECK_INT(slice_ticks(&r.server.slice), 0);
	CHECK(r.server.slice.weights[0] == -3 && r.server.slice.weights[N - 1] == 0);
	CHECK_INT(send(r.ends[1], wire_tokens, 1, 0), 1);
	conn_readable(r.conns[1]);
	CHECK(r.server.slice.weights[N - 1] == -3);
	CHECK_INT(answer_of(&r, 1, &h), 2);
	conn_pump(r.conns[0]);
	/* So the next push is not taken for one of the round before. */
	push(&r, 0, h.round, 2);
	CHECK_INT(r.server.slice.blocks[0].count, 1);
	rig_done(&r);
}

TEST("a trainer that dies leaves its gradients behind")
{
	struct wire_head h = { 0 };
	struct rig r;

	rig_init(&r, MODE_SYNC);
	fill(&r, 0, 2);
	push(&r, 0, 0, 2);
	conn_free(r.conns[0]);
	r.conns[0] = NULL;
	fill(&r, 0, 1000);
	fill(&r, 1, 4);
	push(&r, 1, 0, 2);
	CHECK_INT(answer_of(&r, 1, &h), 2);
	CHECK(r.server.slice.weights[0] == -3 && r.server.slice.weights[N - 1] == -3);
	rig_done(&r);
}

TEST("an elastic exchange happens in the trainer's own memory")
{
	struct wire_head h = { 0 };
	struct rig r;

	rig_init(&r, MODE_EASGD);
	fill(&r, 0, 8);
	push(&r, 0, 0, 2);
	CHECK_INT(answer_of(&r, 0, &h), 2);
	CHECK(r.server.slice.weights[N - 1] == 4 && r.own[0].floats[N - 1] == 4);
	rig_done(&r);
}

TEST("a push from memory that is not shared, or of other blocks, is refused")
{
	const struct wire_head bad = { .type = WIRE_PUSH, .flags = WIRE_MAPPED, .len = 3 };
	uint8_t bytes[WIRE_HEAD];
	struct wire_head h = { 0 };
	struct rig r;

	rig_init(&r, MODE_SYNC);
	wire_head_encode(&bad, bytes);
	CHECK_INT(send(r.ends[0], bytes, sizeof(bytes), 0), WIRE_HEAD);
	conn_readable(r.conns[0]);
	CHECK(answer_of(&r, 0, &h) > 0);
	CHECK_INT(h.type, WIRE_ERROR);
	region_done(&r.conns[1]->peer);
	push(&r, 1, 0, 2);
	CHECK(answer_of(&r, 1, &h) > 0);
	CHECK_INT(h.type, WIRE_ERROR);
	CHECK(r.conns[1]->dead);
	rig_done(&r);
}
