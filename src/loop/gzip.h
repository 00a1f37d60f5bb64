// SPDX-License-Identifier: Apache-2.0
/* gzip.h - files that are kept small: packed a piece at a time, read line by line */
#ifndef STOKER_LOOP_GZIP_H
#define STOKER_LOOP_GZIP_H

#include <stdbool.h>

#include "base/err.h"
#include "base/str.h"

/* A plain file becomes a packed one, in steps that do not hold the loop for long.  The new file appears under its name
 * when it is whole and on disk; the plain one is the caller's to remove. */
struct gzip_pack;
int gzip_pack_new(const char *from, const char *to, struct gzip_pack **ret, struct err *e);
/* 1: there is more to do; 0: done. */
int gzip_pack_step(struct gzip_pack *p, struct err *e);
/* Before the end: as if it had never begun. */
void gzip_pack_free(struct gzip_pack *p);

/* Each line of a file, packed or plain, without its newline, until `each` says false.  A line longer than `max` is
 * ERR_TOO_LARGE. */
int gzip_lines(const char *path, size_t max, bool (*each)(void *arg, struct str line), void *arg, struct err *e);

#endif
