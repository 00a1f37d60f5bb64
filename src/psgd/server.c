// SPDX-License-Identifier: Apache-2.0
/* server.c - the loop of a parameter server
 *
 * Trainers come and go.  One that is away is waited for `patience`, then the others go on without it until it is back.
 * A server that nobody talks to any more gives up: it never sits for ever.  When the leader says that training is over,
 * everyone is told with their next answer, and the server ends when they have all left or LINGER_MS have passed.
 */
#include "psgd/server.h"

#include <errno.h>
#include <poll.h>
#include <sys/epoll.h>
#include <sys/socket.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/mem.h"
#include "psgd/checkpoint.h"
#include "psgd/net.h"
#include "psgd/server_parts.h"
#include "psgd/split.h"

#define LINGER_MS 10000 /* a step of a slow trainer fits */
#define HELLO_MS  10000 /* who has not said hello by then is a stranger */
#define MAX_CONNS 8192
#define EVENTS    64

enum { HERE = -1, GIVEN_UP = -2 };

static struct checkpoint describe(const struct server *s)
{
	const struct slice *sl = &s->slice;

	return (struct checkpoint){ .model = sl->agreed.model,
				    .params = sl->agreed.params,
				    .index = sl->agreed.server,
				    .parts = sl->agreed.servers,
				    .n = sl->n,
				    .ticks = slice_ticks(sl) };
}

int server_save(struct server *s, struct err *e)
{
	const char *dir = s->settings->checkpoint_dir;
	auto_free char *path = dir ? checkpoint_path(dir, s->settings->index, s->settings->servers, false) : NULL;
	struct checkpoint c = describe(s);

	s->saved_at = s->now;
	if (!dir || !s->slice.ready || c.ticks == s->saved_ticks)
		return 0;
	if (checkpoint_write(path, &c, s->slice.weights, e) < 0)
		return -1;
	s->saved_ticks = c.ticks;
	return 0;
}

/* A slice of an earlier life, if there is one. */
static int restore(struct server *s, struct err *e)
{
	const char *dir = s->settings->checkpoint_dir;
	auto_free char *path = dir ? checkpoint_path(dir, s->settings->index, s->settings->servers, false) : NULL;
	struct checkpoint c = describe(s);

	if (!dir)
		return 0;
	if (checkpoint_read(path, &c, s->slice.weights, e) < 0) {
		if (e->kind != ERR_NOT_FOUND)
			return -1;
		err_clear(e);
		return 0;
	}
	slice_begin(&s->slice, c.ticks);
	s->saved_ticks = c.ticks;
	log_info("resume path=%s ticks=%llu", path, (unsigned long long)c.ticks);
	return 0;
}

/* Parameters in memory that trainers can see, if we have a door. */
static void make_weights(struct server *s, const struct hello *h)
{
	size_t n = slice_of(h->params, h->servers, h->server).n;
	struct err e = ERR_INIT;

	if (s->door.fd < 0 || region_new(n, false, &s->weights, &e) == 0)
		return;
	log_warn("no shared memory, all goes over TCP: %s", e.text);
	door_close(&s->door);
}

/* The first trainer settles what is trained. */
static int agree(struct server *s, const struct hello *h, struct err *e)
{
	if (h->server != s->settings->index || h->servers != s->settings->servers)
		return err_set(e, ERR_CONFLICT, "this is parameter server %u of %u, not %u of %u", s->settings->index,
			       s->settings->servers, h->server, h->servers);
	make_weights(s, h);
	slice_init(&s->slice, h, s->weights.floats);
	if (restore(s, e) < 0) {
		s->failure = *e;
		return -1;
	}
	s->away_since = xreallocarray(NULL, h->ranks, sizeof(*s->away_since));
	for (size_t i = 0; i < h->ranks; i++)
		s->away_since[i] = s->now;
	log_info("serve slice=%u/%u parameters=%zu model=%s mode=%s trainers=%u", h->server, h->servers, s->slice.n,
		 h->model, mode_name(h->mode), h->ranks);
	return 0;
}

