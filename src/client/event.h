// SPDX-License-Identifier: Apache-2.0
/* event.h - telling people what happened to an object, as Events */
#ifndef STOKER_CLIENT_EVENT_H
#define STOKER_CLIENT_EVENT_H

#include "client/client.h"

enum event_type { EVENT_NORMAL, EVENT_WARNING };

struct event_report {
	const json_t *about;
	const char *kind, *api_version; /* of it, where the object itself may not say (items of lists); or NULL */
	enum event_type type;
	const char *reason, *message;
	const char *component; /* who says so: "default-scheduler", "kubelet" */
	const char *host;      /* where, or NULL */
	const char *field;     /* "spec.containers{main}", or NULL */
};

/* The Event object for it; new reference. */
json_t *event_make(const struct event_report *r);
/* Makes and sends it.  A failure is logged, for nobody waits for it. */
void event_post(struct client *c, const struct event_report *r);

#endif
