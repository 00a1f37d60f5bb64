// SPDX-License-Identifier: Apache-2.0
/* pbs_order.h - the pods of a PBS job: one for each node that it asks for, a gang if they are several; pure
 *
 *	name        JOB-K (JOB-INDEX-K of an element), -rN behind it from the second run on; K = 0 has the script
 *	labels      stoker.dev/pbsjob, /pbs-rank K, /pbs-index, /queue
 *	annotations stoker.dev/pbs-run N: how often the job had been started before
 *	            stoker.dev/pbs-made-from: hash of what it was made from; a pod that waits is made anew if it changes
 *	            stoker.dev/place SECONDS/NUMBER/INDEX, /priority, /run-now, /rerun: for the scheduler
 *(sched/pod_work.h)
 */
#ifndef STOKER_CONTROL_PBS_ORDER_H
#define STOKER_CONTROL_PBS_ORDER_H

#include "control/pod_facts.h"
#include "kinds/pbs_id.h"
#include "kinds/pbs_nodes.h"

#define PBS_VERSION     "stoker.dev/v1"
#define PBS_KIND        "PBSJob"
#define PBS_PLURAL      "pbsjobs"
#define PBS_JOB_LABEL   "stoker.dev/pbsjob"
#define PBS_RANK_LABEL  "stoker.dev/pbs-rank"
#define PBS_RUN_NOTE    "stoker.dev/pbs-run"
#define PBS_FROM_NOTE   "stoker.dev/pbs-made-from"
#define PBS_SUSPEND     "stoker.dev/suspend"
#define PBS_SUSPENDED   "stoker.dev/suspended-seconds" /* before */
#define PBS_CARDS_NOTE  "stoker.dev/cards"             /* sched/pod_work.h: the scheduler's choice */
#define PBS_SCRIPT_NOTE "stoker.dev/pbs-script"
#define PBS_CONFINED    "stoker.dev/containers" /* "required": node/pbs_programs.h */
#define PBS_CPUT_NOTE   "stoker.dev/cput"
#define PBS_SPOOL       "/var/spool/pbs"

#define PBS_SCRIPT_MOST (200 * 1024) /* all annotations of an object together may be 256 KiB */

#define PBS_NO_CODE INT64_MIN

struct pbs_abroad;

/* How the server and the job's queue want things done. */
struct pbs_settings {
	bool scheduling;
	int64_t keep;       /* seconds that a job is shown after its end */
	int64_t kill_delay; /* seconds between SIGTERM and SIGKILL */
	int64_t slots;      /* elements of an array that run at once, if it does not say */
	int64_t requeue_code, cancel_code;
	int walltime_code;
	int exec_host_style;
	const char *image;                          /* of the queue's jobs that name none; "" */
	bool confined;                              /* programs of its jobs belong into containers */
	const json_t *host_roots, *read_only_roots; /* lists of directories, or NULL */
	const struct pbs_abroad *abroad;            /* pods go to another cluster (pbs_abroad.h); NULL: not */
};
/* Specs of the PBSServer and of the Queue; either may be NULL. */
struct pbs_settings pbs_settings_of(const json_t *server, const json_t *queue);
/* The queue a job is in. */
const char *pbs_queue(const json_t *job);

/* What pods are made from. */
struct pbs_order {
	const json_t *job, *spec; /* owned: the job, or an element as pbs_element_view() shows it */
	const struct pbs_settings *set;
	struct pbs_nodes nodes;
	const char *place; /* in the line: "SECONDS/NUMBER" */
	char *hash;
};
/* ERR_INVALID if nobody can tell what it asks for. */
int pbs_order_init(struct pbs_order *o, const json_t *job, const struct pbs_settings *set, const char *place,
		   struct err *e);
void pbs_order_done(struct pbs_order *o);
const struct pbs_req *pbs_order_req(const struct pbs_order *o, int rank);
/* What its containers are made from; "": it is a process of the host. */
const char *pbs_order_image(const struct pbs_order *o);

/* index: PBS_PLAIN (kinds/pbs_id.h), or an element's. */
json_t *pbs_pod(const struct pbs_order *o, int index, int rank, int run);

/* The name of a run as a gang at the gate of another cluster (pbs_gate.h), "pbsjobs/JOB[/INDEX][/rN]"; a new text. */
char *pbs_gang(const json_t *job, int index, int run);

/* Adds the volume (taken over) to a pod's spec, and its mount to the container. */
void pbs_pod_mount(json_t *spec, json_t *container, json_t *volume, const char *path, bool read_only);

/* What such a pod is. */
struct pbs_pod_is {
	int index, rank, run;
};
struct pbs_pod_is pbs_pod_is(const struct pod_facts *p);

#endif
