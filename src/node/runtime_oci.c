// SPDX-License-Identifier: Apache-2.0
/* runtime_oci.c - containers by crun or runc, each watched over by a conmon
 *
 * The server asks (runtime_conmon.c starts, runtime_exec.c adds processes, runtime_adopt.c finds earlier ones); conmon
 * stays with the container and writes down how it ended, so a container needs no server to live or to be told about
 * later.  Nothing here polls: inotify on the directory of exit files says that a container ended, a pidfd of each
 * conmon says that its monitor did.  A monitor that ends without an exit file was killed; nobody will ever know how
 * that container ends, so it is killed too and reported as unknown.
 *
 * What a runtime keeps for a container is a directory below --root and a cgroup.  Both are removed here directly rather
 * than by `runtime delete`: it is the same, costs no process, and works for a half-made container too.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/log.h"
#include "base/mem.h"
#include "node/runtime_parts.h"

#define MONITOR_LAST_MS 50 /* from conmon's exit file to its end */
#define SWEEP_MS        500
#define EXIT_UNKNOWN    255

struct box *box_new(struct oci *o, const char *id)
{
	struct box *b = xcalloc(1, sizeof(*b));

	b->oci = o;
	b->id = xstrdup(id);
	b->dir = xasprintf("%s/containers/%s", o->run, id);
	b->pid_fd = b->monitor_fd = b->hidden_fd = b->sync_fd = -1;
	b->error = ERR_INIT;
	return b;
}

