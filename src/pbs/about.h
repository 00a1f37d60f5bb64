// SPDX-License-Identifier: Apache-2.0
/* about.h - what commands that show things say of themselves, and how they write */
#ifndef STOKER_PBS_ABOUT_H
#define STOKER_PBS_ABOUT_H

#include <stdio.h>

#include "pbs/pbs.h"

/* --help: the usage on stdout; NULL for --version: two lines on stderr, as Torque has it.  Returns 0. */
int about_say(const char *usage);
/* Whether the only argument is one of these options; says it then. */
bool about_asked(int argc, char **argv, const char *usage);
/* The usage on stderr, up to its first empty line: options stand behind it.  Returns 2. */
int about_misuse(const char *usage);
/* All at once. */
void about_write(const struct sbuf *text, FILE *to);

#endif
