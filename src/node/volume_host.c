// SPDX-License-Identifier: Apache-2.0
/* volume_host.c - hostPath: a file or directory of this machine
 *
 * An administrator's path is checked for its type and then mounted as it is named.  A user's path is opened with that
 * user's rights, must lie below one of the permitted roots as the kernel sees it, after all symlinks, and is pinned at
 * the volume's own place: containers mount the pin.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/jsonx.h"
#include "base/mem.h"
#include "node/volume_parts.h"

enum make { MAKE_NOTHING, MAKE_DIR, MAKE_FILE };

/* The words after "is not" are Kubernetes'.  Without a type a missing path becomes a directory, as containerd makes it.
 */
static const struct host_type {
	const char *name;
	enum make make;
	mode_t format; /* 0: any */
	const char *what;
} host_types[] = {
	{ "", MAKE_DIR, 0, NULL },
	{ "DirectoryOrCreate", MAKE_DIR, S_IFDIR, "a directory" },
	{ "Directory", MAKE_NOTHING, S_IFDIR, "a directory" },
	{ "FileOrCreate", MAKE_FILE, S_IFREG, "a file" },
	{ "File", MAKE_NOTHING, S_IFREG, "a file" },
	{ "Socket", MAKE_NOTHING, S_IFSOCK, "a socket file" },
	{ "CharDevice", MAKE_NOTHING, S_IFCHR, "a character device" },
	{ "BlockDevice", MAKE_NOTHING, S_IFBLK, "a block device" },
};

static const struct host_type *find_type(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(host_types); i++)
		if (streq(host_types[i].name, name))
			return &host_types[i];
	return NULL;
}

/* A user's volume: containers mount a pin instead of the path. */
static bool is_pinned(const struct volume *v)
{
	return !v->trusted && v->c->owner != (uid_t)-1;
}

/* ---- the permitted roots ---- */

static bool is_below(const char *path, const char *root)
{
	size_t n = strlen(root);

	while (n && root[n - 1] == '/')
		n--;
	return strncmp(path, root, n) == 0 && (!path[n] || path[n] == '/');
}

/* Roots are the administrator's own names and may be links themselves. */
static bool is_permitted(const struct volume *v, int fd)
{
	auto_free char *path = volume_fd_path(fd);
	json_t *root;
	size_t i;

	json_array_foreach ((json_t *)v->c->host_roots, i, root) {
		auto_close int root_fd = json_is_string(root) ? volume_open(json_string_value(root)) : -1;
		auto_free char *real = root_fd >= 0 ? volume_fd_path(root_fd) : NULL;

		if (path && real && is_below(path, real))
			return true;
	}
	return false;
}

static int check_permitted(const struct volume *v, int fd, const char *path, struct err *e)
{
	if (!is_pinned(v) || is_permitted(v, fd))
		return 0;
	return err_set(e, ERR_FORBIDDEN, "hostPath %s is not below a directory that users may mount", path);
}

/* ---- making what is missing ---- */

/* The longest part of the path that is there; *ret_rest is what is not. */
static int open_existing(const char *path, const char **ret_rest)
{
	auto_free char *head = xstrdup(path);
	size_t n = strlen(head);

	for (;;) {
		int fd;

		while (n > 1 && head[n - 1] != '/')
			n--;
		while (n > 1 && head[n - 1] == '/')
			n--;
		head[n] = '\0';
		fd = volume_open(head);
		if (fd >= 0 || errno != ENOENT || n <= 1) {
			*ret_rest = path + n;
			return fd;
		}
	}
}

