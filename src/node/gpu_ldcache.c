// SPDX-License-Identifier: Apache-2.0
/* gpu_ldcache.c - reading /etc/ld.so.cache, which says where libraries are
 *
 *	20 bytes   "glibc-ld.so.cache1.1"
 *	u32        how many entries
 *	24 bytes   more about the file
 *	24 bytes an entry: u32 flags, u32 offset of the name, u32 offset of the path, 12 bytes more
 *	strings
 *
 * Offsets count from the beginning; numbers are this machine's own.  An older table may stand before it, in caches made
 * for programs older than 1997's glibc 2.0; such a file gives nothing, and the usual directories are looked at anyway.
 */
#include "base/str.h"
#include "node/gpu_parts.h"

#define MAGIC      "glibc-ld.so.cache1.1"
#define HEADER_LEN 48
#define ENTRY_LEN  24

static uint32_t number(const char *p)
{
	uint32_t v;

	memcpy(&v, p, sizeof(v));
	return v;
}

/* The text at an offset, or NULL if it does not end within the file. */
static const char *text_at(const char *p, size_t n, uint32_t offset)
{
	return offset < n && memchr(p + offset, '\0', n - offset) ? p + offset : NULL;
}

void gpu_ldcache_walk(const char *p, size_t n, void (*found)(void *arg, const char *name, const char *path), void *arg)
{
	size_t entries;

	if (n < HEADER_LEN || memcmp(p, MAGIC, sizeof(MAGIC) - 1) != 0)
		return;
	entries = number(p + sizeof(MAGIC) - 1);
	if (entries > (n - HEADER_LEN) / ENTRY_LEN)
		return;
	for (size_t i = 0; i < entries; i++) {
		const char *entry = p + HEADER_LEN + i * ENTRY_LEN;
		const char *name = text_at(p, n, number(entry + 4));
		const char *path = text_at(p, n, number(entry + 8));

		if (name && path)
			found(arg, name, path);
	}
}
