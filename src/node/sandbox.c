// SPDX-License-Identifier: Apache-2.0
/* sandbox.c - a pod's network, ipc and uts namespaces, pinned by files
 *
 * A short-lived child (vfork: system calls only, errors written straight into our memory) enters new namespaces, brings
 * the loopback interface up, sets host name and sysctls, and last of all binds its own namespaces onto files in the
 * pod's directory.  From then on the namespaces exist without any process.  Because pinning comes last, a namespace
 * that is pinned is complete: after a crash only the missing ones are made, and a directory left by a reboot, whose
 * files are no namespaces, is filled again.
 */
#include "node/sandbox.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <net/if.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/file.h"
#include "base/mem.h"
#include "base/str.h"

static const struct ns_kind {
	const char *name;
	int flag;
} ns_kinds[] = {
	{ "net", CLONE_NEWNET },
	{ "ipc", CLONE_NEWIPC },
	{ "uts", CLONE_NEWUTS },
};

/* Which namespace a sysctl belongs to, by the start of its name; anything else is the machine's. */
static const struct sysctl_row {
	const char *prefix;
	int flag;
} sysctl_rows[] = {
	{ "net.", CLONE_NEWNET },       { "kernel.shm", CLONE_NEWIPC }, { "kernel.msg", CLONE_NEWIPC },
	{ "kernel.sem", CLONE_NEWIPC }, { "fs.mqueue.", CLONE_NEWIPC },
};

static bool is_pinned(const char *path)
{
	struct statfs fs;

	return statfs(path, &fs) == 0 && fs.f_type == NSFS_MAGIC;
}

const char *sandbox_ns(const char *dir, const char *kind, char *buf, size_t n)
{
	if (snprintf(buf, n, "%s/%s", dir, kind) >= (int)n || !is_pinned(buf))
		return NULL;
	return buf;
}

/* "net.ipv4.ip_local_port_range" or with slashes -> the file below /proc/sys. */
static int sysctl_path(const char *name, size_t n, char *out, size_t out_len, struct err *e)
{
	bool part_empty = true;

	for (size_t i = 0; i < n; i++) {
		bool separator = name[i] == '.' || name[i] == '/';

		if ((separator && part_empty) ||
		    (!separator && !isalnum((unsigned char)name[i]) && !strchr("_-", name[i])))
			return err_set(e, ERR_INVALID, "sysctl %.*s: not a name", (int)n, name);
		part_empty = separator;
	}
	if (part_empty || snprintf(out, out_len, "/proc/sys/%.*s", (int)n, name) >= (int)out_len)
		return err_set(e, ERR_INVALID, "sysctl %.*s: not a name", (int)n, name);
	for (char *p = out + strlen("/proc/sys/"); *p; p++)
		if (*p == '.')
			*p = '/';
	return 0;
}

/* Slashes may stand for dots.  Also called by the child: no allocation. */
static int sysctl_flag(const char *setting)
{
	for (size_t i = 0; i < ARRAY_SIZE(sysctl_rows); i++) {
		const char *want = sysctl_rows[i].prefix;
		size_t n = 0;

		while (want[n] && (setting[n] == want[n] || (want[n] == '.' && setting[n] == '/')))
			n++;
		if (!want[n])
			return sysctl_rows[i].flag;
	}
	return 0;
}

static int check_sysctls(const struct sandbox_config *c, int own, struct err *e)
{
	char path[256];

	for (size_t i = 0; c->sysctls && c->sysctls[i]; i++) {
		const char *equals = strchr(c->sysctls[i], '=');
		size_t n = equals ? (size_t)(equals - c->sysctls[i]) : 0;
		int flag = sysctl_flag(c->sysctls[i]);

		if (!equals)
			return err_set(e, ERR_INVALID, "sysctl %s: no value", c->sysctls[i]);
		if (sysctl_path(c->sysctls[i], n, path, sizeof(path), e) < 0)
			return -1;
		if (!flag)
			return err_set(e, ERR_INVALID, "sysctl %.*s: belongs to the whole machine, not to a pod",
				       (int)n, c->sysctls[i]);
		if (!(flag & own))
			return err_set(e, ERR_INVALID, "sysctl %.*s: the pod uses the host's namespace", (int)n,
				       c->sysctls[i]);
	}
	return 0;
}

static int set_sysctl(const char *setting, struct err *e)
{
	const char *equals = strchr(setting, '=');
	char path[256];
	int fd;
	ssize_t n;

	if (sysctl_path(setting, (size_t)(equals - setting), path, sizeof(path), e) < 0)
		return -1;
	fd = open(path, O_WRONLY | O_CLOEXEC);
	n = fd < 0 ? -1 : write(fd, equals + 1, strlen(equals + 1));
	if (n < 0)
		err_errno(e, ERR_INVALID, "sysctl %s", setting);
	if (fd >= 0)
		close(fd);
	return n < 0 ? -1 : 0;
}

