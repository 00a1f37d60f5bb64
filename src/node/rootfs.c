// SPDX-License-Identifier: Apache-2.0
/* rootfs.c - see rootfs.h
 *
 * Each rule stands for a way out that some version of runc or crun left open:
 *
 *	/dev, /proc or /sys is a link    what the runtime mounts or makes there ends up where the link leads: runc 1.1.5
 *	                                 makes /dev/ptmx and its like on the host
 *	working directory in /proc       /proc/self/fd/N is a directory that the runtime had open, on the host
 *	a volume over /dev or its nodes  /dev/null is what masks parts of /proc; as a link it unmasks others
 *
 * What lies in the image's /dev, /proc and /sys does not matter: mounts cover it before anything looks there.  The
 * image cannot change between this look and the start, because its layers and its upper directory are the server's
 * alone; volumes can, and so runtimes have to be right about those themselves.
 */
#include "node/rootfs.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/jsonx.h"
#include "base/limits.h"
#include "base/mem.h"
#include "kinds/rules.h"

#define MAX_LINKS 40 /* the kernel's own limit */
#define MAX_PATH  4096

/* ---- walking by text ---- */

/* Takes the last part off. */
static void go_up(struct sbuf *at)
{
	while (at->n && at->p[at->n - 1] != '/')
		at->p[--at->n] = '\0';
	if (at->n)
		at->p[--at->n] = '\0';
}

/* The link at `at` in the image, or false. */
static bool read_link(const char *rootfs, const struct sbuf *at, char out[MAX_PATH])
{
	auto_free char *path = xasprintf("%s%s", rootfs, at->p);
	ssize_t n = readlink(path, out, MAX_PATH - 1);

	if (n < 0)
		return false;
	out[n] = '\0';
	return true;
}

/* No part of `at` is a link once its links are followed, so the path that is looked at never leaves the image. */
static bool walk(const char *rootfs, const char *path, struct sbuf *at)
{
	auto_free char *text = xstrdup(path);
	const char *rest = text;
	int links = 0;

	for (;;) {
		struct str part;
		char target[MAX_PATH];
		char *next;

		rest += strspn(rest, "/");
		part = (struct str){ rest, strcspn(rest, "/") };
		rest += part.n;
		if (!part.n)
			return !at->over;
		if (str_eq(part, ".") || str_eq(part, "..")) {
			if (part.n == 2)
				go_up(at);
			continue;
		}
		sbuf_addf(at, "/%.*s", STR_FMT(part));
		if (at->over || !read_link(rootfs, at, target))
			continue;
		if (++links > MAX_LINKS)
			return false;
		if (target[0] == '/')
			sbuf_reset(at);
		else
			go_up(at);
		next = xasprintf("%s/%s", target, rest);
		free(text);
		rest = text = next;
	}
}

int rootfs_resolve(const char *rootfs, const char *path, struct sbuf *out, struct err *e)
{
	auto_sbuf struct sbuf at = SBUF(MAX_PATH);

	if (!walk(rootfs, path, &at))
		return err_set(e, ERR_INVALID, "%.200s: too long, or too many symbolic links in the image", path);
	sbuf_adds(out, at.n ? at.p : "/");
	return 0;
}

void rootfs_make_dir(const char *rootfs, const char *path)
{
	auto_sbuf struct sbuf at = SBUF(MAX_PATH);
	auto_free char *whole = NULL;
	struct err e = ERR_INIT;

	if (rootfs_resolve(rootfs, path, &at, &e) < 0)
		return;
	whole = xasprintf("%s%s/", rootfs, at.p);
	for (char *p = whole + strlen(rootfs) + 1; (p = strchr(p, '/')); p++) {
		*p = '\0';
		/* Twice, because our umask takes from the first. */
		if (mkdir(whole, 0755) == 0 ? chmod(whole, 0755) < 0 : errno != EEXIST)
			return;
		*p = '/';
	}
}

/* ---- rules ---- */

static int check_directories(const char *rootfs, struct err *e)
{
	static const char *const names[] = { "dev", "proc", "sys" };

	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		auto_free char *path = xasprintf("%s/%s", rootfs, names[i]);
		struct stat st;

		if (lstat(path, &st) < 0) {
			if (errno != ENOENT)
				return err_errno(e, ERR_INTERNAL, "%s", path);
			continue;
		}
		if (!S_ISDIR(st.st_mode))
			return err_set(e, ERR_INVALID,
				       "the image's /%s is %s; containers are started only where it is a directory",
				       names[i], S_ISLNK(st.st_mode) ? "a symbolic link" : "no directory");
	}
	return 0;
}

