// SPDX-License-Identifier: Apache-2.0
/* logs_keep.c - how long logs stay: until they are too old, or all of them together too large
 *
 * Only logs of pods that are gone ever go, those that ended first before others.  A sweep does a little each turn; a
 * timer wakes it only while there is something that will have to go.  Each looks at all logs there are, so what ends
 * within a second of the last is looked at together.
 */
#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/mem.h"
#include "node/logs_parts.h"
#include "node/tree.h"

#define MEASURES_A_TURN 32
#define REMOVALS_A_TURN 64
#define GATHER_MS       1000
#define STALE_MS        10000 /* how long the size of a growing log is believed */
#define LOOK_MS         60000 /* how often growing logs are measured, while others could go for them */
#define FAR_MS          (24 * 3600 * 1000)

/* Bytes of what is below; two levels is all there is. */
static int64_t measure(int at, const char *name, int depth)
{
	int fd = openat(at, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);
	int64_t sum = 0;
	struct dirent *d;

	if (!dir) {
		if (fd >= 0)
			close(fd);
		return 0;
	}
	while ((d = readdir(dir))) {
		struct stat st;

		if (d->d_name[0] == '.' || fstatat(fd, d->d_name, &st, AT_SYMLINK_NOFOLLOW) < 0)
			continue;
		if (S_ISDIR(st.st_mode) && depth > 0)
			sum += measure(fd, d->d_name, depth - 1);
		else
			sum += st.st_size;
	}
	closedir(dir);
	return sum;
}

/* False while some are still to be measured. */
static bool measure_some(struct logs *l, int64_t *ret_total)
{
	int64_t now = clock_mono_ms();
	int left = MEASURES_A_TURN;
	int64_t total = 0;
	struct kept *k;

	TAILQ_FOREACH(k, &l->kept, link)
	{
		bool stale = !k->measured_ms || (!k->ended && now - k->measured_ms > STALE_MS);

		if (stale && left-- > 0) {
			auto_free char *path = kept_path(l, k);

			k->bytes = measure(AT_FDCWD, path, 1);
			k->measured_ms = now;
		}
		total += k->bytes;
	}
	*ret_total = total;
	return left >= 0;
}

/* The one that ended first. */
static struct kept *oldest(struct logs *l)
{
	struct kept *best = NULL;
	struct kept *k;

	TAILQ_FOREACH(k, &l->kept, link)
	if (k->ended && (!best || k->ended < best->ended))
		best = k;
	return best;
}

static void remove_some(struct logs *l, struct kept *k)
{
	auto_free char *path = kept_path(l, k);
	auto_free char *parent = xasprintf("%s/%s", l->root, k->ns);
	size_t budget = REMOVALS_A_TURN;

	if (!tree_remove(path, &budget) && budget < REMOVALS_A_TURN)
		return; /* the rest next turn */
	if (budget == REMOVALS_A_TURN && access(path, F_OK) == 0)
		log_warn("remove old logs path=%s: it does not go, ignoring", path);
	rmdir(parent); /* if it was the last one */
	kept_forget(l, k);
}

static void arm(struct logs *l)
{
	const struct kept *first = oldest(l);
	int64_t ms = FAR_MS;

	if (l->soon)
		return; /* not later than that */
	loop_timer_clear(&l->timer);
	if (!first || (!l->config.keep_seconds && !l->config.max_bytes))
		return;
	if (l->config.keep_seconds) {
		int64_t due = first->ended + l->config.keep_seconds - clock_wall();

		ms = due <= 0 ? 0 : due < FAR_MS / 1000 ? due * 1000 : FAR_MS;
	}
	if (l->config.max_bytes && ms > LOOK_MS)
		ms = LOOK_MS;
	loop_timer_set(l->loop, &l->timer, ms);
}

static void on_sweep(void *arg)
{
	struct logs *l = arg;
	struct kept *k = oldest(l);
	int64_t total = 0;

	if (!k)
		return;
	l->swept_ms = clock_mono_ms();
	if (l->config.keep_seconds && k->ended + l->config.keep_seconds <= clock_wall()) {
		remove_some(l, k);
		loop_schedule(l->loop, &l->sweep);
		return;
	}
	if (l->config.max_bytes) {
		bool all = measure_some(l, &total);

		if (all && total > l->config.max_bytes)
			remove_some(l, k);
		if (!all || total > l->config.max_bytes) {
			loop_schedule(l->loop, &l->sweep);
			return;
		}
	}
	arm(l);
}

static void on_timer(void *arg)
{
	struct logs *l = arg;

	l->soon = false;
	loop_schedule(l->loop, &l->sweep);
}

void logs_keep_start(struct logs *l)
{
	l->sweep = (struct loop_hook){ .run = on_sweep, .arg = l, .phase = LOOP_WORK };
	l->timer = (struct loop_timer){ .fire = on_timer, .arg = l };
}

void logs_keep_look(struct logs *l)
{
	int64_t left = l->swept_ms ? l->swept_ms + GATHER_MS - clock_mono_ms() : 0;

	if (l->soon || (!l->config.keep_seconds && !l->config.max_bytes))
		return;
	if (left <= 0) {
		loop_schedule(l->loop, &l->sweep);
		return;
	}
	l->soon = true;
	loop_timer_set(l->loop, &l->timer, left);
}

void logs_keep_stop(struct logs *l)
{
	loop_unschedule(l->loop, &l->sweep);
	loop_timer_done(&l->timer);
}
