// SPDX-License-Identifier: Apache-2.0
/* qsig.c - qsig: signals to the processes of running jobs
 *
 * suspend and resume are states that last, so they are written into the job; any other signal is sent once, and the
 * server knows which there are.
 */
#include <getopt.h>

#include "base/jsonx.h"
#include "kinds/pbs_element.h"
#include "pbs/about.h"
#include "pbs/acts.h"
#include "pbs/ask_node.h"

/* clang-format off */
static const char usage[] =
	"usage: qsig [-a] [-s signal] job_identifier...\n"
	"Sends a signal to running jobs.\n"
	"  -s   its name or number (SIGTERM), or suspend or resume\n"
	"  -a   taken, without effect: qsig never waits\n";
/* clang-format on */

static int send(const struct act *a, const struct act_target *t, struct err *e)
{
	json_auto_t *body = json_pack("{s:o}", "signal", jsonx_string(a->arg));

	return ask_node(a, t, "signal", body, e);
}

/* An array that goes on does so with all its elements. */
static void suspend_all(const struct act_target *t, bool on, json_t *spec)
{
	json_auto_t *as_all = json_pack("{s:n}", "suspend");
	struct pbs_set all = { 0 };

	json_object_set_new(spec, "suspend", json_boolean(on));
	if (!jsonx_at(t->job, "spec.elements"))
		return;
	pbs_element_read(jsonx_str(t->job, "spec.array.request"), &all);
	act_change_elements(t, &all, as_all, spec);
	pbs_set_done(&all);
}

int suspend_plan(const struct act *a, const struct act_target *t, json_t *spec, struct err *e)
{
	bool on = streq(a->arg, "suspend");
	bool all = jsonx_bool_or(t->job, "spec.suspend", false);
	json_auto_t *changes = json_pack("{s:o}", "suspend", on == all ? json_null() : json_boolean(on));
	struct pbs_set set = { 0 };

	(void)e;
	if (!t->some) {
		suspend_all(t, on, spec);
		return 0;
	}
	set = act_running(t);
	act_change_elements(t, &set, changes, spec);
	pbs_set_done(&set);
	return 0;
}

int qsig_main(struct pbs *p, int argc, char **argv)
{
	struct act a = { .pbs = p, .states = "RSE", .missing = "cannot locate job", .arg = "SIGTERM" };
	int c;

	if (about_asked(argc, argv, usage))
		return 0;
	opterr = 0;
	optind = 0;
	while ((c = getopt(argc, argv, "as:")) != -1) {
		if (c == 's')
			a.arg = optarg;
		else if (c != 'a')
			return about_misuse(usage);
	}
	if (optind == argc)
		return about_misuse(usage);
	if (streq(a.arg, "suspend") || streq(a.arg, "resume")) {
		a.plan = suspend_plan;
	} else {
		a.send = send;
	}
	return act_on_jobs(&a, argv + optind, argc - optind);
}
