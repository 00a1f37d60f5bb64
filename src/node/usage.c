// SPDX-License-Identifier: Apache-2.0
/* usage.c - how much of the machine containers use, measured only while somebody wants to know
 *
 * A use of processors is the difference of two readings.  The first question finds none, so its answer is the average
 * since the container began; a second reading follows soon, then one every SAMPLE_MS, and a minute after the last
 * question about a group it is forgotten.  A server that nobody asks does not wake up.
 */
#include "node/usage.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/map.h"
#include "base/mem.h"
#include "node/runtime.h"

#define SAMPLE_FIRST_MS 2000
#define SAMPLE_MS       10000
#define IDLE_MS         60000
#define PROC_MAX        (1024u * 1024) /* /proc/stat has a line for each processor and interrupt */

struct series {
	struct usage_reading before, now;
	int n;
	int64_t asked_ms;
};

struct usage {
	struct loop *loop;
	usage_read_fn *read;
	void *arg;
	struct cgroups groups;
	struct map series; /* by cgroup */
	struct loop_timer timer;
	bool soon; /* the timer stands for a first interval */
};

bool usage_rate_of(const struct usage_reading *before, const struct usage_reading *now, struct usage_rate *ret)
{
	int64_t ns = before ? now->mono_ns - before->mono_ns : now->age_ms * 1000000;
	int64_t cpu = before ? now->cpu_ns - before->cpu_ns : now->cpu_ns;

	if (ns <= 0)
		return false;
	*ret = (struct usage_rate){
		.wall_us = now->wall_us,
		.window_ms = ns / 1000000,
		.cpu_nano = cpu > 0 ? (int64_t)((__int128)cpu * 1000000000 / ns) : 0,
		.total_ns = now->cpu_ns,
		.memory_bytes = now->memory_bytes,
	};
	return true;
}

/* --- the kernel's figures --- */

/* The number behind `key` at the start of a line of kibibytes; -1 if it is not there. */
static int64_t meminfo(const char *text, const char *key)
{
	const char *at = strstr(text, key);
	long long kib;

	return at && sscanf(at + strlen(key), " %lld", &kib) == 1 ? kib * 1024 : -1;
}

static int read_machine(struct usage_reading *ret, struct err *e)
{
	auto_sbuf struct sbuf stat = SBUF(PROC_MAX), mem = SBUF(PROC_MAX);
	/* user nice system idle iowait irq softirq steal; guests are in user already */
	long long t[8];
	int64_t total, available;

	if (file_read("/proc/stat", PROC_MAX, &stat, e) < 0 || file_read("/proc/meminfo", PROC_MAX, &mem, e) < 0)
		return -1;
	if (!stat.p || !mem.p ||
	    sscanf(stat.p, "cpu %lld %lld %lld %lld %lld %lld %lld %lld", &t[0], &t[1], &t[2], &t[3], &t[4], &t[5],
		   &t[6], &t[7]) != 8)
		return err_set(e, ERR_UNAVAILABLE, "/proc/stat is not as expected");
	total = meminfo(mem.p, "MemTotal:");
	available = meminfo(mem.p, "MemAvailable:");
	ret->cpu_ns = (t[0] + t[1] + t[2] + t[5] + t[6] + t[7]) * (1000000000 / sysconf(_SC_CLK_TCK));
	ret->memory_bytes = total > available && available >= 0 ? total - available : 0;
	ret->age_ms = clock_mono_ms(); /* its clock begins with the machine */
	return 0;
}

static int read_kernel(void *arg, const char *cgroup, struct usage_reading *ret, struct err *e)
{
	const struct usage *u = arg;
	struct cgroup_usage use;

	ret->wall_us = clock_wall_micros();
	ret->mono_ns = clock_mono_ns();
	if (!*cgroup)
		return read_machine(ret, e);
	if (cgroup_read(&u->groups, cgroup, &use, e) < 0)
		return -1;
	ret->cpu_ns = use.cpu_ns;
	ret->memory_bytes = use.memory_bytes;
	ret->age_ms = cgroup_age_ms(&u->groups, cgroup);
	return 0;
}

/* --- measuring --- */

static int take(struct usage *u, const char *cgroup, struct series *s, struct err *e)
{
	struct usage_reading r = { .age_ms = -1 };

	if (u->read(u->arg, cgroup, &r, e) < 0)
		return -1;
	s->before = s->now;
	s->now = r;
	s->n++;
	return 0;
}

static void wake(struct usage *u, bool soon)
{
	if (loop_timer_pending(&u->timer) && (u->soon || !soon))
		return;
	u->soon = soon;
	loop_timer_set(u->loop, &u->timer, soon ? SAMPLE_FIRST_MS : SAMPLE_MS);
}

static void on_timer(void *arg)
{
	struct usage *u = arg;
	int64_t now = clock_mono_ms();
	size_t pos = 0;
	const char *cgroup;
	void *value;

	while (map_next(&u->series, &pos, &cgroup, &value)) {
		struct series *s = value;
		struct err e = ERR_INIT;

		if (now - s->asked_ms >= IDLE_MS || take(u, cgroup, s, &e) < 0)
			map_remove(&u->series, cgroup);
	}
	if (u->series.n)
		wake(u, false);
}

int usage_ask(struct usage *u, const char *cgroup, struct usage_rate *ret, struct err *e)
{
	struct series *s = map_find(&u->series, cgroup);

	if (!s) {
		s = xcalloc(1, sizeof(*s));
		if (take(u, cgroup, s, e) < 0) {
			free(s);
			return err_reword(e, ERR_NOT_FOUND, "%s", e->text);
		}
		map_set(&u->series, cgroup, s);
		wake(u, true);
	}
	s->asked_ms = clock_mono_ms();
	if (!usage_rate_of(s->n > 1 ? &s->before : NULL, &s->now, ret))
		return err_set(e, ERR_NOT_FOUND, "there are no two readings yet");
	return 0;
}

struct usage *usage_new(struct loop *loop, usage_read_fn *read, void *arg)
{
	struct usage *u = xcalloc(1, sizeof(*u));

	*u = (struct usage){ .loop = loop, .read = read ? read : read_kernel, .arg = read ? arg : u };
	if (!read)
		cgroups_find(&u->groups);
	map_init(&u->series, free);
	u->timer = (struct loop_timer){ .fire = on_timer, .arg = u };
	return u;
}

void usage_free(struct usage *u)
{
	if (!u)
		return;
	map_done(&u->series);
	loop_timer_done(&u->timer);
	free(u);
}
