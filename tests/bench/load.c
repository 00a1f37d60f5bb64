// SPDX-License-Identifier: Apache-2.0
/* load.c - the load generator of tools/bench
 *
 * One thread, one epoll set, so that it takes as little as possible from a server on the same two cores.  Three shapes:
 *
 *	closed loop   N connections, each sends its next request when the reply to the last one is complete
 *	paced         one connection, a request every --interval microseconds; its slowest reply is the longest pause
 *	fan-out       N watchers and a writer; an event is timed from just before the write until a watcher has it
 *decrypted
 *
 * Prints one line of JSON.  With --gate it prints "open" once all connections stand, waits for a line on stdin before
 * the first request, and after the result for the end of stdin before it closes: a caller can then read the server's
 * counters around exactly the requests.  The bearer token comes from $LOAD_TOKEN.
 */
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "conn.h"
#include "work.h"

#define STALL_MS 60000
#define NS_PER_S 1000000000u

struct samples {
	uint32_t *us;
	size_t n, room;
};

struct load {
	struct target target;
	struct work work;
	request_fn *request;
	int epoll_fd;
	struct conn *conns;
	unsigned nconns, live;
	uint64_t seconds, requests, start, interval_us;
	uint64_t sent, errors, bytes, deadline, began, ended;
	struct samples samples; /* a reply each, or each watcher's delivery */
	struct samples events;  /* fan-out: the last watcher's delivery of each event */
	bool gate, told;
	const char *mode;
	/* fan-out */
	unsigned waiting;
	bool written;
	uint64_t event_at;
};

static volatile sig_atomic_t stopped;

static void on_term(int signo)
{
	(void)signo;
	stopped = 1;
}

static void sample_add(struct samples *s, uint64_t ns)
{
	if (s->n == s->room) {
		s->room = s->room ? 2 * s->room : 4096;
		s->us = realloc(s->us, s->room * sizeof(*s->us));
		if (!s->us)
			die("out of memory");
	}
	s->us[s->n++] = (uint32_t)(ns / 1000);
}

static int by_value(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return (x > y) - (x < y);
}

static double quantile_ms(const struct samples *s, double q)
{
	return s->n ? s->us[(size_t)(q * (double)(s->n - 1))] / 1000.0 : 0;
}

static void print_samples(const char *prefix, struct samples *s)
{
	qsort(s->us, s->n, sizeof(*s->us), by_value);
	printf("\"%sp50\":%.3f,\"%sp99\":%.3f,\"%smax\":%.3f", prefix, quantile_ms(s, 0.5), prefix,
	       quantile_ms(s, 0.99), prefix, quantile_ms(s, 1));
}

/* --- one turn of the epoll set --- */

/* Waits up to `us` microseconds; for ever is STALL_MS, after which the server counts as hung. */
static void turn(struct load *l, int64_t us)
{
	struct epoll_event ev[256];
	struct timespec t = { .tv_sec = us / 1000000, .tv_nsec = us % 1000000 * 1000 };
	int n = epoll_pwait2(l->epoll_fd, ev, 256, us < 0 ? &(struct timespec){ .tv_sec = STALL_MS / 1000 } : &t, NULL);

	if (n < 0 && errno != EINTR)
		die("epoll: %s", strerror(errno));
	if (n == 0 && us < 0)
		die("no reply for %d s, %" PRIu64 " requests sent", STALL_MS / 1000, l->sent);
	for (int i = 0; i < n; i++) {
		struct conn *c = ev[i].data.ptr;

		conn_readable(c);
		if (c->failed) {
			l->errors++;
			l->live--;
		}
	}
}

/* The first refusal is shown, for a figure made of errors helps nobody. */
static void show_error(struct conn *c, const char *p, size_t n)
{
	struct load *l = c->arg;

	if (c->status < 400 || l->told)
		return;
	l->told = true;
	fprintf(stderr, "load: %s: status %d: %.*s\n", l->mode, c->status, (int)(n < 600 ? n : 600), p);
}

static void account(struct conn *c)
{
	struct load *l = c->arg;

	sample_add(&l->samples, now_ns() - c->sent_at);
	l->bytes += c->received;
	if (c->status < 200 || c->status > 299)
		l->errors++;
}

/* --- closed loop --- */