static int loopback_up(struct err *e)
{
	struct ifreq request = { .ifr_name = "lo" };
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	int rc = fd < 0 ? -1 : ioctl(fd, SIOCGIFFLAGS, &request);

	request.ifr_flags |= IFF_UP;
	if (rc == 0)
		rc = ioctl(fd, SIOCSIFFLAGS, &request);
	if (rc < 0)
		err_errno(e, ERR_UNAVAILABLE, "cannot bring the loopback interface up");
	if (fd >= 0)
		close(fd);
	return rc;
}

/* In the child, inside the new namespaces. */
static int fill(const struct sandbox_config *c, int make, struct err *e)
{
	if ((make & CLONE_NEWNET) && loopback_up(e) < 0)
		return -1;
	if ((make & CLONE_NEWUTS) && c->hostname && sethostname(c->hostname, strlen(c->hostname)) < 0)
		return err_errno(e, ERR_UNAVAILABLE, "cannot set the host name %s", c->hostname);
	for (size_t i = 0; c->sysctls && c->sysctls[i]; i++)
		if ((sysctl_flag(c->sysctls[i]) & make) && set_sysctl(c->sysctls[i], e) < 0)
			return -1;
	return 0;
}

static int pin(const char *dir, const struct ns_kind *k, struct err *e)
{
	char from[64], to[512];

	snprintf(from, sizeof(from), "/proc/self/ns/%s", k->name);
	if (snprintf(to, sizeof(to), "%s/%s", dir, k->name) >= (int)sizeof(to))
		return err_set(e, ERR_TOO_LARGE, "%s: path too long", dir);
	if (mount(from, to, NULL, MS_BIND, NULL) < 0)
		return err_errno(e, ERR_UNAVAILABLE, "cannot keep the %s namespace at %s", k->name, to);
	return 0;
}

__attribute__((noreturn)) static void child_run(const struct sandbox_config *c, int make, struct err *e)
{
	if (unshare(make) < 0) {
		err_errno(e, ERR_UNAVAILABLE, "cannot make namespaces");
		_exit(1);
	}
	if (fill(c, make, e) < 0)
		_exit(1);
	for (size_t i = 0; i < ARRAY_SIZE(ns_kinds); i++)
		if ((make & ns_kinds[i].flag) && pin(c->dir, &ns_kinds[i], e) < 0)
			_exit(1);
	_exit(0);
}

static int make_missing(const struct sandbox_config *c, int make, struct err *e)
{
	sigset_t all, mask;
	int status = 0;
	pid_t pid;

	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, &mask);
	pid = vfork();
	if (pid == 0)
		child_run(c, make, e);
	sigprocmask(SIG_SETMASK, &mask, NULL);
	if (pid < 0)
		return err_errno(e, ERR_UNAVAILABLE, "cannot make namespaces");
	if (waitpid(pid, &status, 0) == pid && WIFEXITED(status) && WEXITSTATUS(status) == 0)
		return 0;
	if (e->kind == ERR_NONE)
		err_set(e, ERR_UNAVAILABLE, "cannot make namespaces: the helper process was killed");
	return -1;
}

int sandbox_make(const struct sandbox_config *c, struct err *e)
{
	int own = CLONE_NEWUTS | (c->host_network ? 0 : CLONE_NEWNET) | (c->host_ipc ? 0 : CLONE_NEWIPC);
	int make = 0;

	if (check_sysctls(c, own, e) < 0 || file_make_dirs(c->dir, 0700, e) < 0)
		return -1;
	for (size_t i = 0; i < ARRAY_SIZE(ns_kinds); i++) {
		auto_free char *path = xasprintf("%s/%s", c->dir, ns_kinds[i].name);
		int fd;

		if (!(own & ns_kinds[i].flag) || is_pinned(path))
			continue;
		make |= ns_kinds[i].flag;
		fd = open(path, O_RDONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
		if (fd < 0)
			return err_errno(e, ERR_INTERNAL, "cannot make %s", path);
		close(fd);
	}
	if (make && make_missing(c, make, e) < 0)
		return err_prefix(e, "pod sandbox");
	return 0;
}

void sandbox_remove(const char *dir)
{
	for (size_t i = 0; i < ARRAY_SIZE(ns_kinds); i++) {
		auto_free char *path = xasprintf("%s/%s", dir, ns_kinds[i].name);

		while (is_pinned(path) && umount2(path, MNT_DETACH | UMOUNT_NOFOLLOW) == 0)
			;
		/* Unlinking also drops copies of the mount in other mount namespaces. */
		unlink(path);
	}
	rmdir(dir);
}
