// SPDX-License-Identifier: Apache-2.0
/* map.h - string to pointer, open addressing; keys are copied, values are borrowed unless a free function is given */
#ifndef STOKER_BASE_MAP_H
#define STOKER_BASE_MAP_H

#include <stdbool.h>
#include <stddef.h>

struct map_slot {
	char *key;
	void *value;
	size_t hash;
};

struct map {
	struct map_slot *slots;
	size_t cap;
	size_t n;
	size_t used; /* with tombstones */
	void (*free_value)(void *);
};

void map_init(struct map *m, void (*free_value)(void *));
void map_done(struct map *m);
void *map_find(const struct map *m, const char *key);
void *map_find_n(const struct map *m, const char *key, size_t n);
/* Replaces (and frees) an older value. */
void map_set(struct map *m, const char *key, void *value);
/* Frees the value; false if there was none. */
bool map_remove(struct map *m, const char *key);
/* The value, which is the caller's now, or NULL. */
void *map_take(struct map *m, const char *key);
/* Walk: start with *pos = 0; false at the end.  The map may not change meanwhile, but for map_remove of the current
 * key. */
bool map_next(const struct map *m, size_t *pos, const char **ret_key, void **ret_value);

#endif
