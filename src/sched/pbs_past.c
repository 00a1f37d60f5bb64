// SPDX-License-Identifier: Apache-2.0
/* pbs_past.c - see pbs_past.h */
#include "sched/pbs_past.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "base/mem.h"
#include "kinds/pbs_id.h"

#define PIECE    (256u * 1024)
#define LINE_MAX (256u * 1024) /* no record is longer */
#define DAY_LEN  8             /* 20261116 */

struct scheduler_past {
	char *dir;
	struct dirent **days;
	int n, at;
	int fd;            /* of days[at]; -1: not open yet */
	struct sbuf carry; /* a line whose end has not been read */
};

static int is_day(const struct dirent *d)
{
	return strlen(d->d_name) == DAY_LEN && strspn(d->d_name, "0123456789") == DAY_LEN;
}

struct scheduler_past *pbs_past_open(const char *dir, int64_t since)
{
	struct scheduler_past *p = xcalloc(1, sizeof(*p));
	time_t t = (time_t)since;
	char first[DAY_LEN + 1] = "";
	struct tm tm;

	p->dir = xstrdup(dir);
	p->fd = -1;
	p->carry = SBUF(LINE_MAX);
	p->n = scandir(dir, &p->days, is_day, alphasort);
	if (localtime_r(&t, &tm))
		strftime(first, sizeof(first), "%Y%m%d", &tm);
	while (p->at < p->n && strcmp(p->days[p->at]->d_name, first) < 0)
		p->at++;
	return p;
}

void pbs_past_close(struct scheduler_past *p)
{
	if (p->fd >= 0)
		close(p->fd);
	for (int i = 0; i < p->n; i++)
		free(p->days[i]);
	free(p->days);
	free(p->dir);
	sbuf_done(&p->carry);
	free(p);
}

bool pbs_past_is(struct str line, int64_t sequence)
{
	struct str word, id;
	auto_free char *text = NULL;
	struct pbs_id found;

	if (!str_split(&line, ';', &word) || !str_split(&line, ';', &word) || !str_split(&line, ';', &id))
		return false;
	text = xstrndup(id.p, id.n);
	return pbs_id_parse(text, &found) && found.sequence == sequence;
}

static void take(struct scheduler_past *p, struct str bytes, int64_t sequence, struct sbuf *out)
{
	const char *nl;

	while (bytes.n && (nl = memchr(bytes.p, '\n', bytes.n))) {
		size_t n = (size_t)(nl - bytes.p) + 1;

		sbuf_add(&p->carry, bytes.p, n);
		if (!p->carry.over && pbs_past_is(sbuf_str(&p->carry), sequence))
			sbuf_add(out, p->carry.p, p->carry.n);
		sbuf_reset(&p->carry);
		bytes = (struct str){ bytes.p + n, bytes.n - n };
	}
	sbuf_add(&p->carry, bytes.p, bytes.n);
}

bool pbs_past_read(struct scheduler_past *p, int64_t sequence, struct sbuf *out)
{
	auto_free char *bytes = NULL;
	ssize_t n;

	if (p->at >= p->n)
		return false;
	if (p->fd < 0) {
		auto_free char *path = xasprintf("%s/%s", p->dir, p->days[p->at]->d_name);

		p->fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
	}
	bytes = xmalloc(PIECE);
	n = p->fd < 0 ? 0 : read(p->fd, bytes, PIECE);
	if (n > 0) {
		take(p, (struct str){ bytes, (size_t)n }, sequence, out);
		return true;
	}
	if (p->fd >= 0)
		close(p->fd);
	p->fd = -1;
	p->at++;
	sbuf_reset(&p->carry);
	return p->at < p->n;
}
