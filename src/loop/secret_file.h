// SPDX-License-Identifier: Apache-2.0
/* secret_file.h - small files that must be whole and, for keys, private; for this room only */
#ifndef STOKER_LOOP_SECRET_FILE_H
#define STOKER_LOOP_SECRET_FILE_H

#include <stdbool.h>

#include "base/err.h"
#include "base/str.h"

/* The file's bytes, at most the buffer's maximum.  ERR_NOT_FOUND if it is absent.  With `secret`, a file that group or
 * others can touch is refused. */
int secret_file_read(const char *path, bool secret, struct sbuf *out, struct err *e);
/* Replaces the file in one step (temporary file, fsync, rename, fsync of the directory); mode 0600 if `secret`, else
 * 0644. */
int secret_file_write(const char *path, bool secret, struct str data, struct err *e);

#endif
