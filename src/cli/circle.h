// SPDX-License-Identifier: Apache-2.0
/* circle.h - whose events are shown: an object and what it made, also what is deleted by now.  Pure
 *
 * Objects that are there are known by their uid, so that events of an earlier one of the same name stay out.  Those
 * that are gone are known by name, and the events of their makers tell the names: "Created pod: train-x7k2p".
 */
#ifndef STOKER_CLI_CIRCLE_H
#define STOKER_CLI_CIRCLE_H

#include <jansson.h>

#include "base/map.h"

struct circle {
	struct map members;
};

void circle_init(struct circle *c);
void circle_done(struct circle *c);
/* One that is there. */
void circle_add(struct circle *c, const char *kind, const json_t *obj);
/* One that is not; `kind` NULL: whatever has the name. */
void circle_add_name(struct circle *c, const char *kind, const char *ns, const char *name);
/* The events of its members, which become more as the events tell of them: a new array, in the same order. */
json_t *circle_events(struct circle *c, const json_t *events);

#endif
