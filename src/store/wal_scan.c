// SPDX-License-Identifier: Apache-2.0
/* wal_scan.c - is the write-ahead log torn, as after any crash, or damaged?
 *
 * SQLite's recovery stops at the first frame whose checksum is wrong and forgets the rest without a word.  That is
 * right for the last transaction of a crashed server: its frames reached the disk in any order or not at all, and
 * nobody was told that it had happened.  It is wrong for a frame that was durable once.  Two facts tell them apart:
 * every commit is fsynced before the next transaction writes, so whole commits behind the torn one prove damage; and
 * the mark in the lock file (lock.c) says how far the log was durable.
 *
 * A frame's checksum continues its predecessor's, whose value is stored in the predecessor's header; so the frames
 * behind a bad one can still be verified, each against the header before it.
 */
#include "store/wal_scan.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>

#include "base/mem.h"
#include "store/vfs.h"

#define WAL_MAGIC 0x377f0682u /* the lowest bit: checksums of big-endian words */

struct sum {
	uint32_t a, b;
};

struct log {
	const char *path;
	int fd;
	bool big_endian;
	uint32_t salt[2];
	uint32_t frames; /* whole ones that fit in the file */
	unsigned char frame[WAL_FRAME];
};

#define WHAT_NEXT "move the directory aside and restore it from a backup"

static struct sum sum_add(struct sum s, const void *p, size_t n, bool big_endian)
{
	const unsigned char *at = p;

	for (; n >= 8; n -= 8, at += 8) {
		uint32_t w[2];

		memcpy(w, at, sizeof(w));
		if (big_endian) {
			w[0] = __builtin_bswap32(w[0]);
			w[1] = __builtin_bswap32(w[1]);
		}
		s.a += w[0] + s.b;
		s.b += w[1] + s.a;
	}
	return s;
}

static bool sum_is(struct sum s, const unsigned char *stored)
{
	return s.a == be32(stored) && s.b == be32(stored + 4);
}

static bool read_frame(struct log *l, uint32_t number)
{
	off_t at = WAL_HEADER + (off_t)(number - 1) * WAL_FRAME;

	return pread(l->fd, l->frame, WAL_FRAME, at) == WAL_FRAME;
}

static bool frame_is_ours(const struct log *l)
{
	return be32(l->frame + 8) == l->salt[0] && be32(l->frame + 12) == l->salt[1] && be32(l->frame) != 0 &&
	       be32(l->frame) <= STORE_PAGES_MAX && be32(l->frame + 4) <= STORE_PAGES_MAX;
}

/* Whether the frame in the buffer follows from the sum before it; *s becomes the sum behind it. */
static bool frame_follows(const struct log *l, struct sum *s)
{
	*s = sum_add(*s, l->frame, 8, l->big_endian);
	*s = sum_add(*s, l->frame + WAL_FRAME_HDR, STORE_PAGE, l->big_endian);
	return sum_is(*s, l->frame + 16);
}

static uint32_t frame_commits(const struct log *l)
{
	return be32(l->frame + 4);
}

/* True if a whole commit lies behind the transaction that `bad` belongs to. */
static bool commits_behind(struct log *l, uint32_t bad)
{
	bool torn_ended = false;
	struct sum s;

	for (uint32_t i = bad; i <= l->frames && read_frame(l, i); i++) {
		bool follows = i > bad && frame_follows(l, &s);

		s = (struct sum){ be32(l->frame + 16), be32(l->frame + 20) };
		if (!frame_is_ours(l) || !frame_commits(l))
			continue;
		if (torn_ended && follows)
			return true;
		torn_ended = true;
	}
	return false;
}

