// SPDX-License-Identifier: Apache-2.0
/* pbs_parts.h - what pbs_plan.c, pbs_elements.c, pbs_run.c and pbs_words.c share */
#ifndef STOKER_CONTROL_PBS_PARTS_H
#define STOKER_CONTROL_PBS_PARTS_H

#include "control/pbs_plan.h"
#include "kinds/pbs_comment.h"
#include "kinds/pbs_id.h"

#define PBS_COMMENT 1024

/* A job while it is planned for. */
struct pbs_work {
	const struct pbs_view *v;
	struct pbs_plan *p;
	const json_t *spec;
	json_t *status;          /* the new one */
	struct pbs_order *order; /* the plan's */
	char gate;               /* the state of what waits: Q, H or W */
	bool may_start;
	bool stopped;              /* it could, but the server starts no jobs */
	bool deleted;              /* the object goes when the job has ended */
	bool purge;                /* of what is to end: without waiting for its node */
	int64_t delay;             /* and how long it has for that; -1: as usual */
	char comment[PBS_COMMENT]; /* of what waits; "" to leave it as it is */
};

/* A job, or an element of an array. */
struct pbs_unit {
	int index;
	char state; /* Q waits, R S E C */
	int start_count;
	const json_t *spec;            /* the job's, or what an element has instead */
	const struct pbs_order *order; /* what its pods are made from */
	json_t *run;  /* where its startTime, execHost... are kept: the status, or an entry of status.active */
	bool cancel;  /* it is to end */
	bool blocked; /* it may not start, whatever the rest of the job may */
	bool has_exit;
	int exit;
	bool cancelled;
	const struct pod_facts *const *pods; /* all of its pods */
	size_t n;
	const struct pod_facts **now; /* those of the present run, by rank; NULL where there is none */
	int ranks;
	char why[PBS_COMMENT]; /* it waits, in words, or how it ended; "" */
};

/* --- pbs_run.c --- */
/* What is to be done for it; its state and what is kept of it change. */
void pbs_unit_plan(struct pbs_work *w, struct pbs_unit *u);
/* Its pods that still run, or all of them, are to go. */
void pbs_drop_pods(struct pbs_work *w, const struct pod_facts *const *pods, size_t n, bool all, int64_t grace);
void pbs_again(struct pbs_work *w, int64_t seconds);
/* The holder of slots: "ns/name[3]". */
void pbs_holder(const json_t *job, int index, char *out, size_t n);

/* --- pbs_retry.c --- */
/* Its script asked to be run again.  False: it did so too often. */
bool pbs_retry(struct pbs_work *w, struct pbs_unit *u);
void pbs_retry_give_up(struct pbs_unit *u);
void pbs_retry_forget(struct pbs_unit *u);
/* Seconds until it may be; 0: it may. */
int64_t pbs_retry_left(const struct pbs_work *w, const struct pbs_unit *u);
/* Says so, and has it looked at then. */
void pbs_retry_wait(struct pbs_work *w, struct pbs_unit *u);

/* --- pbs_words.c --- */
/* How a run ended, by the pod of the script.  False: it did not end by itself, but was taken away. */
bool pbs_exit_of(const struct pod_facts *p, const struct pbs_settings *set, int *ret);
/* Why it was ended, or not even begun, as a comment; untouched if there is nothing to say. */
void pbs_say_end(const struct pod_facts *p, const char *walltime, char *out, size_t n);
/* cput, mem and vmem as its node says, and how long it took of the time that counts. */
json_t *pbs_used(const struct pod_facts *p, const json_t *run);
/* Why the pod has no node: the scheduler's own words, or "". */
const char *pbs_pod_waits(const struct pod_facts *p);
/* Why its container does not begin although it has a node: "ErrImagePull: ..."; false if nothing is wrong. */
bool pbs_pod_stuck(const struct pod_facts *p, char *out, size_t n);
/* "G102-gpu/1+G102-gpu/0" */
void pbs_cards_text(const struct pod_facts *const *pods, const struct pbs_seat *seats, size_t n, struct sbuf *out);
void pbs_set_time(json_t *obj, const char *key, int64_t seconds);
void pbs_event(struct pbs_plan *p, bool warning, const char *reason, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));

/* --- pbs_plan.c --- */
/* What pods of this job, or of an element as pbs_element_view() shows it, are made from; the plan's, NULL if nobody can
 * tell what it asks for. */
struct pbs_order *pbs_plan_order(struct pbs_work *w, const json_t *job, struct err *e);
void pbs_end_job(struct pbs_work *w, bool has_exit, int code, bool cancelled, const char *comment);
/* "Job deleted at request of anna" */
void pbs_say_cancel(const struct pbs_work *w, char *out, size_t n);

/* --- pbs_elements.c --- */
void pbs_elements_plan(struct pbs_work *w);

#endif
