// SPDX-License-Identifier: Apache-2.0
/* vfs.c - a thin layer between SQLite and the file system
 *
 * Each page of stoker.db ends in 8 bytes that SQLite leaves alone (its "reserved bytes"); on the way to the disk they
 * get a checksum of the page and its number, on the way back it is verified.  Frames of the WAL carry SQLite's own
 * checksums, which are looked at only in recovery, so the sums of frames written by this process are kept in memory
 * and verified too: a checkpoint cannot launder a flipped byte into stoker.db.
 *
 * SQLite writes a WAL frame as a header and a page, and a checkpoint page by page; neighbours are joined here into few
 * large writes, which is most of the cost of a commit.  Nothing stays behind a sync, and only a sync makes a commit, so
 * what a late error belongs to has not been promised to anyone.
 *
 * The methods are of version 1 on purpose: no shared memory (the store holds the only connection, in exclusive mode)
 * and no memory mapping, which would bypass the check.
 */
#include "store/vfs.h"

#include <errno.h>
#include <sqlite3.h>
#include <stdio.h>

#include "base/mem.h"
#include "store/lock.h"

#define JOIN_BYTES (64 * 1024)
#define WAL_CHUNK  (512 * 1024)

enum file_role { FILE_OTHER, FILE_DB, FILE_WAL };

struct store_vfs {
	sqlite3_vfs base;
	sqlite3_vfs *real;
	char name[32];
	int lock_fd;
	uint32_t wal_salt[2];
	uint64_t *frame_sums; /* 0: not known */
	size_t nframes;
	struct store_fail fail;
	char damage[160];
};

struct vfs_file {
	sqlite3_file base;
	struct store_vfs *owner;
	sqlite3_file *real; /* lies behind this struct */
	enum file_role role;
	/* Written by SQLite, not yet handed on. */
	char *joined;
	int njoined;
	sqlite3_int64 joined_at;
	sqlite3_int64 laid_out; /* WAL: bytes that have their place on the disk */
};

static inline uint64_t rotate(uint64_t v, int n)
{
	return v << n | v >> (64 - n);
}

#define SUM_STEP(h, w) (rotate((h) ^ (w), 29) * 0x9e3779b185ebca87u)

uint64_t page_sum(const void *p, size_t n, uint64_t seed)
{
	/* Four lanes, because a multiplication takes the processor several cycles but it can start one in each. */
	uint64_t h[4] = { seed + 1, seed ^ 0x27d4eb2f165667c5u, seed + 0x165667b19e3779f9u, ~seed };
	const unsigned char *at = p;
	uint64_t w[4];
	uint64_t sum = n;

	for (; n >= sizeof(w); n -= sizeof(w), at += sizeof(w)) {
		memcpy(w, at, sizeof(w));
		h[0] = SUM_STEP(h[0], w[0]);
		h[1] = SUM_STEP(h[1], w[1]);
		h[2] = SUM_STEP(h[2], w[2]);
		h[3] = SUM_STEP(h[3], w[3]);
	}
	memcpy(w, at, n);
	for (size_t i = 0; i < n / sizeof(w[0]); i++)
		h[i] = SUM_STEP(h[i], w[i]);
	for (int i = 0; i < 4; i++)
		sum = SUM_STEP(sum, h[i] ^ h[i] >> 32);
	return sum ^ sum >> 31;
}

bool page_sum_ok(const void *page, uint32_t number)
{
	uint64_t stored;

	memcpy(&stored, (const char *)page + STORE_PAGE - STORE_SUM, sizeof(stored));
	return stored == page_sum(page, STORE_PAGE - STORE_SUM, number);
}

void page_sum_set(void *page, uint32_t number)
{
	uint64_t sum = page_sum(page, STORE_PAGE - STORE_SUM, number);

	memcpy((char *)page + STORE_PAGE - STORE_SUM, &sum, sizeof(sum));
}

/* --- what tests make fail --- */

void vfs_fail(struct store_vfs *v, const struct store_fail *fail)
{
	v->fail = *fail;
}

bool vfs_no_room(const struct store_vfs *v)
{
	return v->fail.no_room;
}

static int fail_now(struct store_vfs *v, bool matches)
{
	if (!matches || !v->fail.code)
		return SQLITE_OK;
	if (v->fail.after > 1) {
		v->fail.after--;
		return SQLITE_OK;
	}
	return v->fail.code;
}

/* --- pages and frames --- */

static bool is_page(int amount, sqlite3_int64 offset)
{
	return amount == STORE_PAGE && offset % STORE_PAGE == 0;
}

