// SPDX-License-Identifier: Apache-2.0
/* this_node.h - commands that look at the machine they run on: is it the node that was asked for? */
#ifndef STOKER_PBS_THIS_NODE_H
#define STOKER_PBS_THIS_NODE_H

#include "pbs/pbs.h"

/* Without a name it is meant; another one is told on stderr. */
bool this_node_is(struct pbs *p, const char *name);

#endif