static void send_next(struct load *l, struct conn *c)
{
	char text[REQUEST_MAX];

	if ((l->requests && l->sent >= l->requests) || stopped || (!l->requests && now_ns() >= l->deadline)) {
		l->live--;
		return;
	}
	conn_send(c, text, l->request(&l->work, l->start + l->sent++, text));
	if (c->failed) {
		l->errors++;
		l->live--;
	}
}

static void on_closed_reply(struct conn *c)
{
	account(c);
	send_next(c->arg, c);
}

static void run_closed(struct load *l)
{
	l->live = l->nconns;
	for (unsigned i = 0; i < l->nconns; i++) {
		l->conns[i].on_reply = on_closed_reply;
		send_next(l, &l->conns[i]);
	}
	while (l->live)
		turn(l, -1);
}

/* --- paced --- */

static void on_paced_reply(struct conn *c)
{
	struct load *l = c->arg;

	account(c);
	l->waiting = 0;
}

static void run_paced(struct load *l)
{
	struct conn *c = &l->conns[0];
	uint64_t next = now_ns();

	c->on_reply = on_paced_reply;
	l->live = 1;
	while (l->live && !stopped && now_ns() < l->deadline) {
		uint64_t now = now_ns();
		char text[REQUEST_MAX];

		if (!l->waiting && now >= next) {
			l->waiting = 1;
			conn_send(c, text, l->request(&l->work, l->sent++, text));
			next = now + l->interval_us * 1000;
		}
		turn(l, l->waiting ? 100000 : (int64_t)((next - now) / 1000));
	}
}

/* --- fan-out: conns[0] writes, the others watch --- */

static void on_event_bytes(struct conn *c, const char *p, size_t n)
{
	struct load *l = c->arg;

	show_error(c, p, n);
	/* One event is under way, and it ends with the only newline. */
	if (memchr(p, '\n', n)) {
		sample_add(&l->samples, now_ns() - l->event_at);
		l->waiting--;
	}
}

static void on_watch_end(struct conn *c)
{
	struct load *l = c->arg;

	if (c->status >= 400)
		die("watching: status %d", c->status);
	l->errors++;
}

static void on_written(struct conn *c)
{
	struct load *l = c->arg;

	if (c->status != 201)
		l->errors++;
	l->written = true;
}

static void run_fan_out(struct load *l)
{
	request_fn *create = work_find("create");
	char text[REQUEST_MAX];
	size_t n = l->request(&l->work, 0, text);

	l->live = l->nconns;
	l->conns[0].on_reply = on_written;
	for (unsigned i = 1; i < l->nconns; i++) {
		struct conn *c = &l->conns[i];

		c->on_body = on_event_bytes;
		c->on_reply = on_watch_end;
		conn_send(c, text, n);
		while (!c->status && !c->failed)
			turn(l, -1);
	}
	for (uint64_t i = 0; i < l->requests && l->live == l->nconns && !stopped; i++) {
		n = create(&l->work, i, text);
		l->waiting = l->nconns - 1;
		l->written = false;
		l->event_at = now_ns();
		conn_send(&l->conns[0], text, n);
		while ((l->waiting || !l->written) && l->live == l->nconns)
			turn(l, -1);
		sample_add(&l->events, now_ns() - l->event_at);
		l->sent++;
	}
}

/* --- the program --- */

enum {
	OPT_URL = 1,
	OPT_CA,
	OPT_KIND,
	OPT_NS,
	OPT_PREFIX,
	OPT_SECONDS,
	OPT_REQUESTS,
	OPT_START,
	OPT_EXISTING,
	OPT_LIMIT,
	OPT_INTERVAL,
	OPT_CONNECTIONS,
	OPT_GATE,
};

static const struct option options[] = {
	{ "url", required_argument, NULL, OPT_URL },
	{ "ca", required_argument, NULL, OPT_CA },
	{ "kind", required_argument, NULL, OPT_KIND },
	{ "namespace", required_argument, NULL, OPT_NS },
	{ "prefix", required_argument, NULL, OPT_PREFIX },
	{ "seconds", required_argument, NULL, OPT_SECONDS },
	{ "requests", required_argument, NULL, OPT_REQUESTS },
	{ "start", required_argument, NULL, OPT_START },
	{ "existing", required_argument, NULL, OPT_EXISTING },
	{ "limit", required_argument, NULL, OPT_LIMIT },
	{ "interval", required_argument, NULL, OPT_INTERVAL },
	{ "connections", required_argument, NULL, OPT_CONNECTIONS },
	{ "gate", no_argument, NULL, OPT_GATE },
	{ NULL, 0, NULL, 0 },
};

