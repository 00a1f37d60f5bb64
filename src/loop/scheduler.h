// SPDX-License-Identifier: Apache-2.0
/* scheduler.h - what the API asks of the scheduler: why something waits, who is in line, who used how much
 *
 * As loop/kubelet.h is for the node: the API has a door for questions that no stored object answers, the scheduler
 * (sched/door.c) stands behind it, and cli/serve.c brings the two together.  All answers are at once.
 */
#ifndef STOKER_LOOP_SCHEDULER_H
#define STOKER_LOOP_SCHEDULER_H

#include <jansson.h>
#include <stdint.h>

#include "base/err.h"
#include "base/str.h"

struct scheduler;
struct scheduler_past;

struct scheduler_ops {
	/* The uids of pods that wait or run, by their own name or that of who controls them; `kind` NULL: any. */
	json_t *(*find)(struct scheduler *s, const char *ns, const char *kind, const char *name);
	/* About pods, by uid (an array of texts), that wait or run; those that it does not know are left out.  An array
	 * of
	 * {"uids":[...],"queue","user","group","priority","state":"waiting"|"held"|"starting"|"running",
	 *  "position" (in the queue, from 1; only if it waits in line),"size","why":"NO_ROOM",
	 *  "namespace","pods":[names],"name":"job/a1","gpus","cpuMilli","memory" (of all pods),"walltime" (seconds,
	 *  or absent),"sentence","help" (absent if there are too many),
	 *  "submitted","started","expectedStart","endsBy": times or absent}, one for each work. */
	json_t *(*why)(struct scheduler *s, const json_t *uids);
	/* Appends what stands in the way of a pod at this moment, as its condition has it or soon will: nothing if
	 * nothing does.  False if no such pod waits. */
	bool (*obstacle)(struct scheduler *s, const char *ns, const char *pod, struct sbuf *out);
	/* Everything that waits or runs, of one queue or (NULL) of all, in the order of their turn, running ones first:
	 * the same rows.  Held ones come last. */
	json_t *(*line)(struct scheduler *s, const char *queue, size_t most);
	/* Use by "user", "group", "queue" or "job" between two times (seconds since 1970):
	 * [{"name","jobs","running","gpuSeconds","cpuSeconds","memoryGiBSeconds","waitSeconds"}], the most first; jobs
	 * also have "namespace","kind","user","queue".  Of one user, or (NULL) of all. */
	int (*usage)(struct scheduler *s, const char *by, int64_t from, int64_t to, const char *user, json_t **ret,
		     struct err *e);
	/* The shares: {"queues":[{"name","weight","use","had","due","running","waiting","turn","groups":[{...,
	 * "users":[...]}]}]}; sched/door_usage.h says what they mean. */
	json_t *(*shares)(struct scheduler *s);
	/* PBS's accounts, from the day of that time (seconds since 1970) on; NULL if none are kept.  Each reading
	 * appends the lines about a job that are in the next piece; false after the last. */
	struct scheduler_past *(*past_open)(struct scheduler *s, int64_t since);
	bool (*past_read)(struct scheduler_past *p, int64_t sequence, struct sbuf *out);
	void (*past_close)(struct scheduler_past *p);
};

struct scheduler {
	const struct scheduler_ops *ops;
};

#endif