int server_greet(struct server *s, struct conn *c, const struct hello *h, struct err *e)
{
	if (!s->slice.agreed.ranks && agree(s, h, e) < 0)
		return -1;
	if (hello_compare(&s->slice.agreed, h, e) < 0)
		return -1;
	c->greeted = true;
	c->rank = h->rank;
	if (h->rank == HELLO_WATCHER)
		return 0;
	/* Its former self may not have been noticed to be gone. */
	for (size_t i = 0; i < s->nconns; i++)
		if (s->conns[i] != c && s->conns[i]->greeted && s->conns[i]->rank == h->rank)
			s->conns[i]->dead = true;
	if (s->away_since[h->rank] == GIVEN_UP) {
		s->slice.members[h->rank].clock = slice_clock(&s->slice);
		log_info("trainer is back rank=%u", h->rank);
	}
	s->away_since[h->rank] = HERE;
	slice_member_set(&s->slice, h->rank, true);
	return 0;
}

bool server_invite(struct server *s, struct conn *c, struct invitation *ret)
{
	if (s->door.fd < 0 || c->rank == HELLO_WATCHER)
		return false;
	door_invite(&s->door, ret);
	memcpy(c->secret, ret->secret, sizeof(c->secret));
	c->invited = true;
	return true;
}

/* A trainer brings the memory that it pushes from, and gets ours. */
static int let_in(struct server *s, const struct visit *v, struct err *e)
{
	const struct hello *h = &s->slice.agreed;
	struct conn *c = NULL;

	for (size_t i = 0; i < s->nconns && !c; i++)
		if (s->conns[i]->invited && memcmp(s->conns[i]->secret, v->secret, sizeof(v->secret)) == 0)
			c = s->conns[i];
	if (!c)
		return err_set(e, ERR_FORBIDDEN, "a visitor who was not invited");
	c->invited = false;
	if (region_map(v->region, h->params, slice_of(h->params, h->servers, h->server), mode_is_elastic(h->mode),
		       &c->peer, e) < 0)
		return err_prefix(e, "rank %u", c->rank);
	log_info("share memory rank=%u", c->rank);
	return 0;
}

static void on_visit(struct server *s)
{
	struct err e = ERR_INIT;
	struct visit v;

	while (door_next(&s->door, &v)) {
		bool welcome = let_in(s, &v, &e) == 0;

		if (!welcome)
			log_warn("refuse shared memory: %s", e.text);
		visit_end(&v, welcome ? s->weights.fd : -1);
	}
}

void server_end(struct server *s)
{
	if (s->ended_at < 0)
		s->ended_at = s->now;
}

/* No room for one more: who came first and has said nothing yet makes way.  If all have, the newcomer waits. */
static void drop_stranger(struct server *s)
{
	for (size_t i = 0; i < s->nconns; i++)
		if (!s->conns[i]->greeted && !s->conns[i]->dead) {
			s->conns[i]->dead = true;
			return;
		}
	ppoll(NULL, 0, &(struct timespec){ .tv_nsec = 20000000 }, s->settings->waiting);
}