static uint64_t number(const char *text)
{
	char *end;
	uint64_t n = strtoull(text, &end, 10);

	if (end == text || *end)
		die("%s: not a number", text);
	return n;
}

static void parse(struct load *l, int argc, char **argv)
{
	const char *url = NULL, *ca = NULL;
	uint64_t connections = 1;

	for (int o; (o = getopt_long(argc, argv, "", options, NULL)) != -1;) {
		const char **texts[] = { [OPT_URL] = &url,
					 [OPT_CA] = &ca,
					 [OPT_KIND] = &l->work.kind_name,
					 [OPT_NS] = &l->work.ns,
					 [OPT_PREFIX] = &l->work.prefix };
		uint64_t *numbers[] = { [OPT_SECONDS] = &l->seconds,     [OPT_REQUESTS] = &l->requests,
					[OPT_START] = &l->start,         [OPT_EXISTING] = &l->work.existing,
					[OPT_LIMIT] = &l->work.limit,    [OPT_INTERVAL] = &l->interval_us,
					[OPT_CONNECTIONS] = &connections };

		if (o == '?')
			exit(2);
		if (o <= OPT_PREFIX)
			*texts[o] = optarg;
		else if (o == OPT_GATE)
			l->gate = true;
		else
			*numbers[o] = number(optarg);
	}
	l->mode = argv[optind];
	if (!url || !l->mode || argv[optind + 1])
		die("usage: load --url URL [options] create|update|get|list|livez|put|watch");
	l->request = work_find(l->mode);
	if (!l->request || work_init(&l->work) < 0 || connections < 1 || connections > 10000)
		die("%s of %s on %" PRIu64 " connections: no such work", l->mode, l->work.kind_name, connections);
	l->nconns = (unsigned)connections;
	target_parse(&l->target, url, ca);
}

static void wait_line(void)
{
	char line[16];

	if (!fgets(line, sizeof(line), stdin))
		exit(0);
}

static void report(struct load *l)
{
	double seconds = (double)(l->ended - l->began) / 1e9;

	printf("{\"mode\":\"%s\",\"connections\":%u,\"requests\":%" PRIu64 ",\"errors\":%" PRIu64
	       ",\"seconds\":%.4f,\"rate\":%.1f,\"bytes\":%" PRIu64 ",",
	       l->mode, l->nconns, l->sent, l->errors, seconds, (double)l->sent / seconds, l->bytes);
	print_samples("", &l->samples);
	if (l->events.n) {
		putchar(',');
		print_samples("last_", &l->events);
	}
	puts("}");
	fflush(stdout);
}

int main(int argc, char **argv)
{
	struct load l = { .seconds = 5,
			  .work = { .kind_name = "configmap", .ns = "default", .prefix = "bench", .salt = now_ns() } };
	bool fan_out;

	l.work.token = getenv("LOAD_TOKEN");
	parse(&l, argc, argv);
	signal(SIGPIPE, SIG_IGN);
	signal(SIGTERM, on_term);
	fan_out = strcmp(l.mode, "watch") == 0;
	if (fan_out)
		l.nconns++;
	l.epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	l.conns = calloc(l.nconns, sizeof(*l.conns));
	if (!l.conns)
		die("out of memory");
	for (unsigned i = 0; i < l.nconns; i++) {
		l.conns[i].arg = &l;
		l.conns[i].on_body = show_error;
		conn_open(&l.conns[i], &l.target, l.epoll_fd);
	}
	if (l.gate) {
		puts("open");
		fflush(stdout);
		wait_line();
	}
	l.began = now_ns();
	l.deadline = l.began + l.seconds * NS_PER_S;
	if (fan_out)
		run_fan_out(&l);
	else if (l.interval_us)
		run_paced(&l);
	else
		run_closed(&l);
	l.ended = now_ns();
	report(&l);
	if (l.gate)
		wait_line();
	for (unsigned i = 0; i < l.nconns; i++)
		conn_close(&l.conns[i]);
	free(l.conns);
	free(l.samples.us);
	free(l.events.us);
	SSL_CTX_free(l.target.tls);
	close(l.epoll_fd);
	return 0;
}
