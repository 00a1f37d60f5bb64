// SPDX-License-Identifier: Apache-2.0
/* layer_pack.c - from an overlay's upper directory to a tar that any OCI tool reads
 *
 *	character device 0/0          .wh.NAME
 *	trusted.overlay.opaque        .wh..wh..opq in that directory
 *	other devices, sockets        left out, as in layer_entry.c
 *	/dev, /proc, /sys             only the directories themselves
 *
 * Parents come before what is in them, names in order, times in whole seconds: the same files give the same tar.  The
 * directory belongs to a container that may be running and hostile, so nothing is reached by a path with more than one
 * name in it, and no link is followed.
 */
#include "node/layer_pack.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/xattr.h>

#include "base/map.h"
#include "base/mem.h"
#include "loop/crypto.h"
#include "node/archive_lib.h"

#define DEPTH_MAX 500 /* open directories; paths of PATH_MAX bytes can be deeper, but nobody's are */
#define XATTR_MAX 65536

struct packer {
	struct archive_lib lib;
	struct archive *archive;
	struct archive_entry *entry;
	struct sha256 *hash;
	int out;
	int64_t bytes;
	const json_t *skip;
	struct map links; /* "DEV:INO" -> first path, malloc'ed */
};

/* ---- the stream ---- */

static la_ssize_t on_write(struct archive *a, void *arg, const void *p, size_t n)
{
	struct packer *k = arg;
	size_t done = 0;

	while (done < n) {
		ssize_t w = write(k->out, (const char *)p + done, n - done);

		if (w < 0 && errno == EINTR)
			continue;
		if (w < 0) {
			k->lib.set_error(a, errno, "writing the layer");
			return -1;
		}
		done += (size_t)w;
	}
	crypto_sha256_add(k->hash, p, n);
	k->bytes += (int64_t)n;
	return (la_ssize_t)n;
}

static int write_failed(struct packer *k, const char *path, struct err *e)
{
	int number = k->lib.error_number(k->archive);
	const char *text = k->lib.error_string(k->archive);

	return err_set(e, number == ENOSPC || number == EDQUOT ? ERR_STORAGE_FULL : ERR_INTERNAL, "/%s: %s", path,
		       text ? text : "cannot be written");
}

static void begin_entry(struct packer *k, const char *path, const struct stat *st)
{
	k->entry = k->lib.entry_clear(k->entry);
	k->lib.entry_set_pathname(k->entry, path);
	k->lib.entry_set_mode(k->entry, st->st_mode);
	k->lib.entry_set_uid(k->entry, st->st_uid);
	k->lib.entry_set_gid(k->entry, st->st_gid);
	k->lib.entry_set_mtime(k->entry, st->st_mtime, 0);
	k->lib.entry_set_size(k->entry, 0);
}

/* A warning is about a name that is no UTF-8; it is kept byte by byte. */
static int put_header(struct packer *k, const char *path, struct err *e)
{
	return k->lib.write_header(k->archive, k->entry) < ARCHIVE_WARN ? write_failed(k, path, e) : 0;
}

static int put_marker(struct packer *k, const char *path, struct err *e)
{
	const struct stat st = { .st_mode = S_IFREG };

	begin_entry(k, path, &st);
	return put_header(k, path, e);
}

/* ---- what there is to say of an entry ---- */

static bool is_kept_xattr(const char *name)
{
	return streq(name, "security.capability") || (str_starts(name, "user.") && !str_starts(name, "user.overlay."));
}

static void add_xattrs(struct packer *k, int fd)
{
	auto_free char *names = xmalloc(XATTR_MAX);
	auto_free char *value = xmalloc(XATTR_MAX);
	ssize_t n = flistxattr(fd, names, XATTR_MAX);

	for (ssize_t at = 0; at < n; at += (ssize_t)strlen(names + at) + 1) {
		ssize_t len = is_kept_xattr(names + at) ? fgetxattr(fd, names + at, value, XATTR_MAX) : -1;

		if (len >= 0)
			k->lib.entry_xattr_add_entry(k->entry, names + at, value, (size_t)len);
	}
}

static bool is_opaque(int fd)
{
	char value[8];

	return (fgetxattr(fd, "trusted.overlay.opaque", value, sizeof(value)) == 1 && value[0] == 'y') ||
	       (fgetxattr(fd, "user.overlay.opaque", value, sizeof(value)) == 1 && value[0] == 'y');
}

