// SPDX-License-Identifier: Apache-2.0
/* startdocker.c - runs a program in a container as its caller, and ends with its status
 *
 * The container is a pod that this process makes, attaches to, waits for and takes away again.  In a PBS job it is a
 * part of the job's own pod (stoker.dev/in-job): there, in the job's control group and with the job's cards, and gone
 * with the job even if this process is not there to see to it.
 *
 * A server may stop, be killed or replaced while the container runs: that goes on, and its output is kept in its log.
 * So this process waits for the server, however long it takes, and goes on where it was.
 */
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <pwd.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/random.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/jsonx.h"
#include "base/limits.h"
#include "base/mem.h"
#include "client/client.h"
#include "client/terminal.h"
#include "kinds/pbs_far.h"
#include "pbs/about.h"
#include "pbs/docker_plan.h"
#include "pbs/own_job.h"

#define ENV_FILE_MAX  (1024u * 1024)
#define LOOK_FIRST_MS 10
#define LOOK_MOST_MS  500
#define TELL_AFTER_MS 2000
#define NAME_LETTERS  8
#define RUNTIME_WORDS 4096
#define AWAITED_MS    20000 /* well below MONITOR_AWAIT_MS */

static const char usage[] =
	"usage: startdocker [-u \"docker options\"] [-D datadir] [-P procdir] (-s script | -c \"command\") image\n"
	"\n"
	"Runs a script or a command in a container of the image, as you, and ends with its exit status.  Your home\n"
	"directory is mounted; the working directory is /.  In a job the container has the job's GPUs, from 0 on.\n"
	"\n"
	"  -u TEXT     options of docker run: -it -v A:B[:ro] -w DIR -e K=V --env-file FILE --ipc=host\n"
	"              --shm-size 8G --tmpfs DIR --read-only --entrypoint PROGRAM -h NAME\n"
	"  -D DIR      mounts a directory with data\n"
	"  -P DIR      mounts a directory with programs; -s may be relative to it\n"
	"  -s FILE     runs a script or program: it must be executable and begin with #!\n"
	"  -c COMMAND  runs a command line\n"
	"      --help      shows this\n"
	"      --version   shows the version\n";

static volatile sig_atomic_t caught; /* a handler has no other way to tell */

struct docker {
	struct pbs *pbs;
	struct docker_ask ask;
	struct sbuf env_text;
	char *user, *home, *job_pod;
	char *path;                /* of the pod, once it is there */
	struct terminal_told told; /* of its output */
	bool ending;               /* it has been told to end, */
	bool owes_end;             /* or will be when the server is back */
	int64_t made_ms;           /* when that was */
	bool away;                 /* the server was out of reach since then */
	int signo;                 /* that ended it, or 0 */
};

static int fail(const struct err *e)
{
	fprintf(stderr, "startdocker: %s\n", e->text);
	return DOCKER_FAILED;
}

/* A socket that is not for this account is told in docker's words: people know them. */
static int fail_early(struct docker *d, const struct err *e)
{
	if (d->pbs->connect_errno == EACCES)
		fprintf(stderr, "startdocker: dial unix %s: connect: permission denied\n",
			d->pbs->door->place(d->pbs->open));
	else if (d->pbs->connect_errno)
		pbs_fail_connect(d->pbs);
	else
		fail(e);
	return DOCKER_FAILED;
}

/* ---- what was asked for ---- */

static int set_once(const char **at, int letter, const char *value, struct err *e)
{
	if (*at)
		return err_set(e, ERR_INVALID, "-%c is given twice", letter);
	*at = value;
	return 0;
}

static int read_arguments(struct docker *d, int argc, char **argv, struct err *e)
{
	struct docker_ask *a = &d->ask;
	const char *text = NULL;
	int letter;

	optind = 0;
	opterr = 0;
	while ((letter = getopt(argc, argv, "u:D:P:s:c:")) != -1) {
		const char **at = letter == 'u'   ? &text
				  : letter == 'D' ? &a->data
				  : letter == 'P' ? &a->proc
				  : letter == 's' ? &a->script
				  : letter == 'c' ? &a->command
						  : NULL;

		if (!at)
			return err_set(e, ERR_INVALID, "invalid or incomplete option '%s'; see startdocker --help",
				       argv[optind - 1]);
		if (set_once(at, letter, optarg, e) < 0)
			return -1;
	}
	if (!a->script == !a->command)
		return err_set(e, ERR_INVALID, "exactly one of -s and -c is needed; see startdocker --help");
	if (argc - optind != 1)
		return err_set(e, ERR_INVALID,
			       argc > optind ? "unexpected argument '%s' after the image"
					     : "an image is needed as the last argument",
			       argc > optind ? argv[optind + 1] : "");
	a->image = argv[optind];
	return text ? docker_options_parse(str_of(text), &a->options, e) : 0;
}

