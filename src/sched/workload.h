// SPDX-License-Identifier: Apache-2.0
/* workload.h - jobs for a simulation: from accounts, from a description, or made up; pure
 *
 * A description is YAML:
 *
 *	seed: 1
 *	nodes: 4x8                 # or 4x8x64x256: nodes x GPUs x CPUs x GiB; several with commas
 *	queues: [{name: batch, weight: 2}]          # what a Queue's spec has
 *	users:
 *	- {name: anna, group: vision, queue: batch, jobs: 100, gpus: 1|2|8, pods: 1, run: 10m-4h, walltime: 8h}
 *	- {name: ben, jobs: 24, every: 1h}
 *
 * Amounts and times are one number, a range (10m-4h) or a choice of those (1|2|8).
 */
#ifndef STOKER_SCHED_WORKLOAD_H
#define STOKER_SCHED_WORKLOAD_H

#include "base/err.h"
#include "base/map.h"
#include "sched/account.h"
#include "sched/sim.h"

#define WORKLOAD_MOST 10000000 /* jobs, and nodes x 100 */

struct workload {
	struct sim_job *jobs;
	size_t n, cap;
	struct map texts; /* keys and names that the jobs point to */
	json_t *nodes;    /* an array of Nodes; NULL: it says nothing about them */
	json_t *queues;   /* name -> spec; NULL */
};
void workload_init(struct workload *w);
void workload_done(struct workload *w);

/* All of these add to what is there.  Errors name line or path, and the value. */
int workload_read_accounts(struct workload *w, struct str text, struct err *e);
/* The same a line at a time, without its newline; the first has the titles. */
struct workload_accounts {
	struct workload *workload;
	struct account_columns columns;
	size_t line; /* so many were seen */
};
int workload_add_line(struct workload_accounts *a, struct str line, struct err *e);
int workload_read_yaml(struct workload *w, struct str text, struct err *e);
/* "users=20,jobs=1000,seed=1,gpus=1|2|4,pods=1,cpus=4,run=10m-4h,span=1d,walltime=8h" */
int workload_generate(struct workload *w, const char *spec, struct err *e);
/* "4x8,2x4x32x128" as Nodes. */
int workload_nodes(const char *text, json_t **ret, struct err *e);
/* The same machine with so many GPUs more, each in the node that has fewest, of those that have any. */
int workload_more_gpus(json_t **nodes, int64_t more, struct err *e);

/* --- workload_file.c --- */
/* Accounts (.csv, or packed, .csv.gz) or a description (.yaml), by its name. */
int workload_read_file(struct workload *w, const char *path, struct err *e);

#endif
