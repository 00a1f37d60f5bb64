// SPDX-License-Identifier: Apache-2.0
/* lru.h - so many things by name and no more: the one that was not used for the longest time goes first */
#ifndef STOKER_BASE_LRU_H
#define STOKER_BASE_LRU_H

#include "base/map.h"

struct lru_entry {
	struct lru_entry *older, *younger;
	char *key;
	void *value;
};

struct lru {
	struct map entries;
	struct lru_entry ends; /* ends.younger is the oldest, ends.older the youngest */
	size_t max;
	void (*drop)(void *arg, void *value);
	void *arg;
};

/* `drop` takes every value that goes, also those that are left at the end. */
void lru_init(struct lru *l, size_t max, void (*drop)(void *arg, void *value), void *arg);
void lru_done(struct lru *l);
/* Finds it, or NULL; it is the youngest now. */
void *lru_use(struct lru *l, const char *key);
/* Adds what is not there yet. */
void lru_add(struct lru *l, const char *key, void *value);

#endif
