// SPDX-License-Identifier: Apache-2.0
/* runtime_conmon.c - a container's start: conmon creates it, then the runtime lets its program run
 *
 *	conmon --(daemonizes)--> runtime create --> {"data": PID} on the sync pipe --> runtime start --> done(pid)
 *
 * conmon turns itself into a daemon, a subreaper with nothing of ours open but the sync pipe; from then on it is the
 * container's parent, writes its log and, at the end, its exit file.  Two steps have to be over before the program may
 * run: the first conmon process has ended (so its pid file is there) and the pid is known; both are then written down
 *in start.json.  A server that dies before that has started nothing, whatever else is left, and the next one cleans up;
 * one that dies later finds start.json and says `start` again, which does nothing if it was done.
 *
 * Any failure removes everything the attempt made before `done` is told, from the loop.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/jsonx.h"
#include "base/log.h"
#include "base/mem.h"
#include "node/runtime_parts.h"

#define SYNC_MAX    (64u * 1024)
#define WORDS_MAX   900 /* of a runtime's message; fits struct err */
#define CONMON_ARGS 40
#define ABANDON_MS  2000

static void stop_sync(struct box *b)
{
	loop_fd_free(b->sync_watch);
	b->sync_watch = NULL;
	if (b->sync_fd >= 0)
		close(b->sync_fd);
	b->sync_fd = -1;
}

static void drop_hidden(struct box *b)
{
	if (b->hidden_fd >= 0)
		close(b->hidden_fd);
	b->hidden_fd = -1;
}

void conmon_abandon(struct box *b)
{
	loop_unschedule(b->oci->base.loop, &b->fail);
	stop_sync(b);
	drop_hidden(b);
	if (b->child > 0) {
		auto_close int fd = (int)syscall(SYS_pidfd_open, b->child, 0);
		struct pollfd p = { .fd = fd, .events = POLLIN };

		loop_forget_child(b->oci->base.loop, b->child);
		/* Both kinds of child end by themselves within milliseconds, and are better not cut off half-way. */
		if (poll(&p, 1, ABANDON_MS) <= 0)
			kill(b->child, SIGKILL);
		waitpid(b->child, NULL, 0);
		b->child = 0;
	}
}

static void on_fail(void *arg)
{
	struct box *b = arg;
	struct oci *o = b->oci;
	void (*done)(void *, pid_t, const struct err *) = b->done;
	void *done_arg = b->arg;
	struct err error = b->error;

	conmon_abandon(b);
	box_erase(b);
	map_remove(&o->boxes, b->id);
	done(done_arg, 0, &error);
}

void conmon_fail(struct box *b)
{
	b->fail = (struct loop_hook){ .run = on_fail, .arg = b, .phase = LOOP_WORK };
	loop_schedule(b->oci->base.loop, &b->fail);
}

/* What the runtime or conmon left in a file, as the error's text. */
static void words_from(struct box *b, const char *name, const char *otherwise)
{
	auto_free char *path = xasprintf("%s/%s", b->dir, name);
	auto_sbuf struct sbuf text = SBUF(WORDS_MAX);
	struct err ignored = ERR_INIT;

	(void)file_read(path, SYNC_MAX, &text, &ignored);
	spawn_clean_words(&text);
	err_set(&b->error, ERR_UNAVAILABLE, "%s", text.n ? text.p : otherwise);
}

static int open_words(const struct box *b, const char *name, struct err *e)
{
	auto_free char *path = xasprintf("%s/%s", b->dir, name);
	int fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);

	return fd < 0 ? err_errno(e, ERR_INTERNAL, "cannot write %s", path) : fd;
}

/* --- the second step: start --- */

static void on_started(void *arg, pid_t pid, int status)
{
	struct box *b = arg;
	struct oci *o = b->oci;
	auto_free char *id = xstrdup(b->id);

	(void)pid;
	b->child = 0;
	if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) {
		words_from(b, "start.words", "the runtime could not start the container and did not say why");
		conmon_fail(b);
		return;
	}
	if (state_write(b->dir, "started", STR(""), &b->error) < 0)
		log_warn("mark a container as started id=%s error=\"%s\", ignoring", b->id, b->error.text);
	b->state = BOX_RUNNING;
	if (b->pending_signal && b->pid_fd >= 0)
		b->oci->base.ops->kill(&b->oci->base, b->id, b->pending_signal, true, &b->error);
	b->done(b->arg, b->pid, NULL);
	/* It may be over already; unless done() removed it. */
	if (map_find(&o->boxes, id) == b)
		box_check_exit(b);
}

static int spawn_runtime_start(struct box *b, pid_t *ret, struct err *e)
{
	const char *argv[] = { b->oci->with.program, b->oci->root_arg, "start", b->id, NULL };
	auto_close int words = open_words(b, "start.words", e);
	struct spawn s = { .argv = argv, .fds = { -1, -1, words }, .hide = b->oci->with.hide };

	if (words < 0)
		return -1;
	*ret = spawn_start(&s, e);
	return *ret < 0 ? -1 : 0;
}