/* 1: read it, 0: nothing in it, -1: damaged. */
static int read_header(struct log *l, uint64_t size, const struct wal_mark *mark, struct sum *ret, struct err *e)
{
	static const unsigned char zeros[WAL_HEADER];
	unsigned char h[WAL_HEADER];
	struct sum s;

	if (size < WAL_HEADER || pread(l->fd, h, WAL_HEADER, 0) != WAL_HEADER || memcmp(h, zeros, WAL_HEADER) == 0) {
		if (mark->frames == 0)
			return 0;
		return err_set(e, ERR_CORRUPT, "%s: it has lost its %u frames; " WHAT_NEXT, l->path, mark->frames);
	}
	l->big_endian = be32(h) & 1;
	s = sum_add((struct sum){ 0 }, h, 24, l->big_endian);
	if ((be32(h) & ~1u) != WAL_MAGIC || !sum_is(s, h + 24) || be32(h + 8) != STORE_PAGE)
		return err_set(e, ERR_CORRUPT, "%s: its header is damaged; " WHAT_NEXT, l->path);
	l->salt[0] = be32(h + 16);
	l->salt[1] = be32(h + 20);
	*ret = s;
	return 1;
}

static void keep_committed(struct wal_scan *w, const uint32_t *pages, uint32_t last)
{
	uint32_t max = w->db_pages;

	for (uint32_t i = 0; i < last; i++)
		if (pages[i] > max)
			max = pages[i];
	w->npages = max + 1;
	w->frame_of = xcalloc(w->npages, sizeof(*w->frame_of));
	for (uint32_t i = 0; i < last; i++)
		w->frame_of[pages[i]] = i + 1;
}

/* Follows the frames to the first that is not right; returns its number. */
static uint32_t walk(struct log *l, struct sum s, struct wal_scan *w, uint32_t *ret_last)
{
	auto_free uint32_t *pages = xreallocarray(NULL, l->frames + 1, sizeof(*pages));
	uint32_t last = 0;
	uint32_t i;

	for (i = 1; i <= l->frames && read_frame(l, i); i++) {
		if (!frame_is_ours(l) || !frame_follows(l, &s))
			break;
		pages[i - 1] = be32(l->frame);
		if (frame_commits(l)) {
			last = i;
			w->db_pages = frame_commits(l);
		}
	}
	keep_committed(w, pages, last);
	*ret_last = last;
	return i;
}

static int scan_open(struct log *l, const struct wal_mark *mark, struct wal_scan *w, struct err *e)
{
	struct stat st;
	struct sum s;
	uint32_t bad;
	uint32_t last;
	int found;

	if (fstat(l->fd, &st) < 0)
		return err_errno(e, ERR_INTERNAL, "cannot look at %s", l->path);
	found = read_header(l, (uint64_t)st.st_size, mark, &s, e);
	if (found <= 0)
		return found;
	l->frames = (uint32_t)((st.st_size - WAL_HEADER) / WAL_FRAME);
	bad = walk(l, s, w, &last);
	if ((mark->salt[0] == l->salt[0] && mark->salt[1] == l->salt[1] && last < mark->frames) ||
	    commits_behind(l, bad))
		return err_set(e, ERR_CORRUPT, "%s: frame %u is damaged (checksum mismatch); " WHAT_NEXT, l->path, bad);
	return 0;
}

int wal_scan(const char *path, const struct wal_mark *mark, struct wal_scan *ret, struct err *e)
{
	struct wal_scan w = { .fd = open(path, O_RDONLY | O_CLOEXEC) };
	auto_free struct log *l = xcalloc(1, sizeof(*l));

	if (w.fd < 0 && errno != ENOENT)
		return err_errno(e, ERR_INTERNAL, "cannot open %s", path);
	if (w.fd < 0 && mark->frames)
		return err_set(e, ERR_CORRUPT,
			       "%s is missing, and with it %u frames of changes; " WHAT_NEXT
			       " (and delete the file `lock` in it)",
			       path, mark->frames);
	l->path = path;
	l->fd = w.fd;
	if (w.fd >= 0 && scan_open(l, mark, &w, e) < 0) {
		wal_scan_done(&w);
		return -1;
	}
	*ret = w;
	return 0;
}

void wal_scan_done(struct wal_scan *w)
{
	if (w->fd >= 0)
		close(w->fd);
	free(w->frame_of);
	*w = (struct wal_scan){ .fd = -1 };
}

uint32_t wal_scan_find(const struct wal_scan *w, uint32_t page)
{
	return page < w->npages ? w->frame_of[page] : 0;
}
