// SPDX-License-Identifier: Apache-2.0
/* server_conn.c - one connection of a parameter server
 *
 * Bodies of floats are received where they are needed and sent from where they are: a push into `room`, a new model
 * into the slice, answers out of the slice.  The kernel copies; nobody else does.  The slice may change while an answer
 * goes out, block by block: in asynchronous modes any mixture of old and new is fine, and in sync mode only one whose
 * round is over can see it, and its gradient will be dropped.  Only a float may not be torn, hence `rest`.
 *
 * A push in shared memory takes the same way with a byte for each block instead of its floats.  The trainer copies a
 * block when its byte has come, under the same rule of rounds; here nothing is copied at all.
 */
#include <errno.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/uio.h>

#include "base/log.h"
#include "base/mem.h"
#include "psgd/net.h"
#include "psgd/server_parts.h"
#include "psgd/split.h"

#define TURN_BLOCKS 4 /* one connection's share before others have theirs */
#define BLOCK_BYTES (SLICE_BLOCK * sizeof(float))

struct conn *conn_new(struct server *s, int fd)
{
	struct conn *c = xcalloc(1, sizeof(*c));

	c->server = s;
	c->fd = fd;
	c->since = s->now;
	c->rank = HELLO_WATCHER;
	c->peer = REGION_NONE;
	net_tune(fd);
	return c;
}

void conn_free(struct conn *c)
{
	close(c->fd);
	if (c->peer.floats)
		slice_forget(&c->server->slice, c->peer.floats);
	region_done(&c->peer);
	free(c->room);
	free(c->want);
	free(c);
}

static bool mapped(const struct conn *c)
{
	return c->ask.flags & WIRE_MAPPED;
}

/* Ready for the next question. */
static void rest_now(struct conn *c)
{
	c->answering = false;
	c->head_got = c->body_got = 0;
	c->blocks_in = c->blocks_out = 0;
	c->body = NULL;
	c->body_n = c->body_sent = c->rest_n = 0;
	if (c->last)
		c->dead = true;
}

static void answer(struct conn *c, enum wire_type type, const void *body, size_t body_n)
{
	struct server *s = c->server;
	struct wire_head h = { .type = type, .len = (uint32_t)body_n, .ticks = slice_ticks(&s->slice) };

	h.flags = (s->slice.ready ? WIRE_READY : 0) | (s->ended_at >= 0 ? WIRE_ENDED : 0);
	/* The head goes out with the first block; when the last one has, the other blocks are as far as it. */
	if (c->ask.type == WIRE_PUSH && s->slice.agreed.mode == MODE_SYNC && c->blocks_out > 0)
		h.ticks = c->want[0];
	if (body == wire_tokens)
		h.flags |= WIRE_MAPPED;
	h.round = s->slice.agreed.mode == MODE_SSP ? slice_clock(&s->slice) : h.ticks;
	wire_head_encode(&h, c->front);
	c->front_n = WIRE_HEAD;
	c->front_sent = 0;
	c->answering = true;
	if (type == WIRE_ERROR || type == WIRE_DOOR_MSG) {
		memcpy(c->front + WIRE_HEAD, body, body_n);
		c->front_n += body_n;
	} else {
		c->body = body;
		c->body_n = body_n;
	}
}

static void refuse(struct conn *c, const struct err *e)
{
	size_t n = strlen(e->text);

	log_warn("refuse a question rank=%d: %s", c->greeted ? (int)c->rank : -1, e->text);
	answer(c, WIRE_ERROR, e->text, n < WIRE_MAX_TEXT ? n : WIRE_MAX_TEXT);
	c->last = true;
}

/* Where the next bytes of the body go, and how many of them. */
static void *body_place(struct conn *c, size_t *ret_n)
{
	struct slice *s = &c->server->slice;
	size_t left = c->ask.len - c->body_got;
	struct part p;

	switch (c->ask.type) {
	case WIRE_HELLO_MSG:
		*ret_n = left;
		return c->small + c->body_got;
	case WIRE_INIT:
		*ret_n = left;
		return (uint8_t *)s->weights + c->body_got;
	default:
		break;
	}
	if (mapped(c)) {
		*ret_n = left < TURN_BLOCKS ? left : TURN_BLOCKS;
		return c->small;
	}
	p = slice_block_part(s, c->blocks_in);
	*ret_n = (p.start + p.n) * sizeof(float) - c->body_got;
	if (mode_is_elastic(s->agreed.mode))
		return (uint8_t *)c->room + c->body_got;
	return (uint8_t *)c->room + (c->body_got - p.start * sizeof(float));
}

