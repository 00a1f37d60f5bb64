// SPDX-License-Identifier: Apache-2.0
/* line_file.h - files that grow by whole lines, also if the disk is full or the machine dies in the middle of one */
#ifndef STOKER_SCHED_LINE_FILE_H
#define STOKER_SCHED_LINE_FILE_H

#include "base/err.h"
#include "base/str.h"

/* Opens it for appending, made if need be, for its owner only.  What a crash left of the last line goes; no line is
 * longer than `longest`. */
int line_file_open(const char *path, size_t longest, int *ret_fd, struct err *e);
/* All or none of some lines; `path` is for the error. */
int line_file_add(int fd, const char *path, struct str lines, struct err *e);
/* The same, and they are on disk. */
int line_file_keep(int fd, const char *path, struct str lines, struct err *e);
/* What errno says of it. */
int line_file_error(const char *path, struct err *e);

#endif
