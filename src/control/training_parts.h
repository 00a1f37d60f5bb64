// SPDX-License-Identifier: Apache-2.0
/* training_parts.h - what training_plan.c, training_replicas.c and training_status.c share */
#ifndef STOKER_CONTROL_TRAINING_PARTS_H
#define STOKER_CONTROL_TRAINING_PARTS_H

#include "base/map.h"
#include "base/str.h"
#include "control/training_plan.h"

enum replica_is {
	REPLICA_NONE,    /* no pod */
	REPLICA_LEAVING, /* a pod of an earlier run, or one that somebody deletes, is in the way */
	REPLICA_PENDING,
	REPLICA_RUNNING,
	REPLICA_DOWN,      /* its program failed, and will be run again in the same pod */
	REPLICA_SUCCEEDED, /* its pod may be gone */
	REPLICA_FAILED,
};

struct replica {
	const struct training_role *role;
	int index;
	char *name;                  /* "worker-1" */
	const struct pod_facts *pod; /* or NULL */
	bool has_service;            /* and it is to stay */
	enum replica_is is;
	int attempt;
	int64_t failures; /* that its pod has taken, and will take, care of itself */
	bool deleted;     /* somebody deletes its pod, and it was not us */
};

struct replica_end {
	int code;          /* -1: no container ended by itself */
	const json_t *end; /* of the container, or NULL */
	const char *init;  /* name of the init container that it was, or NULL */
};

/* A job while it is planned for. */
struct training_work {
	const struct training_view *v;
	const struct training_job *job;
	struct training_plan *p;
	json_t *status; /* the new one */
	struct replica *replicas;
	size_t n;
	const struct pod_facts **surplus; /* pods of no replica, or of an earlier run of theirs */
	size_t nsurplus;
	struct map hosts; /* name of a Service -> its replica */
};

/* --- training_replicas.c --- */
/* Which pod is whose, and how each replica stands. */
void replicas_read(struct training_work *w);
void replicas_done(struct training_work *w);
/* Whether those who decide have all succeeded. */
bool replicas_succeeded(const struct training_work *w);
/* Whether those who decide are at work. */
bool replicas_running(const struct training_work *w);
/* How its program failed. */
struct replica_end replica_end(const struct replica *r);
/* Whose failure in place was the last; NULL: there was none. */
struct replica *replicas_last_failed(const struct training_work *w);
/* Whether it may be tried again. */
bool replica_may_restart(const struct training_work *w, const struct replica *r);
/* "worker-1 exited with code 3; its last lines: ..." */
void replica_blame(const struct replica *r, struct sbuf *out);
/* All restarts so far by new pods, and all failures that pods take care of themselves. */
int64_t replicas_restarts(const struct training_work *w);
int64_t replicas_in_place(const struct training_work *w);

/* --- training_wait.c --- */
/* "ps-0 cannot start: ErrImagePull: ...", or NULL; owned. */
char *replicas_wait(const struct training_work *w);

/* --- training_hang.c --- */
/* Whether nobody who runs does anything any more; *ret_quietest has done so for longest.  *ret_left is in how many
 * seconds that will be so if nothing happens, -1 if that is not in sight. */
bool replicas_hang(const struct training_work *w, const struct replica **ret_quietest, int64_t *ret_left);
/* "worker-1 was silent longest: no output and no CPU use for 10m0s; its last line: ..." */
void replica_silence(const struct replica *r, struct sbuf *out);

/* --- training_status.c --- */
const json_t *training_condition_of(const json_t *status, const char *type, const char *state);
/* Sets a condition, "Running", in the way of Kubeflow: the newest stands last, and some drive out others. */
void training_set_condition(struct training_work *w, const char *type, bool on, const char *word, const char *message);
/* The replicas' counters, in each version's form. */
void training_count(struct training_work *w);
/* Nothing is active any more; `succeeded`: what was is as good as done. */
void training_freeze(struct training_work *w, bool succeeded);
void training_set_time(json_t *status, const char *key, int64_t now);
/* Begins anew, as if it had never run. */
void training_forget(json_t *status);

#endif