/* How far an answer to a push may go: blocks that have arrived and whose round is over. */
static void release(struct conn *c)
{
	struct slice *s = &c->server->slice;

	if (c->ask.type != WIRE_PUSH || c->blocks_in == 0)
		return;
	if (c->server->ended_at >= 0) {
		if (!c->answering) /* whoever hears it needs no parameters any more */
			answer(c, WIRE_WEIGHTS, NULL, 0);
		else
			c->blocks_out = s->nblocks;
		return;
	}
	if (!slice_near(s, c->ask.round))
		return;
	while (c->blocks_out < c->blocks_in && c->want[c->blocks_out] <= s->blocks[c->blocks_out].round)
		c->blocks_out++;
	if (c->blocks_out > 0 && !c->answering && mapped(c))
		answer(c, WIRE_WEIGHTS, wire_tokens, s->nblocks);
	else if (c->blocks_out > 0 && !c->answering)
		answer(c, WIRE_WEIGHTS, mode_is_elastic(s->agreed.mode) ? c->room : s->weights, s->n * sizeof(float));
}

static void take_block(struct conn *c)
{
	struct server *s = c->server;
	struct part p = slice_block_part(&s->slice, c->blocks_in);
	float *g = mode_is_elastic(s->slice.agreed.mode) ? c->room + p.start : c->room;

	if (mapped(c))
		g = c->peer.floats + p.start;
	if (s->ended_at < 0)
		c->want[c->blocks_in] = slice_take(&s->slice, &c->ask, c->blocks_in, g, mapped(c));
	c->blocks_in++;
	if (c->blocks_in == s->slice.nblocks) {
		s->rate = c->ask.rate;
		slice_taken(&s->slice, c->rank, &c->ask);
	}
}

static int check_ask(struct conn *c, struct err *e)
{
	const struct wire_head *h = &c->ask;
	struct slice *s = &c->server->slice;
	bool floats = h->type == WIRE_INIT || h->type == WIRE_PUSH;
	size_t want = mapped(c) ? s->nblocks : s->n * sizeof(float);

	if (h->type == WIRE_WELCOME || h->type == WIRE_WEIGHTS || h->type == WIRE_ERROR || h->type == WIRE_DOOR_MSG)
		return err_set(e, ERR_BAD_REQUEST, "%s is an answer, not a question", wire_type_name(h->type));
	if (h->type == WIRE_HELLO_MSG)
		return 0;
	if (!c->greeted)
		return err_set(e, ERR_BAD_REQUEST, "%s before HELLO", wire_type_name(h->type));
	if (floats && c->rank == HELLO_WATCHER)
		return err_set(e, ERR_FORBIDDEN, "%s from one who only looks", wire_type_name(h->type));
	if (mapped(c) && !c->peer.floats)
		return err_set(e, ERR_INVALID, "%s from memory that was not shared", wire_type_name(h->type));
	if (floats && h->len != want)
		return err_set(e, ERR_INVALID, "%s of %u bytes; the slice has %zu", wire_type_name(h->type), h->len,
			       want);
	if (!s->ready && (h->type == WIRE_PUSH || h->type == WIRE_PULL || h->type == WIRE_SAVE))
		return err_set(e, ERR_UNAVAILABLE, "%s before INIT", wire_type_name(h->type));
	return 0;
}

static void answer_share(struct conn *c)
{
	uint8_t body[WIRE_DOOR];
	struct invitation v;

	if (!server_invite(c->server, c, &v)) {
		answer(c, WIRE_DOOR_MSG, "", 0);
		return;
	}
	invitation_encode(&v, body);
	answer(c, WIRE_DOOR_MSG, body, sizeof(body));
}

/* A question is whole: answer it.  A push has been answered on the way. */
static int on_question(struct conn *c, struct err *e)
{
	struct server *s = c->server;
	struct hello h;

	switch (c->ask.type) {
	case WIRE_HELLO_MSG:
		if (hello_decode(c->small, c->ask.len, &h, e) < 0 || server_greet(s, c, &h, e) < 0)
			return -1;
		if (c->ask.flags & WIRE_CLOCKED && c->rank != HELLO_WATCHER)
			s->slice.members[c->rank].clock = c->ask.round;
		break;
	case WIRE_INIT:
		slice_begin(&s->slice, c->ask.ticks);
		log_info("take a model from the leader ticks=%llu", (unsigned long long)c->ask.ticks);
		break;
	case WIRE_PULL:
		answer(c, WIRE_WEIGHTS, s->slice.weights, s->slice.n * sizeof(float));
		return 0;
	case WIRE_SHARE:
		answer_share(c);
		return 0;
	case WIRE_SAVE:
		if (server_save(s, e) < 0)
			return -1;
		break;
	case WIRE_DONE:
		server_end(s);
		break;
	default:
		return 0;
	}
	answer(c, WIRE_WELCOME, NULL, 0);
	return 0;
}

/* Bytes into `to`: how many, 0 if there are none now; the connection is dead if it has ended. */
static size_t receive(struct conn *c, void *to, size_t n)
{
	ssize_t got = recv(c->fd, to, n, 0);

	if (got > 0)
		return (size_t)got;
	if (got == 0 || (errno != EAGAIN && errno != EINTR))
		c->dead = true;
	return 0;
}

