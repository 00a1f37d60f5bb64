// SPDX-License-Identifier: Apache-2.0
/* ask_node.h - what is asked of a running job rather than written: signals and messages */
#ifndef STOKER_PBS_ASK_NODE_H
#define STOKER_PBS_ASK_NODE_H

#include "pbs/act.h"

/* POST to PATH-OF-JOB/`what`: once, or for each of the elements with its index.  Sets "index" in `body`. */
int ask_node(const struct act *a, const struct act_target *t, const char *what, json_t *body, struct err *e);

#endif
