// SPDX-License-Identifier: Apache-2.0
/* train.c - `stoker train`: a training job from a command line or a manifest, followed until its end
 *
 * train_job.c makes the object, run_here.c tells it what this machine knows, follow_watch.c does the following.
 */
#include <stdio.h>
#include <unistd.h>

#include "base/file.h"
#include "base/jsonx.h"
#include "base/limits.h"
#include "base/mem.h"
#include "base/yamlx.h"
#include "cli/follow_watch.h"
#include "cli/output.h"
#include "cli/run_here.h"
#include "cli/show.h"
#include "cli/train_job.h"

struct train_settings {
	struct run_here_settings here;
	struct train_options job;
	const char *file, *output;
	bool detach, logs;
};

#define AT(field) offsetof(struct train_settings, field)
static const struct opt train_opts[] = {
	{ .name = "framework",
	  .type = OPT_CHOICE,
	  .offset = AT(job.framework),
	  .arg = "NAME",
	  .choices = TRAIN_FRAMEWORKS,
	  .help = "tensorflow, pytorch, paddle or mpi (default: guessed from the command)" },
	{ .name = "workers",
	  .type = OPT_INT,
	  .offset = AT(job.workers),
	  .arg = "N",
	  .max = 10000,
	  .help = "workers; besides the master of pytorch and the chief of tensorflow" },
	{ .name = "ps",
	  .type = OPT_INT,
	  .offset = AT(job.ps),
	  .arg = "N",
	  .max = 10000,
	  .help = "parameter servers (tensorflow, paddle)" },
	{ .name = "chief",
	  .type = OPT_FLAG,
	  .offset = AT(job.chief),
	  .help = "with a chief (default: if there are --ps)" },
	{ .name = "no-chief", .type = OPT_FLAG, .offset = AT(job.no_chief), .help = "without one: worker 0 leads" },
	{ .name = "evaluator",
	  .type = OPT_FLAG,
	  .offset = AT(job.evaluator),
	  .help = "with an evaluator (tensorflow)" },
	{ .name = "slots",
	  .type = OPT_INT,
	  .offset = AT(job.slots),
	  .arg = "N",
	  .min = 1,
	  .max = 1024,
	  .help = "processes in each worker (mpi; default: 1)" },
	{ .name = "nproc-per-node",
	  .type = OPT_STRING,
	  .offset = AT(job.nproc),
	  .arg = "N",
	  .help = "processes that torchrun starts in each replica: a number, auto, cpu or gpu" },
	{ .name = "elastic",
	  .type = OPT_STRING,
	  .offset = AT(job.elastic),
	  .arg = "MIN:MAX",
	  .help = "torchrun goes on with fewer or more workers; there is no master" },
	{ .name = "restart",
	  .type = OPT_CHOICE,
	  .offset = AT(job.restart),
	  .arg = "WHEN",
	  .choices = TRAIN_RESTARTS,
	  .help = "of a replica that fails: never (the default), onfailure, exitcode (if it was killed), or gang (all "
		  "together)" },
	{ .name = "backoff-limit",
	  .type = OPT_INT,
	  .offset = AT(job.backoff),
	  .arg = "N",
	  .max = INT32_MAX,
	  .help = "restarts there may be in all (default: 6)" },
	{ .name = "hang-after",
	  .type = OPT_STRING,
	  .offset = AT(job.hang_after),
	  .arg = "TIME",
	  .help = "a job that neither prints nor computes for so long hangs" },
	{ .name = "deadline",
	  .type = OPT_STRING,
	  .offset = AT(here.job.time),
	  .arg = "LIMIT",
	  .help = "another name for --time" },
	{ .name = "ttl",
	  .type = OPT_STRING,
	  .offset = AT(here.job.keep),
	  .arg = "TIME",
	  .help = "another name for --keep" },
	{ .name = "filename",
	  .letter = 'f',
	  .type = OPT_STRING,
	  .offset = AT(file),
	  .arg = "FILE",
	  .help = "a manifest with one training job instead of a command; - is stdin" },
	{ .name = "detach",
	  .letter = 'd',
	  .type = OPT_FLAG,
	  .offset = AT(detach),
	  .help = "come back as soon as it is submitted" },
	{ .name = "logs", .type = OPT_FLAG, .offset = AT(logs), .help = "show all output too, marked by its replica" },
	OUTPUT_OPT_SAYING(struct train_settings,
			  "json: an object a line for each change; with --detach or --dry-run how to print the job"),
	RUN_OPTS,
	OPT_END,
};

struct session {
	const struct command *cmd;
	struct train_settings *s;
	struct connection c;
	struct run_here here;
	const struct kind *kind;
	json_t *job;
};

/* ---- from a command line ---- */

