// SPDX-License-Identifier: Apache-2.0
/* file.h - whole files: read with a ceiling, written so that a crash leaves the old or the new one */
#ifndef STOKER_BASE_FILE_H
#define STOKER_BASE_FILE_H

#include <sys/types.h>

#include "base/err.h"
#include "base/str.h"

/* Appends the file's bytes; errors name the path.  ERR_TOO_LARGE past `max`. */
int file_read(const char *path, size_t max, struct sbuf *out, struct err *e);
/* Writes a temporary file beside it, syncs, renames. */
int file_write(const char *path, mode_t mode, struct str text, struct err *e);
/* The same without the sync: for what is made anew after a crash of the machine. */
int file_place(const char *path, mode_t mode, struct str text, struct err *e);
/* Makes a directory and its parents; an existing one is fine. */
int file_make_dirs(const char *path, mode_t mode, struct err *e);
/* Has the file system place what is made in this directory apart from each other, if it can (ext4): each directory gets
 * a region of its own, and a new file there need not be kept clear of those that others have just removed. */
void file_spread(const char *dir);

#endif
