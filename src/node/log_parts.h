// SPDX-License-Identifier: Apache-2.0
/* log_parts.h - the files of one log: PATH, and what was rotated away as PATH.1, PATH.2 ...; for log_reader.c */
#ifndef STOKER_NODE_LOG_PARTS_H
#define STOKER_NODE_LOG_PARTS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/err.h"

#define LOG_PARTS 10 /* PATH and PATH.1 to PATH.9; a writer that keeps more is read from there on */

/* Open files, oldest first. */
struct log_parts {
	int fds[LOG_PARTS];
	size_t n;
};
/* All that there are; none is not an error. */
int log_parts_open(const char *path, struct log_parts *ret, struct err *e);
void log_parts_close(struct log_parts *p);

enum log_next {
	LOG_NEXT_NONE,  /* nothing follows (yet) */
	LOG_NEXT_FOUND, /* *ret_fd is what follows, and the writer has turned to it or to a later one */
	LOG_NEXT_MOVING /* names are changing right now: ask again */
};
enum log_next log_parts_next(const char *path, int fd, int *ret_fd);

/* Where the last lines begin, found backwards and a block at a time.  Lines are counted as people see them: records of
 * one partial line are one. */
struct log_seek {
	size_t part;  /* where it is now, and at the end the answer: */
	off_t at;     /* everything from here on */
	off_t hi;     /* the bytes before this one have not been looked at */
	int64_t want; /* lines */
	int64_t seen; /* ends of lines */
	bool any;     /* a record has been seen: the last one counts even if its line goes on */
};
void log_seek_start(struct log_seek *s, const struct log_parts *p, int64_t lines);
/* True when it is found. */
bool log_seek_step(struct log_seek *s, const struct log_parts *p);

#endif
