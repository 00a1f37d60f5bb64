// SPDX-License-Identifier: Apache-2.0
/* mem.c - allocation that aborts rather than returns NULL */
#include "base/mem.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

static void *checked(void *p)
{
	if (!p) {
		static const char msg[] = "stoker: out of memory\n";

		(void)!write(2, msg, sizeof(msg) - 1);
		abort();
	}
	return p;
}

void *xmalloc(size_t n)
{
	return checked(malloc(n ? n : 1));
}

void *xcalloc(size_t count, size_t size)
{
	return checked(calloc(count ? count : 1, size ? size : 1));
}

void *xrealloc(void *p, size_t n)
{
	return checked(realloc(p, n ? n : 1));
}

void *xreallocarray(void *p, size_t count, size_t size)
{
	return checked(reallocarray(p, count ? count : 1, size ? size : 1));
}

char *xstrdup(const char *s)
{
	return checked(strdup(s));
}

char *xstrndup(const char *s, size_t n)
{
	char *p = xmalloc(n + 1);

	memcpy(p, s, n);
	p[n] = '\0';
	return p;
}

void *xmemdup(const void *p, size_t n)
{
	void *copy = xmalloc(n);

	memcpy(copy, p, n);
	return copy;
}

char *xvasprintf(const char *fmt, va_list ap)
{
	char *s = NULL;

	if (vasprintf(&s, fmt, ap) < 0)
		s = NULL;
	return checked(s);
}

char *xasprintf(const char *fmt, ...)
{
	va_list ap;
	char *s;

	va_start(ap, fmt);
	s = xvasprintf(fmt, ap);
	va_end(ap);
	return s;
}

void mem_wipe(void *p, size_t n)
{
	explicit_bzero(p, n);
}
