// SPDX-License-Identifier: Apache-2.0
/* gate.h - what controllers ask before the pods of a job may go to a cluster that others schedule
 *
 * As loop/scheduler.h is for the API: controllers have a gate in front of a foreign cluster, whoever knows how much
 * room it has (sched/gate.c) stands there, and cli/operate.c brings the two together.  Pods are held in one of two
 * ways: made at once with a scheduling gate, which is taken away from all of them when there is room for all; or not
 * made before.  All answers are at once; when one may have changed, the follower is told to look again.
 */
#ifndef STOKER_LOOP_GATE_H
#define STOKER_LOOP_GATE_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

/* The name of the scheduling gate, in spec.schedulingGates. */
#define GATE_NAME "stoker.dev/queue"

struct gate;

enum gate_way {
	GATE_ASKING, /* nobody knows yet what the server can do: make nothing */
	GATE_OFF,    /* nothing is held */
	GATE_GATES,  /* new pods get GATE_NAME */
	GATE_DELAY,  /* only pods that may go on are made */
};

/* How a job stands. */
enum gate_state {
	GATE_UNKNOWN,
	GATE_WAITS, /* for a reason in words */
	GATE_IN,
};

/* Who makes pods for jobs of a kind. */
struct gate_follower {
	const char *kind, *plural; /* "TFJob", "tfjobs" */
	/* What the gate says of the job "namespace/name" has changed; NULL: of all. */
	void (*look)(void *arg, const char *key);
	void *arg;
	bool alone; /* its pods go one by one: they wait for their job's word, not for room */
};

/* A job's pods that are not there yet. */
struct gate_wish {
	const char *ns, *gang; /* "tfjobs/name", as the pods' annotation stoker.dev/gang has it */
	json_t *const *pods;
	size_t n;
	int64_t since_ms; /* when the job was made */
};

/* What a job says itself about when it may start (kinds/work_rules.h). */
struct gate_rule {
	const char *why;  /* in words, borrowed until the next turn */
	int64_t until_ms; /* if it is only for a time, else 0 */
};

struct gate_ops {
	enum gate_way (*way)(struct gate *g);
	/* The texts are kept by reference. */
	void (*follow)(struct gate *g, const struct gate_follower *f);
	void (*unfollow)(struct gate *g, void *arg);
	/* Any pod came or changed, or (gone) went; then, once, that these are all. */
	void (*pod)(struct gate *g, const json_t *pod, bool gone);
	void (*synced)(struct gate *g);
	/* Which of them may be made: ret_go[i].  What was wished for the same gang before and is not any more is
	 * forgotten.  A wish for none says that none is to come. */
	void (*wish)(struct gate *g, const struct gate_wish *w, bool *ret_go);
	/* *ret_why is borrowed until the next turn, and only set for GATE_WAITS. */
	enum gate_state (*state)(struct gate *g, const char *ns, const char *gang, const char **ret_why);
	/* Whether a job that is not over holds itself back: by a hold, a time, or others that must have ended. `plural`
	 * as its follower has it, which is told to look when that changes. */
	bool (*held)(struct gate *g, const char *plural, const json_t *job, struct gate_rule *ret);
	/* It is over, or gone. */
	void (*forget)(struct gate *g, const char *plural, const json_t *job);
};

struct gate {
	const struct gate_ops *ops;
};

#endif
