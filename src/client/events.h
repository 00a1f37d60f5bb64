// SPDX-License-Identifier: Apache-2.0
/* events.h - telling people what happens to an object, as `kubectl describe` shows it */
#ifndef STOKER_CLIENT_EVENTS_H
#define STOKER_CLIENT_EVENTS_H

#include "client/client.h"

struct events;

/* `component` and `host` are what the event's source says. */
struct events *events_new(struct client *c, const char *component, const char *host);
void events_free(struct events *ev);
/* type: "Normal" or "Warning".  The same again is counted, not repeated; of ten texts about one object with the same
 * reason the further ones become one Event; and nothing is written more often than once a second, or than
 * events_limit.h allows for an object: what has been counted until then is written in one piece. */
void events_note(struct events *ev, const json_t *obj, const char *type, const char *reason, const char *fmt, ...)
	__attribute__((format(printf, 5, 6)));
/* About a part of the object: field is "spec.containers{main}". */
void events_note_field(struct events *ev, const json_t *obj, const char *field, const char *type, const char *reason,
		       const char *fmt, ...) __attribute__((format(printf, 6, 7)));

#endif