static bool read_script(const char *path, struct sbuf *out)
{
	struct err ignored = ERR_INIT;

	return file_read(path, out->max, out, &ignored) == 0;
}

static int make(struct session *s, struct err *e)
{
	json_decref(s->job);
	s->job = NULL;
	return train_job_make(&s->s->here.job, &s->s->job, &s->kind, &s->job, e);
}

static const json_t *some_pod_spec(const json_t *job)
{
	const char *key;
	json_t *specs;
	json_t *replica;

	json_object_foreach (jsonx_at(job, "spec"), key, specs)
		if (str_ends(key, "ReplicaSpecs"))
			json_object_foreach (specs, key, replica)
				return jsonx_at(replica, "template.spec");
	return NULL;
}

static int from_command(struct session *s, struct err *e)
{
	bool changed;

	if (client_is_local(s->c.client))
		s->s->job.read = read_script;
	if (run_here_init(&s->here, &s->s->here, s->c.client, e) < 0 || make(s, e) < 0)
		return -1;
	if (s->s->here.dry_run)
		return 0;
	if (run_here_settle(&s->here, s->cmd->name, some_pod_spec(s->job), &changed, e) < 0)
		return -1;
	return changed ? make(s, e) : 0;
}

/* ---- from a manifest ---- */

/* Options that say how to make a job; the manifest has said it. */
static const char *spoken_option(const struct train_settings *s)
{
	const struct run_options *r = &s->here.job;
	const struct train_options *o = &s->job;
	const struct {
		const char *name;
		bool given;
	} rows[] = {
		{ "framework", o->framework },
		{ "workers", o->workers >= 0 },
		{ "ps", o->ps >= 0 },
		{ "chief", o->chief },
		{ "no-chief", o->no_chief },
		{ "evaluator", o->evaluator },
		{ "slots", o->slots >= 0 },
		{ "nproc-per-node", o->nproc },
		{ "elastic", o->elastic },
		{ "restart", o->restart },
		{ "backoff-limit", o->backoff >= 0 },
		{ "hang-after", o->hang_after },
		{ "name", r->name },
		{ "image", r->image },
		{ "gpus", r->gpus },
		{ "cpus", r->cpus },
		{ "mem", r->mem },
		{ "env", r->env.n },
		{ "env-file", s->here.env_files.n },
		{ "volume", r->volumes.n },
		{ "workdir", r->workdir },
		{ "no-mount", s->here.no_mount },
		{ "queue", r->queue },
		{ "priority-class", r->priority_class },
		{ "begin", r->begin },
		{ "after", r->after.n },
		{ "time", r->time },
		{ "keep", r->keep },
		{ "node", r->node },
		{ "label", r->labels.n },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		if (rows[i].given)
			return rows[i].name;
	return NULL;
}

static int from_manifest(struct session *s, struct err *e)
{
	const char *path = streq(s->s->file, "-") ? "/dev/stdin" : s->s->file;
	const char *ns = s->s->here.job.ns;
	auto_sbuf struct sbuf text = SBUF(LIMIT_OBJECT);
	json_auto_t *docs = NULL;

	if (file_read(path, LIMIT_OBJECT, &text, e) < 0)
		return err_prefix(e, "--filename");
	if (yamlx_parse_all(text.p ? text.p : "", text.n, NULL, NULL, &docs, e) < 0 ||
	    train_job_of_manifest(docs, ns, &s->kind, &s->job, e) < 0)
		return err_prefix(e, "%s", s->s->file);
	if (!jsonx_str(s->job, "metadata.namespace"))
		jsonx_set_new(s->job, "metadata.namespace",
			      jsonx_string(ns ? ns : client_default_namespace(s->c.client)));
	return 0;
}

/* ---- the command ---- */

static int check(const struct train_settings *s, struct err *e)
{
	const char *spoken = s->file ? spoken_option(s) : NULL;

	if (s->file && s->here.job.ncommand)
		return err_set(e, ERR_BAD_REQUEST, "--filename and a command exclude each other");
	if (spoken)
		return err_set(e, ERR_BAD_REQUEST, "--%s: the manifest of --filename says how the job is", spoken);
	if (!s->detach && !s->here.dry_run && s->output && !streq(s->output, "json"))
		return err_set(e, ERR_BAD_REQUEST, "-o %s prints the job once; add --detach, or --dry-run", s->output);
	if (s->detach && s->logs)
		return err_set(e, ERR_BAD_REQUEST,
			       "--detach comes back at once, and --logs shows output; leave one out");
	return 0;
}

/* What can be done about a name that is taken depends on who chose it. */
static int advise(const struct session *s, struct err *e)
{
	auto_free char *text = xstrdup(e->text);
	const char *name = jsonx_str_or(s->job, "metadata.name", "NAME");

	if (e->kind != ERR_EXISTS || !s->s->file)
		return run_here_advice(e);
	return err_reword(e, e->kind,
			  "%s; `stoker follow %s` watches that one, `stoker kill --remove %s` makes room for a new one",
			  text, name, name);
}

static int submit(struct session *s, struct found *ret, struct err *e)
{
	struct ref ref = { .api_version = jsonx_str_or(s->job, "apiVersion", ""),
			   .plural = s->kind->plural,
			   .ns = jsonx_str_or(s->job, "metadata.namespace", "") };
	json_auto_t *job = NULL;

	if (client_create_wait(s->c.client, &ref, s->job, &job, e) < 0)
		return advise(s, e);
	found_init(ret, s->kind, job);
	return 0;
}

static void print_dry(const struct session *s)
{
	const char *form = s->s->output ? s->s->output : "yaml";
	struct found job;

	found_init(&job, s->kind, s->job);
	show_found(NULL, form, &(const struct found *){ &job }, 1);
	found_done(&job);
}

static int go_on(struct session *s, const struct found *job)
{
	struct follow_options o = { .logs = s->s->logs, .json = s->s->output != NULL, .created = true };

	if (!s->s->detach)
		return follow_watch(s->cmd, &s->c, job, &o);
	show_found(s->c.client, s->s->output ? s->s->output : "name", &job, 1);
	if (isatty(STDERR_FILENO))
		fprintf(stderr, "`stoker follow %s` shows how it goes, `stoker kill %s` ends it.\n", job->name,
			job->name);
	return 0;
}

static int run_session(struct session *s)
{
	struct err e = ERR_INIT;
	struct found job;
	int status;

	if ((s->s->file ? from_manifest(s, &e) : from_command(s, &e)) < 0)
		return e.kind == ERR_BAD_REQUEST ? command_misused(s->cmd, &e) : command_fail(s->cmd, &e);
	if (s->s->here.dry_run) {
		print_dry(s);
		return 0;
	}
	if (submit(s, &job, &e) < 0)
		return command_fail(s->cmd, &e);
	status = go_on(s, &job);
	found_done(&job);
	return status;
}

static int run_train(const struct command *cmd, int argc, char **argv)
{
	struct train_settings settings = { .job = TRAIN_OPTIONS };
	struct session s = { .cmd = cmd, .s = &settings, .here = { .s = &settings.here } };
	struct run_options *run = &settings.here.job;
	struct err e = ERR_INIT;
	int status;

	/* Options end where the command begins, with or without "--". */
	if (opt_parse(train_opts, &settings, argc, argv, true, &run->command, &run->ncommand, &e) < 0 ||
	    check(&settings, &e) < 0) {
		status = command_misused(cmd, &e);
	} else if (settings.here.help) {
		command_help(cmd);
		status = 0;
	} else if (!run->ncommand && !settings.file) {
		fprintf(stderr, "usage: stoker train %s\nSee `stoker train --help`.\n", cmd->args);
		status = 2;
	} else if (connect_open(&settings.here.connect, &s.c, &e) < 0) {
		status = command_fail(cmd, &e);
	} else {
		status = run_session(&s);
		connect_close(&s.c);
	}
	run_here_done(&s.here);
	json_decref(s.job);
	return status;
}

const struct command cmd_train = {
	.name = "train",
	.args = "[options] [--] COMMAND [ARG]... | -f FILE",
	.summary = "Train on several replicas, and follow it",
	.details = "Makes a TFJob, PyTorchJob, PaddleJob or MPIJob whose replicas all run the command in this "
		   "directory, as\n"
		   "`stoker run` does, and shows how it goes, as `stoker follow` does. Programs learn from their "
		   "environment\n"
		   "which replica they are (TF_CONFIG, RANK and MASTER_ADDR, PADDLE_*); mpirun starts them for mpi.\n\n"
		   "  pytorch     --workers N is one Master and N Workers; without it the Master is alone\n"
		   "  tensorflow  --workers N, --ps N; with --ps there is a Chief too\n"
		   "  paddle      --workers N, --ps N\n"
		   "  mpi         --workers N with --slots N processes each: mpirun is put before the command\n\n"
		   "Parameter servers, a chief of theirs and the launcher of mpi get no GPUs.\n\n"
		   "Exit status: as that of `stoker follow`; 1 if it could not be submitted, 2 for wrong usage.\n\n"
		   "Examples:\n"
		   "  stoker train --framework pytorch --workers 3 --gpus 1 -- python3 train.py\n"
		   "  stoker train --ps 2 --workers 2 -- psgd --epochs 5\n"
		   "  stoker train --elastic 1:4 --nproc-per-node 2 -- torchrun train.py\n"
		   "  stoker train --framework mpi --workers 2 --slots 4 -- ./solve\n"
		   "  stoker train -f mnist.yaml\n",
	.opts = train_opts,
	.run = run_train,
};
