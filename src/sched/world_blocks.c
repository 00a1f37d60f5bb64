// SPDX-License-Identifier: Apache-2.0
/* world_blocks.c - nodes for others: what is only for some from a time on, in order of its beginning */
#include "base/mem.h"
#include "sched/world_parts.h"

static char **names_copy(char *const *names)
{
	char **copy;
	size_t n = 0;

	while (names && names[n])
		n++;
	if (!names)
		return NULL;
	copy = xcalloc(n + 1, sizeof(*copy));
	for (size_t i = 0; i < n; i++)
		copy[i] = xstrdup(names[i]);
	return copy;
}

static void names_free(char **names)
{
	for (size_t i = 0; names && names[i]; i++)
		free(names[i]);
	free(names);
}

static void block_done(struct block *b)
{
	names_free(b->nodes);
	names_free(b->users);
	names_free(b->groups);
	names_free(b->queues);
	free(b->key);
}

/* The reservations of a pass that is under way know it. */
static void blocks_changed(struct world *w)
{
	w->changed = true;
	w->passing = false;
	backfill_begin(&w->backfill, w->space);
}

void world_unblock(struct world *w, const char *key)
{
	for (size_t i = 0; i < w->nblocks; i++)
		if (streq(w->blocks[i].key, key)) {
			block_done(&w->blocks[i]);
			memmove(&w->blocks[i], &w->blocks[i + 1], (w->nblocks - i - 1) * sizeof(*w->blocks));
			w->nblocks--;
			blocks_changed(w);
			return;
		}
}

void world_block_for(struct world *w, const struct block *b)
{
	struct block copy = { .key = xstrdup(b->key),
			      .nodes = names_copy(b->nodes),
			      .gpus = b->gpus,
			      .start_ms = b->start_ms,
			      .end_ms = b->end_ms,
			      .users = names_copy(b->users),
			      .groups = names_copy(b->groups),
			      .queues = names_copy(b->queues) };
	size_t at;

	world_unblock(w, b->key);
	ARRAY_PUSH(w->blocks, w->nblocks, w->cap_blocks, copy);
	for (at = w->nblocks - 1; at > 0 && w->blocks[at - 1].start_ms > copy.start_ms; at--)
		w->blocks[at] = w->blocks[at - 1];
	w->blocks[at] = copy;
	blocks_changed(w);
}

void world_block(struct world *w, const char *key, const char *const *nodes, int64_t start_ms, int64_t end_ms)
{
	world_block_for(
		w,
		&(struct block){ .key = (char *)key, .nodes = (char **)nodes, .start_ms = start_ms, .end_ms = end_ms });
}

void world_blocks_done(struct world *w)
{
	while (w->nblocks)
		block_done(&w->blocks[--w->nblocks]);
	free(w->blocks);
}
