// SPDX-License-Identifier: Apache-2.0
/* this_node.h - commands that look at a machine: which node is meant, and is it the machine they run on? */
#ifndef STOKER_PBS_THIS_NODE_H
#define STOKER_PBS_THIS_NODE_H

#include "pbs/pbs.h"

struct this_node {
	char *name;   /* as it was asked for, or as the machine writes it */
	json_t *node; /* NULL: the server does not know this machine, or is not there */
	bool here;
};

/* Without a name this machine is meant.  Its host name counts, and the name of the Node that it is: the kernel that
 * runs here is the one that the Node tells of.  Returns 0, or the exit status after the error has been told. */
int this_node_find(struct pbs *p, const char *asked, struct this_node *ret);
/* The same for who can look at no other machine: that is an error, too. */
int this_node_need(struct pbs *p, const char *asked, struct this_node *ret);
void this_node_done(struct this_node *t);
/* Is this Node the machine of that boot ("" is none)?  Pure. */
bool this_node_is(const json_t *node, const char *boot);

#endif