/* Number of the frame whose page image lies at offset, from 0; -1 if none does. */
static int64_t frame_of(int amount, sqlite3_int64 offset)
{
	sqlite3_int64 at = offset - WAL_HEADER - WAL_FRAME_HDR;

	return amount == STORE_PAGE && at >= 0 && at % WAL_FRAME == 0 ? at / WAL_FRAME : -1;
}

static void frame_keep(struct store_vfs *v, int64_t frame, const void *page)
{
	if ((size_t)frame >= v->nframes) {
		size_t n = (size_t)frame + 256;

		v->frame_sums = xreallocarray(v->frame_sums, n, sizeof(*v->frame_sums));
		memset(v->frame_sums + v->nframes, 0, (n - v->nframes) * sizeof(*v->frame_sums));
		v->nframes = n;
	}
	v->frame_sums[frame] = page_sum(page, STORE_PAGE, (uint64_t)frame);
}

static bool frame_ok(const struct store_vfs *v, int64_t frame, const void *page)
{
	if ((size_t)frame >= v->nframes || !v->frame_sums[frame])
		return true;
	return v->frame_sums[frame] == page_sum(page, STORE_PAGE, (uint64_t)frame);
}

static int damaged(struct store_vfs *v, const char *file, const char *unit, int64_t number)
{
	snprintf(v->damage, sizeof(v->damage), "%s: %s %lld is damaged (checksum mismatch)", file, unit,
		 (long long)number);
	return SQLITE_CORRUPT;
}

/* SQLite takes only ENOSPC for a full disk; a quota or a size limit is no less curable by the user. */
static int write_error(struct vfs_file *f, int rc)
{
	int number = 0;

	if ((rc & 0xff) == SQLITE_IOERR)
		f->real->pMethods->xFileControl(f->real, SQLITE_FCNTL_LAST_ERRNO, &number);
	return number == ENOSPC || number == EDQUOT || number == EFBIG ? SQLITE_FULL : rc;
}

/* A sync that has to grow the file waits for the file system's journal too and takes twice as long.  So the WAL grows
 * by chunks of written zeros, which cannot be taken for frames, and stays that long when it begins anew.  Without room
 * for a chunk it grows as it would have. */
static void lay_out(struct vfs_file *f, sqlite3_int64 end)
{
	static const char zeros[JOIN_BYTES];
	sqlite3_int64 size = 0;

	if (f->role != FILE_WAL || end <= f->laid_out)
		return;
	if (f->real->pMethods->xFileSize(f->real, &size) != SQLITE_OK || end <= size) {
		f->laid_out = size;
		return;
	}
	for (f->laid_out = end; f->laid_out < end + WAL_CHUNK; f->laid_out += JOIN_BYTES)
		if (f->real->pMethods->xWrite(f->real, zeros, JOIN_BYTES, f->laid_out) != SQLITE_OK)
			break;
}

static int hand_on(struct vfs_file *f)
{
	int n = f->njoined;
	int rc;

	if (n == 0)
		return SQLITE_OK;
	f->njoined = 0;
	rc = f->real->pMethods->xWrite(f->real, f->joined, n, f->joined_at);
	if (rc == SQLITE_OK)
		lay_out(f, f->joined_at + n);
	return rc == SQLITE_OK ? rc : write_error(f, rc);
}

static int join(struct vfs_file *f, const void *buf, int amount, sqlite3_int64 offset)
{
	int rc;

	if (f->njoined && (offset != f->joined_at + f->njoined || f->njoined + amount > JOIN_BYTES)) {
		rc = hand_on(f);
		if (rc != SQLITE_OK)
			return rc;
	}
	if (!f->joined)
		f->joined = xmalloc(JOIN_BYTES);
	if (!f->njoined)
		f->joined_at = offset;
	memcpy(f->joined + f->njoined, buf, (size_t)amount);
	f->njoined += amount;
	return SQLITE_OK;
}

