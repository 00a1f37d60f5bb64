// SPDX-License-Identifier: Apache-2.0
/* vfs.h - the layer below SQLite: page checksums, and failures on demand for tests */
#ifndef STOKER_STORE_VFS_H
#define STOKER_STORE_VFS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define STORE_PAGE      4096
#define STORE_PAGES_MAX (1u << 26) /* 256 GiB; a larger number is not one that we wrote */
#define STORE_SUM       8          /* bytes at the end of each page of stoker.db */
#define WAL_HEADER      32
#define WAL_FRAME_HDR   24
#define WAL_FRAME       (WAL_FRAME_HDR + STORE_PAGE)

struct store_vfs;

/* One per store, registered under its own name.  lock_fd gets the WAL marks; -1: none. */
struct store_vfs *vfs_new(int lock_fd);
void vfs_free(struct store_vfs *v);
const char *vfs_name(const struct store_vfs *v);
/* What the last damaged read met: "stoker.db: page 17 is damaged (checksum mismatch)"; "" if none. */
const char *vfs_damage(const struct store_vfs *v);
/* The commit just made ends at this frame of the WAL. */
void vfs_mark(struct store_vfs *v, int frames);

/* For tests: from the n-th matching call on (1: the next), return `code` instead of doing it; code 0 switches it off.
 * no_room makes full.c find no room for its reserve. */
struct store_fail {
	bool writes, syncs;
	int after;
	int code;
	bool no_room;
};
void vfs_fail(struct store_vfs *v, const struct store_fail *fail);
bool vfs_no_room(const struct store_vfs *v);

/* 64-bit sum of n bytes (a multiple of 8).  Every step is a bijection of the word it takes in, so a change confined to
 * one aligned word (any flipped byte) always shows; anything else escapes with a chance of 2^-64. */
uint64_t page_sum(const void *p, size_t n, uint64_t seed);
bool page_sum_ok(const void *page, uint32_t number);
void page_sum_set(void *page, uint32_t number);

static inline uint32_t be32(const void *p)
{
	uint32_t v;

	memcpy(&v, p, sizeof(v));
	return __builtin_bswap32(v);
}

#endif