static int make_file(int dir, const char *name)
{
	auto_close int fd = openat(dir, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0644);

	if (fd < 0 || fchmod(fd, 0644) < 0)
		return -1;
	return openat(dir, name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
}

/* Only below what is permitted, and with the rights that opened it. */
static int make_missing(const struct volume *v, const char *path, enum make make, struct err *e)
{
	const char *rest;
	auto_close int at = open_existing(path, &rest);
	int fd;

	if (at < 0)
		return err_errno(e, ERR_NOT_FOUND, "hostPath %s", path);
	if (check_permitted(v, at, path, e) < 0)
		return -1;
	while (*rest == '/')
		rest++;
	fd = make == MAKE_DIR ? volume_make_beneath(at, rest, 0755) : make_file(at, rest);
	if (fd < 0)
		return err_errno(e, errno == EACCES ? ERR_FORBIDDEN : ERR_INTERNAL, "cannot make hostPath %s", path);
	return fd;
}

/* ---- opening ---- */

static bool has_dots(const char *path)
{
	struct str rest = str_of(path);
	struct str part;

	while (str_split(&rest, '/', &part))
		if (str_eq(part, ".."))
			return true;
	return false;
}

static int check_type(const struct host_type *t, int fd, const char *path, struct err *e)
{
	struct stat st;

	if (fstat(fd, &st) < 0)
		return err_errno(e, ERR_INTERNAL, "hostPath %s", path);
	if (t->format && (st.st_mode & S_IFMT) != t->format)
		return err_set(e, ERR_INVALID, "hostPath type check failed: %s is not %s", path, t->what);
	return 0;
}

/* Looking a directory up inside itself needs the right to enter it; a file is opened to see whether it can be read. */
static int check_access(int fd, const char *path, struct err *e)
{
	struct stat st;
	char link[40];
	auto_close int probe = -1;

	if (fstat(fd, &st) < 0)
		return err_errno(e, ERR_INTERNAL, "hostPath %s", path);
	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	if (S_ISDIR(st.st_mode))
		probe = openat(fd, ".", O_PATH | O_CLOEXEC);
	else if (S_ISREG(st.st_mode))
		probe = open(link, O_RDONLY | O_CLOEXEC);
	else
		return 0;
	if (probe < 0)
		return err_errno(e, ERR_FORBIDDEN, "hostPath %s", path);
	return 0;
}

static int open_checked(const struct volume *v, const struct host_type *t, const char *path, struct err *e)
{
	auto_close int fd = volume_open(path);
	int r;

	if (fd < 0 && errno == ENOENT && t->make != MAKE_NOTHING) {
		fd = make_missing(v, path, t->make, e);
		if (fd < 0)
			return -1;
	}
	if (fd < 0 && (errno == ENOENT || errno == ENOTDIR) && t->what)
		return err_set(e, ERR_NOT_FOUND, "hostPath type check failed: %s is not %s", path, t->what);
	if (fd < 0)
		return err_errno(e, errno == EACCES ? ERR_FORBIDDEN : ERR_NOT_FOUND, "hostPath %s", path);
	if (check_permitted(v, fd, path, e) < 0 || check_type(t, fd, path, e) < 0 ||
	    (is_pinned(v) && check_access(fd, path, e) < 0))
		return -1;
	r = fd;
	fd = -1;
	return r;
}

int volume_host_prepare(const struct volume *v, struct err *e)
{
	const char *path = jsonx_str_or(v->source, "path", "");
	const char *type = jsonx_str_or(v->source, "type", "");
	const struct host_type *t = find_type(type);
	auto_close int fd = -1;
	auto_free char *at = NULL;
	struct volume_user user;

	if (!t)
		return err_set(e, ERR_INVALID, "unknown hostPath type \"%s\"", type);
	if (path[0] != '/' || has_dots(path))
		return err_set(e, ERR_INVALID, "hostPath \"%s\" must be absolute and must not contain '..'", path);
	if (volume_user_begin(&user, v->trusted ? (uid_t)-1 : v->c->owner, e) < 0)
		return -1;
	fd = open_checked(v, t, path, e);
	volume_user_end(&user);
	if (fd < 0)
		return -1;
	return is_pinned(v) ? volume_pin(fd, v->path, &at, e) : 0;
}

int volume_host_root(const struct volume *v, char **ret, struct err *e)
{
	(void)e;
	*ret = xstrdup(is_pinned(v) && geteuid() == 0 ? v->path : jsonx_str_or(v->source, "path", "/"));
	return 0;
}