static int may_read(const char *path)
{
	return access(path, R_OK) == 0 ? 0 : errno;
}

static const char *variable(const char *name)
{
	return getenv(name);
}

/* As many as a login of the test node was given. */
static int cards_of(const char *text)
{
	struct str rest = str_of(text ? text : ""), one;
	int n = 0;

	while (rest.n && str_split(&rest, ',', &one))
		n += one.n > 0;
	return n;
}

static int know_caller(struct docker *d, struct err *e)
{
	const struct passwd *pw = getpwuid(geteuid());

	if (!pw)
		return err_set(e, ERR_INVALID, "uid %u has no account on this machine", (unsigned)geteuid());
	d->user = xstrdup(pw->pw_name);
	d->home = xstrdup(pw->pw_dir);
	d->ask.user = d->user;
	d->ask.home = d->home;
	d->ask.variable = variable;
	d->ask.may_read = may_read;
	d->ask.cards = cards_of(getenv("CUDA_VISIBLE_DEVICES"));
	d->ask.options.tty = d->ask.options.tty && isatty(STDIN_FILENO) && isatty(STDOUT_FILENO);
	for (size_t i = 0; i < d->ask.options.env_files.n; i++) {
		if (file_read(d->ask.options.env_files.items[i], ENV_FILE_MAX, &d->env_text, e) < 0)
			return err_prefix(e, "-u: --env-file");
		sbuf_addc(&d->env_text, '\n');
	}
	d->ask.env_text = sbuf_str(&d->env_text);
	return 0;
}

static void warn(const struct docker_options *o)
{
	for (size_t i = 0; i < o->ignored.n; i++)
		fprintf(stderr, "startdocker: warning: %s is ignored: containers have the rights of their user\n",
			o->ignored.items[i]);
	if (o->network && (streq(o->network, "host") || streq(o->network, "none")))
		fprintf(stderr,
			"startdocker: warning: --network=%s is ignored: a container has an address of its own\n",
			o->network);
}

/* ---- the server ---- */

static void on_signal(int signo)
{
	caught = signo;
}

static void catch_signals(void)
{
	struct sigaction act = { .sa_handler = on_signal }; /* without SA_RESTART */
	static const int signals[] = { SIGINT, SIGTERM, SIGHUP };

	for (size_t i = 0; i < ARRAY_SIZE(signals); i++)
		sigaction(signals[i], &act, NULL);
}

static void pause_ms(int64_t ms)
{
	struct timespec step = { .tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000 };

	nanosleep(&step, NULL);
}

/* Is it only that the server cannot be reached now?  Then a while has passed, and it is worth another try. */
static bool may_come_back(struct docker *d, struct err *e)
{
	if (e->kind != ERR_UNAVAILABLE || d->pbs->connect_errno == EACCES)
		return false;
	if (!d->away)
		fprintf(stderr, "startdocker: waits for the server: %s\n", e->text);
	d->away = true;
	err_clear(e);
	pause_ms(LOOK_MOST_MS);
	return true;
}

/* ---- the pod ---- */

/* A name of our own, so that a pod whose making was not answered is known again. */
static void name_pod(json_t *pod)
{
	static const char letters[] = "bcdfghjklmnpqrstvwxz2456789";
	unsigned char random[NAME_LETTERS] = { 0 };
	char name[NAME_LETTERS + 1] = "";

	(void)!getrandom(random, sizeof(random), 0);
	for (size_t i = 0; i < NAME_LETTERS; i++)
		name[i] = letters[random[i] % (sizeof(letters) - 1)];
	jsonx_set_new(pod, "metadata.name", jsonx_stringf("startdocker-%s", name));
}

static int know_settings(struct pbs *p, struct err *e)
{
	if (!p->settings && pbs_get(p, PBS_API "/pbsservers/default", &p->settings, e) < 0 && e->kind != ERR_NOT_FOUND)
		return -1;
	err_clear(e);
	return 0;
}

static int make_pod(struct docker *d, struct err *e)
{
	auto_sbuf struct sbuf path = SBUF(LIMIT_URL);
	bool asked = false;
	json_auto_t *pod = NULL;
	int r;

	if (docker_plan(&d->ask, &pod, e) < 0 || !pbs_namespace(d->pbs, e))
		return -1;
	name_pod(pod);
	job_pod_path(d->pbs->ns, NULL, &path);
	while ((r = pbs_post(d->pbs, path.p, pod, NULL, e)) < 0 && !caught && may_come_back(d, e))
		asked = true;
	if (r < 0 && !(asked && e->kind == ERR_EXISTS))
		return -1;
	sbuf_reset(&path);
	job_pod_path(d->pbs->ns, jsonx_str_or(pod, "metadata.name", ""), &path);
	d->path = sbuf_steal(&path);
	d->away = false;
	d->made_ms = clock_mono_ms();
	return 0;
}

