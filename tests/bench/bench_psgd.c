// SPDX-License-Identifier: Apache-2.0
/* bench_psgd.c - bytes through psgd's parameter servers, and through bare TCP
 *
 *	bench-psgd raw|async|sync WORKERS SERVERS FLOATS SECONDS [DIR]
 *
 * raw: WORKERS processes send to one process as fast as they can, from and into one small buffer, and nobody looks at
 *the bytes.  async, sync: WORKERS processes push FLOATS and get as many back, from memory to memory, with all the work
 *of a server in between.  Prints bytes per second, steps per second and bytes per second of CPU time, that of all
 *processes; bytes of both directions together.  With DIR floats are in shared memory.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/str.h"
#include "psgd/links.h"
#include "psgd/net.h"
#include "psgd/server.h"
#include "psgd/slice.h"

#define MAX_TASKS 64
#define CHUNK     (SLICE_BLOCK * sizeof(float))

struct result {
	double bytes, steps, seconds, cpu;
};

struct bench {
	enum mode mode;
	bool raw;
	size_t workers, servers, floats;
	double seconds;
	const char *share_dir; /* or NULL */
	int listeners[MAX_TASKS];
	char *addresses[MAX_TASKS];
	struct result *results; /* shared */
	int gate[2];            /* workers read it; it ends when all are to begin */
	int ready[2];           /* each worker writes a byte when it can */
	sigset_t waiting;
};

static void die(const char *what)
{
	fprintf(stderr, "bench-psgd: %s: %s\n", what, strerror(errno));
	exit(1);
}

static double cpu_of(const struct rusage *u)
{
	return (double)(u->ru_utime.tv_sec + u->ru_stime.tv_sec) +
	       (double)(u->ru_utime.tv_usec + u->ru_stime.tv_usec) / 1e6;
}

static double cpu_now(void)
{
	struct rusage u;

	getrusage(RUSAGE_SELF, &u);
	return cpu_of(&u);
}

static void wait_at_gate(struct bench *b)
{
	char c = 1;

	close(b->gate[1]);
	if (write(b->ready[1], &c, 1) != 1 || read(b->gate[0], &c, 1) < 0)
		die("gate");
}

static void serve_raw(struct bench *b)
{
	int ep = epoll_create1(0);
	struct epoll_event ev = { .events = EPOLLIN, .data.fd = b->listeners[0] }, got[MAX_TASKS];
	char *room = xmalloc(CHUNK);

	epoll_ctl(ep, EPOLL_CTL_ADD, b->listeners[0], &ev);
	for (size_t open = 0, seen = 0; seen < b->workers || open > 0;) {
		int n = epoll_wait(ep, got, MAX_TASKS, -1);

		for (int i = 0; i < n; i++) {
			int fd = got[i].data.fd;

			if (fd == b->listeners[0]) {
				ev.data.fd = accept(fd, NULL, NULL);
				net_tune(ev.data.fd);
				epoll_ctl(ep, EPOLL_CTL_ADD, ev.data.fd, &ev);
				open++;
				seen++;
			} else if (recv(fd, room, CHUNK, 0) <= 0) {
				close(fd);
				open--;
			}
		}
	}
	free(room);
	exit(0);
}

static void serve(struct bench *b, size_t index)
{
	const struct server_settings s = { .listener = b->listeners[index],
					   .index = (uint32_t)index,
					   .servers = (uint32_t)b->servers,
					   .save_every_ms = INT64_MAX / 2,
					   .patience_ms = 60000,
					   .idle_ms = 60000,
					   .share_dir = b->share_dir,
					   .waiting = &b->waiting };
	struct err e = ERR_INIT;

	exit(server_run(&s, &e) < 0);
}

static struct result send_raw(struct bench *b)
{
	char *room = xcalloc(1, CHUNK);
	struct err e = ERR_INIT;
	struct result r = { 0 };
	int64_t began, until;
	int fd = -1;

	if (net_connect(b->addresses[0], 5000, &fd, &e) < 0)
		die(e.text);
	fcntl(fd, F_SETFL, 0);
	wait_at_gate(b);
	r.cpu = -cpu_now();
	began = clock_mono_ns();
	until = began + (int64_t)(b->seconds * 1e9);
	while (clock_mono_ns() < until) {
		ssize_t n = send(fd, room, CHUNK, MSG_NOSIGNAL);

		if (n < 0)
			die("send");
		r.bytes += (double)n;
		r.steps++;
	}
	r.seconds = (double)(clock_mono_ns() - began) / 1e9;
	r.cpu += cpu_now();
	free(room);
	return r;
}

static struct result push(struct bench *b, size_t rank)
{
	struct hello hello = { .mode = b->mode,
			       .rank = (uint32_t)rank,
			       .ranks = (uint32_t)b->workers,
			       .servers = (uint32_t)b->servers,
			       .params = b->floats,
			       .model = "1-1" };
	float *gradient, *weights = xcalloc(b->floats, sizeof(float));
	struct result r = { 0 };
	struct err e = ERR_INIT;
	struct links l;
	int64_t began, until;
	uint64_t before;
	enum links_result got;

