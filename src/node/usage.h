// SPDX-License-Identifier: Apache-2.0
/* usage.h - how much of the machine containers use, measured only while somebody wants to know */
#ifndef STOKER_NODE_USAGE_H
#define STOKER_NODE_USAGE_H

#include <stdint.h>

#include "base/err.h"
#include "loop/loop.h"

/* Counters at one moment. */
struct usage_reading {
	int64_t wall_us, mono_ns;
	int64_t cpu_ns; /* since the beginning */
	int64_t memory_bytes;
	int64_t age_ms; /* since that beginning; -1: unknown */
};

struct usage_rate {
	int64_t wall_us; /* end of the window */
	int64_t window_ms;
	int64_t cpu_nano; /* processors, in 10^-9 */
	int64_t total_ns; /* of processors, since the beginning */
	int64_t memory_bytes;
};

/* The pure half.  `before` NULL: since the beginning; false if that is unknown. */
bool usage_rate_of(const struct usage_reading *before, const struct usage_reading *now, struct usage_rate *ret);

/* Where readings come from; NULL in usage_new(): the kernel.  An empty path is the whole machine. */
typedef int usage_read_fn(void *arg, const char *cgroup, struct usage_reading *ret, struct err *e);

struct usage;
struct usage *usage_new(struct loop *loop, usage_read_fn *read, void *arg);
void usage_free(struct usage *u);
/* The first question about a group starts measuring it and is answered with its average so far; without questions
 * measuring ends.  ERR_NOT_FOUND if there is no answer (yet). */
int usage_ask(struct usage *u, const char *cgroup, struct usage_rate *ret, struct err *e);

#endif
