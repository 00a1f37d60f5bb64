// SPDX-License-Identifier: Apache-2.0
/* trash.c - a rename now, the removal piece by piece in later turns
 *
 * A small directory goes at once.  What is larger is renamed into the trash, which has a budget of files a turn; a
 * million files of a training job never stop the loop.
 */
#include "node/trash.h"

#include <dirent.h>
#include <stdio.h>

#include "base/file.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/str.h"
#include "node/tree.h"

#define AT_ONCE  200
#define A_TURN   500
#define RETRY_MS 60000

struct trash {
	struct loop *loop;
	char *dir;
	unsigned long seq;
	struct loop_hook work;
	struct loop_timer retry;
};

/* Some entry of the directory, or NULL if it is empty. */
static char *any_entry(const char *path)
{
	DIR *d = opendir(path);
	struct dirent *entry;
	char *found = NULL;

	while (d && !found && (entry = readdir(d)))
		if (!streq(entry->d_name, ".") && !streq(entry->d_name, ".."))
			found = xasprintf("%s/%s", path, entry->d_name);
	if (d)
		closedir(d);
	return found;
}

static void on_work(void *arg)
{
	struct trash *t = arg;
	auto_free char *path = any_entry(t->dir);
	size_t budget = A_TURN;

	if (!path)
		return;
	if (tree_remove(path, &budget) || !budget)
		loop_schedule(t->loop, &t->work);
	else
		loop_timer_set(t->loop, &t->retry, RETRY_MS); /* something holds on to it: a mount, a busy file */
}

struct trash *trash_new(struct loop *loop, const char *dir)
{
	struct trash *t = xcalloc(1, sizeof(*t));

	t->loop = loop;
	t->dir = xasprintf("%s/trash", dir);
	t->work = (struct loop_hook){ .run = on_work, .arg = t, .phase = LOOP_WORK };
	t->retry = (struct loop_timer){ .fire = on_work, .arg = t };
	loop_schedule(loop, &t->work);
	return t;
}

void trash_free(struct trash *t)
{
	if (!t)
		return;
	loop_unschedule(t->loop, &t->work);
	loop_timer_done(&t->retry);
	free(t->dir);
	free(t);
}

void trash_put(struct trash *t, const char *path)
{
	size_t budget = AT_ONCE;
	struct err e = ERR_INIT;
	auto_free char *to = NULL;

	if (tree_remove(path, &budget))
		return;
	do {
		free(to);
		to = xasprintf("%s/%lu", t->dir, t->seq++);
	} while (access(to, F_OK) == 0);
	if (file_make_dirs(t->dir, 0700, &e) < 0 || rename(path, to) < 0)
		log_warn("remove %s: %s, ignoring", path, e.kind != ERR_NONE ? e.text : "cannot be moved away");
	loop_schedule(t->loop, &t->work);
}