/* The first time politely, then at once. */
static void end_pod(struct docker *d, bool now)
{
	auto_free char *path = xasprintf("%s%s", d->path,
					 now         ? "?gracePeriodSeconds=0"
					 : d->ending ? "?gracePeriodSeconds=1"
						     : "");
	struct err e = ERR_INIT;

	d->owes_end = pbs_delete(d->pbs, path, &e) < 0 && e.kind == ERR_UNAVAILABLE;
	d->ending |= !d->owes_end;
	if (e.kind != ERR_NONE && e.kind != ERR_NOT_FOUND && !d->owes_end)
		fprintf(stderr, "startdocker: cannot remove the container: %s\n", e.text);
}

static bool on_joined_signal(void *arg, int signo)
{
	struct docker *d = arg;

	d->signo = signo;
	end_pod(d, false);
	return true;
}

/* What a signal asks for.  False: to go at once, for it was the second one and there is no server to tell. */
static bool heed_signal(struct docker *d)
{
	int signo = caught;

	if (signo && d->owes_end)
		return false;
	caught = 0;
	if (signo)
		d->signo = signo;
	if (signo || d->owes_end)
		end_pod(d, false);
	return true;
}

/* Looks at it again and again, until it runs or has ended; words are the caller's.  -1: nobody knows any more. */
static int wait_for(struct docker *d, bool end, struct docker_end *ret, struct err *e)
{
	int64_t waited = 0, pause = LOOK_FIRST_MS;
	bool told = false;

	for (;;) {
		json_auto_t *pod = NULL;

		if (!heed_signal(d))
			return err_set(e, ERR_UNAVAILABLE, "interrupted");
		if (pbs_get(d->pbs, d->path, &pod, e) < 0) {
			if (!may_come_back(d, e))
				return -1;
			continue;
		}
		docker_look(pod, ret);
		if (ret->over || (ret->running && !end))
			return 0;
		if (ret->words.n && waited > TELL_AFTER_MS && !told && !end)
			fprintf(stderr, "startdocker: waits: %s\n", ret->words.p);
		told |= waited > TELL_AFTER_MS && ret->words.n;
		sbuf_done(&ret->words);
		pause_ms(pause);
		waited += pause;
		pause = pause * 2 < LOOK_MOST_MS ? pause * 2 : LOOK_MOST_MS;
	}
}

static int join(struct docker *d, struct err *e)
{
	const struct docker_options *o = &d->ask.options;
	auto_sbuf struct sbuf path = SBUF(LIMIT_URL);
	struct pbs_join one = { .in = o->in, .tty = o->tty, .told = &d->told };

	sbuf_addf(&path, "%s/attach", d->path);
	terminal_query(&path, DOCKER_CONTAINER, o->in, o->tty, NULL);
	one.path = path.p;
	if (d->pbs->door->join(d->pbs->open, &one, 1, on_joined_signal, d, e) == 0 && one.e.kind == ERR_NONE)
		return 0;
	if (one.cut && !o->tty && one.e.kind == ERR_UNAVAILABLE)
		fprintf(stderr, "startdocker: warning: the server went away: the container's input ends here\n");
	return -1;
}

/* What it has printed since the connection broke, and prints until its end. */
static int write_rest(struct docker *d, struct docker_end *ret, struct err *e)
{
	auto_free char *input = xasprintf("%s/attach?container=" DOCKER_CONTAINER "&stdin=true&tty=true", d->path);
	struct pbs_rest rest = { .pod = d->path,
				 .container = DOCKER_CONTAINER,
				 .input = d->ask.options.tty ? input : NULL,
				 .told = &d->told };
	int r;

	for (;;) {
		if (wait_for(d, false, ret, e) < 0)
			return -1;
		r = d->pbs->door->rest(d->pbs->open, &rest, on_joined_signal, d, e);
		/* All is there if it had ended before; a container that never began has no log. */
		if (ret->over && (r == 0 || !may_come_back(d, e)))
			break;
		err_clear(e);
		sbuf_done(&ret->words);
	}
	err_clear(e);
	return 0;
}

/* The kernel can run neither a program nor a script that does not say by what: runtimes say so in many ways, to the
 * container's own output, and docker in one that people know. */
