// SPDX-License-Identifier: Apache-2.0
/* volume_write.c - files that change all at once under running containers
 *
 * Kubernetes' layout, which some programs watch:
 *
 *	..2026_01_31_12_00_00.123456789/key	the files
 *	..data -> ..2026_01_31_12_00_00.123456789
 *	key -> ..data/key			what programs open
 *
 * New files go to a new directory; one rename of ..data makes all of them current.  What was written last (directory
 * and digest) is noted outside of the volume, so that writing the same again changes nothing.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/limits.h"
#include "base/mem.h"
#include "loop/crypto.h"
#include "node/tree.h"
#include "node/volume_parts.h"

#define DATA     "..data"
#define DATA_TMP "..data_tmp"
#define NOTE_MAX 256

/* ---- the files ---- */

static int clean_path(const char *path, struct sbuf *out, struct err *e)
{
	struct str rest = str_of(path);
	struct str part;

	if (path[0] == '/')
		return err_set(e, ERR_INVALID, "invalid path: must be relative path: %s", path);
	while (str_split(&rest, '/', &part)) {
		if (!part.n || str_eq(part, "."))
			continue;
		if (str_eq(part, ".."))
			return err_set(e, ERR_INVALID, "invalid path: must not contain '..': %s", path);
		if (!out->n && part.n >= 2 && memcmp(part.p, "..", 2) == 0)
			return err_set(e, ERR_INVALID, "invalid path: must not start with '..': %s", path);
		sbuf_addf(out, "%s%.*s", out->n ? "/" : "", STR_FMT(part));
	}
	if (!out->n || out->over)
		return err_set(e, ERR_INVALID, "invalid path: must not be empty or longer than %d: %.100s", PATH_MAX,
			       path);
	return 0;
}

static void file_done(struct volume_file *f)
{
	if (f->data)
		mem_wipe(f->data, f->n);
	free(f->data);
	free(f->path);
}

int volume_files_add(struct volume_files *f, const char *path, struct str data, mode_t mode, uid_t uid, struct err *e)
{
	auto_sbuf struct sbuf clean = SBUF(PATH_MAX - 1);
	struct volume_file file = { .n = data.n, .mode = mode & 0777, .uid = uid };

	if (clean_path(path, &clean, e) < 0)
		return -1;
	file.path = sbuf_steal(&clean);
	file.data = xmemdup(data.n ? data.p : "", data.n ? data.n : 1);
	for (size_t i = 0; i < f->n; i++)
		if (streq(f->items[i].path, file.path)) {
			file_done(&f->items[i]);
			f->items[i] = file;
			return 0;
		}
	ARRAY_PUSH(f->items, f->n, f->cap, file);
	return 0;
}

void volume_files_done(struct volume_files *f)
{
	for (size_t i = 0; i < f->n; i++)
		file_done(&f->items[i]);
	free(f->items);
	*f = (struct volume_files){ 0 };
}

static void digest(const struct volume_files *f, gid_t gid, struct sbuf *out)
{
	struct sha256 *h = crypto_sha256_new();
	unsigned char sum[SHA256_LEN];
	char head[96];

	for (size_t i = 0; i < f->n; i++) {
		const struct volume_file *x = &f->items[i];
		int n = snprintf(head, sizeof(head), "%zu %o %u %u %zu ", strlen(x->path), (unsigned)x->mode,
				 (unsigned)x->uid, (unsigned)gid, x->n);

		crypto_sha256_add(h, head, (size_t)n);
		crypto_sha256_add(h, x->path, strlen(x->path));
		crypto_sha256_add(h, x->data, x->n);
	}
	crypto_sha256_end(h, sum);
	hex_encode(sum, sizeof(sum), out);
}

/* ---- a new directory ---- */

static int write_all(int fd, const char *p, size_t n)
{
	while (n) {
		ssize_t done = write(fd, p, n);

		if (done < 0 && errno == EINTR)
			continue;
		if (done < 0)
			return -1;
		p += done;
		n -= (size_t)done;
	}
	return 0;
}

static int own_dir_at(int fd, gid_t gid)
{
	return gid == (gid_t)-1 ? 0 : volume_own_fd(fd, gid, true);
}

