// SPDX-License-Identifier: Apache-2.0
/* qrerun.c - qrerun: ends jobs that run and puts them back into their queue
 *
 * Which run is meant is written, so that asking twice does not end the next one, too.
 */
#include <getopt.h>

#include "base/jsonx.h"
#include "pbs/about.h"
#include "pbs/acts.h"

/* clang-format off */
static const char usage[] =
	"usage: qrerun [-f] [-m message] job_identifier...\n"
	"Ends jobs that run and runs them again, under the same id.\n"
	"  -f   nothing more: a node that does not answer never keeps a job from being run again\n"
	"  -m   why, for its owner to read\n";
/* clang-format on */

/* Which run of an element is the present one. */
static int64_t run_of(const struct act_target *t, int index)
{
	json_t *v;
	size_t i;

	json_array_foreach (jsonx_at(t->job, "status.active"), i, v)
		if (jsonx_int_or(v, "index", -1) == index)
			return jsonx_int_or(v, "startCount", 0) + (*jsonx_str_or(v, "state", "R") == 'Q');
	return 1;
}

/* Elements may have been started differently often. */
static void rerun_elements(const struct act_target *t, json_t *spec)
{
	struct pbs_set set = act_running(t);
	int index = -1;

	while (pbs_set_next(&set, &index)) {
		json_auto_t *changes = json_pack("{s:I}", "rerunAfter", (json_int_t)run_of(t, index));
		struct pbs_set one = { 0 };

		pbs_set_add(&one, index, index);
		act_change_elements(t, &one, changes, spec);
		pbs_set_done(&one);
	}
	pbs_set_done(&set);
}

int rerun_plan(const struct act *a, const struct act_target *t, json_t *spec, struct err *e)
{
	int64_t count = jsonx_int_or(t->job, "status.startCount", 0);

	(void)e;
	if (a->arg || jsonx_at(t->job, "spec.rerunMessage"))
		json_object_set_new(spec, "rerunMessage", a->arg ? jsonx_string(a->arg) : json_null());
	if (jsonx_at(t->job, "spec.array")) {
		rerun_elements(t, spec);
		return 0;
	}
	if (strchr("QHW", t->state)) /* its start is counted with the next word about it */
		count++;
	json_object_set_new(spec, "rerunAfter", json_integer(count));
	return 0;
}

int qrerun_main(struct pbs *p, int argc, char **argv)
{
	struct act a = { .pbs = p, .plan = rerun_plan, .states = "RSE", .missing = "cannot locate job" };
	int c;

	if (about_asked(argc, argv, usage))
		return 0;
	opterr = 0;
	optind = 0;
	while ((c = getopt(argc, argv, "fm:")) != -1) {
		if (c == '?')
			return about_misuse(usage);
		if (c == 'm')
			a.arg = optarg;
	}
	if (optind == argc)
		return about_misuse(usage);
	return act_on_jobs(&a, argv + optind, argc - optind);
}
