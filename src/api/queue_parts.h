// SPDX-License-Identifier: Apache-2.0
/* queue_parts.h - what the files of queue_rules.h share
 *
 *	queues.c        which queues there are, and how much work is in them
 *	queue_work.c    what an object says about itself as work.  Pure
 *	queue_above.c   what its controllers say
 *	queue_check.c   whether a queue takes it
 *	queue_rules.c   what is written into it
 */
#ifndef STOKER_API_QUEUE_PARTS_H
#define STOKER_API_QUEUE_PARTS_H

#include "api/queue_rules.h"
#include "api/stored.h"
#include "api/turn_guard.h"
#include "base/map.h"
#include "kinds/queue.h"
#include "kinds/queue_quota.h"
#include "kinds/work_rules.h"

#define TIME_NONE (-1)

/* A Queue as admission sees it. */
struct queue_known {
	char *name;
	json_t *spec;
	struct limits limits;
	bool limited; /* by any of them */
	struct quota quota;
	bool limits_queued;                                   /* its work is counted */
	struct limits_use use;                                /* LIMIT_QUEUED alone, if it is counted */
	int64_t default_walltime, max_walltime, min_walltime; /* seconds, or TIME_NONE */
};

/* What a controller, or one above it, says for its pods. */
struct queue_above {
	char queue[64]; /* "": none */
	int64_t walltime;
};

struct queues {
	struct api *api;
	struct stored_kind kind;
	struct map known; /* name -> struct queue_known */
	bool loaded;
	struct turn_guard guard;
	bool limits_queued; /* of any */
	bool counted;       /* `use` is true */
	struct map entries; /* uid -> what it was counted as */
	/* The controller that was read last: pods of one come in a row. */
	struct queue_above above;
	int64_t above_rv; /* 0: none */
	int above_kind;
};

/* --- queues.c --- */
/* *ret (borrowed until a queue is written) is NULL if there is none. */
int queues_find(struct api *api, const char *name, struct queue_known **ret, struct err *e);
/* What the quotas of a queue's cohort are together. */
int64_t queues_cohort(struct api *api, const struct queue_known *q, enum limit_of of);
/* "batch, mcc" */
void queues_list(struct api *api, struct sbuf *out);
/* Whether so many more of the user's are too much.  1: yes, and *ret_hit says why. */
int queues_full(struct api *api, struct queue_known *q, const char *user, const char *group, int64_t jobs,
		struct limit_hit *ret_hit, struct err *e);

/* --- queue_work.c --- */
bool queue_is_pod(const struct kind *k);
/* Pods, and what leads to pods; pod templates wait for nothing. */
bool queue_concerns(const struct kind *k);
/* Whether stored text has a word with quotes.  Those within texts are escaped, so it is never part of one. */
bool queue_mentions(struct str body, const char *word);
/* Work that somebody submitted and that has not ended. */
bool queue_counts(const struct kind *k, const json_t *obj);
/* As how many jobs it counts: an array of PBS as its elements. */
int64_t queue_jobs(const struct kind *k, const json_t *obj);
/* The label, or "". */
const char *queue_label(const json_t *obj);
/* Every queue that a workload's templates name, and every time that it asks for; the value is an integer in seconds, or
 * a text.  fn returns -1 to end it. */
struct queue_visit {
	int (*queue)(void *arg, const char *field, const char *name);
	int (*time)(void *arg, const char *field, const json_t *value);
	/* What must be able to run at once. */
	int (*asks)(void *arg, const struct amount_of_limits *asks);
	void *arg;
};
int queue_visit(const struct kind *k, const json_t *obj, const struct queue_visit *v);
/* Seconds; TIME_NONE if it is no time. */
int64_t queue_seconds(const json_t *value);
/* What a workload says for its pods: its annotation, else its deadline; or TIME_NONE. */
int64_t queue_walltime(const json_t *obj);
/* Which of "operator" and "system" hold it or its templates, as bits. */
unsigned queue_strong_holds(const struct kind *k, const json_t *obj);

/* --- queue_above.c --- */
int queue_above_read(struct api *api, const char *ns, const json_t *obj, struct queue_above *ret, struct err *e);

/* --- queue_rules.c --- */
/* What the namespace says for all that is in it; "" if it does not. */
int queue_of_namespace(struct api *api, const char *ns, char out[64], struct err *e);

/* --- queue_check.c --- */
struct submission {
	struct api *api;
	const struct api_request *req;
	const json_t *obj;
	char *user; /* owned; NULL: an admin's */
};
int submission_init(struct submission *s, struct api *api, const struct api_request *req, const json_t *obj,
		    struct err *e);
void submission_done(struct submission *s);
int submission_forbid(const struct submission *s, struct err *e, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
/* Puts it into the queue of that name, or into the one that a Route leads to: *ret, NULL for none.  `field` is where
 * the name stands in the object, or NULL. */
int submission_enter(struct submission *s, const char *name, const char *field, struct queue_known **ret,
		     struct err *e);
/* It stays where it is, but asks for something else. */
int submission_stay(struct submission *s, struct queue_known *q, struct err *e);

#endif
