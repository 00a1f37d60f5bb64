// SPDX-License-Identifier: Apache-2.0
/* wal_scan.h - reads a WAL as SQLite's recovery would, but does not keep quiet about damage */
#ifndef STOKER_STORE_WAL_SCAN_H
#define STOKER_STORE_WAL_SCAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "store/lock.h"

struct wal_scan {
	int fd;             /* -1: no WAL */
	uint32_t *frame_of; /* by page number: committed frame that holds it (from 1), or 0 */
	uint32_t npages;    /* room in frame_of, page numbers below it */
	uint32_t db_pages;  /* size of the database after the last commit; 0: the WAL has none */
};

/* `path` may be absent.  Refuses with ERR_CORRUPT what recovery would silently drop. */
int wal_scan(const char *path, const struct wal_mark *mark, struct wal_scan *ret, struct err *e);
void wal_scan_done(struct wal_scan *w);
/* Frame (from 1) with the newest image of a page, 0 if the WAL has none. */
uint32_t wal_scan_find(const struct wal_scan *w, uint32_t page);

#endif
