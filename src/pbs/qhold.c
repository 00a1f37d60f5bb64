// SPDX-License-Identifier: Apache-2.0
/* qhold.c - qhold and qrls: holds put on jobs and taken off
 *
 * A job's holds are letters; single elements of an array are held by their user in a set of indexes beside them, and by
 * others in what they have for themselves (kinds/pbs_element.h).  Releasing some elements of an array that is held as a
 * whole holds the others one by one.
 */
#include "pbs/qhold.h"

#include <getopt.h>

#include "base/jsonx.h"
#include "base/mem.h"
#include "kinds/pbs_element.h"
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

/* Letters of operators and of the system on single elements. */
static void hold_strongly(const struct act_target *t, const struct pbs_set *elements, const char *letters, bool release,
			  json_t *spec)
{
	const json_t *written = json_object_get(spec, "elements");
	const json_t *list = written ? written : jsonx_at(t->job, "spec.elements");

	if (strpbrk(letters, "os") && (!release || list))
		json_object_set_new(spec, "elements", pbs_element_hold(list, elements, letters, release));
}

int hold_plan(const struct act *a, const struct act_target *t, json_t *spec, struct err *e)
{
	const char *said = a->arg;

	(void)e;
	if (streq(said, "n"))
		return 0;
	if (!t->some) {
		json_object_set_new(spec, "hold", letters_json(jsonx_str_or(t->job, "spec.hold", "n"), said, false));
		return 0;
	}
	if (strchr(said, 'u'))
		json_object_set_new(spec, "elementHold",
				    act_set_with(jsonx_str(t->job, "spec.elementHold"), &t->elements));
	hold_strongly(t, &t->elements, said, false, spec);
	return 0;
}

static void release_all(const struct act_target *t, const char *said, json_t *spec)
{
	struct pbs_set all = { 0 };

	if (strchr(said, 'u'))
		json_object_set_new(spec, "elementHold", json_null());
	pbs_element_read(jsonx_str(t->job, "spec.array.request"), &all);
	hold_strongly(t, &all, said, true, spec);
	pbs_set_done(&all);
}

/* Letters that the array as a whole had are left on the others, one by one. */
static void release_some(const struct act_target *t, const char *was, const char *said, json_t *spec)
{
	bool whole = strchr(said, 'u') && strchr(was, 'u');
	struct pbs_set others = { 0 };
	char shared[8];
	size_t n = 0;

	if (strchr(said, 'u'))
		json_object_set_new(
			spec, "elementHold",
			act_set_without(jsonx_str(t->job, whole ? "spec.array.request" : "spec.elementHold"),
					&t->elements));
	for (const char *c = "os"; *c; c++)
		if (strchr(said, *c) && strchr(was, *c))
			shared[n++] = *c;
	shared[n] = 0;
	hold_strongly(t, &t->elements, said, true, spec);
	pbs_element_read(jsonx_str(t->job, "spec.array.request"), &others);
	pbs_set_subtract(&others, &t->elements);
	hold_strongly(t, &others, shared, false, spec);
	pbs_set_done(&others);
}

int release_plan(const struct act *a, const struct act_target *t, json_t *spec, struct err *e)
{
	const char *said = a->arg;
	const char *was = jsonx_str_or(t->job, "spec.hold", "n");

	(void)e;
	if (streq(said, "n"))
		return 0;
	json_object_set_new(spec, "hold", letters_json(was, said, true));
	if (t->some)
		release_some(t, was, said, spec);
	else
		release_all(t, said, spec);
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
