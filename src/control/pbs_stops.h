// SPDX-License-Identifier: Apache-2.0
/* pbs_stops.h - suspends and resumes pods of another cluster, which has no word for it: by signals to their processes
 *
 * A pod whose processes have heard SIGSTOP gets the annotation that pods here have (PBS_SUSPEND), so that whoever is
 * killed in between sends it once more, which is harmless.
 */
#ifndef STOKER_CONTROL_PBS_STOPS_H
#define STOKER_CONTROL_PBS_STOPS_H

#include "control/pbs.h"
#include "control/pbs_plan.h"

struct pbs_stops;

struct pbs_stops_handlers {
	/* It was heard: the pod is to be marked. */
	void (*heard)(void *arg, const char *key, const json_t *pod, bool suspend);
	/* It was not, for this reason: look again later. */
	void (*failed)(void *arg, const char *key, const char *why);
	void *arg;
};

/* The config is borrowed. */
struct pbs_stops *pbs_stops_new(const struct pbs_abroad_config *config, const struct pbs_stops_handlers *h);
void pbs_stops_free(struct pbs_stops *s);
/* For the job `key`; nothing if the pod is just being told. */
void pbs_stops_mark(struct pbs_stops *s, const char *key, const struct pbs_mark *m);

#endif