static bool is_skipped(const struct packer *k, const char *path)
{
	json_t *v;
	size_t i;

	json_array_foreach ((json_t *)k->skip, i, v) {
		const char *target = json_string_value(v);

		if (target && target[0] == '/' && streq(target + 1, path))
			return true;
	}
	return false;
}

static bool is_special(const char *path)
{
	return streq(path, "dev") || streq(path, "proc") || streq(path, "sys");
}

/* ---- files ---- */

static int put_data(struct packer *k, int fd, int64_t size, const char *path, struct err *e)
{
	char buf[65536];

	/* One that grows meanwhile is cut, one that shrinks is filled up by libarchive: the header has been written. */
	while (size > 0) {
		ssize_t n = read(fd, buf, (size_t)(size < (int64_t)sizeof(buf) ? size : (int64_t)sizeof(buf)));

		if (n < 0)
			return err_errno(e, ERR_INTERNAL, "/%s", path);
		if (n == 0)
			return 0;
		if (k->lib.write_data(k->archive, buf, (size_t)n) < 0)
			return write_failed(k, path, e);
		size -= n;
	}
	return 0;
}

/* True if the file was packed under another name: then this one is a link to it. */
static bool is_link(struct packer *k, const struct stat *st, const char *path)
{
	auto_free char *key = xasprintf("%llx:%llx", (unsigned long long)st->st_dev, (unsigned long long)st->st_ino);
	const char *first = st->st_nlink > 1 ? map_find(&k->links, key) : NULL;

	if (first)
		k->lib.entry_set_hardlink(k->entry, first);
	else if (st->st_nlink > 1)
		map_set(&k->links, key, xstrdup(path));
	return first != NULL;
}

