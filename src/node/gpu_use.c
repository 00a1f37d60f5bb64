// SPDX-License-Identifier: Apache-2.0
/* gpu_use.c - see gpu_use.h
 *
 * The child of gpu_nvml.c looks at all cards once a second and says every few seconds, as a line of JSON, how much each
 * was used at most.  A child that ends, as with a driver that is being replaced, is started again after a while; until
 * then nobody knows anything.
 */
#include "node/gpu_use.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/jsonx.h"
#include "base/log.h"
#include "base/mem.h"
#include "node/gpu_parts.h"

#define FILE_MAX  65536
#define LINE_MAX  65536
#define STALE_MS  15000 /* three lines that did not come */
#define AGAIN_MS  30000
#define FILE_NAME "gpu-use"

/* Of one card. */
struct seen {
	int most;   /* percent, -1: not known */
	bool taken; /* somebody has heard that: the next number replaces it */
	int64_t ms; /* when it was said */
};

struct gpu_use {
	struct loop *loop;
	const struct gpus *gpus;
	char *path;
	struct seen *seen;
	pid_t pid; /* 0: there is none */
	int fd;
	struct loop_fd *ready;
	struct sbuf line;
	int64_t tried_ms; /* 0: never */
};

static void forget(struct gpu_use *u)
{
	for (size_t i = 0; i < u->gpus->n; i++)
		u->seen[i] = (struct seen){ .most = -1 };
}

struct gpu_use *gpu_use_new(struct loop *loop, const struct gpus *g)
{
	struct gpu_use *u = xcalloc(1, sizeof(*u));
	const char *slash = strrchr(g->path, '/');

	u->loop = loop;
	u->gpus = g;
	u->fd = -1;
	u->path = xasprintf("%.*s/%s", slash ? (int)(slash - g->path) : 0, g->path, FILE_NAME);
	u->seen = xcalloc(g->n + 1, sizeof(*u->seen));
	u->line = SBUF(LINE_MAX);
	forget(u);
	return u;
}

static void see(struct gpu_use *u, size_t card, int percent)
{
	struct seen *s = &u->seen[card];

	if (s->taken || percent > s->most)
		s->most = percent;
	s->taken = false;
	s->ms = clock_mono_ms();
}

/* ---- simulated ---- */

int gpu_use_read(struct str text, int index)
{
	int found = -1;
	struct str line;

	while (str_split(&text, '\n', &line)) {
		struct str rest = str_trim(line);
		char number[16];
		int64_t of, percent;
		struct str who;

		if (!str_split(&rest, ' ', &who))
			continue;
		snprintf(number, sizeof(number), "%.*s", STR_FMT(who));
		if (!str_eq(who, "all") &&
		    (who.n >= sizeof(number) || !str_int64(number, 0, index, &of) || of != index))
			continue;
		rest = str_trim(rest);
		snprintf(number, sizeof(number), "%.*s", STR_FMT(rest));
		found = rest.n < sizeof(number) && str_int64(number, 0, 100, &percent) ? (int)percent : -1;
	}
	return found;
}

static void read_file(struct gpu_use *u)
{
	auto_sbuf struct sbuf text = SBUF(FILE_MAX);
	struct err ignored = ERR_INIT;
	bool there = file_read(u->path, FILE_MAX, &text, &ignored) == 0;

	for (size_t i = 0; i < u->gpus->n; i++)
		if (u->gpus->cards[i].minor < 0)
			see(u, i, there ? gpu_use_read(sbuf_str(&text), u->gpus->cards[i].index) : -1);
}

/* ---- real ---- */

static void on_reaped(void *arg, pid_t pid, int status)
{
	(void)arg;
	(void)pid;
	(void)status;
}

/* It is not waited for: a driver that hangs would hold the server. */
static void end_child(struct gpu_use *u)
{
	struct err ignored = ERR_INIT;

	if (!u->pid)
		return;
	loop_forget_child(u->loop, u->pid);
	kill(u->pid, SIGKILL);
	loop_on_child(u->loop, u->pid, on_reaped, NULL, &ignored);
	u->pid = 0;
}

