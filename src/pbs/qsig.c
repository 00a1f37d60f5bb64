// SPDX-License-Identifier: Apache-2.0
/* qsig.c - qsig: signals to the processes of running jobs
 *
 * suspend and resume are states that last, so they are written into the job; any other signal is sent once, and the
 * server knows which there are.
 */
#include <getopt.h>

#include "base/jsonx.h"
#include "pbs/about.h"
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

static int plan(const struct act *a, const struct act_target *t, json_t *spec, struct err *e)
{
	(void)t;
	(void)e;
	json_object_set_new(spec, "suspend", json_boolean(streq(a->arg, "suspend")));
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
		a.plan = plan;
		a.whole = true;
	} else {
		a.send = send;
	}
	return act_on_jobs(&a, argv + optind, argc - optind);
}
