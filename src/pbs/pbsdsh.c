// SPDX-License-Identifier: Apache-2.0
/* pbsdsh.c - runs a program on the nodes of the job that it is called in
 *
 * Each is an exec into the job's pod on that node: in the job's control group, as its user, with its environment.  What
 * they print comes here.  The script may run before the job's other pods do, or are known to: they are waited for.
 */
#include <getopt.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/file.h"
#include "base/jsonx.h"
#include "base/limits.h"
#include "base/mem.h"
#include "client/terminal.h"
#include "kinds/pbs_far.h"
#include "pbs/about.h"
#include "pbs/dsh_far.h"
#include "pbs/dsh_plan.h"
#include "pbs/own_job.h"

#define JOB_CONTAINER "job"
#define TOKEN         "/var/run/secrets/kubernetes.io/serviceaccount/token"

static const char usage[] = "usage: pbsdsh [-c copies] [-o] [-s] [-u] [-v] [-e variables] [-E] program [args]\n"
			    "       pbsdsh [-n slot] [-o] [-s] [-v] [-e variables] [-E] program [args]\n"
			    "       pbsdsh [-h host] [-o] [-s] [-v] [-e variables] [-E] program [args]\n"
			    "\n"
			    "Runs a program on every slot of the job, in the order of the node file.\n"
			    "\n"
			    "  -c COPIES  on the first so many slots\n"
			    "  -n SLOT    on one slot: a number from 0\n"
			    "  -h HOST    on one host\n"
			    "  -u         once on every host\n"
			    "  -s         one after the other\n"
			    "  -o         accepted: output always comes here\n"
			    "  -v         says what is started and how it ended\n"
			    "  -e LIST    passes variables on: NAME or NAME=value, separated by commas\n"
			    "  -E         passes all variables on\n"
			    "      --help      shows this\n"
			    "      --version   shows the version\n";

struct dsh {
	struct pbs *pbs;
	struct dsh_ask ask;
	bool one_by_one, verbose;
	struct dsh_task *tasks;
	size_t n;
	int signo;
};

static int number(const char *text, int letter, int64_t least, int64_t *ret, struct err *e)
{
	if (str_int64(text, least, INT32_MAX, ret))
		return 0;
	return err_set(e, ERR_INVALID, "-%c: \"%s\" is not a number of at least %lld", letter, text, (long long)least);
}

static int take(struct dsh *d, int letter, struct err *e)
{
	switch (letter) {
	case 'c':
		return number(optarg, letter, 1, &d->ask.copies, e);
	case 'n':
		return number(optarg, letter, 0, &d->ask.slot, e);
	case 'h':
		d->ask.host = optarg;
		return 0;
	case 'e':
		d->ask.env = optarg;
		return 0;
	case 'u':
		d->ask.each_host = true;
		return 0;
	case 's':
		d->one_by_one = true;
		return 0;
	case 'v':
		d->verbose = true;
		return 0;
	case 'E':
		d->ask.all_env = true;
		return 0;
	default:
		return letter == 'o' ? 0 : err_set(e, ERR_INVALID, "unknown option");
	}
}

/* False: the usage is to be shown; e says why if it can be said. */
static bool read_arguments(struct dsh *d, int argc, char **argv, struct err *e)
{
	int letter;

	optind = 0;
	opterr = 0;
	while ((letter = getopt(argc, argv, "+c:n:h:e:osuvE")) != -1)
		if (letter == '?' || take(d, letter, e) < 0)
			return false;
	d->ask.program = argv + optind;
	d->ask.environ = environ;
	if ((d->ask.copies > 0) + (d->ask.slot >= 0) + (d->ask.host != NULL) > 1)
		return err_set(e, ERR_INVALID, "-c, -n and -h exclude each other") == 0;
	return argc > optind;
}

static bool on_signal(void *arg, int signo)
{
	struct dsh *d = arg;

	/* Sessions that are closed end what runs in them. */
	d->signo = signo;
	return false;
}

static int address(const struct dsh *d, const struct dsh_task *t, struct sbuf *out, struct err *e)
{
	char **command = dsh_command(&d->ask, t);

	job_pod_path(d->pbs->ns, t->pod, out);
	sbuf_adds(out, "/exec");
	terminal_query(out, JOB_CONTAINER, false, false, (const char *const *)command);
	dsh_command_free(command);
	return out->over ? err_set(e, ERR_TOO_LARGE, "program, arguments and variables are too long") : 0;
}

