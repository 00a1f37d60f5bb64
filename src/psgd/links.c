// SPDX-License-Identifier: Apache-2.0
/* links.c - questions to all servers at once, over poll()
 *
 * Sending and receiving go on at the same time: servers answer a push block by block while it is under way, and would
 * stand still if nobody read.  Vectors are sent from and received into the caller's memory.  With a server whose memory
 * we see, a byte goes for each block, and we copy the block when its byte comes back.
 */
#include "psgd/links.h"

#include <errno.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <time.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/mem.h"
#include "psgd/net.h"

#define CONNECT_MS 5000
#define RETRY_MS   100

void links_init(struct links *l, const struct hello *hello, const char *const *addresses, size_t n)
{
	*l = (struct links){ .hello = *hello, .all = xcalloc(n, sizeof(*l->all)), .n = n, .own = REGION_NONE };
	for (size_t i = 0; i < n; i++) {
		l->all[i].address = addresses[i];
		l->all[i].part = slice_of(hello->params, n, i);
		l->all[i].fd = -1;
		l->all[i].peer = REGION_NONE;
	}
}

void links_share(struct links *l, const char *dir)
{
	struct err e = ERR_INIT;

	if (region_new(l->hello.params, mode_is_elastic(l->hello.mode), &l->own, &e) < 0)
		log_warn("no shared memory, all goes over TCP: %s", e.text);
	else
		l->share_dir = dir;
}

float *links_vector(struct links *l)
{
	if (l->own.floats)
		return l->own.floats;
	if (!l->vector)
		l->vector = xcalloc(l->hello.params, sizeof(float));
	return l->vector;
}

static void drop(struct link *k)
{
	if (k->fd >= 0)
		close(k->fd);
	k->fd = -1;
	region_done(&k->peer);
}

void links_done(struct links *l)
{
	for (size_t i = 0; i < l->n; i++)
		drop(&l->all[i]);
	region_done(&l->own);
	free(l->vector);
	free(l->all);
	l->vector = NULL;
	l->all = NULL;
	l->n = 0;
}

static bool mapped(const struct link *k)
{
	return k->ask.flags & WIRE_MAPPED;
}

/* Begins a question on one connection. */
static void begin(struct links *l, struct link *k)
{
	/* Made again, the connection may have won or lost the memory. */
	if (k->ask.type == WIRE_PUSH) {
		k->ask.flags = k->peer.floats ? WIRE_MAPPED : 0;
		k->ask.len = (uint32_t)(mapped(k) ? wire_blocks(k->part.n) : k->part.n * sizeof(float));
	}
	k->ask.round = l->hello.mode == MODE_SSP ? l->clock : k->round;
	k->ask.ticks = l->restore_ticks;
	wire_head_encode(&k->ask, k->out_head);
	k->out_at = k->in_at = k->in_len = 0;
	k->open = true;
}

/* Sends what the socket takes.  -1: the connection is broken. */
static int send_some(struct links *l, struct link *k, const void *body)
{
	size_t total = WIRE_HEAD + k->ask.len;

	if (mapped(k))
		body = wire_tokens;
	while (k->out_at < total) {
		size_t done = k->out_at < WIRE_HEAD ? 0 : k->out_at - WIRE_HEAD;
		struct iovec iov[2] = { { k->out_head + k->out_at, k->out_at < WIRE_HEAD ? WIRE_HEAD - k->out_at : 0 },
					{ (char *)body + done, k->ask.len - done } };
		struct msghdr m = { .msg_iov = iov + (k->out_at >= WIRE_HEAD), .msg_iovlen = 1 };
		ssize_t n;

		if (k->out_at < WIRE_HEAD && k->ask.len)
			m.msg_iovlen = 2;
		n = sendmsg(k->fd, &m, MSG_NOSIGNAL);
		if (n < 0)
			return errno == EAGAIN || errno == EINTR ? 0 : -1;
		k->out_at += (size_t)n;
		l->bytes += (size_t)n;
	}
	return 0;
}

static int refused(struct link *k, struct err *e)
{
	char text[WIRE_MAX_TEXT + 1] = { 0 };
	struct pollfd p = { .fd = k->fd, .events = POLLIN };

	if (poll(&p, 1, CONNECT_MS) == 1)
		(void)!recv(k->fd, text, k->in_len < WIRE_MAX_TEXT ? k->in_len : WIRE_MAX_TEXT, MSG_WAITALL);
	return err_set(e, ERR_CONFLICT, "parameter server %s: %s", k->address, text);
}

/* The answer that may have a body. */
static enum wire_type expected(const struct link *k)
{
	return k->ask.type == WIRE_SHARE ? WIRE_DOOR_MSG : WIRE_WEIGHTS;
}