static int file_read(sqlite3_file *base, void *buf, int amount, sqlite3_int64 offset)
{
	struct vfs_file *f = (struct vfs_file *)base;
	bool overlaps = offset < f->joined_at + f->njoined && f->joined_at < offset + amount;
	int rc = overlaps ? hand_on(f) : SQLITE_OK;
	int64_t frame;

	if (rc == SQLITE_OK)
		rc = f->real->pMethods->xRead(f->real, buf, amount, offset);
	if (rc != SQLITE_OK)
		return rc;
	if (f->role == FILE_DB && is_page(amount, offset)) {
		uint32_t number = (uint32_t)(offset / STORE_PAGE) + 1;

		return page_sum_ok(buf, number) ? SQLITE_OK : damaged(f->owner, "stoker.db", "page", number);
	}
	if (f->role == FILE_WAL && (frame = frame_of(amount, offset)) >= 0)
		return frame_ok(f->owner, frame, buf) ? SQLITE_OK
						      : damaged(f->owner, "stoker.db-wal", "frame", frame + 1);
	if (f->role == FILE_WAL && offset == 0 && amount >= WAL_HEADER) {
		f->owner->wal_salt[0] = be32((char *)buf + 16);
		f->owner->wal_salt[1] = be32((char *)buf + 20);
	}
	return SQLITE_OK;
}

/* The WAL begins anew: what the old mark claims is no longer true. */
static void wal_restarts(struct store_vfs *v, const void *header)
{
	v->wal_salt[0] = header ? be32((const char *)header + 16) : 0;
	v->wal_salt[1] = header ? be32((const char *)header + 20) : 0;
	lock_mark(v->lock_fd, &(struct wal_mark){ .salt = { v->wal_salt[0], v->wal_salt[1] } });
}

static int file_write(sqlite3_file *base, const void *buf, int amount, sqlite3_int64 offset)
{
	struct vfs_file *f = (struct vfs_file *)base;
	struct store_vfs *v = f->owner;
	int64_t frame;
	int rc = fail_now(v, v->fail.writes);

	if (rc != SQLITE_OK)
		return rc;
	/* The buffer is SQLite's page image, whose reserved bytes are ours to fill. */
	if (f->role == FILE_DB && is_page(amount, offset))
		page_sum_set((void *)buf, (uint32_t)(offset / STORE_PAGE) + 1);
	if (f->role == FILE_WAL && offset == 0)
		wal_restarts(v, buf);
	if (f->role == FILE_WAL && (frame = frame_of(amount, offset)) >= 0)
		frame_keep(v, frame, buf);
	if (f->role != FILE_OTHER && amount <= JOIN_BYTES)
		return join(f, buf, amount, offset);
	rc = f->real->pMethods->xWrite(f->real, buf, amount, offset);
	return rc == SQLITE_OK ? rc : write_error(f, rc);
}

static int file_truncate(sqlite3_file *base, sqlite3_int64 size)
{
	struct vfs_file *f = (struct vfs_file *)base;

	int rc = hand_on(f);

	f->laid_out = 0;
	if (f->role == FILE_WAL && size == 0)
		wal_restarts(f->owner, NULL);
	return rc == SQLITE_OK ? f->real->pMethods->xTruncate(f->real, size) : rc;
}

static int file_sync(sqlite3_file *base, int flags)
{
	struct vfs_file *f = (struct vfs_file *)base;
	int rc = fail_now(f->owner, f->owner->fail.syncs);

	if (rc == SQLITE_OK)
		rc = hand_on(f);
	return rc == SQLITE_OK ? f->real->pMethods->xSync(f->real, flags) : rc;
}

/* --- handed through --- */

static int file_close(sqlite3_file *base)
{
	struct vfs_file *f = (struct vfs_file *)base;

	int rc = hand_on(f);
	int closed = f->real->pMethods->xClose(f->real);

	free(f->joined);
	return rc == SQLITE_OK ? closed : rc;
}

static int file_size(sqlite3_file *base, sqlite3_int64 *ret)
{
	struct vfs_file *f = (struct vfs_file *)base;

	int rc = hand_on(f);

	return rc == SQLITE_OK ? f->real->pMethods->xFileSize(f->real, ret) : rc;
}

static int file_lock(sqlite3_file *base, int level)
{
	struct vfs_file *f = (struct vfs_file *)base;

	return f->real->pMethods->xLock(f->real, level);
}

static int file_unlock(sqlite3_file *base, int level)
{
	struct vfs_file *f = (struct vfs_file *)base;

	return f->real->pMethods->xUnlock(f->real, level);
}

static int file_reserved(sqlite3_file *base, int *ret)
{
	struct vfs_file *f = (struct vfs_file *)base;

	return f->real->pMethods->xCheckReservedLock(f->real, ret);
}

static int file_control(sqlite3_file *base, int op, void *arg)
{
	struct vfs_file *f = (struct vfs_file *)base;

	return f->real->pMethods->xFileControl(f->real, op, arg);
}

static int file_sector(sqlite3_file *base)
{
	struct vfs_file *f = (struct vfs_file *)base;

	return f->real->pMethods->xSectorSize(f->real);
}

