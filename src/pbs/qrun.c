// SPDX-License-Identifier: Apache-2.0
/* qrun.c - qrun: jobs that wait are started before all others */
#include <getopt.h>

#include "base/jsonx.h"
#include "pbs/about.h"
#include "pbs/acts.h"

/* clang-format off */
static const char usage[] =
	"usage: qrun [-a] [-H hosts] job_identifier...\n"
	"Starts jobs now, before all others (operators).\n"
	"  -H   where: the names of nodes, joined by +\n"
	"  -a   taken, without effect: qrun never waits\n";
/* clang-format on */

/* "a+b", and what Torque has behind the names (":ppn=2", "/0") left out. */
static json_t *hosts_of(const char *text)
{
	struct str rest = str_of(text), part;
	json_t *list = json_array();

	while (str_split(&rest, '+', &part)) {
		size_t n = 0;

		while (n < part.n && part.p[n] != ':' && part.p[n] != '/')
			n++;
		if (n)
			json_array_append_new(list, jsonx_stringn(part.p, n));
	}
	return list;
}

int run_plan(const struct act *a, const struct act_target *t, json_t *spec, struct err *e)
{
	json_auto_t *changes =
		json_pack("{s:b, s:o}", "runNow", 1, "runHosts", a->arg ? hosts_of(a->arg) : json_null());

	(void)e;
	act_change(t, changes, spec);
	return 0;
}

int qrun_main(struct pbs *p, int argc, char **argv)
{
	struct act a = { .pbs = p, .plan = run_plan, .states = "QHW", .missing = "cannot locate job" };
	int c;

	if (about_asked(argc, argv, usage))
		return 0;
	opterr = 0;
	optind = 0;
	while ((c = getopt(argc, argv, "aH:")) != -1) {
		if (c == 'H')
			a.arg = optarg;
		else if (c != 'a')
			return about_misuse(usage);
	}
	if (optind == argc)
		return about_misuse(usage);
	return act_on_jobs(&a, argv + optind, argc - optind);
}
