// SPDX-License-Identifier: Apache-2.0
/* run.c - `stoker run`: a Job from a command line
 *
 * run_job.c makes the object; here it learns what this machine knows: the current directory, the environment, files.
 * With the image `host` a command expects its files where they are, so the home directory (or the current one, if that
 * is elsewhere) is mounted at its own place.  Whether the server lets this user do so is asked with a dry run.
 *
 * run_watch.c does the watching.
 */
#include <errno.h>
#include <limits.h>
#include <pwd.h>
#include <stdio.h>
#include <strings.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/jsonx.h"
#include "base/limits.h"
#include "base/mem.h"
#include "cli/ending.h"
#include "cli/output.h"
#include "cli/run_job.h"
#include "cli/run_watch.h"
#include "cli/show.h"
#include "kinds/rest.h"

#define ENV_FILE_MAX (1024 * 1024)

struct run_settings {
	struct connect_settings connect;
	struct run_options job;
	struct opt_strings env_files;
	const char *output;
	bool help, dry_run, watch, detach, remove, quiet, no_mount;
};

#define AT(field) offsetof(struct run_settings, field)
static const struct opt run_opts[] = {
	{ .name = "name",
	  .type = OPT_STRING,
	  .offset = AT(job.name),
	  .arg = "NAME",
	  .help = "of the job (default: made from the command)" },
	{ .name = "image",
	  .type = OPT_STRING,
	  .offset = AT(job.image),
	  .arg = "IMAGE",
	  .help = "container image (default: host, this machine's own files)" },
	{ .name = "gpus",
	  .letter = 'g',
	  .type = OPT_INT,
	  .offset = AT(job.gpus),
	  .arg = "N",
	  .max = 4096,
	  .help = "GPUs for each worker (default: 0)" },
	{ .name = "cpus",
	  .letter = 'c',
	  .type = OPT_STRING,
	  .offset = AT(job.cpus),
	  .arg = "N",
	  .help = "processors for each worker, such as 4 or 0.5" },
	{ .name = "mem",
	  .letter = 'm',
	  .type = OPT_STRING,
	  .offset = AT(job.mem),
	  .arg = "SIZE",
	  .help = "memory for each worker, such as 512M or 8G" },
	{ .name = "env",
	  .letter = 'e',
	  .type = OPT_STRINGS,
	  .offset = AT(job.env),
	  .arg = "K=V",
	  .help = "set a variable, or copy yours with K alone; may be repeated" },
	{ .name = "env-file",
	  .type = OPT_STRINGS,
	  .offset = AT(env_files),
	  .arg = "FILE",
	  .help = "variables from a file, one a line" },
	{ .name = "volume",
	  .letter = 'v',
	  .type = OPT_STRINGS,
	  .offset = AT(job.volumes),
	  .arg = "HOST:PATH",
	  .help = "mount HOST:PATH[:ro] or claim:NAME:PATH[:ro]; may be repeated" },
	{ .name = "workdir",
	  .type = OPT_STRING,
	  .offset = AT(job.workdir),
	  .arg = "DIR",
	  .help = "where to run (default with image host: here)" },
	{ .name = "no-mount",
	  .type = OPT_FLAG,
	  .offset = AT(no_mount),
	  .help = "do not mount the home or the current directory" },
	{ .name = "workers",
	  .type = OPT_INT,
	  .offset = AT(job.workers),
	  .arg = "N",
	  .min = 1,
	  .max = 10000,
	  .help = "run the command N times at once, numbered by $WORKER" },
	{ .name = "queue",
	  .letter = 'Q',
	  .type = OPT_STRING,
	  .offset = AT(job.queue),
	  .arg = "QUEUE",
	  .help = "where to wait for a place" },
	{ .name = "priority-class",
	  .type = OPT_STRING,
	  .offset = AT(job.priority_class),
	  .arg = "NAME",
	  .help = "PriorityClass of its pods" },
	{ .name = "time",
	  .letter = 't',
	  .type = OPT_STRING,
	  .offset = AT(job.time),
	  .arg = "LIMIT",
	  .help = "end it after that long: 90 (seconds), 30m, 1:30:00" },
	{ .name = "retries",
	  .type = OPT_INT,
	  .offset = AT(job.retries),
	  .arg = "N",
	  .max = INT32_MAX,
	  .help = "start it again so often if it fails (default: 0)" },
	{ .name = "keep",
	  .type = OPT_STRING,
	  .offset = AT(job.keep),
	  .arg = "TIME",
	  .help = "how long its record stays after its end (default: 7d)" },
	{ .name = "node", .type = OPT_STRING, .offset = AT(job.node), .arg = "NAME", .help = "run it on that node" },
	{ .name = "label",
	  .letter = 'l',
	  .type = OPT_STRINGS,
	  .offset = AT(job.labels),
	  .arg = "K=V",
	  .help = "label it; may be repeated" },
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
	{ .name = "dry-run",
	  .type = OPT_FLAG,
	  .offset = AT(dry_run),
	  .help = "print what would be submitted, and submit nothing" },
	{ .name = "output",
	  .letter = 'o',
	  .type = OPT_CHOICE,
	  .offset = AT(output),
	  .arg = "FORM",
	  .choices = "wide|json|yaml|name",
	  .help = "print the job as json, yaml or a line of ps, instead of its name" },
	NAMESPACE_OPT(AT(job.ns), "where to run it"),
	{ .name = "help", .letter = 'h', .type = OPT_FLAG, .offset = AT(help), .help = "show this" },
	CONNECT_OPTS,
	OPT_END,
};

