// SPDX-License-Identifier: Apache-2.0
/* work.h - the requests that the load generator sends
 */
#ifndef STOKER_BENCH_WORK_H
#define STOKER_BENCH_WORK_H

#include <stddef.h>
#include <stdint.h>

#define REQUEST_MAX 8192
/* Every object body has exactly this size, whatever its kind; etcd's values too. */
#define BODY_SIZE 1024

struct kind;

struct work {
	const char *kind_name; /* configmap, pod, job, tfjob, pbsjob */
	const char *ns;
	const char *prefix; /* names are PREFIX-NUMBER */
	const char *token;  /* bearer, or NULL */
	uint64_t existing;  /* get and update choose among PREFIX-0 ... PREFIX-(existing-1) */
	uint64_t limit;     /* page size of a list, 0 = the whole in one */
	uint64_t salt;      /* changes with each run, so that updates change something */
	const struct kind *kind;
};

/* Writes the n-th request into a buffer of REQUEST_MAX bytes and returns its length. */
typedef size_t request_fn(const struct work *w, uint64_t n, char *out);

/* NULL if there is none of this name: create, update, get, list, watch, livez, put. */
request_fn *work_find(const char *name);
/* Fills w->kind; false if kind_name is unknown. */
int work_init(struct work *w);

#endif
