// SPDX-License-Identifier: Apache-2.0
/* pbs.h - the controller of PBS jobs: a PBSJob becomes pods, and what becomes of them its state */
#ifndef STOKER_CONTROL_PBS_H
#define STOKER_CONTROL_PBS_H

#include "control/owned.h"
#include "control/workqueue.h"
#include "kinds/pbs_process.h"
#include "loop/gate.h"

struct pbs_jobs;

/* For a client whose pods are another cluster's (client/split.h). */
struct pbs_abroad_config {
	/* Whom a user's jobs run as; borrowed until the next call.  NULL: there is no such account; negative: nobody
	 * could tell at present. */
	int (*account)(void *arg, const char *user, const struct pbs_account **ret);
	/* Whether this machine has such a directory, and so all nodes. */
	bool (*shared)(void *arg, const char *path);
	/* Why the cluster cannot be reached at present, borrowed until the next turn; NULL: it can. */
	const char *(*away)(void *arg);
	/* Sends a signal to all processes of a pod.  `done` once, later, with the error if it has one; until then the
	 * handle, NULL with `e` if it cannot even be tried, can be given up. */
	void *(*signal)(void *arg, const json_t *pod, int signo, void (*done)(void *done_arg, const struct err *e),
			void *done_arg, struct err *e);
	void (*signal_stop)(void *arg, void *handle);
	void *arg;
	const char *launch; /* service account of jobs of several nodes (pbs_launch.h), or NULL */
	struct gate *gate;  /* in front of the cluster, or NULL; it outlives the controller */
};

/* `owned` is shared and outlives it. */
struct pbs_jobs *pbs_jobs_new(struct client *c, struct owned *owned);
/* Before the next turn of the loop; the config is copied. */
void pbs_jobs_send_abroad(struct pbs_jobs *k, const struct pbs_abroad_config *config);
void pbs_jobs_free(struct pbs_jobs *k);
struct workqueue_counts pbs_jobs_counts(const struct pbs_jobs *k);

#endif
