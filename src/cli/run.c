// SPDX-License-Identifier: Apache-2.0
/* run.c - `stoker run`: a Job from a command line
 *
 * run_job.c makes the object, run_here.c tells it what this machine knows, run_watch.c does the watching.
 */
#include <stdio.h>
#include <unistd.h>

#include "base/jsonx.h"
#include "base/mem.h"
#include "cli/ending.h"
#include "cli/output.h"
#include "cli/run_here.h"
#include "cli/run_job.h"
#include "cli/run_watch.h"
#include "cli/show.h"
#include "kinds/rest.h"

struct run_settings {
	struct run_here_settings here;
	const char *output;
	bool watch, detach, remove, quiet;
};

#define AT(field) offsetof(struct run_settings, field)
static const struct opt run_opts[] = {
	{ .name = "workers",
	  .type = OPT_INT,
	  .offset = AT(here.job.workers),
	  .arg = "N",
	  .min = 1,
	  .max = 10000,
	  .help = "run the command N times at once, numbered by $WORKER" },
	{ .name = "retries",
	  .type = OPT_INT,
	  .offset = AT(here.job.retries),
	  .arg = "N",
	  .max = INT32_MAX,
	  .help = "start it again so often if it fails (default: 0)" },
	{ .name = "watch",
	  .letter = 'w',
	  .type = OPT_FLAG,
	  .offset = AT(watch),
	  .help = "show its output, and end with its exit status" },
	{ .name = "detach",
	  .letter = 'd',
	  .type = OPT_FLAG,
	  .offset = AT(detach),
	  .help = "come back as soon as it is submitted (the default)" },
	{ .name = "rm", .type = OPT_FLAG, .offset = AT(remove), .help = "remove the job when it has ended" },
	{ .name = "quiet", .letter = 'q', .type = OPT_FLAG, .offset = AT(quiet), .help = "with --watch: output only" },
	OUTPUT_OPT_SAYING(struct run_settings, "print the job as json, yaml or a line of ps, instead of its name"),
	RUN_OPTS,
	OPT_END,
};

struct session {
	const struct command *cmd;
	struct run_settings *s;
	struct connection c;
	struct run_here here;
	json_t *job, *service;
};

/* ---- what the server says ---- */

static int make(struct session *s, struct err *e)
{
	json_decref(s->job);
	json_decref(s->service);
	s->job = s->service = NULL;
	return run_job_make(&s->s->here.job, &s->job, &s->service, e);
}

/* Without the mount, if the user may not have it and the command can do without. */
static int settle_mount(struct session *s, struct err *e)
{
	bool changed;

	if (run_here_settle(&s->here, s->cmd->name, jsonx_at(s->job, "spec.template.spec"), &changed, e) < 0)
		return -1;
	return changed ? make(s, e) : 0;
}

static int submit_service(struct session *s, const json_t *job, struct err *e)
{
	struct ref ref = { .api_version = "v1", .plural = "services", .ns = s->s->here.job.ns };
	json_t *owner;

	if (!s->service)
		return 0;
	owner = json_pack("{s:s, s:s, s:s, s:s}", "apiVersion", "batch/v1", "kind", "Job", "name",
			  jsonx_str_or(job, "metadata.name", ""), "uid", jsonx_str_or(job, "metadata.uid", ""));
	jsonx_set_new(s->service, "metadata.ownerReferences", json_pack("[o]", owner));
	return client_create_wait(s->c.client, &ref, s->service, NULL, e);
}

static int submit(struct session *s, struct found *ret, struct err *e)
{
	struct ref ref = { .api_version = "batch/v1", .plural = "jobs", .ns = s->s->here.job.ns };
	json_auto_t *job = NULL;
	struct err ignored = ERR_INIT;

	if (client_create_wait(s->c.client, &ref, s->job, &job, e) < 0)
		return run_here_advice(e);
	found_init(ret, &kind_job, job);
	if (submit_service(s, job, e) == 0)
		return 0;
	ending_begin(s->c.client, ret, true, &ignored);
	found_done(ret);
	return err_prefix(e, "the service by which workers find each other");
}

/* ---- the command ---- */

static int print_dry(const struct session *s)
{
	const char *form = s->s->output ? s->s->output : "yaml";
	json_auto_t *items = json_pack("[O]", s->job);

	if (streq(form, "wide")) {
		struct found job;

		found_init(&job, &kind_job, s->job);
		show_found(NULL, form, &(const struct found *){ &job }, 1);
		found_done(&job);
		return 0;
	}
	if (s->service)
		json_array_append(items, s->service);
	if (s->service || streq(form, "name"))
		output_list(form, items);
	else
		output_object(form, s->job);
	return 0;
}

