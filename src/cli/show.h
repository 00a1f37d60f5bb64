// SPDX-License-Identifier: Apache-2.0
/* show.h - what a command has dealt with, in the form that -o asks for */
#ifndef STOKER_CLI_SHOW_H
#define STOKER_CLI_SHOW_H

#include "cli/find.h"

/* As json and yaml one is an object and any other number a List; a name is a line each; wide is a row each, as `stoker
 * ps -o wide` has it.  The client (or NULL) is asked for the pods of rows. */
void show_found(struct client *c, const char *form, const struct found *const *items, size_t n);

#endif