static int file_traits(sqlite3_file *base)
{
	struct vfs_file *f = (struct vfs_file *)base;

	return f->real->pMethods->xDeviceCharacteristics(f->real);
}

static const sqlite3_io_methods methods = {
	.iVersion = 1,
	.xClose = file_close,
	.xRead = file_read,
	.xWrite = file_write,
	.xTruncate = file_truncate,
	.xSync = file_sync,
	.xFileSize = file_size,
	.xLock = file_lock,
	.xUnlock = file_unlock,
	.xCheckReservedLock = file_reserved,
	.xFileControl = file_control,
	.xSectorSize = file_sector,
	.xDeviceCharacteristics = file_traits,
};

static sqlite3_vfs *real_of(sqlite3_vfs *base)
{
	return ((struct store_vfs *)base->pAppData)->real;
}

static int vfs_open(sqlite3_vfs *base, const char *name, sqlite3_file *file, int flags, int *ret_flags)
{
	struct vfs_file *f = (struct vfs_file *)file;
	sqlite3_vfs *real = real_of(base);
	int rc;

	*f = (struct vfs_file){ .owner = base->pAppData,
				.real = (sqlite3_file *)(f + 1),
				.role = flags & SQLITE_OPEN_MAIN_DB ? FILE_DB
					: flags & SQLITE_OPEN_WAL   ? FILE_WAL
								    : FILE_OTHER };
	rc = real->xOpen(real, name, f->real, flags, ret_flags);
	if (f->real->pMethods)
		f->base.pMethods = &methods;
	return rc;
}

static int vfs_delete(sqlite3_vfs *base, const char *name, int sync_dir)
{
	return real_of(base)->xDelete(real_of(base), name, sync_dir);
}

static int vfs_access(sqlite3_vfs *base, const char *name, int flags, int *ret)
{
	return real_of(base)->xAccess(real_of(base), name, flags, ret);
}

static int vfs_full_path(sqlite3_vfs *base, const char *name, int n, char *out)
{
	return real_of(base)->xFullPathname(real_of(base), name, n, out);
}

static int vfs_random(sqlite3_vfs *base, int n, char *out)
{
	return real_of(base)->xRandomness(real_of(base), n, out);
}

static int vfs_sleep(sqlite3_vfs *base, int micros)
{
	return real_of(base)->xSleep(real_of(base), micros);
}

static int vfs_time(sqlite3_vfs *base, double *ret)
{
	return real_of(base)->xCurrentTime(real_of(base), ret);
}

static int vfs_time64(sqlite3_vfs *base, sqlite3_int64 *ret)
{
	return real_of(base)->xCurrentTimeInt64(real_of(base), ret);
}

static int vfs_last_error(sqlite3_vfs *base, int n, char *out)
{
	return real_of(base)->xGetLastError(real_of(base), n, out);
}

struct store_vfs *vfs_new(int lock_fd)
{
	struct store_vfs *v = xcalloc(1, sizeof(*v));

	v->real = sqlite3_vfs_find(NULL);
	v->lock_fd = lock_fd;
	snprintf(v->name, sizeof(v->name), "stoker-%p", (void *)v);
	v->base = (sqlite3_vfs){
		.iVersion = 2,
		.szOsFile = (int)sizeof(struct vfs_file) + v->real->szOsFile,
		.mxPathname = v->real->mxPathname,
		.zName = v->name,
		.pAppData = v,
		.xOpen = vfs_open,
		.xDelete = vfs_delete,
		.xAccess = vfs_access,
		.xFullPathname = vfs_full_path,
		.xRandomness = vfs_random,
		.xSleep = vfs_sleep,
		.xCurrentTime = vfs_time,
		.xCurrentTimeInt64 = vfs_time64,
		.xGetLastError = vfs_last_error,
	};
	sqlite3_vfs_register(&v->base, 0);
	return v;
}

void vfs_free(struct store_vfs *v)
{
	if (!v)
		return;
	sqlite3_vfs_unregister(&v->base);
	free(v->frame_sums);
	free(v);
}

const char *vfs_name(const struct store_vfs *v)
{
	return v->name;
}

const char *vfs_damage(const struct store_vfs *v)
{
	return v->damage;
}

void vfs_mark(struct store_vfs *v, int frames)
{
	lock_mark(v->lock_fd,
		  &(struct wal_mark){ .salt = { v->wal_salt[0], v->wal_salt[1] }, .frames = (uint32_t)frames });
}
