// SPDX-License-Identifier: Apache-2.0
/* follow_state.h - what is known of a job that is followed: itself, its replicas, and the numbers they print.  Pure
 *
 * A replica is one part of the job whatever pod it has at the moment: one that is restarted, in its pod or by a new
 * one, stays the same.  Times are microseconds since 1970, 0 if not known.
 */
#ifndef STOKER_CLI_FOLLOW_STATE_H
#define STOKER_CLI_FOLLOW_STATE_H

#include "cli/find.h"
#include "cli/follow_numbers.h"
#include "cli/work.h"

enum follow_phase {
	FOLLOW_PENDING,
	FOLLOW_RUNNING,
	FOLLOW_RESTARTING, /* between two runs of its command */
	FOLLOW_SUCCEEDED,
	FOLLOW_FAILED,
	FOLLOW_STOPPED, /* by the job, which is over or begins anew */
	FOLLOW_PHASE__COUNT
};
const char *follow_phase_name(enum follow_phase p);
enum tint follow_phase_tint(enum follow_phase p);

struct follow_replica {
	char *name; /* "worker-1" */
	char *type; /* "worker" */
	int64_t index;
	char *pod, *uid, *node, *container, *why; /* never NULL; why it waits or failed */
	enum follow_phase phase;
	int64_t gpus, restarts;
	int64_t started, ended;
	int status;     /* exit status, -1 while it runs */
	int64_t run;    /* of its container in this pod, from 0 */
	bool gone;      /* its pod is deleted */
	bool log_ready; /* this run has begun */
	bool log_ends;  /* and is over */
	struct follow_numbers numbers;
	/* What has been told of it (follow_say.c). */
	enum follow_phase told_phase;
	int64_t told_restarts;
	char *told_why;
	bool told;
	void *own; /* of who follows */
};

struct follow_state {
	const struct kind *kind;
	char *title, *name, *ns; /* "pytorchjob/mnist" */
	json_t *obj;             /* the job as last seen */
	struct work work;
	char *warning; /* the last one about the job itself, "" if there is none */
	bool deleted;
	struct follow_replica **replicas; /* those that lead first */
	size_t n, cap;
	enum work_phase told_phase;
	bool told;
};

void follow_state_init(struct follow_state *s, const struct found *job);
void follow_state_done(struct follow_state *s);
/* NULL, or another one of its name: it was deleted. */
void follow_state_job(struct follow_state *s, const json_t *obj);
void follow_state_warning(struct follow_state *s, const char *message);
/* The replica whose pod it is, brought up to date; NULL if it is none of the job's. */
struct follow_replica *follow_state_pod(struct follow_state *s, const json_t *pod, bool gone);

bool follow_is_over(const struct follow_state *s);
/* Whose end is the job's; NULL while there is none. */
const struct follow_replica *follow_decider(const struct follow_state *s);
/* Whose numbers stand for the job's: the decider's if it prints any, else the first one's that does; or NULL. */
const struct follow_replica *follow_speaker(const struct follow_state *s);
/* Which failed first, by itself; or NULL. */
const struct follow_replica *follow_cause(const struct follow_state *s);
/* Did the job fail because of its time limit? */
bool follow_timed_out(const struct follow_state *s);

#endif
