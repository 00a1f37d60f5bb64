// SPDX-License-Identifier: Apache-2.0
/* pod_pbs.h - a pod that a PBS job controls; for the pod_*.c files only
 *
 * Such a pod knows its job.  If it has the class PBS_HOST_CLASS it is a process of the host: no namespaces, network,
 * image or volumes, and everything that is run comes from the job.  Otherwise it is a container like any other whose
 * output also goes to the job's files.
 */
#ifndef STOKER_NODE_POD_PBS_H
#define STOKER_NODE_POD_PBS_H

#include "kinds/pbs_nodes.h"
#include "kinds/pbs_process.h"
#include "node/pbs_limits.h"
#include "node/pod_parts.h"

struct pbs_question {
	struct pod *pod; /* NULL: it has gone */
};

struct pod_pbs {
	int index, rank;
	bool alone;  /* the job's only pod */
	json_t *job; /* NULL: not known yet */
	struct pbs_question *asked;
	struct informer *follow;
	/* pod_pbs_watch.c */
	struct pbs_limits limits;
	int64_t vmem; /* the most that was seen */
	unsigned looks;
	struct loop_timer look, stop;
	bool suspended;
	bool settled;                          /* what an earlier server had made of it does not count any more */
	int64_t suspended_at_ms, suspended_ms; /* since when; how long before that */
};

/* pod_pbs.c */
void pod_pbs_init(struct pod *p);
void pod_pbs_done(struct pod *p);
/* True once all that must be known of the job is. */
bool pod_pbs_ready(struct pod *p);
/* Of several pods of a job on one node each has what all have there: the numbers of those cards, and how many.  The
 * same of what startdocker runs in such a job; 0: the pod has its own. */
#define PBS_CARDS_MOST 256
size_t pod_pbs_cards(const struct pod *p, int *ret, size_t max);
/* Everything but the process: its document, files and control group. */
int ctr_pbs_prepare(struct ctr *c, struct err *e);
/* The files for a container's output, as runtime.h wants them; NULL if there are none. */
int ctr_pbs_files(struct ctr *c, json_t **ret, struct err *e);
/* The volume with the job's node file, GPU file and script, made in a directory of its own. */
int pod_pbs_volume(void *pod, const char *dir, struct err *e);
/* Its files, unless another pod of the job is here. */
void pod_pbs_forget(struct pod *p);
/* Ends the pod for what a process could not be started for; false if the error is another. */
bool pod_pbs_fault(struct pod *p, const struct err *e);

/* pod_pbs_watch.c */
/* Whatever has changed: obeys its annotations, watches over its limits. */
void pod_pbs_look(struct pod *p);
/* What it used. */
void pod_pbs_ended(struct ctr *c);
/* Its time is over: it is told in PBS's words. */
void pod_pbs_tell_walltime(struct pod *p);
/* From when its time counts, wall clock in microseconds; 0: it does not now. */
int64_t pod_pbs_clock(const struct pod *p);

#endif
