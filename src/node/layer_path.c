// SPDX-License-Identifier: Apache-2.0
/* layer_path.c - where in the tree an entry belongs
 *
 * Names in a tar come from strangers.  ".." is refused outright.  Directories are opened by openat2 with
 * RESOLVE_IN_ROOT: a symlink that an earlier entry planted is followed as a process inside the container would follow
 * it, "/" meaning the tree's own root, so that nothing outside can be named at all.  The last component is never
 * followed: all that happens there uses O_NOFOLLOW and the *at calls.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/openat2.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include "base/mem.h"
#include "node/layer_parts.h"

int layer_path_errno(struct err *e, const char *path, const char *what)
{
	static const int theirs[] = { ENAMETOOLONG, ELOOP, ENOTDIR, EXDEV, ENOENT, EEXIST, ENOTEMPTY, EISDIR, EINVAL };
	enum err_kind kind = ERR_INTERNAL;

	if (errno == ENOSPC || errno == EDQUOT)
		kind = ERR_STORAGE_FULL;
	for (size_t i = 0; i < ARRAY_SIZE(theirs); i++)
		if (errno == theirs[i])
			kind = ERR_INVALID;
	return err_errno(e, kind, "cannot %s \"%.*s\"", what, 200, path);
}

int layer_path_clean(const char *name, struct sbuf *out, struct err *e)
{
	struct str rest = str_of(name);
	struct str part;
	size_t start = out->n;

	while (str_split(&rest, '/', &part)) {
		if (!part.n || str_eq(part, "."))
			continue;
		if (str_eq(part, ".."))
			return err_set(e, ERR_INVALID, "the name \"%.*s\" leads out of the layer", 200, name);
		if (part.n > NAME_MAX || out->n - start + part.n + 1 >= PATH_MAX)
			return err_set(e, ERR_INVALID, "the name \"%.*s...\" is too long", 80, name);
		if (out->n > start)
			sbuf_addc(out, '/');
		sbuf_add(out, part.p, part.n);
	}
	return 0;
}

static int open_in_root(int root, const char *path)
{
	struct open_how how = {
		.flags = O_RDONLY | O_DIRECTORY | O_CLOEXEC,
		.resolve = RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS | RESOLVE_NO_XDEV,
	};

	return (int)syscall(SYS_openat2, root, *path ? path : ".", &how, sizeof(how));
}

/* The longest way: each parent in turn.  A layer that does not list a directory's parents gets plain ones. */
static int make_dirs(int root, const char *path, struct err *e)
{
	auto_free char *copy = xstrdup(path);
	auto_close int at = fcntl(root, F_DUPFD_CLOEXEC, 3);
	char *base = copy;

	for (char *p = copy; at >= 0; p++) {
		char was = *p;
		int next;

		if (was && was != '/')
			continue;
		*p = '\0';
		next = open_in_root(root, copy);
		if (next < 0 && errno == ENOENT) {
			if (mkdirat(at, base, 0755) < 0 || fchmodat(at, base, 0755, 0) < 0)
				return layer_path_errno(e, path, "make the directory");
			next = open_in_root(root, copy);
		}
		if (next < 0)
			return layer_path_errno(e, path, "open the directory");
		close(at);
		at = next;
		*p = was;
		base = p + 1;
		if (!was)
			break;
	}
	return 0;
}

int layer_path_open(int root, const char *path, bool make, struct err *e)
{
	int fd = open_in_root(root, path);

	if (fd < 0 && errno == ENOENT && make) {
		if (make_dirs(root, path, e) < 0)
			return -1;
		fd = open_in_root(root, path);
	}
	if (fd < 0)
		return layer_path_errno(e, path, "open the directory");
	return fd;
}
