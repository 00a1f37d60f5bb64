// SPDX-License-Identifier: Apache-2.0
/* logs.h - container logs belong to the server: they outlive pods, are rotated, capped, and read with kubectl's options
 *
 * DIR/logs/<namespace>/<pod>_<uid>/<container>/<attempt>.log in the CRI format conmon writes ("time stream F|P text").
 */
#ifndef STOKER_NODE_LOGS_H
#define STOKER_NODE_LOGS_H

#include <sys/types.h>

#include "base/err.h"
#include "base/str.h"
#include "loop/loop.h"

struct log_options {
	bool follow, timestamps;
	int64_t since_us;    /* wall clock; 0 = from the start */
	int64_t tail_lines;  /* -1 = all */
	int64_t limit_bytes; /* -1 = all */
};

struct log_reader;
/* Reads a log and calls `text` with pieces of output (as `kubectl logs` prints them) from the loop; `end` once at the
 * end: for a follower when log_reader_ended() said the container is over and all is read.  pause/resume for
 * back-pressure. */
int log_reader_new(struct loop *loop, const char *path, const struct log_options *o,
		   void (*text)(void *arg, struct str piece), void (*end)(void *arg), void *arg,
		   struct log_reader **ret, struct err *e);
void log_reader_pause(struct log_reader *r, bool paused);
void log_reader_ended(struct log_reader *r);
void log_reader_free(struct log_reader *r);

/* One line of the file, taken apart (pure): false if it is not one. */
bool log_line_parse(struct str line, int64_t *ret_us, bool *ret_stderr, bool *ret_partial, struct str *ret_text);

#endif