static int record_start(struct box *b, struct err *e)
{
	auto_sbuf struct sbuf text = SBUF(SYNC_MAX);
	json_auto_t *doc = NULL;
	int64_t ticks = process_ticks(b->pid);

	b->started_us = clock_wall_micros();
	doc = json_pack("{s:I, s:I, s:I}", "pid", (json_int_t)b->pid, "ticks", (json_int_t)ticks, "started",
			(json_int_t)b->started_us);
	jsonx_dump(doc, &text);
	return state_write(b->dir, "start.json", sbuf_str(&text), e);
}

/* Both halves of the first step are over. */
static void created(struct box *b)
{
	drop_hidden(b);
	b->state = BOX_STARTING;
	b->pid_fd = (int)syscall(SYS_pidfd_open, b->pid, 0);
	if (record_start(b, &b->error) < 0 || box_watch(b, &b->error) < 0 ||
	    spawn_runtime_start(b, &b->child, &b->error) < 0 ||
	    loop_on_child(b->oci->base.loop, b->child, on_started, b, &b->error) < 0)
		conmon_fail(b);
}

int conmon_start_again(struct box *b, struct err *e)
{
	pid_t pid = 0;
	int status = 0;

	if (spawn_runtime_start(b, &pid, e) < 0)
		return -1;
	waitpid(pid, &status, 0);
	return WIFEXITED(status) && WEXITSTATUS(status) == 0 ? 0 : 1;
}

/* --- the first step: create --- */

static void on_launched(void *arg, pid_t pid, int status)
{
	struct box *b = arg;

	(void)pid;
	b->child = 0;
	if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) {
		/* On a bad option conmon ends here; otherwise the daemon says more on the sync pipe. */
		words_from(b, "conmon.words", "conmon ended without a word");
		conmon_fail(b);
		return;
	}
	if (b->pid > 0)
		created(b);
}

/* {"data": PID} or {"data": -1, "message": "what the runtime said"}; older ones say "pid". */
static void sync_line(struct box *b)
{
	json_auto_t *doc = NULL;
	struct err bad = ERR_INIT;
	const char *message;
	int64_t pid;

	if (jsonx_parse(b->sync.p ? b->sync.p : "", b->sync.n, NULL, NULL, &doc, &bad) < 0) {
		words_from(b, "conmon.words", "conmon ended without a word");
		conmon_fail(b);
		return;
	}
	pid = jsonx_int_or(doc, "data", jsonx_int_or(doc, "pid", -1));
	message = jsonx_str(doc, "message");
	if (pid <= 0) {
		auto_sbuf struct sbuf words = SBUF(WORDS_MAX);

		sbuf_adds(&words, message ? message : "the runtime could not create the container and did not say why");
		spawn_clean_words(&words);
		err_set(&b->error, ERR_UNAVAILABLE, "%s", words.p);
		conmon_fail(b);
		return;
	}
	b->pid = (pid_t)pid;
	if (b->child == 0)
		created(b);
}

static void on_sync(void *arg, bool readable, bool writable)
{
	struct box *b = arg;
	char buf[4096];
	ssize_t n = read(b->sync_fd, buf, sizeof(buf));

	(void)readable;
	(void)writable;
	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (n > 0)
		sbuf_add(&b->sync, buf, (size_t)n);
	if (n > 0 && !memchr(buf, '\n', (size_t)n))
		return;
	stop_sync(b);
	sync_line(b);
}

/* Arguments with their own storage. */
struct args {
	const char *v[CONMON_ARGS + 1];
	char *owned[CONMON_ARGS];
	int n, n_owned;
};

static void arg(struct args *a, const char *text)
{
	if (a->n < CONMON_ARGS)
		a->v[a->n++] = text;
}

static void arg_take(struct args *a, char *text)
{
	if (a->n_owned == CONMON_ARGS) {
		free(text);
		return;
	}
	a->owned[a->n_owned++] = text;
	arg(a, text);
}

static void args_done(struct args *a)
{
	for (int i = 0; i < a->n_owned; i++)
		free(a->owned[i]);
}

