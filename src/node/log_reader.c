// SPDX-License-Identifier: Apache-2.0
/* log_reader.c - one reader of one log: first where to begin, then from part to part, then as it grows
 *
 * Work is done in the loop's work phase, at most TURN_BYTES a turn; a flood of output cannot hold the loop, and a
 * client that does not keep up pauses its reader, not the container.
 *
 * Who does not follow gets what was there when it asked: otherwise a container that never stops writing would never let
 * it go.  Who follows stands at the end of the newest part until something happens in the directory.  When a newer part
 * has appeared, the old one is read to its end once more before it is left: the writer may have added to it between our
 * last look and the renaming, but not after it has made the new one.
 */
#include <sys/stat.h>

#include "base/mem.h"
#include "node/log_parts.h"
#include "node/log_watch.h"
#include "node/logs.h"

#define TURN_BYTES (256 * 1024)
#define BLOCK      (64 * 1024)
#define LINE_MAX_  (1024 * 1024) /* no writer makes longer records; what is longer is no log */
#define RETRY_MS   10            /* while names change */
#define LOOK_MS    500           /* where inotify is not to be had */

struct log_reader {
	struct loop *loop;
	char *path;
	struct log_options o;
	void (*text)(void *arg, struct str piece);
	void (*end)(void *arg);
	void *arg;
	struct loop_hook turn;
	struct loop_timer retry;
	struct log_watch *own_watch;
	struct log_watcher watcher;
	bool watched;

	struct log_parts parts; /* those before `part` are closed already */
	size_t part;
	off_t at;
	off_t stop; /* of the newest part, for who does not follow */
	struct log_seek seek;
	bool seeking;

	struct sbuf carry; /* the beginning of a record whose end has not been read */
	bool skip;         /* the rest of one that is too long */
	bool within;       /* the last record was partial: its line goes on */
	int64_t left;      /* of limit_bytes; -1: no limit */
	struct sbuf out;
	bool paused, ended, over;
	bool busy, doomed; /* in a callback; freed meanwhile */
};

/* ---- records become text ---- */

/* Kubernetes writes UTC with a Z. */
static void add_time(struct sbuf *out, struct str record)
{
	const char *space = memchr(record.p, ' ', record.n);
	size_t n = (size_t)(space - record.p);
	bool utc = n > 6 && memcmp(space - 6, "+00:00", 6) == 0;

	sbuf_add(out, record.p, utc ? n - 6 : n);
	sbuf_adds(out, utc ? "Z " : " ");
}

static void take_record(struct log_reader *r, struct str record)
{
	struct str text;
	bool is_stderr;
	bool partial;
	int64_t us;

	if (!log_line_parse(record, &us, &is_stderr, &partial, &text) || us < r->o.since_us)
		return;
	if (r->o.stream && is_stderr != (r->o.stream == 2))
		return;
	if (r->o.timestamps && !r->within)
		add_time(&r->out, record);
	sbuf_add(&r->out, text.p, text.n);
	if (!partial)
		sbuf_addc(&r->out, '\n');
	r->within = partial;
}

static void end_record(struct log_reader *r)
{
	if (!r->skip && r->carry.n)
		take_record(r, sbuf_str(&r->carry));
	r->skip = false;
	sbuf_reset(&r->carry);
}

static void take_bytes(struct log_reader *r, struct str bytes)
{
	const char *nl;

	while (bytes.n && (nl = memchr(bytes.p, '\n', bytes.n))) {
		size_t n = (size_t)(nl - bytes.p);

		if (!r->carry.n && !r->skip) {
			take_record(r, (struct str){ bytes.p, n });
		} else {
			sbuf_add(&r->carry, bytes.p, n);
			r->skip |= r->carry.over;
			end_record(r);
		}
		bytes.p += n + 1;
		bytes.n -= n + 1;
	}
	if (!r->skip)
		sbuf_add(&r->carry, bytes.p, bytes.n);
	if (r->carry.over) {
		r->skip = true;
		sbuf_reset(&r->carry);
	}
}

