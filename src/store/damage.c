// SPDX-License-Identifier: Apache-2.0
/* damage.c - every page of stoker.db is verified before the first request
 *
 * A damaged page found by the first request that needs it may be found weeks later, when the backups are as bad; so the
 * whole file is read once at start, in order, at the speed of memory when it is cached.  What the WAL holds newer
 * images of is passed over: a crash in the middle of a checkpoint may have torn those, and recovery will write them
 * again.
 *
 * SQLite never writes the content of a page that is only a leaf of its free list, so such a page may be a hole; any
 * other blank or missing page is damage.
 */
#include "store/damage.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "base/mem.h"
#include "store/vfs.h"
#include "store/wal_scan.h"

#define SCAN_CHUNK (256 * 1024)
#define WHAT_NEXT  "move the directory aside and restore it from a backup"

struct scan {
	const char *path;
	int fd;
	uint64_t size;
	uint32_t pages; /* of the database, WAL included */
	struct wal_scan wal;
	uint32_t *blank; /* page numbers */
	size_t nblank, blank_cap;
};

static int damaged(const struct scan *sc, uint32_t page, const char *how, struct err *e)
{
	return err_set(e, ERR_CORRUPT, "%s: page %u is damaged (%s); " WHAT_NEXT, sc->path, page, how);
}

/* The newest image of a page, as SQLite will see it. */
static bool read_page(const struct scan *sc, uint32_t page, unsigned char *out)
{
	uint32_t frame = wal_scan_find(&sc->wal, page);
	off_t at = (off_t)(page - 1) * STORE_PAGE;

	if (frame)
		return pread(sc->wal.fd, out, STORE_PAGE,
			     WAL_HEADER + (off_t)(frame - 1) * WAL_FRAME + WAL_FRAME_HDR) == STORE_PAGE;
	return pread(sc->fd, out, STORE_PAGE, at) == STORE_PAGE && page_sum_ok(out, page);
}

static bool is_blank(const unsigned char *page)
{
	return page[0] == 0 && memcmp(page, page + 1, STORE_PAGE - 1) == 0;
}

static int check_page(struct scan *sc, uint32_t number, const unsigned char *page, struct err *e)
{
	if (page_sum_ok(page, number) || wal_scan_find(&sc->wal, number))
		return 0;
	if (number == 1 || !is_blank(page))
		return damaged(sc, number, "checksum mismatch", e);
	ARRAY_PUSH(sc->blank, sc->nblank, sc->blank_cap, number);
	return 0;
}

static int check_pages(struct scan *sc, struct err *e)
{
	auto_free unsigned char *chunk = xmalloc(SCAN_CHUNK);
	uint32_t number = 1;

	while (number <= sc->pages) {
		ssize_t n = pread(sc->fd, chunk, SCAN_CHUNK, (off_t)(number - 1) * STORE_PAGE);

		if (n < 0)
			return err_errno(e, ERR_INTERNAL, "%s: cannot read page %u", sc->path, number);
		if (n < STORE_PAGE)
			break;
		for (ssize_t at = 0; at + STORE_PAGE <= n && number <= sc->pages; at += STORE_PAGE, number++)
			if (check_page(sc, number, chunk + at, e) < 0)
				return -1;
	}
	for (; number <= sc->pages; number++)
		if (!wal_scan_find(&sc->wal, number))
			ARRAY_PUSH(sc->blank, sc->nblank, sc->blank_cap, number);
	return 0;
}

/* Marks the leaves of the free list in a byte map. */
static int find_free(const struct scan *sc, const unsigned char *first, unsigned char *map, struct err *e)
{
	unsigned char trunk[STORE_PAGE];
	uint32_t page = be32(first + 32);
	uint32_t left = be32(first + 36);

	while (page && left) {
		uint32_t n;

		if (page > sc->pages || !read_page(sc, page, trunk))
			return damaged(sc, page, "free list broken", e);
		n = be32(trunk + 4);
		if (n > (STORE_PAGE - STORE_SUM) / 4 - 2 || n + 1 > left)
			return damaged(sc, page, "free list broken", e);
		for (uint32_t i = 0; i < n; i++) {
			uint32_t leaf = be32(trunk + 8 + 4 * (size_t)i);

			if (leaf <= sc->pages)
				map[leaf] = 1;
		}
		left -= n + 1;
		page = be32(trunk);
	}
	return 0;
}

static int check_blanks(const struct scan *sc, const unsigned char *first, struct err *e)
{
	auto_free unsigned char *map = NULL;

	if (!sc->nblank)
		return 0;
	map = xcalloc((size_t)sc->pages + 1, 1);
	if (find_free(sc, first, map, e) < 0)
		return -1;
	for (size_t i = 0; i < sc->nblank; i++)
		if (!map[sc->blank[i]])
			return damaged(sc, sc->blank[i],
				       (uint64_t)sc->blank[i] * STORE_PAGE > sc->size ? "the file is cut off before it"
										      : "it is blank",
				       e);
	return 0;
}

static int check_db(struct scan *sc, struct db_facts *ret, struct err *e)
{
	unsigned char first[STORE_PAGE];
	struct stat st;

	if (fstat(sc->fd, &st) < 0)
		return err_errno(e, ERR_INTERNAL, "cannot look at %s", sc->path);
	sc->size = (uint64_t)st.st_size;
	if (!read_page(sc, 1, first))
		return damaged(sc, 1, sc->size < STORE_PAGE ? "the file is cut off" : "checksum mismatch", e);
	sc->pages = sc->wal.db_pages ? sc->wal.db_pages : be32(first + 28);
	/* Both would follow from an intact checksum over a header that Stoker never wrote. */
	if (memcmp(first, "SQLite format 3", 16) != 0 || first[20] != STORE_SUM || sc->pages == 0 ||
	    sc->pages > STORE_PAGES_MAX)
		return damaged(sc, 1, "not a header of Stoker", e);
	ret->exists = true;
	ret->version = be32(first + 60);
	ret->application = be32(first + 68);
	if (check_pages(sc, e) < 0)
		return -1;
	return check_blanks(sc, first, e);
}

int damage_check(const char *dir, const struct wal_mark *mark, struct db_facts *ret, struct err *e)
{
	auto_free char *path = xasprintf("%s/stoker.db", dir);
	auto_free char *wal_path = xasprintf("%s/stoker.db-wal", dir);
	auto_close int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct scan sc = { .path = path, .fd = fd };
	int rc;

	*ret = (struct db_facts){ 0 };
	if (fd < 0 && errno != ENOENT)
		return err_errno(e, ERR_INTERNAL, "cannot open %s", path);
	if (wal_scan(wal_path, mark, &sc.wal, e) < 0)
		return -1;
	if (fd >= 0)
		rc = check_db(&sc, ret, e);
	else if (sc.wal.db_pages)
		rc = err_set(e, ERR_CORRUPT, "%s is missing, but its stoker.db-wal is there; " WHAT_NEXT, path);
	else
		rc = 0;
	wal_scan_done(&sc.wal);
	free(sc.blank);
	return rc;
}
