// SPDX-License-Identifier: Apache-2.0
/* queue_limits.h - how much of the machine a queue's work may use at a time: in all, per user, per group; pure */
#ifndef STOKER_KINDS_QUEUE_LIMITS_H
#define STOKER_KINDS_QUEUE_LIMITS_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/map.h"
#include "base/str.h"

/* What is counted. */
enum limit_of { LIMIT_RUNNING, LIMIT_QUEUED, LIMIT_GPUS, LIMIT_CPUS, LIMIT_MEMORY, LIMIT__COUNT };
enum limit_scope { LIMIT_TOTAL, LIMIT_PER_USER, LIMIT_PER_GROUP, LIMIT_SCOPE__COUNT };

struct amount_of_limits {
	int64_t v[LIMIT__COUNT]; /* cpus in thousandths */
};

/* Most of each; -1: no limit. */
struct limits {
	struct amount_of_limits most[LIMIT_SCOPE__COUNT];
};

/* From a Queue's spec.limits, which may be NULL: none. */
void limits_read(struct limits *l, const json_t *spec_limits);
/* One amount of a Queue's spec; NULL: none of them is given. */
void limits_read_amount(struct amount_of_limits *a, const json_t *amount);

/* What is in use, in one queue. */
struct limits_use {
	struct amount_of_limits total;
	struct map users, groups; /* name -> struct amount_of_limits */
};
void limits_use_init(struct limits_use *u);
void limits_use_done(struct limits_use *u);
/* sign 1: begins to use it, -1: no longer.  `group` may be "". */
void limits_count(struct limits_use *u, const char *user, const char *group, const struct amount_of_limits *a,
		  int sign);

/* The first limit that `a` more would exceed. */
struct limit_hit {
	enum limit_scope scope;
	enum limit_of of;
	int64_t most, used, wanted;
};
bool limits_exceeded(const struct limits *l, const struct limits_use *u, const char *user, const char *group,
		     const struct amount_of_limits *a, struct limit_hit *ret);
/* Whether it is more than the limit even if nothing else runs: it can never start. */
bool limits_impossible(const struct limits *l, const struct amount_of_limits *a, struct limit_hit *ret);
/* What a pod asks for, so many times over, is added; limits count where there is no request. */
void limits_add_pod(struct amount_of_limits *a, const json_t *pod_spec, int64_t times);
/* "queue batch allows each user 4 GPUs, anna has 3 and this needs 2"; NULL for the PBS server */
void limit_hit_text(const struct limit_hit *h, const char *queue, const char *user, const char *group,
		    struct sbuf *out);
/* "4 GPUs", and "4" */
void limit_amount_text(enum limit_of of, int64_t n, struct sbuf *out);
void limit_number_text(enum limit_of of, int64_t n, struct sbuf *out);
/* For what is impossible: "queue batch allows each user 4 GPUs and this needs 8" */
void limit_most_text(const struct limit_hit *h, const char *queue, struct sbuf *out);

#endif
