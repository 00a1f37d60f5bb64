// SPDX-License-Identifier: Apache-2.0
/* this_node.c - see this_node.h */
#include "pbs/this_node.h"

#include <stdio.h>
#include <strings.h>
#include <unistd.h>

bool this_node_is(struct pbs *p, const char *name)
{
	auto_sbuf struct sbuf host = SBUF(512);
	char whole[256] = "";

	pbs_host_name(&host);
	gethostname(whole, sizeof(whole) - 1);
	if (!name || strcasecmp(name, host.p) == 0 || strcasecmp(name, whole) == 0 || streq(name, "localhost"))
		return true;
	fprintf(stderr, "%s: %s is not this machine (%s): run %s there\n", p->command, name, host.p, p->command);
	return false;
}