/* What an answer's head says.  Sets e if there is no point in trying again. */
static int on_head(struct link *k, size_t room, struct err *e)
{
	struct wire_head h;

	if (wire_head_decode(k->in_head, &h, e) < 0)
		return err_prefix(e, "parameter server %s", k->address);
	k->in_len = h.len;
	if (h.type == WIRE_ERROR)
		return refused(k, e);
	k->flags = h.flags;
	k->round = h.round;
	k->ticks = h.ticks;
	if (mapped(k))
		room = wire_blocks(k->part.n);
	if (h.len != 0 &&
	    (h.type != expected(k) || h.len != room || (h.flags & WIRE_MAPPED) != (k->ask.flags & WIRE_MAPPED)))
		return err_set(e, ERR_CORRUPT, "parameter server %s: an answer of %u bytes where %zu belong",
			       k->address, h.len, room);
	return 0;
}

/* Blocks that the server says are ours now.  In elastic modes they are already where the push was. */
static void copy_blocks(struct links *l, struct link *k, float *in, size_t first, size_t n)
{
	const float *from = mode_is_elastic(l->hello.mode) ? l->own.floats + k->part.start : k->peer.floats;
	size_t at = first * WIRE_BLOCK, end = (first + n) * WIRE_BLOCK;

	end = end < k->part.n ? end : k->part.n;
	if (in + at != from + at)
		memcpy(in + at, from + at, (end - at) * sizeof(float));
	l->shared_bytes += 2 * (end - at) * sizeof(float);
}

/* Receives what is there.  -1: the connection is broken, or e says why it should not be made again. */
static int receive_some(struct links *l, struct link *k, void *body, size_t room, struct err *e)
{
	for (;;) {
		bool head = k->in_at < WIRE_HEAD;
		size_t done = head ? 0 : k->in_at - WIRE_HEAD;
		void *to = head ? k->in_head + k->in_at : (uint8_t *)body + done;
		size_t n = head ? WIRE_HEAD - k->in_at : k->in_len - done;
		bool tokens = !head && mapped(k);
		uint8_t scratch[64];
		ssize_t got;

		if (!head && n == 0) {
			k->open = false;
			return 0;
		}
		if (tokens) {
			to = scratch;
			n = n < sizeof(scratch) ? n : sizeof(scratch);
		}
		got = recv(k->fd, to, n, 0);
		if (got < 0 && (errno == EAGAIN || errno == EINTR))
			return 0;
		if (got <= 0)
			return -1;
		if (tokens)
			copy_blocks(l, k, body, done, (size_t)got);
		k->in_at += (size_t)got;
		l->bytes += (size_t)got;
		if (head && k->in_at == WIRE_HEAD && on_head(k, room, e) < 0)
			return -1;
	}
}

/* One question and its answer on one connection, while it is being made.  The answer's body, if it may have one, is of
 * `room` bytes. */
static int ask_alone(struct links *l, struct link *k, enum wire_type type, const void *body, size_t len, unsigned flags,
		     void *in, size_t room, struct err *e)
{
	k->ask = (struct wire_head){ .type = type, .len = (uint32_t)len, .flags = flags };
	begin(l, k);
	while (k->open) {
		struct pollfd p = { .fd = k->fd, .events = POLLIN };

		if (k->out_at < WIRE_HEAD + len)
			p.events |= POLLOUT;
		if (ppoll(&p, 1, NULL, l->waiting) < 0 && stop_signal())
			return -1;
		if (send_some(l, k, body) < 0 || receive_some(l, k, in, room, e) < 0)
			return -1;
	}
	return 0;
}

/* Exchanges memory with a server that sees our directory.  -1 only if the connection is broken. */
static int share(struct links *l, struct link *k, struct err *e)
{
	uint8_t body[WIRE_DOOR];
	auto_close int fd = -1;
	struct err why = ERR_INIT;
	struct invitation to;

	if (ask_alone(l, k, WIRE_SHARE, NULL, 0, 0, body, sizeof(body), e) < 0)
		return -1;
	if (k->in_len == 0)
		err_set(&why, ERR_UNAVAILABLE, "the server has no directory to share");
	else if (invitation_decode(body, &to, &why) == 0 &&
		 door_visit(l->share_dir, &to, l->own.fd, l->waiting, &fd, &why) == 0)
		region_map(fd, k->part.n, (struct part){ 0, k->part.n }, false, &k->peer, &why);
	if (k->peer.floats)
		log_info("share memory with a parameter server address=%s", k->address);
	else
		log_info("use TCP with a parameter server address=%s: %s", k->address, why.text);
	return 0;
}

/* Introduces this trainer; the leader gives parameters to a server that has none, or older ones than it. */
static int greet(struct links *l, struct link *k, bool first, int64_t until, struct err *e)
{
	struct hello hello = l->hello;
	uint8_t body[WIRE_HELLO];
	const struct timespec nap = { .tv_nsec = RETRY_MS * 1000000 };

	hello.server = (uint32_t)(k - l->all);
	hello_encode(&hello, body);
	for (;;) {
		if (ask_alone(l, k, WIRE_HELLO_MSG, body, sizeof(body), l->clocked ? WIRE_CLOCKED : 0, NULL, 0, e) < 0)
			return -1;
		if (!l->clocked && hello.rank != HELLO_WATCHER) {
			l->clock = k->round;
			l->clocked = true;
		}
		if (l->leads && !(k->flags & WIRE_ENDED) &&
		    (!(k->flags & WIRE_READY) || (first && k->ticks < l->restore_ticks)))
			return ask_alone(l, k, WIRE_INIT, l->restore + k->part.start, k->part.n * sizeof(float), 0,
					 NULL, 0, e);
		if (k->flags & (WIRE_READY | WIRE_ENDED))
			return 0;
		if (clock_mono_ms() > until)
			return err_set(e, ERR_TIMEOUT,
				       "parameter server %s has got no parameters from the leader for %lld seconds",
				       k->address, (long long)l->give_up_ms / 1000);
		if (ppoll(NULL, 0, &nap, l->waiting) < 0 && stop_signal())
			return -1;
	}
}