struct session {
	const struct command *cmd;
	struct run_settings *s;
	struct connection c;
	char cwd[PATH_MAX];
	char suffix[RUN_SUFFIX + 1];
	char *mount; /* owned */
	struct run_env_file *env_files;
	struct sbuf *env_texts;
	json_t *job, *service;
};

/* ---- what this machine says ---- */

static void make_suffix(char out[RUN_SUFFIX + 1])
{
	/* Kubernetes' own: nothing that reads as a word or as another letter. */
	static const char letters[] = "bcdfghjklmnpqrstvwxz2456789";
	unsigned char bytes[RUN_SUFFIX] = { 0 };

	if (getrandom(bytes, sizeof(bytes), 0) < 0)
		bytes[0] = (unsigned char)getpid();
	for (size_t i = 0; i < RUN_SUFFIX; i++)
		out[i] = letters[bytes[i] % (sizeof(letters) - 1)];
	out[RUN_SUFFIX] = '\0';
}

static const char *variable(const char *key)
{
	return getenv(key);
}

/* What may not be looked at may be there. */
static bool is_missing(const char *path)
{
	struct stat st;

	return stat(path, &st) < 0 && (errno == ENOENT || errno == ENOTDIR);
}

static bool is_this_machine(const char *node)
{
	char name[HOST_NAME_MAX + 1] = "";

	return gethostname(name, sizeof(name) - 1) == 0 && strcasecmp(name, node) == 0;
}

static int read_env_files(struct session *s, struct err *e)
{
	const struct opt_strings *files = &s->s->env_files;

	s->env_files = xcalloc(files->n + 1, sizeof(*s->env_files));
	s->env_texts = xcalloc(files->n + 1, sizeof(*s->env_texts));
	for (size_t i = 0; i < files->n; i++) {
		s->env_texts[i] = SBUF(ENV_FILE_MAX);
		if (file_read(files->items[i], ENV_FILE_MAX, &s->env_texts[i], e) < 0)
			return err_prefix(e, "--env-file");
		s->env_files[i] = (struct run_env_file){ files->items[i], sbuf_str(&s->env_texts[i]) };
	}
	s->s->job.env_files = s->env_files;
	s->s->job.nenv_files = files->n;
	return 0;
}

static bool is_below(const char *dir, const char *path)
{
	size_t n = strlen(dir);

	return n > 1 && strncmp(dir, path, n) == 0 && (!path[n] || path[n] == '/');
}

