// SPDX-License-Identifier: Apache-2.0
/* runtime_adopt.c - what an earlier server left: running, ended, or never begun
 *
 *	exit file                                   ended, with its true status
 *	no start.json                               never begun: cleaned up, not reported, may be started again
 *	process and conmon alive                    running; without "started", `start` is said again first
 *	anything else (reboot, conmon killed)       what is left is killed, reported as ended, unknown
 *
 * A process is known by pid and start time and boot id, so that a pid used again is not taken for a container.
 */
#include <dirent.h>
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>

#include "base/clock.h"
#include "base/jsonx.h"
#include "base/log.h"
#include "base/mem.h"
#include "node/runtime_parts.h"

#define HALF_MADE_MS 5000 /* a conmon of the dead server may be creating a container just now */

static bool has(const struct box *b, const char *name)
{
	auto_free char *path = xasprintf("%s/%s", b->dir, name);

	return access(path, F_OK) == 0;
}

static bool alive(int pid_fd)
{
	struct pollfd p = { .fd = pid_fd, .events = POLLIN };

	return pid_fd >= 0 && poll(&p, 1, 0) == 0;
}

/* conmon's pid file has no start time; its own argument list must name the container. */
static int open_monitor(const struct box *b)
{
	auto_free char *path = xasprintf("%s/conmon.pid", b->dir);
	auto_free char *want = xasprintf("--cid=%s", b->id);
	pid_t pid = (pid_t)state_read_number(path);
	auto_free char *cmdline = xasprintf("/proc/%d/cmdline", (int)pid);
	int fd = pid > 0 ? (int)syscall(SYS_pidfd_open, pid, 0) : -1;
	FILE *f = fd >= 0 ? fopen(cmdline, "re") : NULL;
	bool found = false;
	char *word = NULL;
	size_t cap = 0;

	while (f && !found && getdelim(&word, &cap, '\0', f) > 0)
		found = streq(word, want);
	free(word);
	if (f)
		fclose(f);
	if (fd >= 0 && !found) {
		close(fd);
		fd = -1;
	}
	return fd;
}

/* Waits until a conmon that is at work has made the container or given up. */
static void let_settle(struct box *b)
{
	int64_t deadline = clock_mono_ms() + HALF_MADE_MS;
	struct timespec pause = { .tv_nsec = 5000000 };

	while (alive(b->monitor_fd) && !has(b, "pid") && clock_mono_ms() < deadline)
		nanosleep(&pause, NULL);
}

static void clean_up(struct box *b)
{
	auto_free char *path = xasprintf("%s/pid", b->dir);
	int64_t pid;

	let_settle(b);
	pid = state_read_number(path);
	/* Its parent lives and has not reaped it, or it is gone: the pid cannot be another's. */
	if (pid > 0 && alive(b->monitor_fd))
		b->pid_fd = (int)syscall(SYS_pidfd_open, (pid_t)pid, 0);
	log_info("clean up a container that was never started id=%s", b->id);
	box_erase(b);
	box_free(b);
}

static bool same_boot(const json_t *info)
{
	char boot[37];

	boot_id(boot);
	return streq(jsonx_str_or(info, "boot", ""), boot);
}

/* Lets a container run that was left between create and start.  False if that is not possible any more. */
static bool finish_start(struct box *b)
{
	struct err e = ERR_INIT;

	/* The runtime refuses if it has been started before, which is as good. */
	if (!has(b, "started") && conmon_start_again(b, &e) < 0)
		return false;
	(void)state_write(b->dir, "started", STR(""), &e);
	return true;
}

static void find_one(struct oci *o, const char *id, void (*fn)(void *, const struct found *), void *arg)
{
	struct box *b = box_new(o, id);
	json_auto_t *info = state_read_json(b->dir, "info.json");
	json_auto_t *start = state_read_json(b->dir, "start.json");
	struct found found = { .id = id };
	struct err e = ERR_INIT;
	bool now = same_boot(info);

	b->bundle = xstrdup(jsonx_str_or(info, "bundle", ""));
	b->cgroup = xstrdup(jsonx_str_or(info, "cgroup", ""));
	b->tty = jsonx_bool_or(info, "tty", false);
	b->monitor_fd = now ? open_monitor(b) : -1;
	if (!start) {
		clean_up(b);
		return;
	}
	b->pid = (pid_t)jsonx_int_or(start, "pid", 0);
	b->started_us = jsonx_int_or(start, "started", 0);
	b->pid_fd = now ? process_open(b->pid, jsonx_int_or(start, "ticks", -1)) : -1;
	found.pid = b->pid;
	found.started_us = b->started_us;
	b->state = BOX_RUNNING;
	map_set(&o->boxes, b->id, b);
	/* conmon may be alive after its container's process: its exit file is then still to come. */
	found.running =
		!box_read_exit(b, &found.exit) && alive(b->monitor_fd) && finish_start(b) && box_watch(b, &e) == 0;
	if (found.running || box_read_exit(b, &found.exit)) {
		b->state = found.running ? BOX_RUNNING : BOX_ENDED;
	} else {
		b->state = BOX_ENDED;
		cgroup_kill(b->cgroup, SIGKILL);
		if (b->pid_fd >= 0)
			syscall(SYS_pidfd_send_signal, b->pid_fd, SIGKILL, NULL, 0);
		found.exit = (struct exit_info){ .code = 255, .unknown = true, .finished_us = clock_wall_micros() };
	}
	fn(arg, &found);
}

int oci_adopt(struct runtime *r, void (*fn)(void *arg, const struct found *f), void *arg, struct err *e)
{
	struct oci *o = (struct oci *)r;
	auto_free char *path = xasprintf("%s/containers", o->run);
	size_t n = 0, cap = 0;
	char **ids = NULL;
	DIR *dir = opendir(path);
	struct dirent *d;

	if (!dir)
		return err_errno(e, ERR_INTERNAL, "%s", path);
	while ((d = readdir(dir)))
		if (d->d_name[0] != '.' && !map_find(&o->boxes, d->d_name))
			ARRAY_PUSH(ids, n, cap, xstrdup(d->d_name));
	closedir(dir);
	for (size_t i = 0; i < n; i++) {
		find_one(o, ids[i], fn, arg);
		free(ids[i]);
	}
	free(ids);
	return 0;
}
