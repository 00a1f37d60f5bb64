// SPDX-License-Identifier: Apache-2.0
/* runtime_oci.c - containers by crun or runc, each watched over by a monitor
 *
 * The server asks (runtime_start.c starts, runtime_exec.c adds processes, runtime_adopt.c finds earlier ones); a
 * monitor (runtime_monitor.c) stays with the container and writes down how it ended, so a container needs no server to
 * live or to be told about later.  Nothing here polls: each monitor says on its control socket what happens, and the
 * socket's end is the monitor's.  One that ends without having told the container's end was killed; nobody will ever
 * know how that container ends, so it is killed too and reported as unknown.
 *
 * What a runtime keeps for a container is a directory below --root and a cgroup.  Both are removed here directly rather
 * than by `runtime delete`: it is the same, costs no process, and works for a half-made container too.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/syscall.h>
#include <time.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/log.h"
#include "base/mem.h"
#include "node/runtime_parts.h"

#define MONITOR_LAST_MS 50 /* from the container's last process to the monitor's end */
#define SWEEP_MS        500
#define LEAVE_TRIES     40
#define KILL_MS         2000
#define SAID_MAX        4096

struct box *box_new(struct oci *o, const char *id)
{
	struct box *b = xcalloc(1, sizeof(*b));

	b->oci = o;
	b->id = xstrdup(id);
	b->dir = xasprintf("%s/containers/%s", o->run, id);
	b->pid_fd = b->control_fd = -1;
	b->error = ERR_INIT;
	return b;
}

