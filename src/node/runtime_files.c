// SPDX-License-Identifier: Apache-2.0
/* runtime_files.c - the small files a container leaves for the next server */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include "base/file.h"
#include "base/jsonx.h"
#include "base/mem.h"
#include "node/runtime_parts.h"

#define STATE_FILE_MAX (1024u * 1024)

int state_write(const char *dir, const char *name, struct str text, struct err *e)
{
	auto_free char *path = xasprintf("%s/%s", dir, name);
	auto_free char *temporary = xasprintf("%s/.%s.new", dir, name);
	auto_close int fd = open(temporary, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600);

	if (fd < 0)
		return err_errno(e, ERR_INTERNAL, "cannot write %s", path);
	if (write(fd, text.p, text.n) != (ssize_t)text.n || rename(temporary, path) < 0) {
		err_errno(e, errno == ENOSPC ? ERR_STORAGE_FULL : ERR_INTERNAL, "cannot write %s", path);
		unlink(temporary);
		return -1;
	}
	return 0;
}

int64_t state_read_number(const char *path)
{
	auto_close int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	char buf[32];
	int64_t number = -1;
	ssize_t n = fd < 0 ? -1 : read(fd, buf, sizeof(buf) - 1);

	if (n <= 0)
		return -1;
	buf[n] = '\0';
	buf[strcspn(buf, " \n")] = '\0';
	str_int64(buf, 0, INT64_MAX, &number);
	return number;
}

json_t *state_read_json(const char *dir, const char *name)
{
	auto_free char *path = xasprintf("%s/%s", dir, name);
	auto_sbuf struct sbuf text = SBUF(STATE_FILE_MAX);
	struct err e = ERR_INIT;
	json_t *doc = NULL;

	if (file_read(path, STATE_FILE_MAX, &text, &e) < 0)
		return NULL;
	if (jsonx_parse(text.p ? text.p : "", text.n, NULL, NULL, &doc, &e) < 0)
		return NULL;
	return doc;
}

static void remove_beneath(int parent, const char *name, int depth)
{
	struct dirent *d;
	DIR *dir;
	int fd;

	if (unlinkat(parent, name, 0) == 0 || errno == ENOENT || depth > 32)
		return;
	fd = openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0)
		return;
	dir = fdopendir(fd);
	if (!dir) {
		close(fd);
		return;
	}
	while ((d = readdir(dir)))
		if (!streq(d->d_name, ".") && !streq(d->d_name, ".."))
			remove_beneath(fd, d->d_name, depth + 1);
	closedir(dir);
	unlinkat(parent, name, AT_REMOVEDIR);
}

void state_remove_tree(const char *path)
{
	remove_beneath(AT_FDCWD, path, 0);
}
