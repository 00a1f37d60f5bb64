// SPDX-License-Identifier: Apache-2.0
/* volume_remove.c - the end of a pod's volumes
 *
 * Everything mounted below the directory is detached first, the latest mount first, so that what is then deleted is
 * ours: a host's directory, a claim's or a server's is only a mount point here.  Each mount is made private before, or
 * detaching it would be repeated where it came from.  tree_remove() in turn never enters another file system.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <sys/mount.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/file.h"
#include "base/log.h"
#include "base/mem.h"
#include "node/image_parts.h"
#include "node/tree.h"
#include "node/volume_parts.h"

#define INLINE_FILES   1000               /* to delete in the loop; more is a child's work */
#define MOUNTINFO_MAX  (16 * 1024 * 1024) /* tens of thousands of mounts */
#define MOUNTINFO_PATH 5                  /* the field with the mount point */

struct paths {
	char **items;
	size_t n, cap;
};

/* mountinfo writes blanks and backslashes as \ooo. */
static char *unescape(struct str s)
{
	char *out = xmalloc(s.n + 1);
	size_t n = 0;

	for (size_t i = 0; i < s.n; i++) {
		if (s.p[i] == '\\' && i + 3 < s.n) {
			out[n++] = (char)((s.p[i + 1] - '0') * 64 + (s.p[i + 2] - '0') * 8 + (s.p[i + 3] - '0'));
			i += 3;
		} else {
			out[n++] = s.p[i];
		}
	}
	out[n] = '\0';
	return out;
}

static void add_line(struct paths *p, struct str line, const char *dir)
{
	size_t len = strlen(dir);
	struct str field = { 0 };
	auto_free char *path = NULL;

	for (int i = 0; i < MOUNTINFO_PATH; i++)
		if (!str_split(&line, ' ', &field))
			return;
	path = unescape(field);
	if (strncmp(path, dir, len) == 0 && (!path[len] || path[len] == '/'))
		ARRAY_PUSH(p->items, p->n, p->cap, TAKE(path));
}

static bool mounts_below(const char *dir, struct paths *p)
{
	auto_sbuf struct sbuf text = SBUF(MOUNTINFO_MAX);
	struct err e = ERR_INIT;
	struct str line;
	struct str rest;

	if (file_read("/proc/self/mountinfo", MOUNTINFO_MAX, &text, &e) < 0)
		return false;
	rest = sbuf_str(&text);
	while (str_split(&rest, '\n', &line))
		add_line(p, line, dir);
	return true;
}

/* False if a mount is left: then nothing may be deleted. */
static bool unmount_below(const char *dir)
{
	struct paths p = { 0 };
	bool ok = mounts_below(dir, &p);

	for (size_t i = 0; i < p.n; i++)
		(void)mount(NULL, p.items[i], NULL, MS_PRIVATE, NULL);
	for (size_t i = p.n; i-- > 0;)
		if (umount2(p.items[i], MNT_DETACH | UMOUNT_NOFOLLOW) < 0 && errno != EINVAL && errno != ENOENT)
			ok = false;
	for (size_t i = 0; i < p.n; i++)
		free(p.items[i]);
	free(p.items);
	return ok;
}

void volumes_remove(const char *dir)
{
	auto_free char *real = realpath(dir, NULL);
	auto_free char *jobs = real ? xasprintf("%s/.jobs", real) : NULL;
	size_t budget = INLINE_FILES;

	if (!real)
		return;
	/* First: a mount that is still being made undoes itself when it misses its lock file (volume_job.c). */
	tree_remove(jobs, NULL);
	if (!unmount_below(real)) {
		log_warn("unmount volumes dir=%s: %s, leaving them", real, strerror(errno));
		return;
	}
	if (!tree_remove(real, &budget))
		image_remove_apart(real);
}
