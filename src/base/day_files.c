// SPDX-License-Identifier: Apache-2.0
/* day_files.c - see day_files.h */
#include "base/day_files.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "base/mem.h"

#define PIECE    (256u * 1024)
#define LINE_MAX (256u * 1024) /* one that is longer is left out */

void day_name(int64_t seconds, char out[DAY_NAME])
{
	time_t t = (time_t)seconds;
	struct tm tm;

	*out = '\0';
	if (localtime_r(&t, &tm))
		strftime(out, DAY_NAME, "%Y%m%d", &tm);
}

/* ---- which ---- */

static int is_day(const struct dirent *d)
{
	return strlen(d->d_name) == DAY_NAME - 1 && strspn(d->d_name, "0123456789") == DAY_NAME - 1;
}

struct day_list day_list(const char *dir)
{
	struct dirent **found = NULL;
	int n = scandir(dir, &found, is_day, alphasort);
	struct day_list l = { 0 };

	if (n > 0)
		l.names = xcalloc((size_t)n, sizeof(*l.names));
	for (int i = 0; i < n; i++) {
		l.names[l.n++] = xstrdup(found[i]->d_name);
		free(found[i]);
	}
	free(found);
	return l;
}

void day_list_done(struct day_list *l)
{
	for (size_t i = 0; i < l->n; i++)
		free(l->names[i]);
	free(l->names);
	*l = (struct day_list){ 0 };
}

/* ---- reading ---- */

struct day_files {
	char *dir;
	struct day_list days;
	size_t at;
	int fd;            /* of the day it is at; -1: not open yet */
	struct sbuf carry; /* a line whose end has not been read */
};

struct day_files *day_files_open(const char *dir, int64_t since)
{
	struct day_files *d = xcalloc(1, sizeof(*d));
	char first[DAY_NAME];

	*d = (struct day_files){ .dir = xstrdup(dir), .days = day_list(dir), .fd = -1, .carry = SBUF(LINE_MAX) };
	day_name(since, first);
	while (d->at < d->days.n && strcmp(d->days.names[d->at], first) < 0)
		d->at++;
	return d;
}

void day_files_close(struct day_files *d)
{
	if (d->fd >= 0)
		close(d->fd);
	day_list_done(&d->days);
	free(d->dir);
	sbuf_done(&d->carry);
	free(d);
}

static void take(struct day_files *d, struct str bytes, void (*on_line)(void *arg, struct str line), void *arg)
{
	const char *nl;

	while (bytes.n && (nl = memchr(bytes.p, '\n', bytes.n))) {
		size_t n = (size_t)(nl - bytes.p) + 1;

		sbuf_add(&d->carry, bytes.p, n);
		if (!d->carry.over)
			on_line(arg, sbuf_str(&d->carry));
		sbuf_reset(&d->carry);
		bytes = (struct str){ bytes.p + n, bytes.n - n };
	}
	sbuf_add(&d->carry, bytes.p, bytes.n);
}

bool day_files_read(struct day_files *d, void (*on_line)(void *arg, struct str line), void *arg)
{
	auto_free char *bytes = NULL;
	ssize_t n;

	if (d->at >= d->days.n)
		return false;
	if (d->fd < 0) {
		auto_free char *path = xasprintf("%s/%s", d->dir, d->days.names[d->at]);

		d->fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
	}
	bytes = xmalloc(PIECE);
	n = d->fd < 0 ? 0 : read(d->fd, bytes, PIECE);
	if (n > 0) {
		take(d, (struct str){ bytes, (size_t)n }, on_line, arg);
		return true;
	}
	if (d->fd >= 0)
		close(d->fd);
	d->fd = -1;
	d->at++;
	sbuf_reset(&d->carry);
	return d->at < d->days.n;
}
