// SPDX-License-Identifier: Apache-2.0
/* gate.h - holds gangs back from a cluster that others schedule, until there is room for all of them */
#ifndef STOKER_SCHED_GATE_H
#define STOKER_SCHED_GATE_H

#include "client/client.h"
#include "loop/gate.h"

struct gate_config {
	const char *how; /* GATE_HOW */
	const char *ns;  /* where the server is asked whether it takes pods with a gate */
	bool pbs;        /* there is a PBSServer, whose limits count */
};
#define GATE_HOW "off|auto|gates|delay" /* auto: gates if the server has them, else delay */

struct gate *gate_new(struct client *c, const struct gate_config *config);
/* After whoever follows it, before the client. */
void gate_free(struct gate *g);

#endif
