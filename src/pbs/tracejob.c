// SPDX-License-Identifier: Apache-2.0
/* tracejob.c - tracejob: what happened to a job, in the order of time */
#include <ctype.h>
#include <errno.h>
#include <getopt.h>
#include <stdio.h>

#include "base/clock.h"
#include "base/jsonx.h"
#include "base/limits.h"
#include "base/mem.h"
#include "client/client.h"
#include "pbs/about.h"
#include "pbs/trace_files.h"

enum { DAY = 86400, DAYS_MOST = 36500 };

/* clang-format off */
static const char usage[] =
	"usage: tracejob [-n days] [-a] [-s] [-l] [-m] [-p path] [-q] [-v] [-z] job_identifier...\n"
	"\n"
	"  -n  how many days back to look (1)\n"
	"  -a  without the accounts\n"
	"  -s  without the server\n"
	"  -l  without the scheduler\n"
	"  -m  without the nodes\n"
	"  -p  data directory of a server that is not there to be asked, for its accounts (root)\n"
	"  -q -v -z -c -d -f -w  about the files of Torque's daemons: without effect\n";
/* clang-format on */

struct tracejob {
	struct pbs *p;
	struct trace_options o;
	char without[8];
	const char *dir; /* of the server's data; NULL: the server is asked */
	struct sbuf out;
};

/* Events about the job and about its pods, or those of its element; without the right to see them there are none. */
static json_t *find_events(struct pbs *p, const json_t *job, const struct pbs_id *id)
{
	auto_sbuf struct sbuf path = SBUF(LIMIT_URL);
	const char *name = jsonx_str_or(job, "metadata.name", "");
	json_t *found = json_array();
	json_auto_t *list = NULL;
	struct err e = ERR_INIT;
	json_t *event;
	size_t i;

	sbuf_adds(&path, "/api/v1/namespaces/");
	client_escape(&path, jsonx_str_or(job, "metadata.namespace", ""));
	sbuf_adds(&path, "/events");
	if (pbs_get(p, path.p, &list, &e) < 0)
		return found;
	json_array_foreach (json_object_get(list, "items"), i, event) {
		if (trace_is_about(event, name, id->elements))
			json_array_append(found, event);
	}
	return found;
}

/* The server reads its accounts for us, but for those of another one, or that are somewhere else now. */
static bool find_past(struct tracejob *t, const struct pbs_id *id)
{
	int why;

	if (!t->dir)
		return trace_records(t->p, id, &t->o, &t->out);
	if (trace_files(t->dir, id, &t->o, &t->out))
		return true;
	why = trace_files_trouble(t->dir);
	if (why)
		fprintf(stderr, "tracejob: %s/accounting/pbs: %s\n", t->dir, strerror(why));
	return false;
}

static int trace(struct tracejob *t, const char *operand)
{
	json_auto_t *events = NULL;
	json_auto_t *job = NULL;
	struct err e = ERR_INIT;
	struct pbs_id id;

	if (!pbs_id_parse(operand, &id)) {
		fprintf(stderr, "tracejob: illegally formed job identifier: %s\n", operand);
		return 1;
	}
	t->o.server = pbs_server_name(t->p);
	if (pbs_job_find(t->p, &id, &job, &e) < 0)
		return find_past(t, &id) ? 0 : pbs_fail(t->p, &e, operand);
	events = find_events(t->p, job, &id);
	trace_job(job, events, &t->o, &t->out);
	return 0;
}

/* -w, -f, -c and -d are about the files of Torque's daemons: read, and without effect. */
static int parse(struct tracejob *t, int argc, char **argv)
{
	int64_t days = 1;
	size_t n = 0;
	int c;

	opterr = 0;
	optind = 0;
	while ((c = getopt(argc, argv, "aslmqvzn:w:p:f:c:d:")) != -1) {
		if (c == '?' || (c == 'n' && !str_int64(optarg, 0, DAYS_MOST, &days)))
			return about_misuse(usage);
		if (c == 'p')
			t->dir = optarg;
		if (strchr("aslm", c) && n + 1 < sizeof(t->without))
			t->without[n++] = (char)toupper(c);
	}
	t->o.since = clock_wall() - days * DAY;
	t->o.without = t->without;
	return optind == argc ? about_misuse(usage) : 0;
}

int tracejob_main(struct pbs *p, int argc, char **argv)
{
	struct tracejob t = { .p = p, .out = SBUF(1u << 28) };
	int status;

	if (about_asked(argc, argv, usage))
		return 0;
	status = parse(&t, argc, argv);
	for (int i = optind; i < argc && status != 2; i++) {
		int r = trace(&t, argv[i]);

		status = status ? status : r;
	}
	about_write(&t.out, stdout);
	sbuf_done(&t.out);
	return status;
}
