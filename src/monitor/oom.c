// SPDX-License-Identifier: Apache-2.0
/* oom.c - has the kernel killed for want of memory, and what PBS says then
 *
 * The file that we were given counts the kills of the group.  On v1 it counts only those of processes that are in the
 * group itself, and ours may be in the one below (MONITOR_OWN).  The limit is in the same directory.
 */
#include <errno.h>
#include <fcntl.h>

#include "monitor/monitor.h"
#include "monitor/sys.h"

#define STAT_MAX   4096
#define UNLIMITED  (1LL << 60) /* v1 has a number for no limit */
#define PAGE       4096
#define EXEC_LEAST (4 << 20) /* more than arguments of any usual length need */

/* The number at the start of a file, or after `key` at the start of one of its lines; -1 if it is not there. */
static int64_t number_in(const char *path, const char *key)
{
	size_t n = text_len(key);
	char buf[STAT_MAX];
	int fd = (int)sys_open(path, O_RDONLY, 0);
	long got = fd < 0 ? 0 : sys_read(fd, buf, sizeof(buf) - 1);

	sys_close(fd);
	buf[got > 0 ? got : 0] = '\0';
	for (char *at = buf; *at; at++)
		if ((at == buf || at[-1] == '\n') && (size_t)(buf + got - at) >= n && !memcmp(at, key, n))
			return text_number(at + n);
	return -1;
}

/* The file `name` where the counter is; `at` has room for a path. */
static int64_t beside(const char *counter, const char *name, const char *key, char at[PATH_BYTES])
{
	size_t n = text_len(counter);

	while (n && counter[n - 1] != '/')
		n--;
	if (n + text_len(name) + 1 > PATH_BYTES)
		return -1;
	memcpy(at, counter, n);
	*text_add(at + n, name) = '\0';
	return number_in(at, key);
}

bool oom_killed(const char *counter)
{
	static const char key[] = "oom_kill ";
	char path[PATH_BYTES];

	return counter[0] &&
	       (number_in(counter, key) > 0 || beside(counter, MONITOR_OWN "/memory.oom_control", key, path) > 0);
}

int64_t oom_limit(const char *counter)
{
	static const char *const names[] = { "memory.limit_in_bytes", "memory.max" };
	char path[PATH_BYTES];

	for (size_t i = 0; counter[0] && i < sizeof(names) / sizeof(names[0]); i++) {
		int64_t limit = beside(counter, names[i], "", path);

		if (limit >= 0 && limit < UNLIMITED)
			return limit;
	}
	return -1;
}

bool oom_cannot_start(const struct monitor *m, long error)
{
	int64_t limit = oom_limit(m->argv[MONITOR_ARG_OOM]);

	/* The kernel calls arguments too long for which it finds no memory. */
	return limit >= 0 && (error == -ENOMEM || (error == -E2BIG && limit < EXEC_LEAST));
}

void oom_say(struct monitor *m)
{
	int64_t limit = oom_limit(m->argv[MONITOR_ARG_OOM]);
	char words[128], *at = text_add(words, MONITOR_KILLED);

	if (limit >= 0) {
		/* It stood at the limit and wanted at least another page. */
		at = text_add_number(text_add(at, "mem "), (uint64_t)limit + PAGE, 1);
		at = text_add_number(text_add(at, " exceeded limit "), (uint64_t)limit, 1);
	} else {
		at = text_add(at, "the node has no memory left");
	}
	at = text_add(at, "\n");
	files_say(m, &m->streams[1], words, (size_t)(at - words));
}
