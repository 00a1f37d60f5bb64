// SPDX-License-Identifier: Apache-2.0
/* qalter.c - qalter: other attributes for jobs that are there
 *
 * The options are qsub's, read and checked by the same table (options.h).  What may change while a job runs, and who
 * may ask for more, the server says.
 */
#include <stdio.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/jsonx.h"
#include "base/mem.h"
#include "kinds/pbs_element.h"
#include "kinds/pbs_error.h"
#include "pbs/acts.h"
#include "pbs/checks.h"
#include "pbs/job.h"
#include "pbs/refusal.h"

/* Holds as they are said, instead of those that there are. */
static void set_holds(const struct act_target *t, const char *letters, json_t *spec)
{
	const char *held = jsonx_str(t->job, "spec.elementHold");
	json_auto_t *none = pbs_element_hold(jsonx_at(t->job, "spec.elements"), &t->elements, "os", true);

	json_object_set_new(spec, "elementHold",
			    strchr(letters, 'u') ? act_set_with(held, &t->elements)
						 : act_set_without(held, &t->elements));
	json_object_set_new(spec, "elements", pbs_element_hold(none, &t->elements, letters, false));
}

/* Of single elements not everything can differ from their array. */
static int plan_elements(const struct act_target *t, const json_t *asked, json_t *spec, struct err *e)
{
	json_auto_t *changes = json_object();
	const char *field;
	json_t *v;

	json_object_foreach ((json_t *)asked, field, v) {
		if (streq(field, "array")) /* its slots */
			json_object_set(spec, field, v);
		else if (streq(field, "hold"))
			set_holds(t, json_string_value(v), spec);
		else if (pbs_element_field(field))
			json_object_set(changes, field, v);
		else
			return pbs_error_set(e, ERR_INVALID, PBSE_IVALREQ,
					     "%s is the same for all elements of an array: name it with []", field);
	}
	if (json_object_size(changes))
		act_change_elements(t, &t->elements, changes, spec);
	return 0;
}

int alter_plan(const struct act *a, const struct act_target *t, json_t *spec, struct err *e)
{
	if (t->some)
		return plan_elements(t, a->arg, spec, e);
	json_object_update(spec, (json_t *)a->arg);
	return 0;
}

static const char *variable(const char *name)
{
	return getenv(name);
}

static json_t *changes(const struct ask *a)
{
	auto_sbuf struct sbuf host = SBUF(256);
	auto_free char *cwd = path_cwd();
	struct submitter who = { .environment = environ, .now = clock_wall(), .arguments = "" };

	pbs_host_name(&host);
	who.place = (struct place){ .host = host.p, .cwd = cwd, .variable = variable, .is_directory = check_directory };
	return job_changes(a, &who);
}

static int show_help(void)
{
	auto_sbuf struct sbuf text = SBUF(1 << 16);

	options_usage(true, &text);
	sbuf_adds(&text, "\nChanges jobs.  While a job runs only some of it can be changed: a time limit may become "
			 "shorter,\nand what is for its next run is kept for that.\n\n");
	options_help(true, &text);
	fputs(text.p, stdout);
	return 0;
}

static int run(struct pbs *p, struct ask *ask, int argc, char **argv)
{
	struct act a = { .pbs = p, .plan = alter_plan, .missing = "cannot locate job" };
	auto_free char **ids = xcalloc((size_t)argc + 1, sizeof(*ids));
	auto_free char *range = NULL;
	json_auto_t *spec = NULL;
	struct err e = ERR_INIT;
	const char *which;
	int n = 0;

	if (options_alter(ask, argc, argv, ids, &n, &e) < 0)
		return refusal_show_each(ask, p, ids, n, &e);
	spec = changes(ask);
	a.arg = spec;
	which = ask_find(ask, 't');
	range = which ? xstrndup(which, strcspn(which, "%")) : NULL;
	a.range = range && *range ? range : NULL;
	return act_on_jobs(&a, ids, n);
}

int qalter_main(struct pbs *p, int argc, char **argv)
{
	struct ask ask = { 0 };
	int status;

	if (argc == 2 && streq(argv[1], "--help"))
		return show_help();
	if (argc == 2 && (streq(argv[1], "--version") || streq(argv[1], "--about")))
		return pbs_version();
	status = run(p, &ask, argc, argv);
	ask_done(&ask);
	return status;
}