static void close_fd(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

static void unwatch(struct box *b)
{
	loop_fd_free(b->control_watch);
	b->control_watch = NULL;
}

void box_free(void *box)
{
	struct box *b = box;

	loop_unschedule(b->oci->base.loop, &b->fail);
	loop_timer_done(&b->patience);
	unwatch(b);
	close_fd(&b->control_fd);
	close_fd(&b->pid_fd);
	free(b->id);
	free(b->dir);
	free(b->bundle);
	free(b->cgroup);
	free(b);
}

/* --- what a monitor says --- */

/* Without a cgroup and a pidfd only the runtime can tell whether a number is still the container's. */
static void kill_by_runtime(const struct box *b)
{
	const struct oci *o = b->oci;
	const char *argv[] = { o->with.program, o->with.option, o->root_arg, "kill", b->id, "KILL", NULL };
	struct spawn s = { .argv = argv, .fds = { -1, -1, -1 } };
	auto_sbuf struct sbuf said = SBUF(SAID_MAX);
	struct err ignored = ERR_INIT;
	int status;

	(void)spawn_wait(&s, KILL_MS, &said, &status, &ignored);
}

struct exit_info box_give_up(struct box *b)
{
	int64_t kills = cgroup_oom_kills(&b->oci->base.groups, b->cgroup);

	cgroup_kill(&b->oci->base.groups, b->cgroup, SIGKILL);
	if (b->pid_fd >= 0)
		syscall(SYS_pidfd_send_signal, b->pid_fd, SIGKILL, NULL, 0);
	else if (!*b->cgroup)
		kill_by_runtime(b);
	return (struct exit_info){
		.code = EXIT_UNKNOWN, .unknown = true, .oom = kills > 0, .finished_us = clock_wall_micros()
	};
}

static void tell_exit(struct box *b, const struct exit_info *exit)
{
	struct runtime *r = &b->oci->base;
	auto_free char *id = xstrdup(b->id);

	b->state = BOX_ENDED;
	r->events.exited(r->events.arg, id, exit);
}

static void monitor_gone(struct box *b)
{
	struct monitor_record record;
	struct exit_info exit;

	unwatch(b);
	if (b->state == BOX_STARTING) {
		start_failed(b, NULL);
	} else if (b->state == BOX_RUNNING) {
		/* It writes its last word before it says it. */
		exit = monitor_read_state(b, &record) && record.state == MONITOR_ENDED ? monitor_exit(&record)
										       : box_give_up(b);
		tell_exit(b, &exit);
	}
}

/* One thing the monitor said. */
static void take_record(struct box *b, const struct monitor_record *record)
{
	struct exit_info exit = monitor_exit(record);

	b->monitor = record->monitor;
	b->pid = record->pid;
	b->started_us = record->started_us;
	if (b->state == BOX_STARTING && record->state == MONITOR_FAILED)
		start_failed(b, record);
	else if (b->state == BOX_STARTING && record->state == MONITOR_RUNNING)
		start_succeeded(b);
	else if (b->state == BOX_RUNNING && record->state == MONITOR_ENDED)
		tell_exit(b, &exit);
	else if (b->state == BOX_RUNNING && b->pending_signal && b->pid_fd >= 0)
		b->oci->base.ops->kill(&b->oci->base, b->id, b->pending_signal, true, &b->error);
}

static void on_control(void *arg, bool readable, bool writable)
{
	struct box *b = arg;
	struct oci *o = b->oci;
	auto_free char *id = xstrdup(b->id);
	struct monitor_record record;
	int rc;

	(void)readable;
	(void)writable;
	/* Telling anyone may remove it. */
	while (map_find(&o->boxes, id) == b && (rc = monitor_receive(b, &record)) != 0) {
		if (rc < 0) {
			monitor_gone(b);
			return;
		}
		take_record(b, &record);
	}
}

void box_watch(struct box *b, int control_fd)
{
	b->control_fd = control_fd;
	b->control_watch = loop_fd_new(b->oci->base.loop, control_fd, true, false, on_control, b);
}

/* --- kill and remove --- */

static bool send_signal(const struct box *b, int signo)
{
	return syscall(SYS_pidfd_send_signal, b->pid_fd, signo, NULL, 0) == 0;
}

/* Without a cgroup: all others end with the first, as it is the first of a pid namespace.  A process of the host is the
 * leader of a session, and who has left its group is the monitor's to end.  As long as it can be signalled its number
 * is nobody else's. */
static bool signal_session(const struct box *b, int signo)
{
	return b->pid > 1 && send_signal(b, 0) && getsid(b->pid) == b->pid && kill(-b->pid, signo) == 0;
}

static int oci_kill(struct runtime *r, const char *id, int signo, bool all, struct err *e)
{
	struct box *b = map_find(&((struct oci *)r)->boxes, id);

	if (!b || b->state == BOX_ENDED)
		return 0;
	if (b->pid_fd < 0) {
		b->pending_signal = signo;
		return 0;
	}
	if (all && *b->cgroup)
		cgroup_kill(&b->oci->base.groups, b->cgroup, signo);
	else if (!(all && signal_session(b, signo)) && !send_signal(b, signo) && errno != ESRCH)
		return err_errno(e, ERR_INTERNAL, "cannot signal container %s", id);
	return 0;
}

static void on_sweep(void *arg)
{
	struct oci *o = arg;
	size_t pos = 0;
	const char *cgroup;
	void *unused;

	while (map_next(&o->leftovers, &pos, &cgroup, &unused))
		if (cgroup_try_remove(&o->base.groups, cgroup))
			map_remove(&o->leftovers, cgroup);
	if (o->leftovers.n)
		loop_timer_set(o->base.loop, &o->sweep, SWEEP_MS);
}

void box_erase(struct box *b)
{
	auto_free char *state = xasprintf("%s/oci/%s", b->oci->run, b->id);

	unwatch(b);
	if (b->state != BOX_ENDED) {
		(void)box_give_up(b);
		/* It has a last word to write and must not do so after its directory went. */
		monitor_end(b, MONITOR_LAST_MS);
	}
	if (!cgroup_remove(&b->oci->base.groups, b->cgroup)) {
		map_set(&b->oci->leftovers, b->cgroup, b->oci);
		loop_timer_set(b->oci->base.loop, &b->oci->sweep, SWEEP_MS);
	}
	state_remove_tree(state);
	state_remove_tree(b->dir);
}

static void oci_remove(struct runtime *r, const char *id)
{
	struct oci *o = (struct oci *)r;
	struct box *b = map_find(&o->boxes, id);

	if (!b)
		return;
	if (b->state == BOX_STARTING) {
		start_abandon(b);
		return;
	}
	box_erase(b);
	map_remove(&o->boxes, id);
}

/* --- opening and closing --- */

/* Monitors whose containers were removed need a moment to go, and then nothing is left of us.  Others stay, and their
 * group with them. */
static void leave_group(const struct oci *o)
{
	struct timespec pause = { .tv_nsec = 5000000 };

	for (int i = 0; i < LEAVE_TRIES && !cgroup_trim(&o->base.groups, o->monitors) && !o->boxes.n; i++)
		nanosleep(&pause, NULL);
}

static void oci_free(struct runtime *r)
{
	struct oci *o = (struct oci *)r;

	exec_free_all(o);
	leave_group(o);
	map_done(&o->boxes);
	map_done(&o->leftovers);
	loop_timer_done(&o->sweep);
	close_fd(&o->monitor_program);
	probed_done(&o->with);
	free(o->run);
	free(o->monitors);
	free(o->join);
	free(o->prefix);
	free(o->root_arg);
	free(o);
}

#define OCI_OPS(runtime_name)                                                                                          \
	{                                                                                                              \
		.name = runtime_name, .start = start_container, .kill = oci_kill, .remove = oci_remove,                \
		.exec = oci_exec, .exec_kill = oci_exec_kill, .exec_resize = oci_exec_resize, .attach = oci_attach,    \
		.resize = oci_resize, .reopen_log = oci_reopen_log, .say = oci_say, .process = oci_process,            \
		.adopt = oci_adopt, .free = oci_free                                                                   \
	}
static const struct runtime_ops all_ops[] = { OCI_OPS("crun"), OCI_OPS("runc") };

static int make_dirs(const struct oci *o, struct err *e)
{
	static const char *const dirs[] = { "oci", "containers" };

	for (size_t i = 0; i < ARRAY_SIZE(dirs); i++) {
		auto_free char *path = xasprintf("%s/%s", o->run, dirs[i]);

		if (file_make_dirs(path, 0700, e) < 0)
			return -1;
	}
	return 0;
}

int oci_open(struct loop *loop, const struct runtime_config *config, struct runtime **ret, struct err *e)
{
	struct oci *o = xcalloc(1, sizeof(*o));
	auto_free char *dir = realpath(config->dir, NULL);

	o->base.loop = loop;
	o->base.ops = &all_ops[0];
	cgroups_find(&o->base.groups);
	o->monitor_program = -1;
	o->sweep = (struct loop_timer){ .fire = on_sweep, .arg = o };
	o->run = xasprintf("%s/run", dir ? dir : config->dir);
	o->prefix = xstrdup(config->prefix);
	o->root_arg = xasprintf("--root=%s/oci", o->run);
	o->monitors = config->rootless ? xstrdup("") : xasprintf("/stoker-%s/monitors", config->prefix);
	map_init(&o->boxes, box_free);
	map_init(&o->leftovers, NULL);
	if (make_dirs(o, e) < 0 || runtime_probe(config, &o->base.groups, o->run, &o->with, e) < 0 ||
	    (o->monitor_program = monitor_program(o->run, e)) < 0) {
		oci_free(&o->base);
		return -1;
	}
	o->join = cgroup_join_files(&o->base.groups, o->monitors);
	o->base.version = o->with.version;
	for (size_t i = 0; i < ARRAY_SIZE(all_ops); i++)
		if (streq(all_ops[i].name, o->with.name))
			o->base.ops = &all_ops[i];
	*ret = &o->base;
	return 0;
}