/* ---- from part to part ---- */

static bool newest(const struct log_reader *r)
{
	return r->part + 1 >= r->parts.n;
}

static bool at_stop(const struct log_reader *r)
{
	return !r->o.follow && newest(r) && r->at >= r->stop;
}

/* Bytes read; 0 at the end of what this part has, or may give. */
static size_t read_some(struct log_reader *r)
{
	char buf[BLOCK];
	size_t want = sizeof(buf);
	ssize_t got;

	if (r->part >= r->parts.n)
		return 0;
	if (!r->o.follow && newest(r) && r->stop - r->at < (off_t)want)
		want = r->stop > r->at ? (size_t)(r->stop - r->at) : 0;
	/* Where we were to stop may be in the middle of a record, if it was being written just then. */
	if (!want && (r->carry.n || r->skip))
		want = sizeof(buf);
	got = want ? pread(r->parts.fds[r->part], buf, want, r->at) : 0;
	if (got <= 0)
		return 0;
	if (at_stop(r)) {
		const char *nl = memchr(buf, '\n', (size_t)got);

		got = nl ? nl + 1 - buf : got;
	}
	r->at += got;
	take_bytes(r, (struct str){ buf, (size_t)got });
	return (size_t)got;
}

static void next_part(struct log_reader *r)
{
	end_record(r); /* a record that was never finished, and never will be */
	close(r->parts.fds[r->part]);
	r->parts.fds[r->part] = -1;
	r->part++;
	r->at = 0;
}

/* A newer part has been found: it takes the place of those that are done. */
static void add_part(struct log_reader *r, int fd)
{
	r->parts.fds[0] = r->parts.fds[r->part];
	r->parts.fds[1] = fd;
	r->parts.n = 2;
	r->part = 0;
}

static void look_again(struct log_reader *r, int ms)
{
	loop_timer_set(r->loop, &r->retry, ms);
}

/* All of the newest part has been read. */
static bool wait_for_more(struct log_reader *r)
{
	struct err e = ERR_INIT;
	int fd = -1;

	if (!r->parts.n) {
		if (log_parts_open(r->path, &r->parts, &e) == 0 && r->parts.n)
			return true;
	} else {
		switch (log_parts_next(r->path, r->parts.fds[r->part], &fd)) {
		case LOG_NEXT_FOUND:
			add_part(r, fd);
			return true;
		case LOG_NEXT_MOVING:
			look_again(r, RETRY_MS);
			return false;
		case LOG_NEXT_NONE:
			break;
		}
	}
	if (r->ended) {
		end_record(r);
		r->over = true;
	} else if (!r->watched) {
		look_again(r, LOOK_MS);
	}
	return false;
}

/* After read_some() had nothing: true if it should try again. */
static bool advance(struct log_reader *r)
{
	if (r->part + 1 < r->parts.n) {
		next_part(r);
		return true;
	}
	if (r->o.follow)
		return wait_for_more(r);
	end_record(r);
	r->over = true;
	return false;
}

/* ---- turns ---- */

static void seek_on(struct log_reader *r)
{
	if (!log_seek_step(&r->seek, &r->parts))
		return;
	r->seeking = false;
	if (!r->parts.n)
		return;
	while (r->part < r->seek.part)
		next_part(r);
	r->at = r->seek.at;
}

static void deliver(struct log_reader *r)
{
	struct str piece = sbuf_str(&r->out);

	if (r->left >= 0 && (int64_t)piece.n >= r->left) {
		piece.n = (size_t)r->left;
		r->over = true;
	}
	if (r->left >= 0)
		r->left -= (int64_t)piece.n;
	if (piece.n)
		r->text(r->arg, piece);
	if (r->over || r->out.cap > 2 * BLOCK)
		sbuf_done(&r->out);
	else
		sbuf_reset(&r->out);
}

