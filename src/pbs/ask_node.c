// SPDX-License-Identifier: Apache-2.0
/* ask_node.c - see ask_node.h */
#include "pbs/ask_node.h"

#include "base/limits.h"
#include "kinds/pbs_error.h"

static bool is_state(const struct err *e)
{
	const char *words;

	return pbs_error_find(e->text, &words) == PBSE_BADSTATE;
}

/* Of several elements some may wait: one that runs is enough. */
static int ask_elements(const struct act *a, const struct act_target *t, const char *path, json_t *body, struct err *e)
{
	struct pbs_set set = act_running(t);
	size_t heard = 0;
	int index = -1;
	int r = 0;

	while (r == 0 && pbs_set_next(&set, &index)) {
		err_clear(e);
		json_object_set_new(body, "index", json_integer(index));
		if (pbs_post(a->pbs, path, body, NULL, e) == 0)
			heard++;
		else if (!is_state(e))
			r = -1;
	}
	pbs_set_done(&set);
	if (r < 0 || !heard)
		return -1;
	err_clear(e);
	return 0;
}

int ask_node(const struct act *a, const struct act_target *t, const char *what, json_t *body, struct err *e)
{
	auto_sbuf struct sbuf path = SBUF(LIMIT_URL);

	sbuf_addf(&path, "%s/%s", t->path, what);
	return t->some ? ask_elements(a, t, path.p, body, e) : pbs_post(a->pbs, path.p, body, NULL, e);
}
