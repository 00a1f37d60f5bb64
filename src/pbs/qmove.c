// SPDX-License-Identifier: Apache-2.0
/* qmove.c - qmove: jobs that wait into another queue, which takes them as if they were new */
#include <getopt.h>

#include "base/jsonx.h"
#include "pbs/about.h"
#include "pbs/acts.h"
#include "pbs/checks.h"

/* clang-format off */
static const char usage[] =
	"usage: qmove destination job_identifier...\n"
	"Moves jobs that wait to another queue.\n"
	"  destination   QUEUE, QUEUE@SERVER, or @SERVER for the default queue\n";
/* clang-format on */

int move_plan(const struct act *a, const struct act_target *t, json_t *spec, struct err *e)
{
	json_auto_t *changes = json_pack("{s:o}", "queue", jsonx_string(a->arg));

	(void)e;
	act_change(t, changes, spec);
	return 0;
}

int qmove_main(struct pbs *p, int argc, char **argv)
{
	struct act a = { .pbs = p, .plan = move_plan, .states = "QHW", .missing = "cannot locate job" };
	auto_sbuf struct sbuf queue = SBUF(256);

	if (about_asked(argc, argv, usage))
		return 0;
	opterr = 0;
	optind = 0;
	if (getopt(argc, argv, "+") != -1 || argc - optind < 2)
		return about_misuse(usage);
	if (!destination_queue(argv[optind], &queue)) {
		fprintf(stderr, "qmove: illegally formed destination: %s\n", argv[optind]);
		return 2;
	}
	a.arg = queue.n ? queue.p : jsonx_str_or(pbs_settings(p), "spec.defaultQueue", "batch");
	return act_on_jobs(&a, argv + optind + 1, argc - optind - 1);
}
