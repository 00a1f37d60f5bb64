// SPDX-License-Identifier: Apache-2.0
/* runtime_start.c - a container's start: a monitor of its own, which calls the runtime
 *
 *	info.json, locked --> monitor --> runtime run --detach --> record on the control socket --> done(pid)
 *
 * The lock on info.json goes to the monitor with the descriptor and stays until its end, so whoever can take it knows
 * that there is no monitor and never will be.  The monitor writes its state down before it calls the runtime.  A server
 * that dies at any moment has therefore started nothing (no state, the lock is free), or a monitor that finishes
 * without it: nothing is started twice.
 *
 * A process of the host takes the same way, but for the runtime: its monitor starts it (runtime_process.c).
 *
 * Any failure removes everything the attempt made before `done` is told, from the loop.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include "base/file.h"
#include "base/jsonx.h"
#include "base/mem.h"
#include "node/runtime_parts.h"

#define INFO_MAX   (64u * 1024)
#define WORDS_MAX  900  /* of a runtime's message; fits struct err */
#define ABANDON_MS 2000 /* for a runtime that is at work when its container is removed */

static void on_fail(void *arg)
{
	struct box *b = arg;
	struct oci *o = b->oci;
	void (*done)(void *, pid_t, const struct err *) = b->done;
	void *done_arg = b->arg;
	struct err error = b->error;

	box_erase(b);
	map_remove(&o->boxes, b->id);
	done(done_arg, 0, &error);
}

static void fail(struct box *b)
{
	b->fail = (struct loop_hook){ .run = on_fail, .arg = b, .phase = LOOP_WORK };
	loop_schedule(b->oci->base.loop, &b->fail);
}

/* --- the monitor's answer --- */

/* Did the machine lack something before there was a container?  A runtime writes its own state after the container has
 * begun: no room for that is another matter. */
static bool lacked(const struct box *b, const char *words)
{
	return strstr(words, strerror(EAGAIN)) || strstr(words, strerror(ENOMEM)) ||
	       (strstr(words, strerror(ENOSPC)) && !strstr(words, b->oci->run));
}

static void take_words(struct box *b)
{
	auto_free char *path = xasprintf("%s/words", b->dir);
	auto_sbuf struct sbuf text = SBUF(WORDS_MAX);
	struct err ignored = ERR_INIT;

	(void)file_read(path, INFO_MAX, &text, &ignored);
	spawn_clean_words(&text);
	if (text.n)
		err_set(&b->error, lacked(b, text.p) ? ERR_UNAVAILABLE : ERR_INVALID, "%s", text.p);
	else
		err_set(&b->error, ERR_INVALID, "the runtime could not start the container and did not say why");
}

/* The monitor has gone: it writes its state down before it calls the runtime. */
static void take_silence(struct box *b)
{
	struct monitor_record record;

	if (!monitor_read_state(b, &record)) {
		err_set(&b->error, ERR_UNAVAILABLE, "the monitor could not begin: there was no room for its state");
		return;
	}
	err_set(&b->error, ERR_INVALID, "the monitor was killed while it started the container");
	/* The runtime is in its group and must not finish without it. */
	kill(-b->monitor, SIGKILL);
}

void start_failed(struct box *b, const struct monitor_record *record)
{
	if (b->fail.queued)
		return;
	if (b->removed)
		; /* the reason is there already */
	else if (record && record->step)
		process_failed(b, record, &b->error);
	else if (record && record->code)
		err_set(&b->error, ERR_UNAVAILABLE, "cannot run %s: %s", b->oci->with.program, strerror(record->code));
	else if (record)
		take_words(b);
	else
		take_silence(b);
	fail(b);
}

void start_succeeded(struct box *b)
{
	struct oci *o = b->oci;
	struct err ignored = ERR_INIT;

	if (b->removed) {
		if (!b->fail.queued)
			fail(b);
		return;
	}
	b->state = BOX_RUNNING;
	if (b->pending_signal)
		o->base.ops->kill(&o->base, b->id, b->pending_signal, true, &ignored);
	b->done(b->arg, b->pid, NULL);
}

static void on_abandon(void *arg)
{
	struct box *b = arg;

	start_failed(b, NULL);
}

void start_abandon(struct box *b)
{
	if (b->removed || b->fail.queued)
		return;
	/* The runtime is not cut off half-way: it ends within milliseconds, and then everything is known. */
	b->removed = true;
	err_set(&b->error, ERR_CONFLICT, "container %s was removed while it was being started", b->id);
	b->patience = (struct loop_timer){ .fire = on_abandon, .arg = b };
	loop_timer_set(b->oci->base.loop, &b->patience, ABANDON_MS);
}

/* --- start --- */

