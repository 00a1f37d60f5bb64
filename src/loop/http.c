// SPDX-License-Identifier: Apache-2.0
/* http.c - the server: what its connections share, and the sweep that ends what takes too long
 *
 * There is no timer per connection: one sweep looks at all deadlines while there are connections, every sweep_ms, so a
 * limit of 60 s means 60 to 75.
 */
#include "loop/http.h"

#include <fcntl.h>
#include <time.h>

#include "base/clock.h"
#include "base/limits.h"
#include "base/mem.h"
#include "loop/http_internal.h"

#define SWEEP_MS      15000 /* a quarter of LIMIT_REQUEST_SECONDS */
#define FREE_REQUESTS 64    /* kept for reuse */

/* --- requests for reuse --- */

struct http_request *server_take_request(struct http_server *s)
{
	struct http_request *req = SLIST_FIRST(&s->free_requests);

	if (!req)
		return request_new(&s->limits);
	SLIST_REMOVE_HEAD(&s->free_requests, free_link);
	s->nfree--;
	return req;
}

void server_give_request(struct http_server *s, struct http_request *req)
{
	if (s->nfree >= FREE_REQUESTS) {
		request_free(req);
		return;
	}
	request_reset(req);
	SLIST_INSERT_HEAD(&s->free_requests, req, free_link);
	s->nfree++;
}

/* --- time --- */

const char *server_date(struct http_server *s)
{
	time_t now = (time_t)clock_wall();
	struct tm tm;

	if (now != s->date_second) {
		gmtime_r(&now, &tm);
		strftime(s->date, sizeof(s->date), "%a, %d %b %Y %H:%M:%S GMT", &tm);
		s->date_second = now;
	}
	return s->date;
}

static void expire(struct conn_list *list, int64_t now)
{
	struct http_conn *next;

	for (struct http_conn *c = TAILQ_FIRST(list); c; c = next) {
		next = TAILQ_NEXT(c, link);
		if (c->deadline && now >= c->deadline)
			conn_expire(c);
	}
}

static void on_sweep(void *arg)
{
	struct http_server *s = arg;
	int64_t now = clock_mono_ms();

	/* Busy ones first: a request refused for its slowness becomes busy, and has had its turn. */
	expire(&s->busy, now);
	expire(&s->idle, now);
	server_watch_time(s);
}

void server_watch_time(struct http_server *s)
{
	if (!s->nconns)
		loop_timer_clear(&s->sweep);
	else if (!loop_timer_pending(&s->sweep))
		loop_timer_set(s->loop, &s->sweep, s->limits.sweep_ms);
}

/* --- flushing streams --- */

static void on_flush(void *arg)
{
	struct http_server *s = arg;
	struct conn_dirty batch = s->dirty;
	struct http_conn *c;

	/* A stream that writes more as soon as it has drained belongs to the next turn. */
	LIST_INIT(&s->dirty);
	if (batch.lh_first)
		batch.lh_first->dirty_link.le_prev = &batch.lh_first;
	while ((c = LIST_FIRST(&batch))) {
		LIST_REMOVE(c, dirty_link);
		c->dirty = false;
		conn_flush(c);
	}
}

/* --- the server --- */

struct http_server *http_server_new(struct loop *loop, const struct http_handlers *handlers)
{
	struct http_server *s = xcalloc(1, sizeof(*s));

	s->loop = loop;
	s->handlers = *handlers;
	s->limits = (struct http_limits){
		.url = LIMIT_URL,
		.headers = LIMIT_HEADERS,
		.body = LIMIT_BODY,
		.connections = LIMIT_CONNECTIONS,
		.request_ms = LIMIT_REQUEST_SECONDS * 1000,
		.idle_ms = LIMIT_IDLE_SECONDS * 1000,
		.sweep_ms = SWEEP_MS,
	};
	TAILQ_INIT(&s->idle);
	TAILQ_INIT(&s->busy);
	LIST_INIT(&s->dirty);
	SLIST_INIT(&s->free_requests);
	s->flush = (struct loop_hook){ .run = on_flush, .arg = s, .phase = LOOP_FLUSH };
	s->sweep = (struct loop_timer){ .fire = on_sweep, .arg = s };
	s->spare_fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
	return s;
}

void http_server_set_limits(struct http_server *s, const struct http_limits *limits)
{
	s->limits = *limits;
}

void http_server_free(struct http_server *s)
{
	struct http_conn *c;

	if (!s)
		return;
	server_close_listeners(s);
	while ((c = TAILQ_FIRST(&s->busy)) || (c = TAILQ_FIRST(&s->idle)))
		conn_close(c);
	while (!SLIST_EMPTY(&s->free_requests)) {
		struct http_request *req = SLIST_FIRST(&s->free_requests);

		SLIST_REMOVE_HEAD(&s->free_requests, free_link);
		request_free(req);
	}
	loop_unschedule(s->loop, &s->flush);
	loop_timer_done(&s->sweep);
	if (s->spare_fd >= 0)
		close(s->spare_fd);
	free(s);
}

void http_server_drain(struct http_server *s)
{
	struct http_conn *next;

	s->draining = true;
	server_close_listeners(s);
	for (struct http_conn *c = TAILQ_FIRST(&s->idle); c; c = next) {
		next = TAILQ_NEXT(c, link);
		if (c->state == CONN_IDLE || c->state == CONN_HANDSHAKE)
			conn_expire(c);
	}
}

size_t http_server_connections(const struct http_server *s)
{
	return s->nconns;
}
