// SPDX-License-Identifier: Apache-2.0
/* feed.h - pods as the API has them, told to a world */
#ifndef STOKER_SCHED_FEED_H
#define STOKER_SCHED_FEED_H

#include "base/map.h"
#include "sched/pod_work.h"

/* A pod that the world knows as a member of a work. */
struct feed_pod {
	char *uid, *ns, *name;
	struct work *work;
	int64_t since_ms; /* monotonic: when it began to wait */
	char *said;       /* why it waits, as its status has it; NULL: nothing yet */
	enum work_why said_why;
	int64_t said_ms; /* monotonic */
	bool binding;    /* under way */
	unsigned marks;  /* whoever feeds: what he knows of it besides */
};

/* What else is to be said about a pod before the world hears of it, and that it is gone; either may be NULL. */
struct feed_rules {
	void (*read)(void *arg, const json_t *pod, struct pod_work *pw);
	void (*forget)(void *arg, const char *uid);
	void *arg;
};

struct feed {
	struct world *world;
	struct feed_rules rules;
	struct map pods; /* uid -> struct feed_pod */
};

void feed_init(struct feed *f, struct world *w);
/* The world may be gone by now. */
void feed_done(struct feed *f);
/* A pod as it is now, and as it was (or NULL).  The entry, or NULL if it takes no room and is not ours to place. */
struct feed_pod *feed_pod(struct feed *f, const json_t *pod, const json_t *old, int64_t now_ms);
/* The same of a pod that was read already, and about which the reader may have a word of his own. */
struct feed_pod *feed_read(struct feed *f, const json_t *pod, const json_t *old, struct pod_work *pw, int64_t now_ms);
/* What was told under one uid is known by another from now on. */
void feed_rename(struct feed *f, const char *uid, const char *new_uid);
void feed_forget(struct feed *f, const char *uid, int64_t now_ms);
struct feed_pod *feed_find(const struct feed *f, const char *uid);

#endif
