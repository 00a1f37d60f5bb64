// SPDX-License-Identifier: Apache-2.0
/* pbs_books.c - see pbs_books.h
 *
 * At the start the jobs are seen for the first time, and all that ever happened to them would be written.  What was
 * before the first of the last lines in the files is taken as written, and of what was after it those lines say
 * whether it was.
 */
#include "sched/pbs_books.h"

#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/day_files.h"
#include "base/file.h"
#include "base/jsonx.h"
#include "base/log.h"
#include "base/map.h"
#include "base/mem.h"
#include "client/changes.h"
#include "sched/line_file.h"
#include "sched/mailer.h"
#include "sched/pbs_mail.h"

#define FLUSH_MS  1000
#define AGAIN_MS  5000                /* after a failure */
#define LINES_MAX (32u * 1024 * 1024) /* that wait for room on the disk */
#define LINE_MAX  (256u * 1024)
#define TAIL_MAX  (4u * 1024 * 1024) /* of the files, read at the start: the last ten thousand lines */
#define TOLD_LATE 3600               /* seconds: a server was away for so long */

struct pbs_books {
	struct client *client;
	char *dir;
	struct changes *changes;
	struct map jobs;    /* uid -> struct pbs_seen */
	struct map present; /* uids that a list has, while it is told */
	struct map known;   /* keys of the last lines, until the jobs are seen */
	int64_t since;      /* the time of the first of them; -1: there are none */
	bool whole;         /* there were none before it */
	bool ready;
	bool listing;  /* once more: what it does not have is gone */
	bool troubled; /* the last write failed, and it was said */
	struct sbuf lines;
	char day[DAY_NAME]; /* of fd */
	int fd;             /* -1: none is open */
	struct loop_timer flush;
	const struct informer *servers;
	struct mailer *mailer;
};

static const struct ref all_jobs = { .api_version = "stoker.dev/v1", .plural = "pbsjobs" };

/* ---- writing down ---- */

static int open_day(struct pbs_books *b, struct err *e)
{
	auto_free char *path = NULL;
	char day[DAY_NAME];

	day_name(clock_wall(), day);
	if (b->fd >= 0 && streq(b->day, day))
		return 0;
	path = xasprintf("%s/%s", b->dir, day);
	if (b->fd >= 0)
		close(b->fd);
	b->fd = -1;
	if (line_file_open(path, LINE_MAX, &b->fd, e) < 0)
		return -1;
	memcpy(b->day, day, sizeof(day));
	return 0;
}

static void flush_now(struct pbs_books *b)
{
	struct err e = ERR_INIT;

	loop_timer_clear(&b->flush);
	if (!b->lines.n)
		return;
	if (open_day(b, &e) < 0 || line_file_keep(b->fd, b->dir, sbuf_str(&b->lines), &e) < 0) {
		if (!b->troubled)
			log_warn("keep PBS's accounts: %s, trying again", e.text);
		b->troubled = true;
		loop_timer_set(b->client->loop, &b->flush, AGAIN_MS);
		return;
	}
	b->troubled = false;
	sbuf_reset(&b->lines);
}

static void on_flush(void *arg)
{
	flush_now(arg);
}

/* ---- what happens ---- */

/* So long ago that the lines that were read need not have it.  Without lines before those, what is older than the first
 * may have been told later; but files may also have been put away. */
static bool is_old(const struct pbs_books *b, int64_t when)
{
	return when <= b->since - (b->whole ? TOLD_LATE : 0);
}

/* "E;380963.Ghead" of "E;380963.Ghead;1794766750" */
static void cut_mark(struct sbuf *key)
{
	char *mark = strrchr(key->p, ';');

	key->n = (size_t)(mark - key->p);
	*mark = '\0';
}

/* Of what happened nobody knows when, such as the end of an element while the server was away, one line is enough. */
static bool is_written(const struct pbs_books *b, const struct pbs_record *r)
{
	auto_sbuf struct sbuf key = SBUF(LINE_MAX);
	int64_t created;

	if (b->ready || b->since < 0)
		return false;
	pbs_record_name(r, &key);
	if (r->when)
		return is_old(b, r->when) || map_find(&b->known, key.p);
	cut_mark(&key);
	return !clock_parse_rfc3339(jsonx_str_or(r->job, "metadata.creationTimestamp", ""), &created) ||
	       is_old(b, created / 1000000) || map_find(&b->known, key.p);
}

static void tell_by_mail(struct pbs_books *b, const struct pbs_record *r)
{
	const json_t *settings = json_object_get(informer_find(b->servers, "", "default"), "spec");
	auto_sbuf struct sbuf text = SBUF(MAIL_MAX);
	json_auto_t *args = NULL;

	if (pbs_mail(r, settings, &args, &text))
		mailer_send(b->mailer, args, sbuf_str(&text));
}

static void on_record(void *arg, const struct pbs_record *r)
{
	struct pbs_books *b = arg;
	auto_sbuf struct sbuf line = SBUF(LINE_MAX);

	if (is_written(b, r))
		return;
	pbs_record_line(r, clock_wall(), &line);
	/* A half line would be the beginning of the next one. */
	if (!line.over && b->lines.n + line.n <= LINES_MAX)
		sbuf_add(&b->lines, line.p, line.n);
	if (!loop_timer_pending(&b->flush))
		loop_timer_set(b->client->loop, &b->flush, FLUSH_MS);
	tell_by_mail(b, r);
}

