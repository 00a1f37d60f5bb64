// SPDX-License-Identifier: Apache-2.0
/* control.h - what happens by itself
 *
 * A controller takes a `struct client` and nothing else.  Its decisions are pure functions over small structs (*_plan),
 * tested by tables; applying them twice is harmless.
 */
#ifndef STOKER_CONTROL_CONTROL_H
#define STOKER_CONTROL_CONTROL_H

#include "client/client.h"

struct control;

/* Starts every controller on this client. */
struct control *control_new(struct client *c);
void control_free(struct control *c);

#endif
