// SPDX-License-Identifier: Apache-2.0
/* gate_probe.h - what a foreign cluster lets us see and do at its gate */
#ifndef STOKER_SCHED_GATE_PROBE_H
#define STOKER_SCHED_GATE_PROBE_H

#include "client/client.h"

struct gate_probe;

struct gate_found {
	bool nodes;         /* may be listed */
	const char *denied; /* why not, in the server's words */
	bool queues;        /* there are Queue objects, and they may be listed */
	bool gates;         /* pods keep spec.schedulingGates */
};

/* `done` when everything is known, and again when the server has become another version and the answer may be another.
 * A server that is away is asked until it answers.  Pods are only tried, in namespace `ns`. */
struct gate_probe *gate_probe_new(struct client *c, const char *ns,
				  void (*done)(void *arg, const struct gate_found *found), void *arg);
void gate_probe_free(struct gate_probe *p);

/* Whether a server of that version (the body of /version) has gates unless somebody has switched them off. */
bool gate_version_has(const json_t *version);

#endif