static bool has_no_format(const struct docker_ask *a)
{
	const char *dir = a->proc ? a->proc : a->home;
	auto_free char *path = !a->script            ? NULL
			       : a->script[0] == '/' ? xstrdup(a->script)
						     : xasprintf("%s/%s", dir, a->script);
	auto_close int fd = path ? open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK) : -1;
	char magic[4] = { 0 };

	if (fd < 0 || read(fd, magic, sizeof(magic)) < 0)
		return false;
	return memcmp(magic, "#!", 2) != 0 && memcmp(magic, "\177ELF", 4) != 0;
}

/* If all that came are a few words on stderr, they may be the runtime's. */
static void look_at_output(struct docker *d, struct docker_end *end)
{
	auto_free char *path = xasprintf("%s/log?container=" DOCKER_CONTAINER, d->path);
	auto_sbuf struct sbuf text = SBUF(LIMIT_BODY);
	struct err e = ERR_INIT;

	if (end->status != 1 || d->told.bytes[0] || !d->told.bytes[1] || d->told.bytes[1] > RUNTIME_WORDS)
		return;
	if (pbs_get_text(d->pbs, path, &text, &e) == 0 && text.p)
		docker_look_at_output(d->ask.script ? d->ask.script : d->ask.command, text.p, end);
}

/* A container waits a while for who made it; then it prints without. */
static bool missed_start(const struct docker *d)
{
	return d->away && !d->ask.options.in && clock_mono_ms() - d->made_ms > AWAITED_MS;
}

static int run_pod(struct docker *d)
{
	struct docker_end end;
	struct err e = ERR_INIT;
	int status = DOCKER_FAILED;
	int r = wait_for(d, false, &end, &e);

	if (r == 0 && !end.over) {
		sbuf_done(&end.words);
		/* A container that ends just now has nobody to attach to, and a status and a log all the same.  If the
		 * server was away it may have printed without us. */
		r = missed_start(d) ? -1 : join(d, &e);
		if (r < 0)
			err_clear(&e);
		r = r < 0 ? write_rest(d, &end, &e) : wait_for(d, true, &end, &e);
	}
	if (r < 0 && d->signo)
		return 128 + d->signo;
	if (r < 0)
		return fail(&e);
	look_at_output(d, &end);
	status = d->signo && !end.status ? 128 + d->signo : end.status;
	if (status == DOCKER_NO_FORMAT && !end.words.n && has_no_format(&d->ask))
		sbuf_addf(&end.words, "exec: \"%s\": exec format error", d->ask.script);
	if (end.words.n && !d->signo)
		fprintf(stderr, "startdocker: %s\n", end.words.p);
	sbuf_done(&end.words);
	return status;
}

/* A job's own server comes back; who is no job is told at once that there is none. */
static int find_place(struct docker *d, struct err *e)
{
	bool in_job = getenv("PBS_JOBID") != NULL;
	int r;

	while ((r = job_pod_here(d->pbs, &d->job_pod, e)) < 0 && in_job && !caught && may_come_back(d, e))
		;
	while (r == 0 && (r = know_settings(d->pbs, e)) < 0 && in_job && !caught && may_come_back(d, e))
		r = 0;
	d->ask.job_pod = d->job_pod;
	d->ask.settings = jsonx_at(d->pbs->settings, "spec");
	return r;
}

static int check_place(struct err *e)
{
	if (!getenv(PBS_FAR_JOB))
		return 0;
	return err_set(e, ERR_INVALID,
		       "this job runs in a pod of another cluster, and containers there would be no part of it: "
		       "neither its limits nor qdel would reach them. Let the whole script run in the image: "
		       "qsub -l image=NAME");
}

static int run(struct docker *d, int argc, char **argv)
{
	struct err e = ERR_INIT;
	int status;

	if (read_arguments(d, argc, argv, &e) < 0 || check_place(&e) < 0 || know_caller(d, &e) < 0)
		return fail(&e);
	warn(&d->ask.options);
	catch_signals();
	if (find_place(d, &e) < 0 || make_pod(d, &e) < 0)
		return fail_early(d, &e);
	status = run_pod(d);
	end_pod(d, true);
	return status;
}

int startdocker_main(struct pbs *p, int argc, char **argv)
{
	struct docker d = { .pbs = p, .env_text = SBUF(LIMIT_BODY) };
	int status;

	if (about_asked(argc, argv, usage))
		return 0;
	if (!p->door->join)
		pbs_run_stoker(p->command, argc, argv);
	if (!p->door->join) {
		fprintf(stderr, "startdocker: stoker must lie beside this program\n");
		return DOCKER_FAILED;
	}
	status = run(&d, argc, argv);
	docker_options_done(&d.ask.options);
	sbuf_done(&d.env_text);
	free(d.user);
	free(d.home);
	free(d.job_pod);
	free(d.path);
	return status;
}
