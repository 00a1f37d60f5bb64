// SPDX-License-Identifier: Apache-2.0
/* runtime_adopt.c - what an earlier server left: running, ended, or never begun
 *
 * A monitor that lives holds the lock of info.json and says the rest itself.  Without one, its last state counts:
 *	ended                       ended, with its true status
 *	none, or a failed start     never begun: cleaned up, not reported, may be started again
 *	begun or running            the monitor was killed, or there was a reboot: what is left is killed, and it is
 *	                            reported as ended, unknown
 */
#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <time.h>

#include "base/clock.h"
#include "base/jsonx.h"
#include "base/log.h"
#include "base/mem.h"
#include "node/runtime_parts.h"

#define HALF_MADE_MS 5000 /* a runtime of the dead server's may be at work just now */

/* Waits until a monitor that is at work has made the container or given up; false if there is none. */
static bool settle(const struct box *b, struct monitor_record *record)
{
	int64_t deadline = clock_mono_ms() + HALF_MADE_MS;
	struct timespec pause = { .tv_nsec = 2000000 };

	while (monitor_alive(b)) {
		if (monitor_read_state(b, record) && record->state == MONITOR_RUNNING)
			return true;
		if (clock_mono_ms() >= deadline)
			return true;
		nanosleep(&pause, NULL);
	}
	if (!monitor_read_state(b, record))
		*record = (struct monitor_record){ .state = MONITOR_FAILED };
	return false;
}

static void clean_up(struct box *b)
{
	log_info("clean up a container that was never started id=%s", b->id);
	box_erase(b);
	box_free(b);
}

/* Hears from its monitor from now on. */
static bool take_over(struct box *b, struct monitor_record *record)
{
	struct err e = ERR_INIT;
	int fd = settle(b, record) ? monitor_connect(b, MONITOR_WATCH, &e) : -1;

	if (fd >= 0) {
		box_watch(b, fd);
		return true;
	}
	/* It ended between the two questions, or has no ear: then it goes, and the runtime that it may be calling with
	 * it, for what they start would run beside the next run. */
	if (monitor_alive(b) && monitor_read_state(b, record) && record->monitor > 1) {
		log_warn("give up a container without a way to its monitor id=%s error=\"%s\", ignoring", b->id,
			 e.text);
		kill(-record->monitor, SIGKILL);
	}
	(void)monitor_read_state(b, record);
	return false;
}

static void find_one(struct oci *o, const char *id, void (*fn)(void *, const struct found *), void *arg)
{
	struct box *b = box_new(o, id);
	json_auto_t *info = state_read_json(b->dir, INFO_FILE);
	struct monitor_record record = { .state = MONITOR_FAILED };
	struct found found = { .id = id };

	b->bundle = xstrdup(jsonx_str_or(info, "bundle", ""));
	b->cgroup = xstrdup(jsonx_str_or(info, "cgroup", ""));
	b->state = BOX_RUNNING;
	found.running = take_over(b, &record);
	if (!found.running && record.state == MONITOR_FAILED) {
		clean_up(b);
		return;
	}
	b->monitor = record.monitor;
	b->pid = found.pid = record.pid;
	b->started_us = found.started_us = record.started_us;
	if (!found.running) {
		b->state = BOX_ENDED;
		found.exit = record.state == MONITOR_ENDED ? monitor_exit(&record) : box_give_up(b);
	}
	map_set(&o->boxes, b->id, b);
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
