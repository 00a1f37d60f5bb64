// SPDX-License-Identifier: Apache-2.0
/* log_watch.c - who wants to hear of which directory
 *
 * A directory is watched once however many follow a log in it.  The inotify is open only while someone does.
 */
#include "node/log_watch.h"

#include <sys/inotify.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/str.h"

#define EVENTS (IN_MODIFY | IN_CREATE | IN_MOVED_TO | IN_DELETE | IN_DELETE_SELF | IN_ONLYDIR)

struct log_watch_dir {
	LIST_ENTRY(log_watch_dir) link;
	struct log_watch *watch;
	int wd; /* -1: the directory is gone */
	LIST_HEAD(, log_watcher) watchers;
	char path[];
};

struct log_watch {
	struct loop *loop;
	int fd;
	struct loop_fd *ready;
	LIST_HEAD(, log_watch_dir) dirs;
};

struct log_watch *log_watch_new(struct loop *loop)
{
	struct log_watch *w = xcalloc(1, sizeof(*w));

	w->loop = loop;
	w->fd = -1;
	LIST_INIT(&w->dirs);
	return w;
}

static void let_go(struct log_watch *w)
{
	loop_fd_free(w->ready);
	w->ready = NULL;
	if (w->fd >= 0)
		close(w->fd);
	w->fd = -1;
}

void log_watch_free(struct log_watch *w)
{
	struct log_watch_dir *d;
	struct log_watcher *who;

	if (!w)
		return;
	while ((d = LIST_FIRST(&w->dirs))) {
		while ((who = LIST_FIRST(&d->watchers))) {
			LIST_REMOVE(who, link);
			who->dir = NULL;
		}
		LIST_REMOVE(d, link);
		free(d);
	}
	let_go(w);
	free(w);
}

static void tell(struct log_watch_dir *d)
{
	struct log_watcher *who;

	LIST_FOREACH(who, &d->watchers, link)
	who->changed(who->arg);
}

static void take_event(struct log_watch *w, const struct inotify_event *ev)
{
	struct log_watch_dir *d;

	LIST_FOREACH(d, &w->dirs, link)
	{
		/* After an overflow nobody knows who has missed something. */
		if (ev->mask & IN_Q_OVERFLOW || ev->wd == d->wd)
			tell(d);
		if (ev->mask & IN_IGNORED && ev->wd == d->wd)
			d->wd = -1;
	}
}

static void on_ready(void *arg, bool readable, bool writable)
{
	struct log_watch *w = arg;
	union {
		struct inotify_event ev;
		char bytes[4096];
	} buf;
	ssize_t got = read(w->fd, buf.bytes, sizeof(buf.bytes));

	(void)readable;
	(void)writable;
	for (ssize_t at = 0; at + (ssize_t)sizeof(struct inotify_event) <= got;) {
		struct inotify_event ev; /* names are of any length, but the kernel pads them */

		memcpy(&ev, buf.bytes + at, sizeof(ev));
		take_event(w, &ev);
		at += (ssize_t)(sizeof(ev) + ev.len);
	}
}

static bool wake_up(struct log_watch *w)
{
	if (w->fd >= 0)
		return true;
	w->fd = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
	if (w->fd < 0)
		return false;
	w->ready = loop_fd_new(w->loop, w->fd, true, false, on_ready, w);
	return true;
}

static struct log_watch_dir *dir_new(struct log_watch *w, const char *path)
{
	size_t n = strlen(path) + 1;
	struct log_watch_dir *d;
	int wd = wake_up(w) ? inotify_add_watch(w->fd, path, EVENTS) : -1;

	if (wd < 0) {
		if (LIST_EMPTY(&w->dirs))
			let_go(w);
		return NULL;
	}
	d = xcalloc(1, sizeof(*d) + n);
	d->watch = w;
	d->wd = wd;
	memcpy(d->path, path, n);
	LIST_INIT(&d->watchers);
	LIST_INSERT_HEAD(&w->dirs, d, link);
	return d;
}

bool log_watch_add(struct log_watch *w, const char *dir, struct log_watcher *watcher)
{
	struct log_watch_dir *d;

	LIST_FOREACH(d, &w->dirs, link)
	if (d->wd >= 0 && streq(d->path, dir))
		break;
	if (!d)
		d = dir_new(w, dir);
	if (!d)
		return false;
	watcher->dir = d;
	LIST_INSERT_HEAD(&d->watchers, watcher, link);
	return true;
}

void log_watch_remove(struct log_watcher *watcher)
{
	struct log_watch_dir *d = watcher->dir;
	struct log_watch *w;

	if (!d)
		return;
	w = d->watch;
	watcher->dir = NULL;
	LIST_REMOVE(watcher, link);
	if (!LIST_EMPTY(&d->watchers))
		return;
	if (d->wd >= 0)
		inotify_rm_watch(w->fd, d->wd);
	LIST_REMOVE(d, link);
	free(d);
	if (LIST_EMPTY(&w->dirs))
		let_go(w);
}
