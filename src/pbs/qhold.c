// SPDX-License-Identifier: Apache-2.0
/* qhold.c - qhold and qrls: holds put on jobs and taken off
 *
 * A job's holds are letters; single elements of an array are held by a set of indexes beside them, whose holds are the
 * user's.  Releasing some elements of an array that is held as a whole holds the others one by one.
 */
#include "pbs/qhold.h"

#include <getopt.h>

#include "base/jsonx.h"
#include "base/mem.h"
#include "pbs/about.h"
#include "pbs/checks.h"

static const char letters_known[] = "uosp"; /* p: a hold of OpenPBS's, kept */
static const char *const missing = "cannot locate job";

/* The letters of `letters` that are in both, or in either but not in both; "n" for none. */
static json_t *letters_json(const char *was, const char *said, bool release)
{
	char out[8];
	size_t n = 0;

	for (const char *c = letters_known; *c; c++)
		if (release ? strchr(was, *c) && !strchr(said, *c) : strchr(was, *c) || strchr(said, *c))
			out[n++] = *c;
	out[n] = 0;
	return json_string(n ? out : "n");
}

int hold_plan(const struct act *a, const struct act_target *t, json_t *spec, struct err *e)
{
	const char *said = a->arg;

	(void)e;
	if (streq(said, "n"))
		return 0;
	if (t->some)
		json_object_set_new(spec, "elementHold",
				    act_set_with(jsonx_str(t->job, "spec.elementHold"), &t->elements));
	else
		json_object_set_new(spec, "hold", letters_json(jsonx_str_or(t->job, "spec.hold", "n"), said, false));
	return 0;
}

int release_plan(const struct act *a, const struct act_target *t, json_t *spec, struct err *e)
{
	const char *said = a->arg;
	const char *was = jsonx_str_or(t->job, "spec.hold", "n");
	json_auto_t *left = letters_json(was, said, true);
	bool changes = !streq(json_string_value(left), was);

	(void)e;
	if (streq(said, "n"))
		return 0;
	json_object_set(spec, "hold", left);
	if (!t->some && strchr(said, 'u'))
		json_object_set_new(spec, "elementHold", json_null());
	if (t->some)
		json_object_set_new(
			spec, "elementHold",
			act_set_without(jsonx_str(t->job, changes ? "spec.array.request" : "spec.elementHold"),
					&t->elements));
	return 0;
}

static int run(struct act *a, const char *usage, int argc, char **argv)
{
	const char *letters = "u";
	int c;

	if (about_asked(argc, argv, usage))
		return 0;
	opterr = 0;
	optind = 0;
	while ((c = getopt(argc, argv, "h:t:")) != -1) {
		if (c == 'h')
			letters = optarg;
		else if (c == 't')
			a->range = optarg;
		else
			return about_misuse(usage);
	}
	if (!check_holds(letters)) {
		fprintf(stderr, "%s: illegal -h value: \"%s\": must be letters of u, o and s, or n\n", a->pbs->command,
			letters);
		return about_misuse(usage);
	}
	if (optind == argc)
		return about_misuse(usage);
	a->arg = letters;
	return act_on_jobs(a, argv + optind, argc - optind);
}

int qhold_main(struct pbs *p, int argc, char **argv)
{
	static const char usage[] = "usage: qhold [-h hold_list] [-t array_range] job_identifier...\n"
				    "Holds jobs: one that waits does not start, one that runs is held if it is run "
				    "again.\n"
				    "  -h   letters of u (user, the default), o (operator) and s (system)\n"
				    "  -t   only these elements of an array: qhold -t 2-4 189[]\n";
	struct act a = { .pbs = p, .plan = hold_plan, .missing = missing };

	return run(&a, usage, argc, argv);
}

int qrls_main(struct pbs *p, int argc, char **argv)
{
	static const char usage[] = "usage: qrls [-h hold_list] [-t array_range] job_identifier...\n"
				    "Releases jobs that are held.\n"
				    "  -h   letters of u (user, the default), o (operator) and s (system)\n"
				    "  -t   only these elements of an array: qrls -t 2-4 189[]\n";
	struct act a = { .pbs = p, .plan = release_plan, .missing = missing };

	return run(&a, usage, argc, argv);
}
