// SPDX-License-Identifier: Apache-2.0
/* map.c - linear probing over a power-of-two table, at most three quarters full
 *
 * A removed entry leaves a tombstone (no key, value = the slot's own address) so that probing goes on past it.
 */
#include "base/map.h"

#include <stdint.h>
#include <string.h>

#include "base/mem.h"

#define TOMB(slot) ((void *)(slot))

static size_t hash_bytes(const char *p, size_t n)
{
	uint64_t h = 1469598103934665603ull; /* FNV-1a; keys are names the server has already checked */

	for (size_t i = 0; i < n; i++)
		h = (h ^ (unsigned char)p[i]) * 1099511628211ull;
	return (size_t)(h ^ (h >> 32));
}

void map_init(struct map *m, void (*free_value)(void *))
{
	*m = (struct map){ .free_value = free_value };
}

void map_done(struct map *m)
{
	for (size_t i = 0; i < m->cap; i++) {
		if (!m->slots[i].key)
			continue;
		free(m->slots[i].key);
		if (m->free_value)
			m->free_value(m->slots[i].value);
	}
	free(m->slots);
	*m = (struct map){ .free_value = m->free_value };
}

static struct map_slot *probe(const struct map *m, const char *key, size_t n, size_t hash)
{
	if (!m->cap)
		return NULL;
	for (size_t i = hash & (m->cap - 1);; i = (i + 1) & (m->cap - 1)) {
		struct map_slot *s = &m->slots[i];

		if (!s->key && !s->value)
			return NULL;
		if (s->key && s->hash == hash && strncmp(s->key, key, n) == 0 && s->key[n] == '\0')
			return s;
	}
}

void *map_find_n(const struct map *m, const char *key, size_t n)
{
	struct map_slot *s = probe(m, key, n, hash_bytes(key, n));

	return s ? s->value : NULL;
}

void *map_find(const struct map *m, const char *key)
{
	return map_find_n(m, key, strlen(key));
}

static void place(struct map *m, struct map_slot item)
{
	size_t i = item.hash & (m->cap - 1);

	while (m->slots[i].key)
		i = (i + 1) & (m->cap - 1);
	m->slots[i] = item;
}

static void grow(struct map *m)
{
	struct map_slot *old = m->slots;
	size_t old_cap = m->cap;

	m->cap = m->n * 2 < 8 ? 16 : old_cap && m->n * 2 < old_cap ? old_cap : old_cap * 2;
	m->slots = xcalloc(m->cap, sizeof(*m->slots));
	m->used = m->n;
	for (size_t i = 0; i < old_cap; i++)
		if (old[i].key)
			place(m, old[i]);
	free(old);
}

void map_set(struct map *m, const char *key, void *value)
{
	size_t n = strlen(key);
	size_t hash = hash_bytes(key, n);
	struct map_slot *s = probe(m, key, n, hash);

	if (s) {
		if (m->free_value && s->value != value)
			m->free_value(s->value);
		s->value = value;
		return;
	}
	if ((m->used + 1) * 4 > m->cap * 3)
		grow(m);
	place(m, (struct map_slot){ xstrdup(key), value, hash });
	m->n++;
	m->used++;
}

static void *take(struct map *m, struct map_slot *s)
{
	void *value = s->value;

	free(s->key);
	s->key = NULL;
	s->value = TOMB(s);
	m->n--;
	return value;
}

void *map_take(struct map *m, const char *key)
{
	size_t n = strlen(key);
	struct map_slot *s = probe(m, key, n, hash_bytes(key, n));

	return s ? take(m, s) : NULL;
}

bool map_remove(struct map *m, const char *key)
{
	size_t n = strlen(key);
	struct map_slot *s = probe(m, key, n, hash_bytes(key, n));
	void *value;

	if (!s)
		return false;
	value = take(m, s);
	if (m->free_value)
		m->free_value(value);
	return true;
}

bool map_next(const struct map *m, size_t *pos, const char **ret_key, void **ret_value)
{
	while (*pos < m->cap) {
		const struct map_slot *s = &m->slots[(*pos)++];

		if (!s->key)
			continue;
		if (ret_key)
			*ret_key = s->key;
		if (ret_value)
			*ret_value = s->value;
		return true;
	}
	return false;
}
