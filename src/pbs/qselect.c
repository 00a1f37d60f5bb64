// SPDX-License-Identifier: Apache-2.0
/* qselect.c - qselect: the ids of the jobs that are as the options say, one a line */
#include <getopt.h>
#include <stdio.h>

#include "base/clock.h"
#include "base/jsonx.h"
#include "pbs/about.h"
#include "pbs/board.h"
#include "pbs/select.h"

/* clang-format off */
static const char usage[] =
	"usage: qselect [-a [op]date_time] [-A account] [-c [op]interval] [-e] [-h hold_list] [-l resource.op.value,...]\n"
	"               [-N name] [-p [op]priority] [-q destination] [-r y|n] [-s states] [-u user_list]\n"
	"       op is one of .eq. .ne. .gt. .ge. .lt. .le.\n"
	"\n"
	"  -a  not to run before a time\n"
	"  -A  of this account\n"
	"  -c  with this checkpointing\n"
	"  -e  not in queues that only pass jobs on\n"
	"  -h  with all these holds: letters of uos, n for none\n"
	"  -l  with resources like these\n"
	"  -N  of this name\n"
	"  -p  of this priority\n"
	"  -q  in this queue\n"
	"  -r  that may be run again, or not\n"
	"  -s  in one of these states: letters of CEHQRSTW\n"
	"  -u  of one of these users: user[@host],...\n";
/* clang-format on */

static int parse(struct pbs *p, int argc, char **argv, struct select_terms *s, bool *ret_exec)
{
	struct err e = ERR_INIT;
	int c;

	opterr = 0;
	optind = 0;
	while ((c = getopt(argc, argv, "a:A:c:eh:l:N:p:q:r:s:u:")) != -1) {
		if (c == '?')
			return about_misuse(usage);
		if (c == 'e') {
			*ret_exec = true;
		} else if (select_add(s, (char)c, optarg, clock_wall(), &e) < 0) {
			fprintf(stderr, "%s: %s\n", p->command, e.text);
			return about_misuse(usage);
		}
	}
	return optind < argc ? about_misuse(usage) : 0;
}

/* Jobs in queues that only pass them on are not for -e; NULL: no such wish. */
static bool is_routed(const json_t *queues, const struct board_row *r)
{
	json_t *q;
	size_t i;

	json_array_foreach (json_object_get(queues, "items"), i, q)
		if (str_eq(r->c[COL_QUEUE], jsonx_str_or(q, "metadata.name", "")))
			return streq(jsonx_str_or(q, "spec.type", ""), "Route");
	return false;
}

static void choose(struct pbs *p, struct board *b, const struct select_terms *s, const json_t *queues, struct sbuf *out)
{
	struct board_job j;

	while (board_next(b, &j)) {
		auto_attributes struct pbs_attributes a = { 0 };
		struct pbs_view v = { .server = s->full ? pbs_server_name(p) : NULL, .host_style = 6 };

		if (j.job)
			pbs_attributes_of(j.job, &v, &a);
		if (select_matches(s, &j.row, &a) && !is_routed(queues, &j.row))
			sbuf_addf(out, "%.*s\n", STR_FMT(j.row.c[COL_ID]));
	}
}

int qselect_main(struct pbs *p, int argc, char **argv)
{
	auto_sbuf struct sbuf out = SBUF(1u << 30);
	auto_board struct board b = { 0 };
	struct select_terms s = { 0 };
	json_auto_t *queues = NULL;
	struct err e = ERR_INIT;
	bool exec = false;
	int status;

	if (about_asked(argc, argv, usage))
		return 0;
	status = parse(p, argc, argv, &s, &exec);
	if (status == 0 && (board_get(p, &(struct board_query){ .full = s.full }, &b, &e) < 0 ||
			    (exec && pbs_get(p, PBS_API "/queues", &queues, &e) < 0)))
		status = pbs_fail(p, &e, NULL);
	else if (status == 0)
		choose(p, &b, &s, queues, &out);
	about_write(&out, stdout);
	select_done(&s);
	return status;
}
