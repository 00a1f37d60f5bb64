// SPDX-License-Identifier: Apache-2.0
/* log_watch.h - one inotify for all who follow logs: the kernel gives a user only 128 of them */
#ifndef STOKER_NODE_LOG_WATCH_H
#define STOKER_NODE_LOG_WATCH_H

#include <stdbool.h>
#include <sys/queue.h>

#include "loop/loop.h"

struct log_watch;
struct log_watch_dir;

/* Embedded in its owner.  `changed` is called from the loop after anything in the directory was written, made or
 * renamed; it may not add or remove watchers itself. */
struct log_watcher {
	LIST_ENTRY(log_watcher) link;
	struct log_watch_dir *dir;
	void (*changed)(void *arg);
	void *arg;
};

struct log_watch *log_watch_new(struct loop *loop);
void log_watch_free(struct log_watch *w);
/* False if the kernel will not: then look by oneself now and then. */
bool log_watch_add(struct log_watch *w, const char *dir, struct log_watcher *watcher);
void log_watch_remove(struct log_watcher *watcher);

#endif