static void on_turn(void *arg)
{
	struct log_reader *r = arg;
	int budget = TURN_BYTES;
	bool more = true;

	if (r->paused || r->over)
		return;
	loop_timer_clear(&r->retry);
	r->busy = true;
	while (more && !r->over && budget > 0) {
		if (r->seeking) {
			seek_on(r);
			budget -= BLOCK;
		} else {
			size_t got = read_some(r);

			budget -= (int)got;
			more = got || advance(r);
		}
	}
	deliver(r);
	r->busy = false;
	if (r->doomed)
		log_reader_free(r);
	else if (r->over)
		r->end(r->arg);
	else if (more && !r->paused)
		loop_schedule(r->loop, &r->turn);
}

static void on_changed(void *arg)
{
	struct log_reader *r = arg;

	if (!r->paused && !r->over)
		loop_schedule(r->loop, &r->turn);
}

/* ---- life ---- */

static void watch(struct log_reader *r)
{
	const char *slash = strrchr(r->path, '/');
	auto_free char *dir = slash ? xstrndup(r->path, (size_t)(slash - r->path)) : xstrdup(".");

	if (!r->o.watch)
		r->o.watch = r->own_watch = log_watch_new(r->loop);
	r->watcher = (struct log_watcher){ .changed = on_changed, .arg = r };
	r->watched = log_watch_add(r->o.watch, dir, &r->watcher);
}

int log_reader_new(struct loop *loop, const char *path, const struct log_options *o,
		   void (*text)(void *arg, struct str piece), void (*end)(void *arg), void *arg,
		   struct log_reader **ret, struct err *e)
{
	struct log_reader *r = xcalloc(1, sizeof(*r));
	struct stat st;

	r->loop = loop;
	r->path = xstrdup(path);
	r->o = *o;
	r->text = text;
	r->end = end;
	r->arg = arg;
	r->turn = (struct loop_hook){ .run = on_turn, .arg = r, .phase = LOOP_WORK };
	r->retry = (struct loop_timer){ .fire = on_changed, .arg = r };
	r->carry = SBUF(LINE_MAX_);
	r->out = SBUF(LINE_MAX_ + 2 * TURN_BYTES);
	r->left = o->limit_bytes;
	/* Before the first look, or what happens in between is missed. */
	if (o->follow)
		watch(r);
	if (log_parts_open(path, &r->parts, e) < 0) {
		log_reader_free(r);
		return -1;
	}
	if (r->parts.n && fstat(r->parts.fds[r->parts.n - 1], &st) == 0)
		r->stop = st.st_size;
	if (o->tail_lines >= 0) {
		log_seek_start(&r->seek, &r->parts, o->tail_lines);
		r->seeking = true;
	}
	loop_schedule(loop, &r->turn);
	*ret = r;
	return 0;
}

void log_reader_pause(struct log_reader *r, bool paused)
{
	if (r->paused == paused)
		return;
	r->paused = paused;
	/* Who rests is not woken for each line; the next turn looks by itself, after the watch is there again. */
	if (paused) {
		log_watch_remove(&r->watcher);
		loop_unschedule(r->loop, &r->turn);
		return;
	}
	if (r->o.follow)
		watch(r);
	if (!r->over && !r->busy)
		loop_schedule(r->loop, &r->turn);
}

void log_reader_ended(struct log_reader *r)
{
	r->ended = true;
	on_changed(r);
}

void log_reader_free(struct log_reader *r)
{
	if (!r)
		return;
	if (r->busy) {
		r->doomed = true;
		return;
	}
	loop_unschedule(r->loop, &r->turn);
	loop_timer_done(&r->retry);
	log_watch_remove(&r->watcher);
	log_watch_free(r->own_watch);
	log_parts_close(&r->parts);
	sbuf_done(&r->carry);
	sbuf_done(&r->out);
	free(r->path);
	free(r);
}
