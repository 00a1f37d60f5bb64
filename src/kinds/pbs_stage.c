// SPDX-License-Identifier: Apache-2.0
/* pbs_stage.c - see pbs_stage.h */
#include "kinds/pbs_stage.h"

bool pbs_stage_parse(struct str text, struct pbs_stage *ret)
{
	struct pbs_stage s = { .remote = text };

	/* Without its mark a part is all there is, and the rest empty. */
	if (!str_split(&s.remote, '@', &s.local) || !str_split(&s.remote, ':', &s.host) || !s.local.n || !s.host.n ||
	    !s.remote.n)
		return false;
	*ret = s;
	return true;
}
