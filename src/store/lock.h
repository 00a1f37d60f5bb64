// SPDX-License-Identifier: Apache-2.0
/* lock.h - the data directory, its lock, and the mark of how far the WAL is known to reach */
#ifndef STOKER_STORE_LOCK_H
#define STOKER_STORE_LOCK_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"

/* Frames of the WAL with these salts that were durable when the mark was written; 0 frames = no claim. */
struct wal_mark {
	uint32_t salt[2];
	uint32_t frames;
};

struct store_lock {
	int fd;
	struct wal_mark mark; /* as the last server left it */
};

/* Makes the directory (0700) if need be, checks its owner and takes the lock; changes nothing else. */
int lock_take(const char *dir, struct store_lock *ret, struct err *e);
/* Writes our pid and an empty mark, durably. */
int lock_claim(struct store_lock *lock, const char *dir, struct err *e);
void lock_mark(int fd, const struct wal_mark *mark);
/* Withdraws the mark, durably, before the WAL is emptied; false if it cannot. */
bool lock_clear(struct store_lock *lock);
void lock_release(struct store_lock *lock);

#endif