static bool is_below(const char *path, const char *dir)
{
	size_t n = strlen(dir);

	return strncmp(path, dir, n) == 0 && (!path[n] || path[n] == '/');
}

static int check_cwd(const char *rootfs, const char *cwd, struct err *e)
{
	auto_sbuf struct sbuf at = SBUF(MAX_PATH);

	if (rootfs_resolve(rootfs, cwd, &at, e) < 0)
		return -1;
	if (!is_below(at.p, "/proc"))
		return 0;
	return err_set(e, ERR_INVALID, "the working directory \"%.200s\" leads into /proc", cwd);
}

/* What runtimes make or mount themselves, and then trust. */
static bool is_runtimes_own(const char *path)
{
	return is_below(path, "/proc") ||
	       rule_one_of(path, "/|/dev|/sys|/dev/null|/dev/zero|/dev/full|/dev/random|/dev/urandom|/dev/tty|"
				 "/dev/console|/dev/ptmx|/dev/pts|/dev/fd|/dev/stdin|/dev/stdout|/dev/stderr");
}

static int check_mounts(const char *rootfs, const json_t *mounts, struct err *e)
{
	json_t *m;
	size_t i;

	json_array_foreach ((json_t *)mounts, i, m) {
		auto_sbuf struct sbuf at = SBUF(MAX_PATH);
		const char *where = jsonx_str_or(m, "destination", "");

		/* The host's own in its place is how a server without root has one at all. */
		if (!str_same(jsonx_str(m, "type"), "bind") ||
		    (rule_one_of(where, "/sys|/proc") && str_same(jsonx_str(m, "source"), where)))
			continue;
		if (rootfs_resolve(rootfs, where, &at, e) < 0)
			return -1;
		if (is_runtimes_own(at.p))
			return err_set(e, ERR_INVALID, "a volume may not be mounted at \"%.200s\"", where);
	}
	return 0;
}

int rootfs_check(const char *rootfs, const json_t *config, struct err *e)
{
	/* A privileged container has no masks, and is as good as root anyway. */
	bool masked = json_array_size(jsonx_at(config, "linux.maskedPaths")) > 0;

	if (check_directories(rootfs, e) < 0 || check_cwd(rootfs, jsonx_str_or(config, "process.cwd", "/"), e) < 0)
		return -1;
	return masked ? check_mounts(rootfs, json_object_get(config, "mounts"), e) : 0;
}

/* ---- reading ---- */

static int open_inside(const char *rootfs, const char *path, struct err *e)
{
	struct open_how how = { .flags = O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY,
				.resolve = RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS };
	auto_close int root = open(rootfs, O_PATH | O_DIRECTORY | O_CLOEXEC);
	int fd;

	if (root < 0)
		return err_errno(e, ERR_INTERNAL, "%s", rootfs);
	do
		fd = (int)syscall(SYS_openat2, root, path, &how, sizeof(how));
	while (fd < 0 && (errno == EAGAIN || errno == EINTR));
	if (fd < 0)
		return err_errno(e, errno == ENOENT || errno == ENOTDIR ? ERR_NOT_FOUND : ERR_INVALID,
				 "%s in the image", path);
	return fd;
}

int rootfs_read(const char *rootfs, const char *path, size_t max, struct sbuf *out, struct err *e)
{
	auto_close int fd = open_inside(rootfs, path, e);
	struct stat st;
	char buf[4096];
	size_t total = 0;
	ssize_t n;

	if (fd < 0)
		return -1;
	if (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode))
		return err_set(e, ERR_INVALID, "%s in the image is no plain file", path);
	while ((n = read(fd, buf, sizeof(buf))) > 0) {
		total += (size_t)n;
		if (total > max)
			return err_set(e, ERR_TOO_LARGE, "%s in the image has more than %zu bytes", path, max);
		sbuf_add(out, buf, (size_t)n);
	}
	if (n < 0)
		return err_errno(e, ERR_INTERNAL, "%s in the image", path);
	return 0;
}