static void say_submitted(const struct session *s, const struct found *job)
{
	show_found(s->c.client, s->s->output ? s->s->output : "name", &job, 1);
	if (isatty(STDERR_FILENO) && !s->s->quiet)
		fprintf(stderr,
			"`stoker logs -f %s` shows its output, `stoker wait %s` waits for its end, `stoker kill %s` "
			"ends it.\n",
			job->name, job->name, job->name);
}

static int run_submitted(struct session *s, const struct found *job)
{
	struct run_watch_options o = { .quiet = s->s->quiet,
				       .remove = s->s->remove,
				       .many = s->s->here.job.workers > 1 };
	struct err e = ERR_INIT;
	int status;

	if (!s->s->watch) {
		say_submitted(s, job);
		return 0;
	}
	status = run_watch(s->cmd, &s->c, job, &o);
	if (s->s->remove && ending_begin(s->c.client, job, false, &e) < 0)
		command_fail(s->cmd, &e);
	return status;
}

static int prepare(struct session *s, struct err *e)
{
	if (s->s->watch && s->s->output)
		return err_set(e, ERR_BAD_REQUEST, "--watch prints the command's output; leave out -o");
	if (s->s->watch && s->s->detach)
		return err_set(e, ERR_BAD_REQUEST, "--watch and --detach exclude each other");
	if (run_here_init(&s->here, &s->s->here, s->c.client, e) < 0)
		return -1;
	s->s->here.job.remove = s->s->remove && !s->s->watch;
	return make(s, e);
}

static int run_session(struct session *s)
{
	struct err e = ERR_INIT;
	struct found job;
	int status;

	if (prepare(s, &e) < 0) /* the server has not been asked: a bad request is the command line's */
		return e.kind == ERR_BAD_REQUEST ? command_misused(s->cmd, &e) : command_fail(s->cmd, &e);
	if (s->s->here.dry_run)
		return print_dry(s);
	if (settle_mount(s, &e) < 0 || submit(s, &job, &e) < 0)
		return command_fail(s->cmd, &e);
	status = run_submitted(s, &job);
	found_done(&job);
	return status;
}

static void session_done(struct session *s)
{
	run_here_done(&s->here);
	json_decref(s->job);
	json_decref(s->service);
	connect_close(&s->c);
}

static int run_run(const struct command *cmd, int argc, char **argv)
{
	struct run_settings settings = { 0 };
	struct session s = { .cmd = cmd, .s = &settings, .here = { .s = &settings.here } };
	struct err e = ERR_INIT;
	int status;

	/* Options end where the command begins, with or without "--". */
	if (opt_parse(run_opts, &settings, argc, argv, true, &settings.here.job.command, &settings.here.job.ncommand,
		      &e) < 0)
		return command_misused(cmd, &e);
	if (settings.here.help) {
		command_help(cmd);
		return 0;
	}
	if (!settings.here.job.ncommand) {
		fprintf(stderr, "usage: stoker run %s\nSee `stoker run --help`.\n", cmd->args);
		return 2;
	}
	if (connect_open(&settings.here.connect, &s.c, &e) < 0)
		return command_fail(cmd, &e);
	status = run_session(&s);
	session_done(&s);
	return status;
}

const struct command cmd_run = {
	.name = "run",
	.args = "[options] [--] COMMAND [ARG]...",
	.summary = "Run a command as a job",
	.details =
		"With the image host (the default) the command runs here, in this directory and on your own files: "
		"your\n"
		"home is mounted, or this directory if it is elsewhere. Your environment is not copied; see --env.\n"
		"With --watch, Ctrl-C twice ends the job and Ctrl-\\ leaves it running.\n\n"
		"Each of several workers has WORKER (from 0) and WORKERS, and RANK, WORLD_SIZE, MASTER_ADDR and\n"
		"MASTER_PORT for frameworks that read those; worker I is known to the others as NAME-I.NAME.\n\n"
		"Exit status with --watch: the command's own, of several workers that of the first one that failed;\n"
		"128+N after signal N; 127 if there is no such command and 126 if it cannot be executed; 124 at the\n"
		"time limit; 130 after Ctrl-C; 143 if the job was deleted; 1 if it could not be submitted.\n\n"
		"Examples:\n"
		"  stoker run --gpus 1 -- python train.py --epochs 3\n"
		"  stoker run -w --mem 8G --time 2h make test\n"
		"  stoker run -w --workers 4 --gpus 1 -- python -m train.ddp\n"
		"  stoker run --image localhost/box:1 -v ./data:/data:ro -- /bin/evaluate /data\n"
		"  stoker run --dry-run -- sleep 10 > job.yaml\n",
	.opts = run_opts,
	.run = run_run,
};
