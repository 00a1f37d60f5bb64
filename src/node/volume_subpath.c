// SPDX-License-Identifier: Apache-2.0
/* volume_subpath.c - a part of a volume
 *
 * The part is looked up beneath the volume's root, so that no link, however it was planted, leads out; what was found
 * is pinned by a mount of our own, which containers then use.  What is missing becomes a directory with the rights of
 * the root, as Kubernetes makes it.  For a user's pod all of it happens with that user's rights.
 */
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/jsonx.h"
#include "base/mem.h"
#include "node/volume_parts.h"

static int bad_path(const char *sub_path, struct err *e)
{
	struct str rest = str_of(sub_path);
	struct str part;

	if (sub_path[0] == '/')
		return err_set(e, ERR_INVALID, "subPath \"%s\" must be a relative path", sub_path);
	while (str_split(&rest, '/', &part))
		if (str_eq(part, ".."))
			return err_set(e, ERR_INVALID, "subPath \"%s\" must not contain '..'", sub_path);
	return 0;
}

/* The root itself is the server's to open: it may lie below directories that are closed to users. */
static int open_part(const struct volume *v, const char *root_path, const char *sub_path, struct err *e)
{
	auto_close int root = volume_open(root_path);
	struct volume_user user;
	struct stat st;
	int fd;

	if (root < 0 || fstat(root, &st) < 0)
		return err_errno(e, ERR_INTERNAL, "cannot open volume \"%s\"", v->name);
	if (!S_ISDIR(st.st_mode))
		return err_set(e, ERR_INVALID, "volume \"%s\" is a file and has no subPath \"%s\"", v->name, sub_path);
	if (volume_user_begin(&user, v->c->owner, e) < 0)
		return -1;
	fd = volume_open_beneath(root, sub_path);
	if (fd < 0 && errno == ENOENT)
		fd = volume_make_beneath(root, sub_path, st.st_mode & 0777);
	volume_user_end(&user);
	if (fd < 0 && (errno == EXDEV || errno == ELOOP))
		return err_set(e, ERR_FORBIDDEN, "subPath \"%s\" leads out of volume \"%s\"", sub_path, v->name);
	if (fd < 0)
		return err_errno(e, errno == EACCES ? ERR_FORBIDDEN : ERR_INTERNAL, "subPath \"%s\" of volume \"%s\"",
				 sub_path, v->name);
	return fd;
}

int volume_subpath(const struct volume *v, const char *root, const char *container, size_t index, const char *sub_path,
		   char **ret, struct err *e)
{
	auto_free char *target = xasprintf("%s/.subpath/%s/%s/%zu", v->c->dir, v->name, container, index);
	auto_close int fd = -1;

	if (bad_path(sub_path, e) < 0)
		return -1;
	fd = open_part(v, root, sub_path, e);
	return fd < 0 ? -1 : volume_pin(fd, target, ret, e);
}
