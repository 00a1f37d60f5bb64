// SPDX-License-Identifier: Apache-2.0
/* mem.h - memory that cannot be missing, and scopes that own it
 *
 * Out of memory aborts: state is in SQLite and containers survive a restart.  Sizes that come from outside are
 * checked against base/limits.h before anything here is called.
 */
#ifndef STOKER_BASE_MEM_H
#define STOKER_BASE_MEM_H

#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <unistd.h>

void *xmalloc(size_t n);
void *xcalloc(size_t count, size_t size);
void *xrealloc(void *p, size_t n);
/* Room for `count` items of `size`, with overflow checked. */
void *xreallocarray(void *p, size_t count, size_t size);
char *xstrdup(const char *s);
char *xstrndup(const char *s, size_t n);
void *xmemdup(const void *p, size_t n);
char *xasprintf(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
char *xvasprintf(const char *fmt, va_list ap) __attribute__((format(printf, 1, 0)));

/* Overwrites before freeing: for keys and tokens.  The compiler may not remove it. */
void mem_wipe(void *p, size_t n);

static inline void mem_free_cleanup(void *p)
{
	free(*(void **)p);
}

static inline void mem_close_cleanup(int *fd)
{
	if (*fd >= 0)
		close(*fd);
}

#define auto_free  __attribute__((cleanup(mem_free_cleanup)))
#define auto_close __attribute__((cleanup(mem_close_cleanup)))

/* Hands a pointer over to someone else: the scope no longer owns it. */
#define TAKE(p)                                                                                                        \
	__extension__({                                                                                                \
		__typeof__(p) take_ = (p);                                                                             \
		(p) = NULL;                                                                                            \
		take_;                                                                                                 \
	})

#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))

/* Appends one item to a growing array (pointer, count, capacity are lvalues). */
#define ARRAY_PUSH(p, n, cap, item)                                                                                    \
	do {                                                                                                           \
		if ((n) == (cap)) {                                                                                    \
			(cap) = (cap) ? (cap)*2 : 8;                                                                   \
			(p) = xreallocarray((p), (cap), sizeof(*(p)));                                                 \
		}                                                                                                      \
		(p)[(n)++] = (item);                                                                                   \
	} while (0)

#endif