static void on_incoming(struct server *s)
{
	int fd = accept4(s->settings->listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
	struct epoll_event ev = { .events = EPOLLIN | EPOLLRDHUP };
	struct conn *c;

	if (fd < 0 || s->nconns >= MAX_CONNS) {
		if (fd >= 0)
			close(fd);
		if (fd >= 0 || errno == EMFILE || errno == ENFILE)
			drop_stranger(s);
		return;
	}
	c = conn_new(s, fd);
	c->interest = ev.events;
	ev.data.ptr = c;
	if (epoll_ctl(s->epoll, EPOLL_CTL_ADD, fd, &ev) < 0) {
		conn_free(c);
		return;
	}
	ARRAY_PUSH(s->conns, s->nconns, s->cap, c);
}

static void on_event(struct server *s, const struct epoll_event *ev)
{
	struct conn *c = ev->data.ptr;

	if (!c) {
		on_incoming(s);
		return;
	}
	if (ev->data.ptr == &s->door) {
		on_visit(s);
		return;
	}
	if (ev->events & EPOLLOUT)
		conn_send(c);
	if (ev->events & EPOLLIN)
		conn_readable(c);
	else if (ev->events & (EPOLLHUP | EPOLLERR | EPOLLRDHUP))
		c->dead = true;
	conn_arm(c);
}

/* Whom nobody else speaks for is away from now on. */
static void bury(struct server *s)
{
	size_t kept = 0, trainers = 0;

	for (size_t i = 0; i < s->nconns; i++) {
		struct conn *c = s->conns[i];
		bool trainer = c->greeted && c->rank != HELLO_WATCHER, replaced = false;

		c->dead |= !c->greeted && s->now - c->since > HELLO_MS;
		if (!c->dead) {
			trainers += trainer;
			s->conns[kept++] = c;
			continue;
		}
		for (size_t j = 0; trainer && j < s->nconns; j++)
			replaced |= s->conns[j] && !s->conns[j]->dead && s->conns[j]->greeted &&
				    s->conns[j]->rank == c->rank;
		if (trainer && !replaced) {
			s->away_since[c->rank] = s->now;
			if (s->ended_at < 0)
				log_info("trainer has left rank=%u", c->rank);
		}
		s->conns[i] = NULL;
		conn_free(c);
	}
	s->nconns = kept;
	if (trainers)
		s->quiet_since = -1;
	else if (s->quiet_since < 0)
		s->quiet_since = s->now;
}

static void give_up_absent(struct server *s)
{
	bool changed = false;

	for (size_t i = 0; s->away_since && i < s->slice.agreed.ranks; i++) {
		if (s->away_since[i] < 0 || s->now - s->away_since[i] < s->settings->patience_ms)
			continue;
		s->away_since[i] = GIVEN_UP;
		slice_member_set(&s->slice, (uint32_t)i, false);
		changed = true;
		log_warn("go on without a trainer rank=%zu seconds=%lld", i,
			 (long long)s->settings->patience_ms / 1000);
	}
	if (changed)
		slice_settle(&s->slice, s->rate);
}

static bool finished(struct server *s)
{
	if (stop_signal() || s->failure.kind != ERR_NONE)
		return true;
	if (s->ended_at >= 0)
		return s->nconns == 0 || s->now - s->ended_at > LINGER_MS;
	if (s->quiet_since >= 0 && s->now - s->quiet_since > s->settings->idle_ms) {
		err_set(&s->failure, ERR_TIMEOUT, "no trainer for %lld seconds",
			(long long)s->settings->idle_ms / 1000);
		return true;
	}
	return false;
}

static void turn(struct server *s)
{
	struct epoll_event events[EVENTS];
	int n = epoll_pwait(s->epoll, events, EVENTS, 500, s->settings->waiting);
	struct err e = ERR_INIT;

	s->now = clock_mono_ms();
	for (int i = 0; i < n; i++)
		on_event(s, &events[i]);
	give_up_absent(s);
	for (size_t i = 0; i < s->nconns; i++) {
		conn_pump(s->conns[i]);
		conn_arm(s->conns[i]);
	}
	bury(s);
	if (s->now - s->saved_at > s->settings->save_every_ms && server_save(s, &e) < 0)
		log_warn("cannot save: %s, ignoring", e.text);
}

/* Without a door everything works too: over TCP. */
static void make_door(struct server *s)
{
	struct epoll_event ev = { .events = EPOLLIN, .data.ptr = &s->door };
	struct err e = ERR_INIT;

	if (!s->settings->share_dir)
		return;
	if (door_open(&s->door, s->settings->share_dir, &e) < 0)
		log_warn("no shared memory, all goes over TCP: %s", e.text);
	else if (epoll_ctl(s->epoll, EPOLL_CTL_ADD, s->door.fd, &ev) < 0)
		door_close(&s->door);
}

int server_run(const struct server_settings *settings, struct err *e)
{
	struct server s = { .settings = settings,
			    .quiet_since = -1,
			    .ended_at = -1,
			    .failure = ERR_INIT,
			    .door = DOOR_NONE,
			    .weights = REGION_NONE };
	struct epoll_event ev = { .events = EPOLLIN };
	struct err late = ERR_INIT;

	s.epoll = epoll_create1(EPOLL_CLOEXEC);
	s.now = s.saved_at = clock_mono_ms();
	if (s.epoll < 0 || epoll_ctl(s.epoll, EPOLL_CTL_ADD, settings->listener, &ev) < 0)
		err_errno(&s.failure, ERR_INTERNAL, "epoll");
	make_door(&s);
	while (!finished(&s))
		turn(&s);
	/* The last question's answer may still be on its way out: the error that ends us is one. */
	for (size_t i = 0; i < s.nconns; i++)
		conn_pump(s.conns[i]);
	if (server_save(&s, &late) < 0)
		log_warn("cannot save: %s", late.text);
	for (size_t i = 0; i < s.nconns; i++)
		conn_free(s.conns[i]);
	if (s.epoll >= 0)
		close(s.epoll);
	close(settings->listener);
	free(s.conns);
	free(s.away_since);
	slice_done(&s.slice);
	region_done(&s.weights);
	door_close(&s.door);
	if (s.failure.kind == ERR_NONE)
		return 0;
	*e = s.failure;
	return -1;
}
