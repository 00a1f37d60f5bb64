// SPDX-License-Identifier: Apache-2.0
/* room.h - hears when a namespace may have got more room
 *
 * Whoever could not create something because of a quota would try again ever later; room is the moment to do it now.
 */
#ifndef STOKER_CONTROL_ROOM_H
#define STOKER_CONTROL_ROOM_H

#include "client/client.h"

struct room;
/* `more` is told for a ResourceQuota that was raised, that went, or of which something was given back. */
struct room *room_new(struct client *c, void (*more)(void *arg, const char *ns), void *arg);
void room_free(struct room *r);

/* Whether a change of a quota leaves more room in any respect; either may be NULL.  Pure. */
bool room_grew(const json_t *quota, const json_t *old);

#endif
