// SPDX-License-Identifier: Apache-2.0
/* json_pool.c - see json_pool.h
 *
 * A pod is some three hundred values of a few sizes, made and freed together, with texts of kilobytes in between.  That
 * is the worst case of a general allocator: each large block makes it join all the small ones that are free, only to
 * cut them up again.  Here each size has pieces of its own, which hold nothing but a head and blocks of that size, so
 * that taking one and giving it back are a few instructions, and a block needs no words about itself.
 *
 * The piece of a block is found by its address, for pieces begin at multiples of their size.  Larger blocks are
 * malloc's: those begin at multiples of 16, ours eight bytes after one.
 *
 * Pieces without blocks in use serve any size.  A few are kept as they are; of the others the kernel gets the memory
 * back, and we keep the addresses.
 */
#include "base/json_pool.h"

#include <jansson.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "base/mem.h"

#define STEP    16
#define LARGEST 256
#define SIZES   (LARGEST / STEP)
#define PIECE   ((size_t)16 * 1024)
#define AREA    ((size_t)1024 * 1024) /* taken from the kernel at a time */
#define KEPT    64                    /* empty pieces with their memory */

struct block {
	struct block *next;
};

struct piece {
	struct piece *next, **pprev; /* among those of its size with room; pprev NULL: it is full */
	struct block *free;
	uint32_t size;   /* of its blocks */
	uint32_t live;   /* blocks in use */
	uint32_t unused; /* where those begin that were never in use */
	uint32_t pad;
};
_Static_assert(sizeof(struct piece) % STEP == 8, "blocks must begin where malloc's never do");
_Static_assert(_Alignof(max_align_t) == STEP, "malloc's blocks must begin at multiples of 16");

struct addresses {
	struct piece **items;
	size_t n, cap;
};

/* jansson's allocator has no argument, so there is one pool for the program. */
static struct {
	struct piece *open[SIZES]; /* with room, by size */
	struct addresses empty, cold;
	size_t used;
} pool;

static void take_area(void)
{
	char *p = mmap(NULL, AREA + PIECE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (p == MAP_FAILED)
		abort();
	/* Huge pages would stay whole while any piece in them does. */
	madvise(p, AREA + PIECE, MADV_NOHUGEPAGE);
	p += -(uintptr_t)p % PIECE;
	for (size_t at = 0; at < AREA; at += PIECE)
		ARRAY_PUSH(pool.cold.items, pool.cold.n, pool.cold.cap, (struct piece *)(void *)(p + at));
}

static struct piece *take_piece(void)
{
	if (!pool.empty.n && !pool.cold.n)
		take_area();
	pool.used++;
	return pool.empty.n ? pool.empty.items[--pool.empty.n] : pool.cold.items[--pool.cold.n];
}

static void give_piece(struct piece *p)
{
	pool.used--;
	if (pool.empty.n < KEPT) {
		ARRAY_PUSH(pool.empty.items, pool.empty.n, pool.empty.cap, p);
		return;
	}
	madvise(p, PIECE, MADV_DONTNEED);
	ARRAY_PUSH(pool.cold.items, pool.cold.n, pool.cold.cap, p);
}

static void open_piece(struct piece **list, struct piece *p)
{
	p->next = *list;
	p->pprev = list;
	if (p->next)
		p->next->pprev = &p->next;
	*list = p;
}

static void close_piece(struct piece *p)
{
	*p->pprev = p->next;
	if (p->next)
		p->next->pprev = p->pprev;
	p->pprev = NULL;
}

static struct piece **list_of(size_t size)
{
	return &pool.open[size / STEP - 1];
}

static struct piece *new_piece(size_t size)
{
	struct piece *p = take_piece();

	*p = (struct piece){ .size = (uint32_t)size, .unused = sizeof(*p) };
	open_piece(list_of(size), p);
	return p;
}

void *json_pool_alloc(size_t n)
{
	size_t size = n ? (n + STEP - 1) / STEP * STEP : STEP;
	struct piece *p;
	struct block *b;

	if (n > LARGEST)
		return xmalloc(n);
	p = *list_of(size);
	if (!p)
		p = new_piece(size);
	b = p->free;
	if (b) {
		p->free = b->next;
	} else {
		b = (struct block *)(void *)((char *)p + p->unused);
		p->unused += p->size;
	}
	p->live++;
	if (!p->free && p->unused + p->size > PIECE)
		close_piece(p);
	return b;
}

void json_pool_free(void *v)
{
	struct block *b = v;
	struct piece *p = (struct piece *)((uintptr_t)v / PIECE * PIECE);

	if ((uintptr_t)v % STEP == 0) { /* also NULL */
		free(v);
		return;
	}
	b->next = p->free;
	p->free = b;
	if (!p->pprev)
		open_piece(list_of(p->size), p);
	if (--p->live)
		return;
	close_piece(p);
	give_piece(p);
}

struct json_pool_bytes json_pool_bytes(void)
{
	return (struct json_pool_bytes){ .used = pool.used * PIECE, .kept = pool.empty.n * PIECE };
}

void json_pool_use(void)
{
#ifndef __SANITIZE_ADDRESS__
	json_set_alloc_funcs(json_pool_alloc, json_pool_free);
#endif
}