static void see(struct pbs_books *b, const json_t *job)
{
	const char *uid = jsonx_str_or(job, "metadata.uid", "");
	struct pbs_seen *seen = map_find(&b->jobs, uid);

	if (!seen) {
		seen = xcalloc(1, sizeof(*seen));
		map_set(&b->jobs, uid, seen);
	}
	pbs_records(job, seen, clock_wall(), on_record, b);
}

static void forget(struct pbs_books *b, const char *uid)
{
	const struct pbs_seen *seen = map_find(&b->jobs, uid);

	if (seen)
		pbs_records_gone(seen, clock_wall(), on_record, b);
	map_remove(&b->jobs, uid);
}

static void on_change(void *arg, const char *type, const json_t *job)
{
	struct pbs_books *b = arg;
	const char *uid = jsonx_str_or(job, "metadata.uid", "");

	if (b->listing)
		map_set(&b->present, uid, b);
	see(b, job);
	if (streq(type, "DELETED"))
		forget(b, uid);
}

static void empty(struct map *m)
{
	map_done(m);
	map_init(m, NULL);
}

static void on_begin(void *arg)
{
	struct pbs_books *b = arg;

	empty(&b->present);
	b->listing = b->ready; /* at first there is nobody who could be missing */
}

static void on_listed(void *arg)
{
	struct pbs_books *b = arg;
	const char *uid;
	size_t pos = 0;
	void *value;

	while (b->listing && map_next(&b->jobs, &pos, &uid, &value))
		if (!map_find(&b->present, uid))
			forget(b, uid);
	empty(&b->present);
	empty(&b->known);
	b->listing = false;
	b->ready = true;
}

/* ---- the last lines ---- */

static void read_lines(struct pbs_books *b, struct str text)
{
	struct str line;

	while (text.n && str_split(&text, '\n', &line)) {
		auto_sbuf struct sbuf key = SBUF(LINE_MAX);
		int64_t when;

		if (!pbs_record_key(line, &key, &when))
			continue;
		map_set(&b->known, key.p, b);
		cut_mark(&key);
		map_set(&b->known, key.p, b);
		if (b->since < 0 || when < b->since)
			b->since = when;
	}
}

/* How much of it there is; all of it if that is not more than `most`. */
static size_t read_tail(struct pbs_books *b, const char *path, size_t most)
{
	auto_close int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
	off_t n = fd < 0 ? -1 : lseek(fd, 0, SEEK_END);
	size_t want = n > (off_t)most ? most : n > 0 ? (size_t)n : 0;
	auto_free char *text = xcalloc(1, want + 1);
	ssize_t got = want ? pread(fd, text, want, n - (off_t)want) : 0;

	if (got > 0)
		read_lines(b, (struct str){ text, (size_t)got });
	return want;
}

static void read_days(struct pbs_books *b)
{
	struct day_list days = day_list(b->dir);
	size_t left = TAIL_MAX;

	/* Two days, for the change that came at midnight. */
	for (size_t i = days.n; left && i > 0 && i + 2 > days.n; i--) {
		auto_free char *path = xasprintf("%s/%s", b->dir, days.names[i - 1]);

		left -= read_tail(b, path, left);
	}
	b->whole = days.n <= 2 && left;
	day_list_done(&days);
}

/* ---- life ---- */

static void free_seen(void *v)
{
	pbs_seen_done(v);
	free(v);
}

int pbs_books_new(struct client *c, const char *dir, const struct informer *servers, struct pbs_books **ret,
		  struct err *e)
{
	struct changes_handlers h = {
		.begin = on_begin, .change = on_change, .listed = on_listed, .purpose = "PBS's accounts"
	};
	struct pbs_books *b;

	if (file_make_dirs(dir, 0700, e) < 0)
		return -1;
	b = xcalloc(1, sizeof(*b));
	*b = (struct pbs_books){
		.client = c, .dir = xstrdup(dir), .fd = -1, .since = -1, .lines = SBUF(LINES_MAX + 1)
	};
	b->servers = servers;
	b->mailer = mailer_new(c->loop);
	b->flush = (struct loop_timer){ .fire = on_flush, .arg = b };
	map_init(&b->jobs, free_seen);
	map_init(&b->present, NULL);
	map_init(&b->known, NULL);
	read_days(b);
	h.arg = b;
	b->changes = changes_new(c, &all_jobs, NULL, &h);
	*ret = b;
	return 0;
}

void pbs_books_free(struct pbs_books *b)
{
	if (!b)
		return;
	changes_free(b->changes);
	mailer_free(b->mailer);
	flush_now(b);
	loop_timer_done(&b->flush);
	map_done(&b->jobs);
	map_done(&b->present);
	map_done(&b->known);
	sbuf_done(&b->lines);
	if (b->fd >= 0)
		close(b->fd);
	free(b->dir);
	free(b);
}
