// SPDX-License-Identifier: Apache-2.0
/* qdel.c - qdel: ends jobs
 *
 * A job is told to end by its spec.cancel, and stays for a while as one that has ended; of an array some elements may
 * be told, and others later.
 */
#include "pbs/qdel.h"

#include <getopt.h>
#include <strings.h>

#include "base/jsonx.h"
#include "base/mem.h"
#include "kinds/pbs_error.h"
#include "pbs/about.h"
#include "pbs/board.h"

/* clang-format off */
static const char usage[] =
	"usage: qdel [-a | -c | -m message | -p | -t array_range | -W delay] [-b seconds] job_identifier... | all\n"
	"Deletes jobs: one that runs gets SIGTERM, and after a delay SIGKILL.\n"
	"  -m   why, for its owner to read\n"
	"  -p   without waiting for its node (operators)\n"
	"  -t   only these elements of an array: qdel -t 2-4 189[]\n"
	"  -W   seconds between the two signals\n"
	"  -a   do not wait for their nodes, which qdel never does\n"
	"  -b   how many seconds to try to reach the server\n"
	"  -c   forget jobs that have ended: these, or all of them (operators)\n"
	"  all  every job that you may delete\n";
/* clang-format on */

int delete_plan(const struct act *a, const struct act_target *t, json_t *spec, struct err *e)
{
	const struct qdel_order *o = a->arg;
	const json_t *was = jsonx_at(t->job, "spec.cancel");
	const char *elements = jsonx_str(was, "elements");
	json_t *cancel = json_object();

	(void)e;
	json_object_set_new(spec, "cancel", cancel);
	if (o->delay >= 0)
		json_object_set_new(cancel, "delaySeconds", json_integer(o->delay));
	if (o->message)
		json_object_set_new(cancel, "message", jsonx_string(o->message));
	if (o->purge)
		json_object_set_new(cancel, "purge", json_true());
	if (t->some && (!was || elements)) /* one that ends as a whole does so */
		json_object_set_new(cancel, "elements", act_set_with(elements, &t->elements));
	else if (elements)
		json_object_set_new(cancel, "elements", json_null());
	return 0;
}

/* What has ended is forgotten before its time: an object less. */
static int forget(const struct act *a, const struct act_target *t, struct err *e)
{
	auto_free char *user = NULL;
	bool everyone = false;

	if (pbs_self(a->pbs, &user, &everyone, e) < 0)
		return -1;
	if (!everyone)
		return pbs_error_set(e, ERR_FORBIDDEN, PBSE_PERM,
				     "must have operator or manager privilege to use -c parameter");
	if (t->some)
		return pbs_error_set(e, ERR_INVALID, PBSE_IVALREQ, "an array is forgotten as a whole");
	return pbs_delete(a->pbs, t->path, e);
}

/* All that have not ended, or that have if they are to be forgotten: the caller's own, an operator's everyone's. */
static int delete_all(struct act *a)
{
	auto_board struct board b = { 0 };
	struct board_query ask = { 0 };
	auto_free char *user = NULL;
	struct board_job j;
	struct err e = ERR_INIT;
	bool everyone = false;
	int status = 0;

	a->all = true;
	if (pbs_self(a->pbs, &user, &everyone, &e) < 0)
		return pbs_fail(a->pbs, &e, NULL);
	ask.user = everyone ? NULL : user;
	if (board_get(a->pbs, &ask, &b, &e) < 0)
		return pbs_fail(a->pbs, &e, NULL);
	while (board_next(&b, &j)) {
		auto_free char *id = xstrndup(j.row.c[COL_ID].p, j.row.c[COL_ID].n);
		int one = (board_row_state(&j.row) == 'C') == (a->send == forget) ? act_on_jobs(a, &id, 1) : 0;

		status = one ? one : status;
	}
	return status;
}

static int parse(struct act *a, struct qdel_order *o, int argc, char **argv)
{
	int exclusive = 0;
	int64_t seconds;
	int c;

	opterr = 0;
	optind = 0;
	while ((c = getopt(argc, argv, "ab:cm:pt:W:")) != -1) {
		exclusive += c != 'b';
		if (c == '?')
			return about_misuse(usage);
		if (c == 'm')
			o->message = optarg;
		if (c == 'p')
			o->purge = true;
		if (c == 't')
			a->range = optarg;
		if ((c == 'W' || c == 'b') && !str_int64(optarg, 0, INT32_MAX, &seconds)) {
			fprintf(stderr, "qdel: illegal -%c value: \"%s\": must be a number of seconds\n", c, optarg);
			return about_misuse(usage);
		}
		if (c == 'W')
			o->delay = seconds;
		if (c == 'b')
			a->pbs->retry_seconds = seconds;
		if (c == 'c') {
			a->send = forget;
			a->states = "C";
		}
	}
	return exclusive > 1 || (optind == argc && !a->send) ? about_misuse(usage) : 0;
}

int qdel_main(struct pbs *p, int argc, char **argv)
{
	struct qdel_order o = { .delay = -1 };
	struct act a = { .pbs = p, .plan = delete_plan, .arg = &o };
	int status = 0;

	if (about_asked(argc, argv, usage))
		return 0;
	if (parse(&a, &o, argc, argv) != 0)
		return 2;
	if (optind == argc)
		return delete_all(&a);
	for (int i = optind; i < argc; i++) {
		int one = strcasecmp(argv[i], "all") == 0 ? delete_all(&a) : act_on_jobs(&a, argv + i, 1);

		a.all = false;
		status = one ? one : status;
	}
	return status;
}
