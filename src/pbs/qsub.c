// SPDX-License-Identifier: Apache-2.0
/* qsub.c - submits a job
 *
 * The way of a submission: the command line, the script with its directives, what does not go together, a PBSJob, one
 * POST.  Nothing is asked of the server before that one request, which is most of what qsub takes.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/jsonx.h"
#include "base/limits.h"
#include "base/mem.h"
#include "client/client.h"
#include "pbs/block.h"
#include "pbs/checks.h"
#include "pbs/config.h"
#include "pbs/interactive.h"
#include "pbs/job.h"
#include "pbs/options.h"
#include "pbs/pbs.h"
#include "pbs/refusal.h"
#include "pbs/script.h"

struct qsub {
	struct pbs *pbs;
	struct ask ask;
	struct pairs config;
	int argc;
	char *const *argv;
	struct sbuf script; /* as it is kept */
};

/* ---- ends ---- */

static int show_refusal(struct qsub *q, const struct err *e)
{
	return refusal_show(&q->ask, q->pbs->command, e);
}

static int refused_by_server(struct qsub *q, const struct err *e)
{
	const char *words;
	int number;

	if (q->pbs->connect_errno)
		return pbs_fail_connect(q->pbs);
	number = pbs_error_of(e, &words);
	fprintf(stderr, "%s: submit error (%s)\n", q->pbs->command, words);
	return number % 256;
}

/* ---- the script ---- */

static int read_all(int fd, struct sbuf *out, const char *name, struct err *e)
{
	char piece[65536];
	ssize_t n;

	while ((n = read(fd, piece, sizeof(piece))) != 0) {
		if (n < 0 && errno != EINTR)
			return err_set(e, ERR_INVALID, "script file '%s' cannot be loaded - %s", name, strerror(errno));
		if (n > 0)
			sbuf_add(out, piece, (size_t)n);
		if (out->over)
			return err_set(e, ERR_TOO_LARGE, "script file '%s' is larger than %u bytes", name, LIMIT_BODY);
	}
	return 0;
}

static int read_script(const char *path, struct sbuf *out, struct err *e)
{
	auto_close int fd = -1;
	struct stat st;

	if (!path || streq(path, "-"))
		return read_all(STDIN_FILENO, out, "standard input", e);
	if (stat(path, &st) == 0 && !S_ISREG(st.st_mode))
		return err_set(e, ERR_INVALID, "script not a file");
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return err_set(e, ERR_INVALID, "script file '%s' cannot be loaded - %s", path, strerror(errno));
	return read_all(fd, out, path, e);
}

static int on_directive(void *arg, struct str rest, struct err *e)
{
	struct qsub *q = arg;

	return options_directive(&q->ask, rest, e);
}

/* Reads, filters, checks and scans it. */
static int take_script(struct qsub *q, struct err *e)
{
	auto_sbuf struct sbuf text = SBUF(LIMIT_BODY);
	auto_sbuf struct sbuf filtered = SBUF(LIMIT_BODY);
	const char *filter = pairs_find(&q->config, "SUBMITFILTER");
	const char *prefix = ask_find(&q->ask, 'C');
	struct str script;
	size_t line = 0;

	q->ask.refusal = REFUSE_PLAIN;
	q->ask.status = 1;
	if (read_script(q->ask.script, &text, e) < 0)
		return -1;
	script = sbuf_str(&text);
	if (filter && filter[0]) {
		if (filter_run(filter, q->argc, q->argv, script, &filtered, e) < 0)
			return -1;
		script = sbuf_str(&filtered);
	}
	if (!script.n)
		return err_set(e, ERR_INVALID, "the script is empty");
	if (script_check(script, e) < 0)
		return -1;
	if (script_scan(script, prefix ? prefix : "#PBS", on_directive, q, &q->script, &line, e) == 0)
		return 0;
	ask_refused_at(&q->ask, line);
	return -1;
}

/* ---- the submission ---- */

static const char *variable(const char *name)
{
	return getenv(name);
}

static void join_arguments(int argc, char *const *argv, struct sbuf *out)
{
	for (int i = 1; i < argc; i++)
		sbuf_addf(out, "%s%s", i > 1 ? " " : "", argv[i]);
}

