// SPDX-License-Identifier: Apache-2.0
/* pbs_abroad.h - PBS jobs on another cluster, which knows neither the job nor its user; pure
 *
 * There is no process of the host there: a job needs an image.  Everything that a node here would see to is in the pod
 * itself: whom it runs as, the directories that all nodes share, and a wrapper around the script that makes the node
 * file and the GPU file and opens the files of output.
 *
 * A job of several nodes learns where they are from an annotation that its first pod gets when all are placed; the
 * wrapper waits for it.
 */
#ifndef STOKER_CONTROL_PBS_ABROAD_H
#define STOKER_CONTROL_PBS_ABROAD_H

#include "control/pbs_order.h"
#include "kinds/pbs_process.h"

#define PBS_NODES_NOTE "stoker.dev/pbs-nodes" /* lines of the node file */

struct pbs_abroad {
	const struct pbs_account *account; /* the owner's, or NULL: it has none */
	const char *launch;                /* service account of jobs of several nodes, or NULL: they have none */
	/* The Node of this name, or NULL; borrowed.  `arg` is for it. */
	const char *(*node)(void *arg, const char *word);
	/* Whether there is such a directory, here and so on all nodes; NULL: there are all. */
	bool (*shared)(void *arg, const char *path);
	void *arg;
};

/* Whether such a job can run there at all; ERR_INVALID says why not. */
int pbs_abroad_check(const struct pbs_order *o, struct err *e);
/* Fills in what the container of a rank runs, and as whom. */
void pbs_abroad_container(const struct pbs_order *o, int index, int rank, int run, json_t *spec, json_t *container);
/* For the first pod of a job that runs on several nodes: the lines that it waits for; NULL if it waits for nothing, or
 * they are not known yet; a new text. */
char *pbs_abroad_nodes(const struct pbs_order *o, int index, const struct pod_facts *first);

#endif
