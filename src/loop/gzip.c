// SPDX-License-Identifier: Apache-2.0
/* gzip.c - see gzip.h; zlib's gz* functions read plain files as they are */
#include "loop/gzip.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <zlib.h>

#include "base/mem.h"

#define STEP_BYTES (128 * 1024) /* 10 ms or so at the best ratio */
#define READ_BYTES (128 * 1024)

struct gzip_pack {
	char *from, *to, *unfinished;
	int in;
	gzFile out;
};

int gzip_pack_new(const char *from, const char *to, struct gzip_pack **ret, struct err *e)
{
	struct gzip_pack *p = xcalloc(1, sizeof(*p));

	p->from = xstrdup(from);
	p->to = xstrdup(to);
	p->unfinished = xasprintf("%s.new", to);
	p->in = open(from, O_RDONLY | O_CLOEXEC);
	if (p->in >= 0)
		p->out = gzopen(p->unfinished, "wb9e");
	if (!p->out) {
		err_errno(e, ERR_INTERNAL, "%s", p->in < 0 ? from : p->unfinished);
		gzip_pack_free(p);
		return -1;
	}
	*ret = p;
	return 0;
}

static int finish(struct gzip_pack *p, struct err *e)
{
	auto_close int fd = -1;
	int r = gzclose(TAKE(p->out));

	if (r == Z_OK)
		fd = open(p->unfinished, O_RDONLY | O_CLOEXEC);
	if (fd < 0 || fchmod(fd, 0600) < 0 || fsync(fd) < 0 || rename(p->unfinished, p->to) < 0)
		return err_errno(e, ERR_INTERNAL, "%s", p->to);
	return 0;
}

int gzip_pack_step(struct gzip_pack *p, struct err *e)
{
	auto_free char *piece = xmalloc(STEP_BYTES);
	ssize_t n = read(p->in, piece, STEP_BYTES);

	if (n < 0)
		return err_errno(e, ERR_INTERNAL, "%s", p->from);
	if (n == 0)
		return finish(p, e);
	if (gzwrite(p->out, piece, (unsigned)n) != (int)n)
		return err_errno(e, errno == ENOSPC ? ERR_STORAGE_FULL : ERR_INTERNAL, "%s", p->unfinished);
	return 1;
}

void gzip_pack_free(struct gzip_pack *p)
{
	if (!p)
		return;
	if (p->in >= 0)
		close(p->in);
	if (p->out) {
		gzclose(p->out);
		unlink(p->unfinished);
	}
	free(p->from);
	free(p->to);
	free(p->unfinished);
	free(p);
}

/* Hands out the whole lines in [0, *n) and moves the rest to the beginning; false: enough. */
static bool hand_out(char *text, size_t *n, bool (*each)(void *arg, struct str line), void *arg)
{
	char *at = text;
	char *end = text + *n;
	char *nl;

	while ((nl = memchr(at, '\n', (size_t)(end - at)))) {
		if (!each(arg, (struct str){ at, (size_t)(nl - at) }))
			return false;
		at = nl + 1;
	}
	*n = (size_t)(end - at);
	memmove(text, at, *n);
	return true;
}

static int read_lines(gzFile in, const char *path, size_t max, bool (*each)(void *arg, struct str line), void *arg,
		      struct err *e)
{
	auto_free char *text = xmalloc(max + READ_BYTES);
	size_t n = 0;
	int got;

	while ((got = gzread(in, text + n, READ_BYTES)) > 0) {
		n += (size_t)got;
		if (!hand_out(text, &n, each, arg))
			return 0;
		if (n > max)
			return err_set(e, ERR_TOO_LARGE, "%s: a line is longer than %zu bytes", path, max);
	}
	if (got < 0) {
		int code;

		return err_set(e, ERR_INTERNAL, "%s: %s", path, gzerror(in, &code));
	}
	if (n)
		each(arg, (struct str){ text, n });
	return 0;
}

int gzip_lines(const char *path, size_t max, bool (*each)(void *arg, struct str line), void *arg, struct err *e)
{
	gzFile in = gzopen(path, "rbe");
	int r;

	if (!in)
		return err_errno(e, errno == ENOENT ? ERR_NOT_FOUND : ERR_INTERNAL, "%s", path);
	gzbuffer(in, READ_BYTES);
	r = read_lines(in, path, max, each, arg, e);
	gzclose(in);
	return r;
}
