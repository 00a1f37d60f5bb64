// SPDX-License-Identifier: Apache-2.0
/* workloads.h - the kinds that lead to containers, as people call them, and whether one of them has ended; pure */
#ifndef STOKER_KINDS_WORKLOADS_H
#define STOKER_KINDS_WORKLOADS_H

#include "kinds/kind.h"

/* Every kind of workload, those that people write themselves first; NULL at the end. */
extern const struct kind *const workloads[];
size_t workloads_count(void);
bool is_workload(const struct kind *k);
/* The kind of an object that says its apiVersion and kind, by group: a workload or NULL. */
const struct kind *workload_of(const json_t *obj);

/* Whether a word means the kind: "job", "jobs", "Job", "jobs.batch", "jobs.v1.batch", "sts". */
bool kind_is_called(const struct kind *k, struct str word);
/* The workload that a word means, or NULL. */
const struct kind *workload_named(struct str word);

/* Whether workloads of the kind come to an end by themselves. */
bool workload_ends(const struct kind *k);
enum workload_end { WORKLOAD_GOES_ON, WORKLOAD_ENDED_WELL, WORKLOAD_ENDED_BADLY };
/* WORKLOAD_GOES_ON for kinds that do not end. */
enum workload_end workload_end(const struct kind *k, const json_t *obj);

#endif
