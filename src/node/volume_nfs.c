// SPDX-License-Identifier: Apache-2.0
/* volume_nfs.c - nfs: a directory of a server, mounted by the kernel's client
 *
 * A server that does not answer can hold mount(8) for minutes, so it runs in a process of its own (volume_job.c) and
 * the pod waits.  A mount that failed is reported, in the words of Kubernetes, and tried again after a while.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/jsonx.h"
#include "base/mem.h"
#include "node/idmap.h"
#include "node/volume_parts.h"

#define AGAIN_SECONDS 10
#define OUTPUT_MAX    4096
#define HELPER        "mount.nfs"
#define MOUNTED       "mounted"

/* What the child needs; it has our memory. */
struct nfs_mount {
	char *source, *options, *target;
};

static bool is_installed(const char *program)
{
	static const char system_dirs[] = ":/sbin:/usr/sbin:/usr/local/sbin";
	const char *path = getenv("PATH");
	auto_free char *all = xasprintf("%s%s", path ? path : "/bin:/usr/bin", system_dirs);
	struct str rest = str_of(all);
	struct str dir;

	while (str_split(&rest, ':', &dir)) {
		auto_free char *file = xasprintf("%.*s/%s", STR_FMT(dir), program);

		if (dir.n && access(file, X_OK) == 0)
			return true;
	}
	return false;
}

static bool kernel_has_nfs(void)
{
	auto_sbuf struct sbuf list = SBUF(64 * 1024);
	struct err e = ERR_INIT;

	return file_read("/proc/filesystems", list.max, &list, &e) == 0 && list.p && strstr(list.p, "\tnfs");
}

/* ---- in the child ---- */

static int run_mount(const struct nfs_mount *m, struct sbuf *output)
{
	const char *argv[] = { "mount", "-t", "nfs", "-o", m->options, "--", m->source, m->target, NULL };
	int status = -1;
	char buf[1024];
	int fds[2];
	ssize_t n;
	pid_t pid;

	if (pipe2(fds, O_CLOEXEC) < 0)
		return -1;
	pid = fork();
	if (pid == 0) {
		dup2(fds[1], STDOUT_FILENO);
		dup2(fds[1], STDERR_FILENO);
		execvp(argv[0], (char *const *)argv);
		_exit(127);
	}
	close(fds[1]);
	while (pid > 0 && ((n = read(fds[0], buf, sizeof(buf))) > 0 || (n < 0 && errno == EINTR)))
		if (n > 0)
			sbuf_add(output, buf, (size_t)n);
	close(fds[0]);
	while (pid > 0 && waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	return pid > 0 && WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static void mount_in_child(const void *arg, struct sbuf *result)
{
	const struct nfs_mount *m = arg;
	auto_sbuf struct sbuf output = SBUF(OUTPUT_MAX);
	int status = run_mount(m, &output);

	if (status == 0) {
		sbuf_adds(result, MOUNTED);
		return;
	}
	sbuf_addf(result, "mount failed: exit status %d\nMounting command: mount\n", status);
	sbuf_addf(result, "Mounting arguments: -t nfs -o %s %s %s\n", m->options, m->source, m->target);
	sbuf_addf(result, "Output: %.*s", STR_FMT(str_trim(sbuf_str(&output))));
	if (!kernel_has_nfs())
		sbuf_adds(result, " (this machine's kernel has no NFS client: no module nfs)");
}

static void undo_in_child(const void *arg)
{
	const struct nfs_mount *m = arg;

	umount2(m->target, MNT_DETACH | UMOUNT_NOFOLLOW);
	rmdir(m->target);
}

/* ---- in the server ---- */

static bool is_recent(const struct volume *v, const char *job)
{
	auto_free char *path = xasprintf("%s/.jobs/%s", v->c->dir, job);
	struct stat st;

	return stat(path, &st) == 0 && st.st_mtime + AGAIN_SECONDS > clock_wall();
}

static void nfs_mount_done(struct nfs_mount *m)
{
	free(m->source);
	free(m->options);
	free(m->target);
}

/* A user's own choice of server must not bring programs or devices with rights along. */
static char *mount_options(const struct volume *v)
{
	auto_sbuf struct sbuf out = SBUF(OUTPUT_MAX);
	json_t *option;
	size_t i;

	sbuf_adds(&out, v->read_only || jsonx_bool_or(v->source, "readOnly", false) ? "ro" : "rw");
	if (!v->trusted && v->c->owner != (uid_t)-1)
		sbuf_adds(&out, ",nosuid,nodev");
	json_array_foreach ((json_t *)v->options, i, option)
		if (json_is_string(option) && *json_string_value(option))
			sbuf_addf(&out, ",%s", json_string_value(option));
	return sbuf_steal(&out);
}

static int start(const struct volume *v, const char *job, struct err *e)
{
	const char *server = jsonx_str_or(v->source, "server", "");
	bool v6 = strchr(server, ':') && server[0] != '[';
	struct nfs_mount m = {
		.source = xasprintf("%s%s%s:%s", v6 ? "[" : "", server, v6 ? "]" : "",
				    jsonx_str_or(v->source, "path", "/")),
		.options = mount_options(v),
		.target = xstrdup(v->path),
	};
	int r = volume_make_dir(v->path, 0755, e);

	if (r == 0) {
		volume_job_forget(v->c->dir, job);
		r = volume_job_start(v->c->dir, job, mount_in_child, undo_in_child, &m, e);
	}
	nfs_mount_done(&m);
	return r;
}

static int busy(const struct volume *v, struct err *e)
{
	err_set(e, ERR_UNAVAILABLE, "waiting for the NFS server %s", jsonx_str_or(v->source, "server", ""));
	e->retry_after = 1;
	return -1;
}

int volume_nfs_prepare(const struct volume *v, struct err *e)
{
	auto_free char *job = xasprintf("nfs-%s", v->name);
	auto_sbuf struct sbuf result = SBUF(2 * OUTPUT_MAX);
	enum volume_job state = volume_job_look(v->c->dir, job, &result);

	/* Before anything looks at the mount itself: a dead server would hold us. */
	if (state == VOLUME_JOB_RUNNING)
		return busy(v, e);
	if (volume_is_mounted(v->path))
		return 0;
	if (state == VOLUME_JOB_DONE && !streq(result.p, MOUNTED) && is_recent(v, job))
		return err_set(e, ERR_INTERNAL, "%s", result.p);
	if (geteuid() != 0 || !idmap_is_whole())
		return err_set(e, ERR_INVALID, "nfs volumes need a server that runs as root");
	if (!is_installed(HELPER))
		return err_set(e, ERR_INVALID,
			       "nfs volumes need the program " HELPER " (package nfs-common or nfs-utils)%s",
			       kernel_has_nfs() ? "" : "; this machine's kernel has no NFS client loaded either");
	return start(v, job, e) < 0 ? -1 : busy(v, e);
}
