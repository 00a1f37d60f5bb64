// SPDX-License-Identifier: Apache-2.0
/* qstat_options.c - see qstat_options.h */
#include "pbs/qstat_options.h"

#include <getopt.h>
#include <stdlib.h>

#include "base/mem.h"

/* clang-format off */
const char qstat_usage[] =
	"usage: qstat [-f [-1]] [-x] [-F json|dsv [-D delimiter]] [-t] [-c] [-e] [-u user_list] [job_identifier... | destination...]\n"
	"       qstat [-a|-i|-r|-H] [-n [-1]] [-s] [-t] [-c] [-e] [-G|-M] [-u user_list] [job_identifier... | destination...]\n"
	"       qstat -q [-G|-M] [destination...]\n"
	"       qstat -Q [-f [-1]] [destination...]\n"
	"       qstat -B [-f [-1]] [server_name...]\n"
	"\n"
	"  -a  all jobs, in the wide form\n"
	"  -i  only jobs that do not run\n"
	"  -r  only jobs that run or are suspended\n"
	"  -H  only jobs that have ended and are still kept\n"
	"  -u  only jobs of these users: user[@host],...\n"
	"  -n  also where they run\n"
	"  -s  also the comment\n"
	"  -1  -n: on the same line; -f: long values are not folded\n"
	"  -G  sizes in gigabytes\n"
	"  -M  sizes in megawords\n"
	"  -R  also reservations of disks, of which there are none\n"
	"  -t  elements of arrays instead of the arrays\n"
	"  -c  without completed jobs\n"
	"  -e  without jobs in queues that only pass them on\n"
	"  -f  everything about them\n"
	"  -x  the same as XML\n"
	"  -F  the same in another form: json, or dsv: a line each\n"
	"  -D  what is between two attributes of dsv (|)\n"
	"  -q  queues: what they take\n"
	"  -Q  queues: how many jobs they have\n"
	"  -B  the server\n"
	"  -W  for sites; without effect\n";
/* clang-format on */

static bool any(const struct qstat_options *o, const char *letters)
{
	for (; *letters; letters++)
		if (o->given[(unsigned char)*letters])
			return true;
	return false;
}

/* An option, and those it does not go with. */
static const struct {
	char letter;
	const char *against;
	bool named; /* in what is said about it */
} conflicts[] = {
	{ 'f', "airnsqH", true },
	{ 'x', "airnsqH", true },
	{ 'F', "airnsqH", true },
	{ 'B', "QqairnsHu", true },
	{ 'Q', "qairnsHu", true },
	{ 'a', "irH" },
	{ 'i', "rH" },
	{ 'r', "H" },
	{ 'G', "M" },
};

static bool in_conflict(const struct qstat_options *o, struct sbuf *wrong)
{
	for (size_t i = 0; i < ARRAY_SIZE(conflicts); i++) {
		if (!o->given[(unsigned char)conflicts[i].letter] || !any(o, conflicts[i].against))
			continue;
		sbuf_adds(wrong, "qstat: conflicting options.\n");
		if (conflicts[i].named)
			sbuf_addf(wrong, " -%c incompatible with one or more options. Read qstat man page\n",
				  conflicts[i].letter);
		return true;
	}
	if (any(o, "D") && !str_same(o->form, "dsv")) {
		sbuf_adds(wrong, "qstat: conflicting options.\n");
		return true;
	}
	if (!any(o, "1") || any(o, "nfxF"))
		return false;
	sbuf_adds(wrong, "qstat: conflicting options.\n");
	return true;
}

static enum qstat_mode mode_of(const struct qstat_options *o)
{
	if (any(o, "B"))
		return QSTAT_SERVER;
	if (any(o, "Q"))
		return QSTAT_QUEUES;
	if (any(o, "q"))
		return QSTAT_LIMITS;
	if (any(o, "fxF"))
		return QSTAT_FULL;
	return any(o, "airnsuHGMR") ? QSTAT_WIDE : QSTAT_PLAIN;
}

static int misused(struct sbuf *wrong)
{
	sbuf_add(wrong, qstat_usage, (size_t)(strstr(qstat_usage, "\n\n") - qstat_usage) + 1);
	return 2;
}

int qstat_options_parse(int argc, char **argv, struct qstat_options *ret, struct sbuf *wrong)
{
	static const struct option words[] = { { "help", no_argument, NULL, 'h' },
					       { "version", no_argument, NULL, 'v' },
					       { "about", no_argument, NULL, 'v' },
					       { 0 } };
	struct qstat_options o = { .delimiter = "|" };
	int c;

	opterr = 0;
	optind = 0;
	while ((c = getopt_long(argc, argv, "aBcD:efF:GHiMnqQrRstu:W:x1", words, NULL)) != -1) {
		if (c == '?' || (c == 'F' && !streq(optarg, "json") && !streq(optarg, "dsv"))) {
			if (c == 'F')
				sbuf_addf(wrong, "qstat: illegal -F value: %s (json and dsv are there)\n", optarg);
			else
				sbuf_addf(wrong, "qstat: invalid option -- %s\n", argv[optind > 1 ? optind - 1 : 1]);
			return misused(wrong);
		}
		if (c == 'h' || c == 'v') {
			ret->mode = c == 'h' ? QSTAT_HELP : QSTAT_VERSION;
			return 0;
		}
		o.given[c] = true;
		if (c == 'u')
			o.users = optarg;
		if (c == 'F')
			o.form = optarg;
		if (c == 'D')
			o.delimiter = optarg;
	}
	if (in_conflict(&o, wrong))
		return misused(wrong);
	o.mode = mode_of(&o);
	o.operands = argv + optind;
	o.n = argc - optind;
	*ret = o;
	return 0;
}

bool qstat_wants(const struct qstat_options *o, char state)
{
	if (o->given['i'] && !strchr("EHQTW", state))
		return false;
	if (o->given['r'] && !strchr("RS", state))
		return false;
	if (o->given['H'] && state != 'C')
		return false;
	return !o->given['c'] || state != 'C';
}
