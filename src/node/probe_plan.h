// SPDX-License-Identifier: Apache-2.0
/* probe_plan.h - what the results of a probe add up to, and when to ask again.  Pure */
#ifndef STOKER_NODE_PROBE_PLAN_H
#define STOKER_NODE_PROBE_PLAN_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "node/probe.h"

/* Unknown: the question could not be asked.  It counts neither way. */
enum probe_result { PROBE_SUCCESS, PROBE_FAILURE, PROBE_UNKNOWN };

struct probe_spec {
	enum probe_kind kind;
	int64_t initial_delay_ms, period_ms, timeout_ms;
	int successes, failures; /* in a row, to make a verdict */
};

/* Absent and nonsensical numbers become Kubernetes' defaults. */
struct probe_spec probe_spec_of(const json_t *probe, enum probe_kind kind);

enum probe_verdict { VERDICT_NONE, VERDICT_OK, VERDICT_BAD };

/* Zeroes are a fresh one. */
struct probe_count {
	enum probe_verdict verdict; /* what was told last */
	enum probe_result last;
	int run; /* how many times in a row */
};

struct probe_step {
	bool tell;       /* the verdict is a new one */
	bool ok;         /* which */
	bool stop;       /* there is nothing more to ask */
	int64_t wait_ms; /* else: until the next question */
};

/* One result, after a question that took `took_ms`. */
struct probe_step probe_plan(const struct probe_spec *spec, struct probe_count *count, enum probe_result result,
			     int64_t took_ms);

#endif