/* Tasks from `first` on; the worst exit status. */
static int run_some(struct dsh *d, size_t first, size_t n, struct err *e)
{
	struct pbs_join *joins = xcalloc(n, sizeof(*joins));
	struct sbuf *paths = xcalloc(n, sizeof(*paths));
	int worst = 0, r = 0;

	for (size_t i = 0; i < n && r == 0; i++) {
		paths[i] = SBUF(LIMIT_URL);
		r = address(d, &d->tasks[first + i], &paths[i], e);
		joins[i] = (struct pbs_join){ .path = paths[i].p, .patient = true, .e = ERR_INIT };
		if (d->verbose)
			fprintf(stderr, "pbsdsh: spawned task %zu on %s\n", first + i, d->tasks[first + i].pod);
	}
	if (r == 0)
		r = d->pbs->door->join(d->pbs->open, joins, n, on_signal, d, e);
	for (size_t i = 0; i < n; i++) {
		sbuf_done(&paths[i]);
		if (r < 0 || !joins[i].over)
			continue;
		if (joins[i].e.kind != ERR_NONE) {
			fprintf(stderr, "pbsdsh: task %zu: %s\n", first + i, joins[i].e.text);
			joins[i].status = 1;
		} else if (d->verbose) {
			fprintf(stderr, "pbsdsh: task %zu exit status %d\n", first + i, joins[i].status);
		}
		worst = joins[i].status > worst ? joins[i].status : worst;
	}
	free(paths);
	free(joins);
	return r < 0 ? -1 : worst;
}

static int run_all(struct dsh *d, struct err *e)
{
	size_t step = d->one_by_one ? 1 : d->n;
	int worst = 0;

	for (size_t i = 0; i < d->n && !d->signo; i += step) {
		int r = run_some(d, i, step, e);

		if (r < 0)
			return -1;
		worst = r > worst ? r : worst;
	}
	return d->signo ? 128 + d->signo : worst;
}

static int fail(struct dsh *d, const struct err *e)
{
	if (d->pbs->connect_errno)
		pbs_fail_connect(d->pbs);
	else
		fprintf(stderr, "pbsdsh: %s\n", e->text);
	return 1;
}

/* In a pod of another cluster.  Its account there is the way to the job's other pods; whatever else the environment
 * names is of the machine that the job was submitted on. */
static int run_far(struct dsh *d, const char *text)
{
	auto_sbuf struct sbuf lines = SBUF(LIMIT_BODY);
	const char *file = getenv("PBS_NODEFILE");
	json_auto_t *pods = NULL;
	json_auto_t *job = NULL;
	struct err e = ERR_INIT;
	int status;

	if (access(TOKEN, R_OK) < 0) {
		fprintf(stderr, "pbsdsh: this job may start nothing by the cluster: it has one node only, or the "
				"operator of this PBS was started without --pbs-account\n");
		return 1;
	}
	unsetenv("STOKER_SOCKET");
	unsetenv("KUBECONFIG");
	if (file_read(file ? file : "", LIMIT_BODY, &lines, &e) < 0 ||
	    dsh_far(text, sbuf_str(&lines), &job, &pods, &e) < 0 || !pbs_namespace(d->pbs, &e))
		return fail(d, &e);
	free(d->pbs->ns);
	d->pbs->ns = xstrdup(jsonx_str_or(job, "metadata.namespace", ""));
	if (dsh_plan(&d->ask, job, pods, &d->tasks, &d->n, &e) < 0)
		return fail(d, &e);
	status = run_all(d, &e);
	free(d->tasks);
	return status < 0 ? fail(d, &e) : status;
}

static int run(struct dsh *d)
{
	json_auto_t *pods = NULL;
	json_auto_t *job = NULL;
	struct err e = ERR_INIT;
	struct pbs_id id;
	int status;

	if (job_pods(d->pbs, &pods, &e) < 0)
		return fail(d, &e);
	if (!pods || !pbs_id_parse(getenv("PBS_JOBID"), &id)) {
		fprintf(stderr, "pbsdsh: not executing under PBS\n");
		return 1;
	}
	if (pbs_job_find(d->pbs, &id, &job, &e) < 0 || dsh_plan(&d->ask, job, pods, &d->tasks, &d->n, &e) < 0)
		return fail(d, &e);
	status = run_all(d, &e);
	free(d->tasks);
	return status < 0 ? fail(d, &e) : status;
}

int pbsdsh_main(struct pbs *p, int argc, char **argv)
{
	struct dsh d = { .pbs = p, .ask = { .slot = -1 } };
	const char *id = getenv("PBS_JOBID");
	const char *far = getenv(PBS_FAR_JOB);
	struct err e = ERR_INIT;

	if (about_asked(argc, argv, usage))
		return 0;
	if (!read_arguments(&d, argc, argv, &e)) {
		if (e.kind != ERR_NONE)
			fprintf(stderr, "pbsdsh: %s\n", e.text);
		return about_misuse(usage);
	}
	if (!id || !*id) {
		fprintf(stderr, "pbsdsh: not executing under PBS\n");
		return 1;
	}
	if (!p->door->join)
		pbs_run_stoker(p->command, argc, argv);
	if (!p->door->join) {
		fprintf(stderr, "pbsdsh: stoker must lie beside this program\n");
		return 1;
	}
	return far && *far ? run_far(&d, far) : run(&d);
}