static json_t *make_job(struct qsub *q)
{
	auto_sbuf struct sbuf host = SBUF(256);
	auto_sbuf struct sbuf arguments = SBUF(1 << 16);
	auto_free char *cwd = path_cwd();
	const char *other_host = pairs_find(&q->config, "QSUBHOST");
	const char *rerun = pairs_find(&q->config, "RERUNNABLEBYDEFAULT");
	bool interactive = job_is_interactive(&q->ask);
	struct submitter who = { .environment = environ,
				 .now = clock_wall(),
				 .rerunnable = !rerun || (rerun[0] != 'f' && rerun[0] != 'F') };

	pbs_host_name(&host);
	join_arguments(q->argc, q->argv, &arguments);
	who.place = (struct place){ .host = other_host && other_host[0] ? other_host : host.p,
				    .cwd = cwd,
				    .variable = variable,
				    .is_directory = check_directory };
	who.arguments = arguments.p ? arguments.p : "";
	return job_make(&q->ask, &who, interactive ? (struct str){ 0 } : sbuf_str(&q->script));
}

static int submit(struct qsub *q)
{
	auto_sbuf struct sbuf path = SBUF(LIMIT_URL);
	json_auto_t *job = make_job(q);
	json_auto_t *made = NULL;
	const char *block = pairs_find(&q->ask.attributes, "block");
	struct err e = ERR_INIT;

	if (!pbs_namespace(q->pbs, &e))
		return refused_by_server(q, &e);
	sbuf_adds(&path, PBS_API "/namespaces/");
	client_escape(&path, q->pbs->ns);
	sbuf_adds(&path, "/pbsjobs");
	if (pbs_post(q->pbs, path.p, job, &made, &e) < 0)
		return refused_by_server(q, &e);
	if (job_is_interactive(&q->ask))
		return interactive_run(q->pbs, made);
	if (!ask_find(&q->ask, 'z')) {
		puts(jsonx_str_or(made, "status.id", jsonx_str_or(made, "metadata.name", "")));
		fflush(stdout);
	}
	return block && (block[0] == 't' || block[0] == 'T') ? block_until_done(q->pbs, made) : 0;
}

static int may_submit(struct qsub *q, struct err *e)
{
	const char *root = getenv("STOKER_PBS_ROOT");

	if (geteuid() == 0 && (!root || !streq(root, "1")))
		return ask_refuse(&q->ask, e, REFUSE_BARE, 1, "qsub can not be run as root");
	if (!job_is_interactive(&q->ask))
		return 0;
	if (!isatty(STDIN_FILENO) || !isatty(STDOUT_FILENO))
		return ask_refuse(&q->ask, e, REFUSE_BARE, 1,
				  "qsub:\tstandard input and output must be a terminal for \n"
				  "\tinteractive job submission");
	if (q->pbs->door->attach)
		return 0;
	pbs_run_stoker(q->pbs->command, q->argc, q->argv);
	return ask_refuse(&q->ask, e, REFUSE_PLAIN, 1, "interactive jobs need the program stoker beside this one");
}

static int run(struct qsub *q)
{
	struct err e = ERR_INIT;
	const char *retry;
	bool needs_script;

	options_environment(&q->ask);
	if (options_argv(&q->ask, q->argc, q->argv, &e) < 0)
		return show_refusal(q, &e);
	config_read(&q->config);
	needs_script =
		!q->ask.command && (!job_is_interactive(&q->ask) || q->ask.script) && !job_script_is_command(&q->ask);
	if ((needs_script && take_script(q, &e) < 0) || job_check(&q->ask, &e) < 0 || may_submit(q, &e) < 0)
		return show_refusal(q, &e);
	retry = ask_find(&q->ask, 'b');
	if (retry)
		str_int64(retry, 0, INT32_MAX, &q->pbs->retry_seconds);
	return submit(q);
}

static int show_help(void)
{
	auto_sbuf struct sbuf text = SBUF(1 << 16);

	options_usage(false, &text);
	sbuf_adds(&text, "\nSubmits a script, standard input or a command as a job and prints its id.  Lines of the "
			 "script that\n"
			 "begin with #PBS have options too; those of the command line are stronger.\n\n");
	options_help(false, &text);
	fputs(text.p, stdout);
	return 0;
}

int qsub_main(struct pbs *p, int argc, char **argv)
{
	struct qsub q = { .pbs = p, .argc = argc, .argv = argv, .script = SBUF(LIMIT_BODY) };
	int status;

	if (argc == 2 && streq(argv[1], "--help"))
		return show_help();
	if (argc == 2 && (streq(argv[1], "--version") || streq(argv[1], "--about")))
		return pbs_version();
	status = run(&q);
	ask_done(&q.ask);
	pairs_done(&q.config);
	sbuf_done(&q.script);
	return status;
}
