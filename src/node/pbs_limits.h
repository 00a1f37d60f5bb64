// SPDX-License-Identifier: Apache-2.0
/* pbs_limits.h - what a PBS job may use and has used; pure */
#ifndef STOKER_NODE_PBS_LIMITS_H
#define STOKER_NODE_PBS_LIMITS_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

/* 0: no limit. */
struct pbs_limits {
	int64_t cput;              /* seconds of all its processes */
	int64_t mem;               /* bytes: the control group's; not of the job's own words, see pod_pbs.c */
	int64_t vmem, pvmem, pmem; /* bytes: all processes' address space, one's, one's memory */
};

struct pbs_sample {
	int64_t cput;              /* seconds */
	int64_t mem;               /* if the kernel had to kill for it: more than there may be */
	int64_t vmem, pvmem, pmem; /* of all; most of one */
};

struct pbs_limits pbs_limits_of(const json_t *job);
bool pbs_limits_any(const struct pbs_limits *l);
/* One for which processes must be looked at one by one. */
bool pbs_limits_each(const struct pbs_limits *l);
/* The reason of the pod's end if one is exceeded, else NULL; `words` is what PBS says then. */
const char *pbs_limits_exceeded(const struct pbs_limits *l, const struct pbs_sample *s, char words[96]);
/* {"cput","mem","vmem"} as qstat shows them. */
/* "7.250000" seconds. */
json_t *pbs_runtime_text(int64_t us);
json_t *pbs_used_text(int64_t cpu_ns, int64_t mem, int64_t vmem);

#endif