/* The descriptor of info.json, locked. */
static int record_info(struct box *b, const struct container_start *c, struct err *e)
{
	auto_free char *path = xasprintf("%s/" INFO_FILE, b->dir);
	auto_sbuf struct sbuf text = SBUF(INFO_MAX);
	json_auto_t *doc = json_pack("{s:s, s:s, s:s}", "bundle", b->bundle, "cgroup", b->cgroup, "log", c->log_path);
	int fd;

	if (!doc)
		return err_set(e, ERR_INVALID, "container %s: a path is not UTF-8", c->id);
	jsonx_dump(doc, &text);
	fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (fd >= 0 && flock(fd, LOCK_EX | LOCK_NB) == 0 && write(fd, text.p, text.n) == (ssize_t)text.n)
		return fd;
	err_errno(e, errno == ENOSPC ? ERR_STORAGE_FULL : ERR_INTERNAL, "cannot write %s", path);
	if (fd >= 0)
		close(fd);
	return -1;
}

/* What it had to say is on the control socket, and so is its end: it only has to be reaped, box or no box. */
static void on_reaped(void *arg, pid_t pid, int status)
{
	(void)arg;
	(void)pid;
	(void)status;
}

static int spawn_monitor(struct box *b, const struct container_start *c, int lock_fd, struct err *e)
{
	const struct probed *with = &b->oci->with;
	char flags[8] = { 0 }, *flag = flags;
	auto_free char *words = xasprintf("--log=%s/words", b->dir), *pid = xasprintf("--pid-file=%s/pid", b->dir);
	auto_free char *bundle = xasprintf("--bundle=%s", c->bundle);
	auto_free char *group = NULL, *oom = NULL;
	const char *console = c->tty ? MONITOR_CONSOLE : b->id;
	const char *argv[] = { [MONITOR_ARG_NAME] = MONITOR_NAME,
			       [MONITOR_ARG_FLAGS] = flags,
			       [MONITOR_ARG_LOG] = c->log_path,
			       [MONITOR_ARG_JOIN] = b->oci->join,
			       [MONITOR_ARG_RUNTIME] = with->program,
			       with->option,
			       b->oci->root_arg,
			       words,
			       "run",
			       "--detach",
			       pid,
			       bundle,
			       console,
			       c->tty ? b->id : NULL,
			       NULL };
	int pair[2];
	struct spawn s = { .argv = argv, .program_fd = b->oci->monitor_program, .fds = { -1, -1, -1 }, .cwd = b->dir };

	cgroup_monitor_paths(&b->oci->base.groups, b->cgroup, &group, &oom);
	argv[MONITOR_ARG_CGROUP] = group;
	argv[MONITOR_ARG_OOM] = oom;
	if (with->hide)
		*flag++ = MONITOR_FLAG_HIDE;
	if (c->tty)
		*flag++ = MONITOR_FLAG_TTY;
	if (c->stdin_open)
		*flag++ = MONITOR_FLAG_STDIN;
	if (c->stdin_open && c->stdin_once)
		*flag++ = MONITOR_FLAG_ONCE;
	if (c->await)
		*flag++ = MONITOR_FLAG_AWAIT;
	if (c->process)
		*flag++ = MONITOR_FLAG_PROCESS;
	else if (c->files)
		*flag++ = MONITOR_FLAG_FILES;
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, pair) < 0)
		return err_errno(e, ERR_UNAVAILABLE, "cannot start a monitor");
	s.pass[0] = pair[1];
	s.pass[1] = lock_fd;
	b->monitor = spawn_start(&s, e);
	close(pair[1]);
	if (b->monitor < 0) {
		close(pair[0]);
		return -1;
	}
	box_watch(b, pair[0]);
	return loop_on_child(b->oci->base.loop, b->monitor, on_reaped, NULL, e);
}

static int ensure_group(struct oci *o, struct err *e)
{
	if (o->join[0] && !o->joinable && cgroup_make(&o->base.groups, o->monitors, NULL, e) < 0)
		return -1;
	o->joinable = true;
	return 0;
}

static int begin(struct box *b, const struct container_start *c, struct err *e)
{
	auto_close int lock = -1;

	if (mkdir(b->dir, 0700) < 0)
		return err_errno(e, errno == ENOSPC ? ERR_STORAGE_FULL : ERR_INTERNAL, "cannot make %s", b->dir);
	lock = record_info(b, c, e);
	if (lock < 0 || process_record(b, c, e) < 0 || ensure_group(b->oci, e) < 0)
		return -1;
	return spawn_monitor(b, c, lock, e);
}

void start_container(struct runtime *r, const struct container_start *c,
		     void (*done)(void *arg, pid_t pid, const struct err *e), void *done_arg)
{
	struct oci *o = (struct oci *)r;
	struct box *b = box_new(o, c->id);
	bool taken = map_find(&o->boxes, c->id) || access(b->dir, F_OK) == 0;

	b->bundle = xstrdup(c->process ? "" : c->bundle);
	b->cgroup = xstrdup(c->cgroup ? c->cgroup : "");
	b->done = done;
	b->arg = done_arg;
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
		fail(b);
}
