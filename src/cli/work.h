// SPDX-License-Identifier: Apache-2.0
/* work.h - how a workload stands, whatever its kind: one small vocabulary for ps, wait, run and kill.  Pure
 *
 * Each kind tells its state in its own way (conditions, phases, counters, one letter).  Here they all become a phase,
 * a reason for people, counts and times.
 */
#ifndef STOKER_CLI_WORK_H
#define STOKER_CLI_WORK_H

#include <jansson.h>

#include "base/str.h"
#include "cli/output.h"
#include "kinds/kind.h"

enum work_phase {
	WORK_PENDING,
	WORK_RUNNING,
	WORK_SUCCEEDED,
	WORK_FAILED,
	WORK_SUSPENDED,
	WORK_HELD,      /* a PBS job that may not start yet */
	WORK_SCHEDULED, /* a CronJob between its times */
	WORK_STOPPED,   /* wanted with no pods */
	WORK_ENDING,    /* being deleted */
	WORK__COUNT
};

#define WORK_REASON 512

struct work {
	enum work_phase phase;
	char reason[WORK_REASON]; /* why it waits or failed; "" if there is nothing to say */
	int64_t wanted, ready;    /* pods; those that succeeded count as ready */
	int64_t gpus;
	int64_t created, started, ended; /* seconds since 1970, 0 if not known */
};

const char *work_phase_name(enum work_phase p);
enum tint work_phase_tint(enum work_phase p);
/* Does it come to an end by itself? */
bool work_ends(const struct kind *k);
/* Has it? */
bool work_is_over(const struct work *w);
/* What is known of an object and its pods; without pods, what the object itself says. */
void work_read(const struct kind *k, const json_t *obj, const json_t *pods, struct work *ret);
/* "failed: exit status 3", "succeeded", "is pending: ...": for sentences about it. */
void work_sentence(const struct work *w, struct sbuf *out);

/* What ended a container with a failure, as a shell would say it: 1 to 255, 127 for a command that is not there and 126
 * for one that cannot be executed; 0 if it did not fail, -1 if it has not ended. */
int work_exit_status(const json_t *pod);
/* Why its command could not be started, "" if nobody says; NULL if it could.  Borrowed. */
const char *work_start_error(const json_t *pod);
/* "out of memory (limit 64Mi)" if that ended a container; else nothing. */
void work_out_of_memory(const json_t *pod, struct sbuf *out);
/* Why a pod waits: its place, its image, its command.  Empty if it does not. */
void work_pod_waits(const json_t *pod, struct sbuf *out);

#endif