static int pack_file(struct packer *k, int parent, const char *name, const char *path, struct err *e)
{
	auto_close int fd = openat(parent, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	struct stat st;

	if (fd < 0 && (errno == ENOENT || errno == ELOOP))
		return 0; /* gone meanwhile, or another thing now */
	if (fd < 0 || fstat(fd, &st) < 0)
		return err_errno(e, ERR_INTERNAL, "/%s", path);
	if (!S_ISREG(st.st_mode) || (st.st_size == 0 && is_skipped(k, path)))
		return 0;
	begin_entry(k, path, &st);
	if (is_link(k, &st, path))
		return put_header(k, path, e);
	k->lib.entry_set_size(k->entry, st.st_size);
	add_xattrs(k, fd);
	if (put_header(k, path, e) < 0)
		return -1;
	return put_data(k, fd, st.st_size, path, e);
}

static int pack_symlink(struct packer *k, int parent, const char *name, const struct stat *st, const char *path,
			struct err *e)
{
	char target[4096];
	ssize_t n = readlinkat(parent, name, target, sizeof(target) - 1);

	if (n < 0)
		return errno == ENOENT || errno == EINVAL ? 0 : err_errno(e, ERR_INTERNAL, "/%s", path);
	target[n] = '\0';
	begin_entry(k, path, st);
	if (is_link(k, st, path))
		return put_header(k, path, e);
	k->lib.entry_set_symlink(k->entry, target);
	return put_header(k, path, e);
}

static int pack_whiteout(struct packer *k, const char *path, struct err *e)
{
	const char *slash = strrchr(path, '/');
	auto_free char *marker =
		slash ? xasprintf("%.*s/.wh.%s", (int)(slash - path), path, slash + 1) : xasprintf(".wh.%s", path);

	return put_marker(k, marker, e);
}

/* ---- directories ---- */

static int by_name(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Sorted names without "." and "..". */
static int list_names(int fd, char ***ret, size_t *ret_n, const char *path, struct err *e)
{
	int copy = openat(fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *d = copy < 0 ? NULL : fdopendir(copy);
	char **names = NULL;
	size_t n = 0, cap = 0;

	if (!d) {
		if (copy >= 0)
			close(copy);
		return err_errno(e, ERR_INTERNAL, "/%s", path);
	}
	for (struct dirent *de = readdir(d); de; de = readdir(d))
		if (!streq(de->d_name, ".") && !streq(de->d_name, ".."))
			ARRAY_PUSH(names, n, cap, xstrdup(de->d_name));
	closedir(d);
	if (n)
		qsort(names, n, sizeof(*names), by_name);
	*ret = names;
	*ret_n = n;
	return 0;
}

static int pack_entry(struct packer *k, int parent, const char *name, const char *path, int depth, struct err *e);

static int pack_below(struct packer *k, int fd, char **names, size_t n, const char *path, int depth, struct err *e)
{
	for (size_t i = 0; i < n; i++) {
		auto_free char *below = *path ? xasprintf("%s/%s", path, names[i]) : xstrdup(names[i]);

		if (pack_entry(k, fd, names[i], below, depth + 1, e) < 0)
			return -1;
	}
	return 0;
}

static int pack_open_dir(struct packer *k, int fd, const char *path, int depth, struct err *e)
{
	auto_free char *marker = xasprintf("%s%s.wh..wh..opq", path, *path ? "/" : "");
	char **names = NULL;
	size_t n = 0;
	struct stat st;
	int r = 0;

	if (fstat(fd, &st) < 0)
		return err_errno(e, ERR_INTERNAL, "/%s", path);
	if (list_names(fd, &names, &n, path, e) < 0)
		return -1;
	if (*path && !(n == 0 && is_skipped(k, path))) {
		begin_entry(k, path, &st);
		add_xattrs(k, fd);
		r = put_header(k, path, e);
		if (r == 0 && is_opaque(fd))
			r = put_marker(k, marker, e);
	}
	if (r == 0 && !is_special(path))
		r = pack_below(k, fd, names, n, path, depth, e);
	for (size_t i = 0; i < n; i++)
		free(names[i]);
	free(names);
	return r;
}

static int pack_dir(struct packer *k, int parent, const char *name, const char *path, int depth, struct err *e)
{
	auto_close int fd = openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

	if (depth > DEPTH_MAX)
		return err_set(e, ERR_TOO_LARGE, "/%.200s...: directories are nested too deeply", path);
	if (fd < 0)
		return errno == ENOENT || errno == ENOTDIR ? 0 : err_errno(e, ERR_INTERNAL, "/%s", path);
	return pack_open_dir(k, fd, path, depth, e);
}

static int pack_entry(struct packer *k, int parent, const char *name, const char *path, int depth, struct err *e)
{
	struct stat st;

	/* A file of that name would take others away where the image is unpacked. */
	if (str_starts(name, ".wh."))
		return 0;
	if (fstatat(parent, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return errno == ENOENT ? 0 : err_errno(e, ERR_INTERNAL, "/%s", path);
	if (S_ISDIR(st.st_mode))
		return pack_dir(k, parent, name, path, depth, e);
	if (S_ISREG(st.st_mode))
		return pack_file(k, parent, name, path, e);
	if (S_ISLNK(st.st_mode))
		return pack_symlink(k, parent, name, &st, path, e);
	if (S_ISCHR(st.st_mode) && st.st_rdev == 0)
		return pack_whiteout(k, path, e);
	if (!S_ISFIFO(st.st_mode))
		return 0;
	begin_entry(k, path, &st);
	return put_header(k, path, e);
}

/* ---- the whole ---- */

static int pack_tree(struct packer *k, const char *upper, struct err *e)
{
	auto_close int fd = open(upper, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

	if (fd < 0)
		return err_errno(e, errno == ENOENT ? ERR_NOT_FOUND : ERR_INTERNAL, "%s", upper);
	if (k->lib.write_set_format_pax_restricted(k->archive) != ARCHIVE_OK ||
	    k->lib.write_open(k->archive, k, NULL, on_write, NULL) != ARCHIVE_OK)
		return write_failed(k, "", e);
	if (pack_open_dir(k, fd, "", 0, e) < 0)
		return -1;
	return k->lib.write_close(k->archive) != ARCHIVE_OK ? write_failed(k, "", e) : 0;
}

int layer_pack(const char *upper, int out_fd, const json_t *skip, struct sbuf *digest, int64_t *ret_bytes,
	       struct err *e)
{
	struct packer k = { .out = out_fd, .skip = skip };
	unsigned char hash[SHA256_LEN];
	int r;

	if (archive_lib_load(&k.lib, e) < 0)
		return -1;
	k.archive = k.lib.write_new();
	k.entry = k.lib.entry_new();
	k.hash = crypto_sha256_new();
	map_init(&k.links, free);
	r = pack_tree(&k, upper, e);
	k.lib.entry_free(k.entry);
	k.lib.write_free(k.archive);
	map_done(&k.links);
	crypto_sha256_end(k.hash, hash);
	if (r < 0)
		return -1;
	sbuf_adds(digest, "sha256:");
	hex_encode(hash, sizeof(hash), digest);
	*ret_bytes = k.bytes;
	return 0;
}
