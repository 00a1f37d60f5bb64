// SPDX-License-Identifier: Apache-2.0
/* caller.c - who is asking, as plain data; the server's own parts ask as caller_system */
#include "api/api.h"

static const char *const system_groups[] = { "system:masters", "system:authenticated", NULL };

const struct caller caller_system = { .user = "system:apiserver", .uid = "", .groups = system_groups };

bool caller_in_group(const struct caller *c, const char *group)
{
	if (!c->groups)
		return false;
	for (const char *const *g = c->groups; *g; g++)
		if (streq(*g, group))
			return true;
	return false;
}