/* Makes a connection, again and again until give_up_ms have passed. */
static int make(struct links *l, struct link *k, bool first, struct err *e)
{
	int64_t until = clock_mono_ms() + l->give_up_ms;
	const struct timespec nap = { .tv_nsec = RETRY_MS * 1000000 };
	struct wire_head ask = k->ask;

	for (;;) {
		err_clear(e);
		drop(k);
		if (net_connect(k->address, CONNECT_MS, &k->fd, e) == 0) {
			if (greet(l, k, first, until, e) == 0 &&
			    (!l->share_dir || k->flags & WIRE_ENDED || share(l, k, e) == 0))
				break;
			if (e->kind != ERR_NONE)
				return -1; /* it has answered, and will answer the same next time */
			err_set(e, ERR_UNAVAILABLE, "%s: the connection was closed", k->address);
		}
		if (stop_signal())
			return -1;
		if (clock_mono_ms() > until)
			return err_prefix(e, "parameter server %zu, tried for %lld seconds", (size_t)(k - l->all),
					  (long long)l->give_up_ms / 1000);
		ppoll(NULL, 0, &nap, l->waiting);
	}
	err_clear(e);
	k->ask = ask;
	k->open = false;
	return 0;
}

int links_open(struct links *l, struct err *e)
{
	for (size_t i = 0; i < l->n; i++)
		if (make(l, &l->all[i], true, e) < 0)
			return -1;
	return 0;
}

/* Moves the open question of one connection on; makes the connection again if it has broken. */
static int advance(struct links *l, struct link *k, const float *out, float *in, struct err *e)
{
	size_t room = in ? k->part.n * sizeof(float) : 0;

	if (send_some(l, k, out ? out + k->part.start : NULL) == 0 &&
	    receive_some(l, k, in ? in + k->part.start : NULL, room, e) == 0)
		return 0;
	if (e->kind != ERR_NONE)
		return -1;
	log_info("connection to a parameter server is lost, trying again address=%s", k->address);
	if (make(l, k, false, e) < 0)
		return -1;
	if (k->flags & WIRE_ENDED)
		return 0;
	begin(l, k);
	return 0;
}

static enum links_result wait_all(struct links *l, const float *out, float *in, struct err *e)
{
	struct pollfd polls[WIRE_MAX_SERVERS];
	size_t open = 0;

	for (size_t i = 0; i < l->n; i++) {
		struct link *k = &l->all[i];

		polls[i] = (struct pollfd){ .fd = k->open ? k->fd : -1, .events = POLLIN };
		if (k->out_at < WIRE_HEAD + k->ask.len)
			polls[i].events |= POLLOUT;
		open += k->open;
	}
	if (open == 0)
		return LINKS_OK;
	if (ppoll(polls, l->n, NULL, l->waiting) < 0)
		return stop_signal() ? LINKS_STOPPED : LINKS_OPEN;
	for (size_t i = 0; i < l->n; i++)
		if (polls[i].revents && advance(l, &l->all[i], out, in, e) < 0)
			return stop_signal() ? LINKS_STOPPED : LINKS_FAILED;
	return LINKS_OPEN;
}

enum links_result links_ask(struct links *l, enum wire_type type, const float *out, float *in, float rate,
			    struct err *e)
{
	enum links_result r;

	if (l->hello.mode == MODE_SSP && type == WIRE_PUSH)
		l->clock++;
	if (l->own.floats && type == WIRE_PUSH && out != l->own.floats)
		memcpy(l->own.floats, out, l->hello.params * sizeof(float));
	for (size_t i = 0; i < l->n; i++) {
		struct link *k = &l->all[i];

		k->ask = (struct wire_head){ .type = type,
					     .len = out ? (uint32_t)(k->part.n * sizeof(float)) : 0,
					     .rate = rate };
		begin(l, k);
		if (advance(l, k, out, in, e) < 0)
			return stop_signal() ? LINKS_STOPPED : LINKS_FAILED;
	}
	do {
		r = wait_all(l, out, in, e);
		for (size_t i = 0; i < l->n && type != WIRE_DONE; i++)
			if (!l->all[i].open && l->all[i].flags & WIRE_ENDED)
				return LINKS_ENDED;
	} while (r == LINKS_OPEN);
	return r == LINKS_OK && type == WIRE_DONE ? LINKS_ENDED : r;
}

uint64_t links_ticks(const struct links *l)
{
	return l->all[0].ticks;
}
