// SPDX-License-Identifier: Apache-2.0
/* pbs_plan.h - what is to be done for a PBS job now, from the job, its pods and what is known of other jobs; pure
 *
 * A run has a number: how often the job had been started before it.  While a job waits, status.startCount is the number
 * of the run to come; when all its pods have their nodes that is written down with exec_host and state R, and only then
 * does a node start anything.  From then on the run's number is startCount - 1.  So whoever is killed at any moment,
 * state and startCount say which pods are of the present run; pods of another one go, and an end is written before
 * its pods are deleted.
 *
 * An element of an array has the same life; what is kept of it is its entry in status.active while it runs or is to be
 * run again, and after that its index in status.elements.
 */
#ifndef STOKER_CONTROL_PBS_PLAN_H
#define STOKER_CONTROL_PBS_PLAN_H

#include "control/pbs_depend.h"
#include "control/pbs_order.h"
#include "control/pbs_slots.h"

#define PBS_CREATE_MOST 100 /* pods made for one job in a turn */
#define PBS_WINDOW      64  /* elements of an array that wait as pods */

/* Torque's numbers for ends that are not the script's own. */
enum pbs_exit {
	PBS_EXIT_BEFORE = -1,    /* failed before it was started */
	PBS_EXIT_SETUP = -2,     /* and after its files were made: no such directory */
	PBS_EXIT_ABORTED = -4,   /* its node went, and it may not be run again */
	PBS_EXIT_EXEC = -8,      /* there is no such program */
	PBS_EXIT_OUTPUT = -9,    /* its output files cannot be written */
	PBS_EXIT_MEMORY = -10,   /* more memory than it asked for */
	PBS_EXIT_CPUT = -12,     /* more processor time */
	PBS_EXIT_SIGNAL = 256,   /* and the number of the signal */
	PBS_EXIT_CANCELLED = 271 /* qdel */
};

struct pbs_view {
	const json_t *job;
	const struct pod_facts *const *pods;
	size_t n;
	const struct pbs_settings *set;
	const struct pbs_judgement *others;
	/* The name that people know a node by, or NULL: its own.  `arg` is for it. */
	const char *(*host)(void *arg, const char *node);
	/* Why a run is held back from the cluster (pbs_gate.h), or NULL; may be NULL itself. */
	const char *(*held)(void *arg, const json_t *job, int index, int run);
	void *arg;
	struct pbs_slots *slots; /* what the plan gives is held there at once */
	const char *place;       /* in the line: "SECONDS/NUMBER" */
	bool wanted;             /* other jobs have yet to note how this one ended */
	int64_t now;             /* seconds since 1970 */
	size_t create_most;
	const char *refused; /* why the last pod could not be made, or NULL */
};

struct pbs_new_pod {
	int index, rank, run;
	const struct pbs_order *order;
};

struct pbs_drop {
	const struct pod_facts *pod;
	int64_t grace; /* seconds; -1: the pod's own */
};

/* A pod that is to be stopped, or to go on. */
struct pbs_mark {
	const struct pod_facts *pod;
	bool suspend;
	int64_t seconds; /* that it was suspended so far */
};

/* A pod that has other limits on its time than it was made with (qalter -l). */
struct pbs_limit {
	const struct pod_facts *pod;
	int64_t seconds;  /* of walltime; 0: as it was */
	const char *cput; /* in PBS's notation; NULL: as it was */
};

/* A pod that waits to hear where the job's others are (pbs_abroad.h). */
struct pbs_tell {
	const struct pod_facts *pod;
	char *nodes; /* owned */
};

struct pbs_event {
	bool warning;
	char reason[32];
	char message[512];
};

struct pbs_plan {
	struct pbs_new_pod *make;
	struct pbs_drop *drop;
	struct pbs_mark *mark;
	struct pbs_limit *limit;
	struct pbs_tell *tell;
	size_t nmake, ndrop, nmark, nlimit, ntell, make_cap, drop_cap, mark_cap, limit_cap, tell_cap;
	json_t *status;            /* the new status; owned */
	struct pbs_order **orders; /* to make pods from; owned */
	size_t norders, orders_cap;
	bool expired;  /* it has been shown long enough */
	bool released; /* it was deleted, and has ended: the object may go */
	int64_t again; /* seconds after which to plan again even if nothing happens; -1: no need */
	struct pbs_event events[4];
	size_t nevents;
};

void pbs_plan(const struct pbs_view *v, struct pbs_plan *ret);
void pbs_plan_done(struct pbs_plan *p);

#endif