static void make_room(struct conn *c)
{
	const struct slice *s = &c->server->slice;

	if (!c->want)
		c->want = xcalloc(s->nblocks, sizeof(*c->want));
	if (!c->room && !mapped(c))
		c->room = xcalloc(mode_is_elastic(s->agreed.mode) ? s->n : SLICE_BLOCK, sizeof(float));
}

static bool receive_head(struct conn *c, struct err *e)
{
	c->head_got += receive(c, c->head + c->head_got, WIRE_HEAD - c->head_got);
	if (c->head_got < WIRE_HEAD)
		return false;
	if (wire_head_decode(c->head, &c->ask, e) < 0 || check_ask(c, e) < 0)
		return true;
	if (c->ask.type == WIRE_PUSH)
		make_room(c);
	if (c->ask.len == 0)
		on_question(c, e);
	return true;
}

/* Some bytes of a body, 0 if there are none now.  Says how many bytes of floats were worked on. */
static size_t receive_body(struct conn *c, struct err *e)
{
	size_t n, got;
	void *to = body_place(c, &n);

	got = receive(c, to, n);
	c->body_got += got;
	for (size_t i = 0; mapped(c) && i < got; i++)
		take_block(c);
	if (c->ask.type == WIRE_PUSH && !mapped(c) && got == n && got > 0)
		take_block(c);
	if (c->body_got == c->ask.len && got > 0)
		on_question(c, e);
	return mapped(c) ? got * BLOCK_BYTES : got;
}

void conn_readable(struct conn *c)
{
	size_t budget = TURN_BLOCKS * BLOCK_BYTES, got = 1;
	struct err e = ERR_INIT;

	while (!c->dead && !c->last && got > 0 && budget > 0) {
		if (c->head_got < WIRE_HEAD) {
			if (c->answering)
				break;
			got = receive_head(c, &e);
		} else if (c->body_got < c->ask.len) {
			got = receive_body(c, &e);
			budget -= got < budget ? got : budget;
		} else {
			break;
		}
		if (e.kind != ERR_NONE) {
			if (!c->answering)
				refuse(c, &e);
			break;
		}
		conn_pump(c);
	}
	conn_arm(c);
}

/* What may go out now, as pieces for writev(). */
static int pieces(struct conn *c, struct iovec *iov)
{
	size_t allowed = c->body_n;
	int n = 0;

	if (c->ask.type == WIRE_PUSH && c->body_n > 0) {
		allowed = c->blocks_out * (mapped(c) ? 1 : BLOCK_BYTES);
		allowed = allowed < c->body_n ? allowed : c->body_n;
	}
	if (c->front_sent < c->front_n)
		iov[n++] = (struct iovec){ c->front + c->front_sent, c->front_n - c->front_sent };
	if (c->rest_n)
		iov[n++] = (struct iovec){ c->rest + sizeof(float) - c->rest_n, c->rest_n };
	if (c->body_sent < allowed)
		iov[n++] = (struct iovec){ (void *)(c->body + c->body_sent), allowed - c->body_sent };
	return n;
}

static void sent(struct conn *c, size_t n)
{
	size_t front = c->front_n - c->front_sent < n ? c->front_n - c->front_sent : n, odd;

	c->front_sent += front;
	n -= front;
	odd = c->rest_n < n ? c->rest_n : n;
	c->rest_n -= odd;
	n -= odd;
	c->body_sent += n;
	odd = c->body_sent % sizeof(float);
	if (odd && !mapped(c)) {
		memcpy(c->rest, c->body + c->body_sent - odd, sizeof(float));
		c->rest_n = sizeof(float) - odd;
		c->body_sent += c->rest_n;
	}
}

void conn_send(struct conn *c)
{
	struct iovec iov[3];

	c->full = false;
	while (!c->dead && c->answering) {
		struct msghdr m = { .msg_iov = iov, .msg_iovlen = (size_t)pieces(c, iov) };
		ssize_t n;

		if (m.msg_iovlen == 0)
			break;
		n = sendmsg(c->fd, &m, MSG_NOSIGNAL);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0) {
			c->full = errno == EAGAIN;
			c->dead = !c->full;
			return;
		}
		sent(c, (size_t)n);
	}
	/* An early "training is over" leaves a body unread: the rest of it is read and thrown away. */
	if (c->answering && c->front_sent == c->front_n && c->body_sent == c->body_n && !c->rest_n &&
	    (c->last || c->body_got == c->ask.len))
		rest_now(c);
}

void conn_pump(struct conn *c)
{
	release(c);
	if (c->answering && !c->full)
		conn_send(c);
}

void conn_arm(struct conn *c)
{
	bool reads = c->head_got < WIRE_HEAD ? !c->answering : c->body_got < c->ask.len;
	unsigned want = EPOLLRDHUP | (reads && !c->last ? EPOLLIN : 0) | (c->full ? EPOLLOUT : 0);
	struct epoll_event ev = { .events = want, .data.ptr = c };

	if (want != c->interest && !c->dead)
		epoll_ctl(c->server->epoll, EPOLL_CTL_MOD, c->fd, &ev);
	c->interest = want;
}