static void conmon_args(struct args *a, const struct box *b, const struct container_start *c)
{
	const struct probed *with = &b->oci->with;

	arg(a, with->conmon);
	arg(a, "--api-version=1");
	arg(a, "--full-attach");
	arg(a, "--log-level=error");
	arg_take(a, xasprintf("--cid=%s", b->id));
	arg_take(a, xasprintf("--cuuid=%s", b->id));
	arg_take(a, xasprintf("--name=%s", b->id));
	arg_take(a, xasprintf("--bundle=%s", b->bundle));
	arg_take(a, xasprintf("--persist-dir=%s", b->dir));
	arg_take(a, xasprintf("--conmon-pidfile=%s/conmon.pid", b->dir));
	arg_take(a, xasprintf("--container-pidfile=%s/pid", b->dir));
	arg_take(a, xasprintf("--exit-dir=%s/exits", b->oci->run));
	arg_take(a, xasprintf("--log-path=k8s-file:%s", c->log_path));
	if (with->no_sync_log)
		arg(a, "--no-sync-log");
	if (c->tty)
		arg(a, "--terminal");
	if (c->stdin_open)
		arg(a, "--stdin");
	if (c->stdin_open && !c->stdin_once)
		arg(a, "--leave-stdin-open");
	if (b->hidden_fd >= 0) {
		arg_take(a, xasprintf("--runtime=%s", with->nsenter));
		arg_take(a, xasprintf("--runtime-arg=--mount=/proc/%d/fd/%d", (int)getpid(), b->hidden_fd));
		arg_take(a, xasprintf("--runtime-arg=%s", with->program));
	} else {
		arg_take(a, xasprintf("--runtime=%s", with->program));
	}
	arg_take(a, xasprintf("--runtime-arg=%s", b->oci->root_arg));
}

static int launch(struct box *b, const struct container_start *c, struct err *e)
{
	static const char *const env[] = { "_OCI_SYNCPIPE=3", NULL };
	_Static_assert(SPAWN_PASSED_FD == 3, "the number in _OCI_SYNCPIPE");
	auto_close int words = open_words(b, "conmon.words", e);
	struct args a = { .n = 0 };
	/* conmon writes a file "oom" into its directory. */
	struct spawn s = { .argv = a.v, .env = env, .fds = { -1, -1, words }, .cwd = b->dir };
	int sync[2];

	if (words < 0)
		return -1;
	if (b->oci->with.hide && (b->hidden_fd = spawn_hidden_namespace(e)) < 0)
		return -1;
	if (pipe2(sync, O_CLOEXEC) < 0)
		return err_errno(e, ERR_UNAVAILABLE, "cannot start conmon");
	conmon_args(&a, b, c);
	b->sync_fd = sync[0];
	s.pass_fd = sync[1];
	s.join = (const char *const *)b->oci->join;
	b->child = spawn_start(&s, e);
	args_done(&a);
	close(sync[1]);
	if (b->child < 0) {
		b->child = 0;
		return -1;
	}
	fcntl(b->sync_fd, F_SETFL, O_NONBLOCK);
	b->sync_watch = loop_fd_new(b->oci->base.loop, b->sync_fd, true, false, on_sync, b);
	return loop_on_child(b->oci->base.loop, b->child, on_launched, b, e);
}

static int record_info(struct box *b, const struct container_start *c, struct err *e)
{
	auto_sbuf struct sbuf text = SBUF(SYNC_MAX);
	json_auto_t *doc = NULL;
	char boot[37];

	boot_id(boot);
	doc = json_pack("{s:s, s:s, s:s, s:s, s:b}", "boot", boot, "bundle", c->bundle, "cgroup",
			c->cgroup ? c->cgroup : "", "log", c->log_path, "tty", c->tty);
	if (!doc)
		return err_set(e, ERR_INVALID, "container %s: a path is not UTF-8", c->id);
	jsonx_dump(doc, &text);
	return state_write(b->dir, "info.json", sbuf_str(&text), e);
}

static int begin(struct box *b, const struct container_start *c, struct err *e)
{
	if (file_make_dirs(b->dir, 0700, e) < 0 || record_info(b, c, e) < 0)
		return -1;
	/* Here and not at the opening: the last container of before may have taken the group away. */
	if (b->oci->join[0] && cgroup_make(b->oci->monitors, NULL, e) < 0)
		return -1;
	return launch(b, c, e);
}

void conmon_start(struct runtime *r, const struct container_start *c,
		  void (*done)(void *arg, pid_t pid, const struct err *e), void *done_arg)
{
	struct oci *o = (struct oci *)r;
	struct box *b = box_new(o, c->id);
	bool taken = map_find(&o->boxes, c->id) || access(b->dir, F_OK) == 0;

	b->bundle = xstrdup(c->bundle);
	b->cgroup = xstrdup(c->cgroup ? c->cgroup : "");
	b->tty = c->tty;
	b->done = done;
	b->arg = done_arg;
	sbuf_init(&b->sync, SYNC_MAX);
	if (taken) {
		struct err e = ERR_INIT;

		/* Not a failed start: what is there belongs to someone else and stays. */
		err_set(&e, ERR_EXISTS, "container %s exists already", c->id);
		box_free(b);
		done(done_arg, 0, &e);
		return;
	}
	map_set(&o->boxes, b->id, b);
	if (begin(b, c, &b->error) < 0)
		conmon_fail(b);
}
