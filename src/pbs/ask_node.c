// SPDX-License-Identifier: Apache-2.0
/* ask_node.c - see ask_node.h */
#include "pbs/ask_node.h"

#include "base/limits.h"

int ask_node(const struct act *a, const struct act_target *t, const char *what, json_t *body, struct err *e)
{
	auto_sbuf struct sbuf path = SBUF(LIMIT_URL);
	int index = -1;

	sbuf_addf(&path, "%s/%s", t->path, what);
	if (!t->some)
		return pbs_post(a->pbs, path.p, body, NULL, e);
	while (pbs_set_next(&t->elements, &index)) {
		json_object_set_new(body, "index", json_integer(index));
		if (pbs_post(a->pbs, path.p, body, NULL, e) < 0)
			return -1;
	}
	return 0;
}