/* The home if the directory is in it, else the directory itself. */
static char *mount_for(const char *dir)
{
	const struct passwd *pw = getpwuid(geteuid());
	struct stat st;

	if (stat(dir, &st) < 0 || !S_ISDIR(st.st_mode) || streq(dir, "/"))
		return NULL;
	return xstrdup(pw && is_below(pw->pw_dir, dir) ? pw->pw_dir : dir);
}

/* Does the image `host` show it by itself?  It is the root file system without what is mounted on it. */
static bool is_in_image(const char *dir)
{
	static const char *const hidden[] = { "/proc", "/sys", "/dev", "/run", "/tmp" };
	struct stat root;
	struct stat st;

	for (size_t i = 0; i < ARRAY_SIZE(hidden); i++)
		if (is_below(hidden[i], dir))
			return false;
	return stat("/", &root) == 0 && stat(dir, &st) == 0 && root.st_dev == st.st_dev;
}

/* Where the command runs, and what is mounted for it. */
static void choose_place(struct session *s)
{
	struct run_options *o = &s->s->job;
	bool host = !o->image || streq(o->image, RUN_IMAGE);

	if (!host || !client_is_local(s->c.client))
		return;
	if (!o->workdir)
		o->workdir = s->cwd;
	if (!s->s->no_mount && !run_job_covers(&o->volumes, o->workdir))
		s->mount = mount_for(o->workdir);
	o->mount = s->mount;
	if (!s->mount && o->workdir == s->cwd && !is_in_image(s->cwd) && !run_job_covers(&o->volumes, s->cwd))
		o->workdir = NULL;
}

/* ---- what the server says ---- */

static int make(struct session *s, struct err *e)
{
	json_decref(s->job);
	json_decref(s->service);
	s->job = s->service = NULL;
	return run_job_make(&s->s->job, &s->job, &s->service, e);
}

/* Would a pod be refused because of the directory?  Other complaints are for the Job to hear. */
static bool is_mount_refused(struct session *s, struct err *e)
{
	json_auto_t *pod = json_pack("{s:s, s:s, s:{s:o}, s:O}", "apiVersion", "v1", "kind", "Pod", "metadata",
				     "generateName", jsonx_stringf("%s-", jsonx_str_or(s->job, "metadata.name", "")),
				     "spec", jsonx_at(s->job, "spec.template.spec"));
	struct ref ref = { .api_version = "v1", .plural = "pods", .ns = s->s->job.ns, .dry_run = true };

	return client_create_wait(s->c.client, &ref, pod, NULL, e) < 0 && strstr(e->text, "hostPath");
}

/* Without the mount, if the user may not have it and the command can do without. */
static int settle_mount(struct session *s, struct err *e)
{
	struct run_options *o = &s->s->job;
	struct err why = ERR_INIT;

	if (!o->mount || !is_mount_refused(s, &why))
		return 0;
	if (!is_in_image(o->workdir))
		return err_set(e, ERR_FORBIDDEN,
			       "%s cannot be mounted into the job: %s. Go to a directory below your home, or say where "
			       "it runs "
			       "with --workdir and --volume",
			       o->mount, why.text);
	fprintf(stderr, "stoker run: %s may not be mounted; the job sees it, but what it writes there is lost.\n",
		o->mount);
	o->mount = NULL;
	return make(s, e);
}

static int submit_service(struct session *s, const json_t *job, struct err *e)
{
	struct ref ref = { .api_version = "v1", .plural = "services", .ns = s->s->job.ns };
	json_t *owner;

	if (!s->service)
		return 0;
	owner = json_pack("{s:s, s:s, s:s, s:s}", "apiVersion", "batch/v1", "kind", "Job", "name",
			  jsonx_str_or(job, "metadata.name", ""), "uid", jsonx_str_or(job, "metadata.uid", ""));
	jsonx_set_new(s->service, "metadata.ownerReferences", json_pack("[o]", owner));
	return client_create_wait(s->c.client, &ref, s->service, NULL, e);
}

