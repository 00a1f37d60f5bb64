// SPDX-License-Identifier: Apache-2.0
/* qorder.c - qorder: two jobs that wait change places
 *
 * A job's place is a number, at first its own.  It counts among its owner's jobs only: whose turn it is among users is
 * the scheduler's to say.  The place of an element is one in its array.
 */
#include <getopt.h>

#include "base/jsonx.h"
#include "base/mem.h"
#include "kinds/pbs_element.h"
#include "kinds/pbs_error.h"
#include "pbs/about.h"
#include "pbs/act.h"

/* clang-format off */
static const char usage[] =
	"usage: qorder job_identifier job_identifier\n"
	"Two of your jobs that wait change places.\n";
/* clang-format on */

/* The places of both, as they were; and which one is written. */
struct swap {
	int64_t rank[2];
	bool known[2];
	int at;
	char *owner;
	int64_t array; /* whose elements they are, or 0 */
};

/* Of one element; -1 if it is not one. */
static int64_t place_in_array(const struct act_target *t)
{
	int index = -1;

	if (pbs_set_count(&t->elements) != 1 || !pbs_set_next(&t->elements, &index))
		return -1;
	return jsonx_int_or(pbs_element_entry(json_object_get(t->job, "spec"), index), "place", index);
}

static int look_at_element(struct swap *s, const struct act_target *t, struct err *e)
{
	int64_t array = t->some ? jsonx_int_or(t->job, "status.sequence", 0) : 0;

	if (s->at == 0)
		s->array = array;
	if (s->array != array)
		return pbs_error_set(e, ERR_INVALID, PBSE_IVALREQ,
				     "elements change places with others of their array only");
	if (!array)
		return 0;
	s->rank[s->at] = place_in_array(t);
	if (s->rank[s->at] < 0)
		return pbs_error_set(e, ERR_INVALID, PBSE_IVALREQ, "two jobs change places, not more");
	return 0;
}

static int look(const struct act *a, const struct act_target *t, struct err *e)
{
	struct swap *s = (struct swap *)a->arg;
	const char *owner = jsonx_str_or(t->job, "spec.owner", "");

	if (s->owner && !streq(s->owner, owner))
		return pbs_error_set(e, ERR_INVALID, PBSE_IVALREQ, "the jobs of %s and %s have no common order",
				     s->owner, owner);
	if (!s->owner)
		s->owner = xstrdup(owner);
	s->rank[s->at] = jsonx_int_or(t->job, "spec.rank", jsonx_int_or(t->job, "status.sequence", 0));
	if (look_at_element(s, t, e) < 0)
		return -1;
	s->known[s->at] = true;
	return 0;
}

static int plan(const struct act *a, const struct act_target *t, json_t *spec, struct err *e)
{
	const struct swap *s = a->arg;
	json_auto_t *place = json_pack("{s:I}", "place", (json_int_t)s->rank[!s->at]);

	(void)e;
	if (t->some)
		act_change_elements(t, &t->elements, place, spec);
	else
		json_object_set_new(spec, "rank", json_integer(s->rank[!s->at]));
	return 0;
}

static int swap(struct act *a, struct swap *s, char **ids)
{
	int status = 0;

	a->send = look;
	for (s->at = 0; s->at < 2 && !status; s->at++)
		status = act_on_jobs(a, ids + s->at, 1);
	a->send = NULL;
	for (s->at = 0; s->at < 2 && !status; s->at++)
		status = act_on_jobs(a, ids + s->at, 1);
	if (status && s->at == 2 && s->known[1]) { /* the second could not be written: the first goes back */
		int64_t first = s->rank[0];

		s->at = 0;
		s->rank[1] = first;
		act_on_jobs(a, ids, 1);
	}
	return status;
}

int qorder_main(struct pbs *p, int argc, char **argv)
{
	struct swap s = { 0 };
	struct act a = { .pbs = p, .plan = plan, .states = "QHW", .missing = "cannot locate job" };
	int status;

	if (about_asked(argc, argv, usage))
		return 0;
	opterr = 0;
	optind = 0;
	if (getopt(argc, argv, "") != -1 || argc - optind != 2)
		return about_misuse(usage);
	a.arg = &s;
	status = swap(&a, &s, argv + optind);
	free(s.owner);
	return status;
}