/* The directory that a file below a slash is in, made if it was missing. */
static int open_parent(int dir, const char *path, const char *slash, gid_t gid)
{
	auto_free char *parent = xstrndup(path, (size_t)(slash - path));
	auto_close int opened = volume_make_beneath(dir, parent, 0755);
	int at = opened < 0 ? -1 : openat(opened, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (at >= 0 && own_dir_at(at, gid) < 0) {
		close(at);
		return -1;
	}
	return at;
}

static int write_file(int dir, const struct volume_file *f, gid_t gid)
{
	const char *slash = strrchr(f->path, '/');
	auto_close int parent = slash ? open_parent(dir, f->path, slash, gid) : -1;
	auto_close int fd = -1;

	if (slash && parent < 0)
		return -1;
	fd = openat(slash ? parent : dir, slash ? slash + 1 : f->path,
		    O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd < 0 || write_all(fd, f->data, f->n) < 0 || fchmod(fd, f->mode) < 0)
		return -1;
	if (gid != (gid_t)-1 && volume_own_fd(fd, gid, true) < 0)
		return -1;
	/* A file of its reader alone, such as a token: the group's bits were asked for by its mode or by fsGroup. */
	if (f->uid != (uid_t)-1 && geteuid() == 0 && fchown(fd, f->uid, (gid_t)-1) < 0)
		return -1;
	return 0;
}

static void new_name(char out[64])
{
	struct timespec now;
	struct tm tm;
	size_t n;

	clock_gettime(CLOCK_REALTIME, &now);
	gmtime_r(&now.tv_sec, &tm);
	n = strftime(out, 64, "..%Y_%m_%d_%H_%M_%S.", &tm);
	snprintf(out + n, 64 - n, "%09ld", now.tv_nsec);
}

static int write_dir(int root, const char *name, const struct volume_files *f, gid_t gid, struct err *e)
{
	auto_close int dir = -1;

	if (mkdirat(root, name, 0755) < 0)
		return err_errno(e, ERR_INTERNAL, "cannot make %s", name);
	dir = openat(root, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (dir < 0 || fchmod(dir, 0755) < 0 || own_dir_at(dir, gid) < 0)
		return err_errno(e, ERR_INTERNAL, "cannot open %s", name);
	for (size_t i = 0; i < f->n; i++)
		if (write_file(dir, &f->items[i], gid) < 0)
			return err_errno(e, errno == ENOSPC ? ERR_STORAGE_FULL : ERR_INTERNAL, "cannot write %s",
					 f->items[i].path);
	return 0;
}

/* ---- the links ---- */

static size_t top_len(const char *path)
{
	return strcspn(path, "/");
}

static bool is_top(const struct volume_files *f, const char *name)
{
	size_t n = strlen(name);

	for (size_t i = 0; i < f->n; i++)
		if (top_len(f->items[i].path) == n && strncmp(f->items[i].path, name, n) == 0)
			return true;
	return false;
}

static bool links_to(int root, const char *name, const char *target)
{
	char buf[PATH_MAX];
	ssize_t n = readlinkat(root, name, buf, sizeof(buf) - 1);

	if (n < 0)
		return false;
	buf[n] = '\0';
	return streq(buf, target);
}

static int make_links(int root, const struct volume_files *f, struct err *e)
{
	for (size_t i = 0; i < f->n; i++) {
		auto_free char *name = xstrndup(f->items[i].path, top_len(f->items[i].path));
		auto_free char *target = xasprintf(DATA "/%s", name);

		if (links_to(root, name, target))
			continue;
		if (symlinkat(target, root, name) < 0)
			return err_errno(e, ERR_INTERNAL, "cannot link %s", name);
	}
	return 0;
}

/* What is neither current nor on top of it: older directories, links to keys that are gone. */
static void sweep(int root, const char *path, const char *current, const struct volume_files *f)
{
	int fd = fcntl(root, F_DUPFD_CLOEXEC, 3);
	DIR *d = fd < 0 ? NULL : fdopendir(fd);

	if (!d) {
		if (fd >= 0)
			close(fd);
		return;
	}
	rewinddir(d);
	for (struct dirent *de = readdir(d); de; de = readdir(d)) {
		auto_free char *old = NULL;

		if (streq(de->d_name, ".") || streq(de->d_name, "..") || streq(de->d_name, DATA) ||
		    streq(de->d_name, current) || is_top(f, de->d_name))
			continue;
		old = xasprintf("%s/%s", path, de->d_name);
		(void)tree_remove(old, NULL);
	}
	closedir(d);
}

/* ---- all of it ---- */

static bool is_written(int root, const char *note, const char *sum)
{
	auto_sbuf struct sbuf text = SBUF(NOTE_MAX);
	struct err e = ERR_INIT;
	char *space;

	if (file_read(note, NOTE_MAX, &text, &e) < 0 || !text.p)
		return false;
	space = strchr(text.p, ' ');
	if (!space || !streq(space + 1, sum))
		return false;
	*space = '\0';
	return links_to(root, DATA, text.p) && faccessat(root, DATA "/", F_OK, 0) == 0;
}

/* Not synced: a note lost in a crash means writing once more. */
static int take_note(const char *dir, const char *note, const char *name, const char *sum, struct err *e)
{
	auto_free char *text = xasprintf("%s %s", name, sum);
	auto_close int fd = -1;

	if (file_make_dirs(dir, 0700, e) < 0)
		return -1;
	fd = open(note, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd < 0 || write_all(fd, text, strlen(text)) < 0)
		return err_errno(e, ERR_INTERNAL, "cannot write %s", note);
	return 0;
}

int volume_files_write(const struct volume *v, const struct volume_files *f, struct err *e)
{
	auto_free char *notes = xasprintf("%s/.written", v->base);
	auto_free char *note = xasprintf("%s/%s", notes, v->name);
	auto_sbuf struct sbuf sum = SBUF(NOTE_MAX);
	auto_close int root = open(v->path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	char name[64];
	bool fresh;

	if (root < 0)
		return err_errno(e, ERR_INTERNAL, "cannot open %s", v->path);
	digest(f, v->c->fs_group, &sum);
	if (is_written(root, note, sum.p))
		return make_links(root, f, e);
	if (own_dir_at(root, v->c->fs_group) < 0)
		return err_errno(e, ERR_INTERNAL, "cannot give %s to a group", v->path);
	new_name(name);
	if (write_dir(root, name, f, v->c->fs_group, e) < 0) {
		auto_free char *failed = xasprintf("%s/%s", v->path, name);

		(void)tree_remove(failed, NULL);
		return -1;
	}
	fresh = faccessat(root, DATA, F_OK, AT_SYMLINK_NOFOLLOW) < 0; /* then there is nothing to sweep */
	(void)unlinkat(root, DATA_TMP, 0);
	if (symlinkat(name, root, DATA_TMP) < 0 || renameat(root, DATA_TMP, root, DATA) < 0)
		return err_errno(e, ERR_INTERNAL, "cannot put the new files in place");
	if (make_links(root, f, e) < 0)
		return -1;
	if (!fresh)
		sweep(root, v->path, name, f);
	return take_note(notes, note, name, sum.p, e);
}