	links_init(&l, &hello, (const char *const *)b->addresses, b->servers);
	if (b->share_dir)
		links_share(&l, b->share_dir);
	gradient = links_vector(&l);
	for (size_t i = 0; i < b->floats; i++)
		gradient[i] = 1e-6f * (float)i;
	l.give_up_ms = 10000;
	l.waiting = &b->waiting;
	l.leads = rank == 0;
	l.restore = weights;
	if (links_open(&l, &e) < 0 || links_ask(&l, WIRE_PUSH, gradient, weights, 1e-3f, &e) != LINKS_OK)
		die(e.text);
	wait_at_gate(b);
	r.cpu = -cpu_now();
	before = l.bytes + l.shared_bytes;
	began = clock_mono_ns();
	until = began + (int64_t)(b->seconds * 1e9);
	do {
		got = links_ask(&l, WIRE_PUSH, gradient, weights, 1e-3f, &e);
		if (got == LINKS_FAILED)
			die(e.text);
		r.steps += got == LINKS_OK;
	} while (got == LINKS_OK && clock_mono_ns() < until);
	r.seconds = (double)(clock_mono_ns() - began) / 1e9;
	r.cpu += cpu_now();
	r.bytes = (double)(l.bytes + l.shared_bytes - before);
	if (b->mode == MODE_SYNC && got == LINKS_OK) /* else another's time was over first */
		links_ask(&l, WIRE_DONE, NULL, NULL, 0, &e);
	links_done(&l);
	free(weights);
	return r;
}

static pid_t start(void)
{
	pid_t pid = fork();

	if (pid < 0)
		die("fork");
	if (pid == 0)
		prctl(PR_SET_PDEATHSIG, SIGKILL);
	return pid;
}

static void measure(struct bench *b)
{
	pid_t servers[MAX_TASKS], workers[MAX_TASKS];
	double bytes = 0, steps = 0, total = 0, cpu = 0;
	struct rusage usage;
	int status, bad = 0;
	char c;

	for (size_t i = 0; i < b->servers; i++)
		if ((servers[i] = start()) == 0) {
			close(b->gate[1]);
			close(b->ready[1]);
			b->raw ? serve_raw(b) : serve(b, i);
		}
	for (size_t i = 0; i < b->workers; i++)
		if ((workers[i] = start()) == 0) {
			b->results[i] = b->raw ? send_raw(b) : push(b, i);
			exit(0);
		}
	close(b->ready[1]);
	for (size_t i = 0; i < b->workers; i++)
		if (read(b->ready[0], &c, 1) != 1)
			die("a worker did not start");
	close(b->gate[1]);
	for (size_t i = 0; i < b->workers; i++) {
		waitpid(workers[i], &status, 0);
		bad |= status;
		bytes += b->results[i].bytes / b->results[i].seconds;
		steps += b->results[i].steps / b->results[i].seconds;
		total += b->results[i].bytes;
		cpu += b->results[i].cpu;
	}
	for (size_t i = 0; i < b->servers; i++) {
		kill(servers[i], SIGTERM);
		wait4(servers[i], &status, 0, &usage);
		cpu += cpu_of(&usage);
	}
	if (bad)
		exit(1);
	printf("%.0f %.3f %.0f\n", bytes, steps, total / cpu);
}

static size_t number(const char *text, int64_t max)
{
	int64_t v = 0;

	if (!str_int64(text, 1, max, &v)) {
		fprintf(stderr, "bench-psgd: \"%s\" is not a number from 1 to %lld\n", text, (long long)max);
		exit(2);
	}
	return (size_t)v;
}

int main(int argc, char **argv)
{
	struct bench b = { 0 };
	struct err e = ERR_INIT;

	if (argc != 6 && argc != 7) {
		fprintf(stderr, "usage: bench-psgd raw|async|sync WORKERS SERVERS FLOATS SECONDS [DIR]\n");
		return 2;
	}
	log_set_level(LOG_WARN);
	b.raw = streq(argv[1], "raw");
	b.mode = b.raw ? MODE_ASYNC : mode_of(argv[1]);
	b.workers = number(argv[2], MAX_TASKS);
	b.servers = number(argv[3], MAX_TASKS);
	b.floats = number(argv[4], WIRE_MAX_FLOATS - 1);
	b.seconds = strtod(argv[5], NULL);
	b.share_dir = argv[6];
	if (b.mode == MODE__COUNT || (b.raw && b.servers != 1))
		return 2;
	b.results = mmap(NULL, sizeof(struct result) * MAX_TASKS, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
			 -1, 0);
	if (b.results == MAP_FAILED || pipe(b.gate) < 0 || pipe(b.ready) < 0)
		die("mmap");
	for (size_t i = 0; i < b.servers; i++) {
		struct sockaddr_in at = { 0 };
		socklen_t n = sizeof(at);

		if (net_listen("127.0.0.1:0", &b.listeners[i], &e) < 0 ||
		    getsockname(b.listeners[i], (struct sockaddr *)&at, &n) < 0)
			die(e.text);
		b.addresses[i] = xasprintf("127.0.0.1:%u", ntohs(at.sin_port));
	}
	sigemptyset(&b.waiting); /* signals end it at once: there is nothing to save */
	measure(&b);
	for (size_t i = 0; i < b.servers; i++)
		free(b.addresses[i]);
	return 0;
}
