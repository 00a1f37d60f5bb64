// SPDX-License-Identifier: Apache-2.0
/* lru.c - a map whose entries are also a ring in the order of their last use */
#include "base/lru.h"

#include <assert.h>

#include "base/mem.h"

void lru_init(struct lru *l, size_t max, void (*drop)(void *arg, void *value), void *arg)
{
	*l = (struct lru){ .max = max, .drop = drop, .arg = arg };
	map_init(&l->entries, NULL);
	l->ends.older = l->ends.younger = &l->ends;
}

static void unlink_entry(struct lru_entry *x)
{
	x->older->younger = x->younger;
	x->younger->older = x->older;
}

static void make_youngest(struct lru *l, struct lru_entry *x)
{
	x->younger = &l->ends;
	x->older = l->ends.older;
	x->older->younger = x;
	l->ends.older = x;
}

static void drop_entry(struct lru *l, struct lru_entry *x)
{
	void *value = x->value;

	unlink_entry(x);
	map_remove(&l->entries, x->key);
	free(x->key);
	free(x);
	l->drop(l->arg, value);
}

void lru_done(struct lru *l)
{
	while (l->ends.younger && l->ends.younger != &l->ends)
		drop_entry(l, l->ends.younger);
	map_done(&l->entries);
}

void *lru_use(struct lru *l, const char *key)
{
	struct lru_entry *x = map_find(&l->entries, key);

	if (!x)
		return NULL;
	unlink_entry(x);
	make_youngest(l, x);
	return x->value;
}

void lru_add(struct lru *l, const char *key, void *value)
{
	struct lru_entry *x = xcalloc(1, sizeof(*x));

	assert(!map_find(&l->entries, key));
	if (l->entries.n >= l->max)
		drop_entry(l, l->ends.younger);
	x->key = xstrdup(key);
	x->value = value;
	map_set(&l->entries, key, x);
	make_youngest(l, x);
}