void gpu_use_stop(struct gpu_use *u)
{
	loop_fd_free(u->ready);
	u->ready = NULL;
	if (u->fd >= 0)
		close(u->fd);
	u->fd = -1;
	end_child(u);
	u->tried_ms = 0;
	sbuf_reset(&u->line);
	forget(u);
}

static void take_line(struct gpu_use *u, struct str line)
{
	json_auto_t *doc = NULL;
	struct err ignored = ERR_INIT;
	const char *bus;
	json_t *v;

	if (jsonx_parse(line.p, line.n, NULL, NULL, &doc, &ignored) < 0)
		return;
	json_object_foreach (doc, bus, v) {
		auto_free char *key = gpu_bus_name(bus);
		const struct gpu_card *card = gpu_card_find(u->gpus, key);

		if (card)
			see(u, (size_t)(card - u->gpus->cards), (int)json_integer_value(v));
	}
}

static void on_ended(void *arg, pid_t pid, int status)
{
	struct gpu_use *u = arg;

	(void)pid;
	(void)status;
	u->pid = 0;
}

static void on_readable(void *arg, bool readable, bool writable)
{
	struct gpu_use *u = arg;
	char buf[4096];
	ssize_t n = read(u->fd, buf, sizeof(buf));
	struct str rest = { buf, n > 0 ? (size_t)n : 0 };
	const char *nl;

	(void)readable;
	(void)writable;
	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (n <= 0) {
		int64_t tried = u->tried_ms;

		gpu_use_stop(u);
		u->tried_ms = tried;
		return;
	}
	while (rest.n && (nl = memchr(rest.p, '\n', rest.n))) {
		size_t length = (size_t)(nl - rest.p);

		sbuf_add(&u->line, rest.p, length);
		if (u->line.n && !u->line.over)
			take_line(u, sbuf_str(&u->line));
		sbuf_reset(&u->line);
		rest = (struct str){ nl + 1, rest.n - length - 1 };
	}
	sbuf_add(&u->line, rest.p, rest.n);
}

static void start(struct gpu_use *u)
{
	int64_t now = clock_mono_ms();
	struct err e = ERR_INIT;

	if (u->fd >= 0 || (u->tried_ms && now - u->tried_ms < AGAIN_MS))
		return;
	u->tried_ms = now;
	u->pid = gpu_nvml_watch(u->gpus->root, &u->fd);
	if (u->pid <= 0) {
		u->pid = 0;
		return;
	}
	u->ready = loop_fd_new(u->loop, u->fd, true, false, on_readable, u);
	if (loop_on_child(u->loop, u->pid, on_ended, u, &e) < 0)
		log_warn("wait for who measures GPUs: %s, ignoring", e.text);
}

/* ---- asked for ---- */

static bool any_real(const struct gpu_use *u)
{
	for (size_t i = 0; i < u->gpus->n; i++)
		if (u->gpus->cards[i].minor >= 0)
			return true;
	return false;
}

void gpu_use_next(struct gpu_use *u)
{
	for (size_t i = 0; i < u->gpus->n; i++)
		u->seen[i].taken = true;
	if (any_real(u))
		start(u);
	else
		read_file(u);
}

struct gpu_load gpu_use_of(const struct gpu_use *u, const char *pod_uid)
{
	struct gpu_load load = { .most = -1 };
	int64_t now = clock_mono_ms();

	for (size_t i = 0; i < u->gpus->n; i++) {
		const struct seen *s = &u->seen[i];
		bool known = s->most >= 0 && now - s->ms <= STALE_MS;

		if (!gpu_pod_has(u->gpus, pod_uid, u->gpus->cards[i].key))
			continue;
		load.cards++;
		load.unknown |= !known;
		if (known && s->most > load.most)
			load.most = s->most;
	}
	return load;
}

void gpu_use_free(struct gpu_use *u)
{
	if (!u)
		return;
	gpu_use_stop(u);
	sbuf_done(&u->line);
	free(u->seen);
	free(u->path);
	free(u);
}
