// SPDX-License-Identifier: Apache-2.0
/* gate.h - holds work back from a cluster that others schedule: gangs until there is room for all of them, and any job
 * that says so itself */
#ifndef STOKER_SCHED_GATE_H
#define STOKER_SCHED_GATE_H

#include "client/client.h"
#include "loop/gate.h"

struct gate_config {
	const char *how; /* GATE_HOW */
	const char *ns;  /* where the server is asked whether it takes pods with a gate */
	bool pbs;        /* there is a PBSServer, whose limits count */
	bool room;       /* pods wait for it; else only for what their jobs say */
};
#define GATE_HOW "off|auto|gates|delay" /* auto: gates if the server has them, else delay */

struct gate *gate_new(struct client *c, const struct gate_config *config);
/* After whoever follows it, before the client. */
void gate_free(struct gate *g);

#endif