static int add_advice(struct err *e)
{
	auto_free char *text = xstrdup(e->text);
	const char *advice = e->kind == ERR_EXISTS      ? "; choose another --name, or leave it out"
			     : e->kind == ERR_FORBIDDEN ? "; -n runs it in another namespace"
							: "";

	return err_reword(e, e->kind, "%s%s", text, advice);
}

static int submit(struct session *s, struct found *ret, struct err *e)
{
	struct ref ref = { .api_version = "batch/v1", .plural = "jobs", .ns = s->s->job.ns };
	json_auto_t *job = NULL;
	struct err ignored = ERR_INIT;

	if (client_create_wait(s->c.client, &ref, s->job, &job, e) < 0)
		return add_advice(e);
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
	struct run_watch_options o = { .quiet = s->s->quiet, .remove = s->s->remove, .many = s->s->job.workers > 1 };
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
	struct run_options *o = &s->s->job;

	if (!getcwd(s->cwd, sizeof(s->cwd)))
		return err_errno(e, ERR_INTERNAL, "the current directory");
	if (o->workdir && o->workdir[0] != '/')
		return err_set(e, ERR_BAD_REQUEST, "--workdir: \"%s\" does not begin with /", o->workdir);
	if (s->s->watch && s->s->output)
		return err_set(e, ERR_BAD_REQUEST, "--watch prints the command's output; leave out -o");
	if (s->s->watch && s->s->detach)
		return err_set(e, ERR_BAD_REQUEST, "--watch and --detach exclude each other");
	make_suffix(s->suffix);
	o->ns = o->ns ? o->ns : client_default_namespace(s->c.client);
	o->cwd = s->cwd;
	o->suffix = s->suffix;
	o->variable = variable;
	if (client_is_local(s->c.client) && (!o->node || is_this_machine(o->node)))
		o->is_missing = is_missing;
	o->remove = s->s->remove && !s->s->watch;
	if (read_env_files(s, e) < 0)
		return -1;
	choose_place(s);
	return make(s, e);
}

static int run_session(struct session *s)
{
	struct err e = ERR_INIT;
	struct found job;
	int status;

	if (prepare(s, &e) < 0) /* the server has not been asked: a bad request is the command line's */
		return e.kind == ERR_BAD_REQUEST ? command_misused(s->cmd, &e) : command_fail(s->cmd, &e);
	if (s->s->dry_run)
		return print_dry(s);
	if (settle_mount(s, &e) < 0 || submit(s, &job, &e) < 0)
		return command_fail(s->cmd, &e);
	status = run_submitted(s, &job);
	found_done(&job);
	return status;
}

static void session_done(struct session *s)
{
	for (size_t i = 0; s->env_texts && i < s->s->env_files.n; i++)
		sbuf_done(&s->env_texts[i]);
	free(s->env_texts);
	free(s->env_files);
	free(s->mount);
	json_decref(s->job);
	json_decref(s->service);
	opt_strings_done(&s->s->env_files);
	opt_strings_done(&s->s->job.env);
	opt_strings_done(&s->s->job.volumes);
	opt_strings_done(&s->s->job.labels);
	connect_close(&s->c);
}

static int run_run(const struct command *cmd, int argc, char **argv)
{
	struct run_settings settings = { 0 };
	struct session s = { .cmd = cmd, .s = &settings };
	struct err e = ERR_INIT;
	int status;

	/* Options end where the command begins, with or without "--". */
	if (opt_parse(run_opts, &settings, argc, argv, true, &settings.job.command, &settings.job.ncommand, &e) < 0)
		return command_misused(cmd, &e);
	if (settings.help) {
		command_help(cmd);
		return 0;
	}
	if (!settings.job.ncommand) {
		fprintf(stderr, "usage: stoker run %s\nSee `stoker run --help`.\n", cmd->args);
		return 2;
	}
	if (connect_open(&settings.connect, &s.c, &e) < 0)
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