static void close_fd(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

void box_free(void *box)
{
	struct box *b = box;

	conmon_abandon(b);
	loop_fd_free(b->monitor_watch);
	close_fd(&b->monitor_fd);
	close_fd(&b->pid_fd);
	sbuf_done(&b->sync);
	free(b->id);
	free(b->dir);
	free(b->bundle);
	free(b->cgroup);
	free(b);
}

/* --- the end of a container --- */

/* The kernel's count of kills in this very group is the truth.  conmon's mark only says that there was an OOM event,
 * which on v1 every container of a pod hears when the pod's limit is reached; it is for when the group cannot be read.
 */
static bool out_of_memory(const struct box *b)
{
	auto_free char *mark = xasprintf("%s/oom", b->dir);
	int64_t kills = cgroup_oom_kills(b->cgroup);

	return kills >= 0 ? kills > 0 : access(mark, F_OK) == 0;
}

bool box_read_exit(const struct box *b, struct exit_info *ret)
{
	auto_free char *path = xasprintf("%s/exits/%s", b->oci->run, b->id);
	int64_t code = state_read_number(path);
	struct stat st;

	if (code < 0 || stat(path, &st) < 0)
		return false;
	*ret = (struct exit_info){
		.code = (int)(code & 255),
		.signal = code > 128 && code <= 128 + SIGRTMAX ? (int)code - 128 : 0,
		.oom = code != 0 && out_of_memory(b),
		.finished_us = (int64_t)st.st_mtim.tv_sec * 1000000 + st.st_mtim.tv_nsec / 1000,
	};
	return true;
}

static void unwatch(struct box *b)
{
	loop_fd_free(b->monitor_watch);
	b->monitor_watch = NULL;
}

static void tell_exit(struct box *b, const struct exit_info *exit)
{
	struct runtime *r = &b->oci->base;
	auto_free char *id = xstrdup(b->id);

	b->state = BOX_ENDED;
	unwatch(b);
	r->events.exited(r->events.arg, id, exit);
}

void box_check_exit(struct box *b)
{
	struct exit_info exit;
	struct pollfd monitor = { .fd = b->monitor_fd, .events = POLLIN };

	/* Until done() has been called nobody may hear of an end. */
	if (b->state != BOX_RUNNING)
		return;
	if (box_read_exit(b, &exit)) {
		tell_exit(b, &exit);
		return;
	}
	if (b->monitor_fd >= 0 && poll(&monitor, 1, 0) == 0)
		return;
	/* The exit file comes before conmon's end, so a second look is the last word. */
	if (!box_read_exit(b, &exit)) {
		cgroup_kill(b->cgroup, SIGKILL);
		if (b->pid_fd >= 0)
			syscall(SYS_pidfd_send_signal, b->pid_fd, SIGKILL, NULL, 0);
		exit = (struct exit_info){ .code = EXIT_UNKNOWN,
					   .unknown = true,
					   .oom = out_of_memory(b),
					   .finished_us = clock_wall_micros() };
	}
	tell_exit(b, &exit);
}

static void on_monitor_end(void *arg, bool readable, bool writable)
{
	struct box *b = arg;

	(void)readable;
	(void)writable;
	unwatch(b);
	box_check_exit(b);
}

int box_watch(struct box *b, struct err *e)
{
	auto_free char *path = xasprintf("%s/conmon.pid", b->dir);
	int64_t monitor = state_read_number(path);

	errno = ESRCH;
	if (b->monitor_fd < 0 && monitor > 0)
		b->monitor_fd = (int)syscall(SYS_pidfd_open, (pid_t)monitor, 0);
	if (b->monitor_fd < 0 && errno != ESRCH)
		return err_errno(e, ERR_UNAVAILABLE, "cannot watch conmon of %s", b->id);
	if (b->monitor_fd >= 0)
		b->monitor_watch = loop_fd_new(b->oci->base.loop, b->monitor_fd, true, false, on_monitor_end, b);
	return 0;
}

static void check_all(struct oci *o)
{
	size_t pos = 0, n = 0, cap = 0;
	const char *id;
	char **ids = NULL;
	void *box;

	/* By name: telling one end may remove any of them. */
	while (map_next(&o->boxes, &pos, &id, &box))
		ARRAY_PUSH(ids, n, cap, xstrdup(id));
	for (size_t i = 0; i < n; i++) {
		struct box *b = map_find(&o->boxes, ids[i]);

		if (b)
			box_check_exit(b);
		free(ids[i]);
	}
	free(ids);
}

static void on_exit_file(void *arg, bool readable, bool writable)
{
	struct oci *o = arg;
	_Alignas(struct inotify_event) char buf[16 * 1024];
	ssize_t n = read(o->inotify, buf, sizeof(buf));

	(void)readable;
	(void)writable;
	for (ssize_t at = 0; at < n;) {
		const struct inotify_event *event = (const struct inotify_event *)(buf + at);
		struct box *b = event->len ? map_find(&o->boxes, event->name) : NULL;

		at += (ssize_t)(sizeof(*event) + event->len);
		if (b)
			box_check_exit(b);
		else if (event->mask & IN_Q_OVERFLOW)
			check_all(o);
	}
}

/* --- kill and remove --- */

static int oci_kill(struct runtime *r, const char *id, int signo, bool all, struct err *e)
{
	struct box *b = map_find(&((struct oci *)r)->boxes, id);

	if (!b || b->state == BOX_ENDED)
		return 0;
	if (b->pid_fd < 0) {
		b->pending_signal = signo;
		return 0;
	}
	if (all)
		cgroup_kill(b->cgroup, signo);
	else if (syscall(SYS_pidfd_send_signal, b->pid_fd, signo, NULL, 0) < 0 && errno != ESRCH)
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
		if (cgroup_try_remove(cgroup))
			map_remove(&o->leftovers, cgroup);
	if (o->leftovers.n)
		loop_timer_set(o->base.loop, &o->sweep, SWEEP_MS);
}

/* conmon has a last word to write and must not do so after its directory went. */
static void end_monitor(struct box *b)
{
	auto_free char *path = xasprintf("%s/conmon.pid", b->dir);
	struct pollfd p = { .fd = b->monitor_fd, .events = POLLIN };
	pid_t monitor = (pid_t)state_read_number(path);

	if (p.fd < 0 && monitor > 0 && b->state <= BOX_STARTING)
		p.fd = b->monitor_fd = (int)syscall(SYS_pidfd_open, monitor, 0);
	if (p.fd < 0 || poll(&p, 1, MONITOR_LAST_MS) > 0)
		return;
	syscall(SYS_pidfd_send_signal, p.fd, SIGKILL, NULL, 0);
	poll(&p, 1, MONITOR_LAST_MS);
}

static void unlink_below(const char *dir, const char *name)
{
	auto_free char *path = xasprintf("%s/%s", dir, name);

	unlink(path);
}

void box_erase(struct box *b)
{
	static const char *const conmon_files[] = { "attach", "ctl", "winsz", "oom" };
	auto_free char *state = xasprintf("%s/oci/%s", b->oci->run, b->id);
	auto_free char *exit_file = xasprintf("%s/exits/%s", b->oci->run, b->id);

	cgroup_kill(b->cgroup, SIGKILL);
	if (b->pid_fd >= 0)
		syscall(SYS_pidfd_send_signal, b->pid_fd, SIGKILL, NULL, 0);
	end_monitor(b);
	cgroup_remove(b->cgroup);
	if (!cgroup_try_remove(b->cgroup)) {
		map_set(&b->oci->leftovers, b->cgroup, b->oci);
		loop_timer_set(b->oci->base.loop, &b->oci->sweep, SWEEP_MS);
	}
	state_remove_tree(state);
	unlink(exit_file);
	for (size_t i = 0; b->bundle[0] && i < ARRAY_SIZE(conmon_files); i++)
		unlink_below(b->bundle, conmon_files[i]);
	state_remove_tree(b->dir);
}

static void oci_remove(struct runtime *r, const char *id)
{
	struct oci *o = (struct oci *)r;
	struct box *b = map_find(&o->boxes, id);

	if (!b)
		return;
	if (b->state <= BOX_STARTING) {
		if (!b->fail.queued) {
			conmon_abandon(b);
			err_set(&b->error, ERR_CONFLICT, "container %s was removed while it was being started", id);
			conmon_fail(b);
		}
		return;
	}
	unwatch(b);
	box_erase(b);
	map_remove(&o->boxes, id);
	if (!o->boxes.n)
		cgroup_trim(o->monitors);
}

/* --- opening and closing --- */

static void oci_free(struct runtime *r)
{
	struct oci *o = (struct oci *)r;

	exec_free_all(o);
	map_done(&o->boxes);
	map_done(&o->leftovers);
	loop_timer_done(&o->sweep);
	loop_fd_free(o->exit_watch);
	close_fd(&o->inotify);
	if (o->monitors)
		cgroup_trim(o->monitors);
	cgroup_join_files_free(o->join);
	probed_done(&o->with);
	free(o->run);
	free(o->monitors);
	free(o->prefix);
	free(o->root_arg);
	free(o);
}

#define OCI_OPS(runtime_name)                                                                                          \
	{                                                                                                              \
		.name = runtime_name, .start = conmon_start, .kill = oci_kill, .remove = oci_remove, .exec = oci_exec, \
		.exec_kill = oci_exec_kill, .exec_resize = oci_exec_resize, .attach = oci_attach,                      \
		.resize = oci_resize, .reopen_log = oci_reopen_log, .adopt = oci_adopt, .free = oci_free               \
	}
static const struct runtime_ops all_ops[] = { OCI_OPS("crun"), OCI_OPS("runc") };

static int watch_exits(struct oci *o, struct err *e)
{
	auto_free char *exits = xasprintf("%s/exits", o->run);

	o->inotify = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
	if (o->inotify < 0 || inotify_add_watch(o->inotify, exits, IN_MOVED_TO | IN_CLOSE_WRITE) < 0)
		return err_errno(e, ERR_UNAVAILABLE, "cannot watch %s", exits);
	o->exit_watch = loop_fd_new(o->base.loop, o->inotify, true, false, on_exit_file, o);
	return 0;
}

static int make_dirs(const struct oci *o, struct err *e)
{
	static const char *const dirs[] = { "oci", "exits", "containers" };

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
	o->inotify = -1;
	o->sweep = (struct loop_timer){ .fire = on_sweep, .arg = o };
	o->run = xasprintf("%s/run", dir ? dir : config->dir);
	o->prefix = xstrdup(config->prefix);
	o->root_arg = xasprintf("--root=%s/oci", o->run);
	o->monitors = xasprintf("/stoker-%s/monitors", config->prefix);
	map_init(&o->boxes, box_free);
	map_init(&o->leftovers, NULL);
	if (make_dirs(o, e) < 0 || runtime_probe(config, o->run, &o->with, e) < 0 || watch_exits(o, e) < 0) {
		oci_free(&o->base);
		return -1;
	}
	o->join = cgroup_join_files(o->monitors);
	for (size_t i = 0; i < ARRAY_SIZE(all_ops); i++)
		if (streq(all_ops[i].name, o->with.name))
			o->base.ops = &all_ops[i];
	*ret = &o->base;
	return 0;
}
