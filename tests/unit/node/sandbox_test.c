// SPDX-License-Identifier: Apache-2.0
#include "node/sandbox.h"

#include <fcntl.h>
#include <sched.h>
#include <stdlib.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/file.h"
#include "base/mem.h"
#include "base/str.h"
#include "test.h"

static char *fresh_dir(void)
{
	static unsigned count;

	return xasprintf("%s/pods/uid%u", test_dir(), ++count);
}

/* The inode of a namespace is its name; 0 if there is none. */
static ino_t ns_inode(const char *dir, const char *kind)
{
	char buf[256];
	const char *path = sandbox_ns(dir, kind, buf, sizeof(buf));
	struct stat st;

	return path && stat(path, &st) == 0 ? st.st_ino : 0;
}

static ino_t own_inode(const char *kind)
{
	auto_free char *path = xasprintf("/proc/self/ns/%s", kind);
	struct stat st;

	return stat(path, &st) == 0 ? st.st_ino : 0;
}

/* What a file says to a process inside the sandbox. */
static void read_inside(const char *dir, const char *file, char *out, size_t n)
{
	static const char *const kinds[] = { "net", "ipc", "uts" };
	int pipe_fds[2], status;
	ssize_t got;
	pid_t pid;

	CHECK(pipe(pipe_fds) == 0);
	pid = fork();
	if (pid == 0) {
		for (size_t i = 0; i < ARRAY_SIZE(kinds); i++) {
			char buf[256];
			const char *path = sandbox_ns(dir, kinds[i], buf, sizeof(buf));
			int fd = path ? open(path, O_RDONLY) : -1;

			if (fd >= 0 && setns(fd, 0) < 0)
				_exit(1);
		}
		int fd = open(file, O_RDONLY);
		char text[4096];
		ssize_t len = fd < 0 ? -1 : read(fd, text, sizeof(text));

		_exit(len >= 0 && write(pipe_fds[1], text, (size_t)len) == len ? 0 : 1);
	}
	close(pipe_fds[1]);
	got = read(pipe_fds[0], out, n - 1);
	out[got > 0 ? got : 0] = '\0';
	close(pipe_fds[0]);
	CHECK(waitpid(pid, &status, 0) == pid && status == 0);
}

TEST("a sandbox has its own namespaces with host name, loopback and sysctls")
{
	static const char *const sysctls[] = { "net.ipv4.ip_unprivileged_port_start=80", "kernel.shmmax=12345678",
					       "net/ipv4/ping_group_range=0 0", NULL };
	auto_free char *dir = fresh_dir();
	struct sandbox_config c = { .dir = dir, .hostname = "pod-a", .sysctls = sysctls };
	struct err e = ERR_INIT;
	ino_t net, uts;
	char text[4096];

	if (sandbox_make(&c, &e) < 0)
		test_fail(__FILE__, __LINE__, "%s", e.text);
	net = ns_inode(dir, "net");
	uts = ns_inode(dir, "uts");
	CHECK(net && net != own_inode("net"));
	CHECK(uts && uts != own_inode("uts"));
	CHECK(ns_inode(dir, "ipc") && ns_inode(dir, "ipc") != own_inode("ipc"));
	read_inside(dir, "/proc/sys/kernel/hostname", text, sizeof(text));
	CHECK_STR(text, "pod-a\n");
	read_inside(dir, "/proc/sys/net/ipv4/ip_unprivileged_port_start", text, sizeof(text));
	CHECK_STR(text, "80\n");
	read_inside(dir, "/proc/sys/kernel/shmmax", text, sizeof(text));
	CHECK_STR(text, "12345678\n");
	read_inside(dir, "/proc/thread-self/net/fib_trie", text, sizeof(text));
	CHECK(strstr(text, "127.0.0.1") != NULL);
	/* Made again it is the same, also by another name. */
	c.hostname = "pod-b";
	CHECK_INT(sandbox_make(&c, &e), 0);
	CHECK_INT(ns_inode(dir, "net"), net);
	CHECK_INT(ns_inode(dir, "uts"), uts);
	sandbox_remove(dir);
	CHECK(access(dir, F_OK) < 0);
	CHECK_INT(ns_inode(dir, "net"), 0);
	sandbox_remove(dir);
}

TEST("a sandbox may keep the host's network and ipc")
{
	auto_free char *dir = fresh_dir();
	struct sandbox_config c = { .dir = dir, .hostname = "h", .host_network = true, .host_ipc = true };
	struct err e = ERR_INIT;

	CHECK_INT(sandbox_make(&c, &e), 0);
	CHECK_INT(ns_inode(dir, "net"), 0);
	CHECK_INT(ns_inode(dir, "ipc"), 0);
	CHECK(ns_inode(dir, "uts") != 0);
	sandbox_remove(dir);
	CHECK(access(dir, F_OK) < 0);
}

TEST("what a reboot or a crash left of a sandbox is completed")
{
	auto_free char *dir = fresh_dir(), *net_file = xasprintf("%s/net", dir), *uts_file = xasprintf("%s/uts", dir);
	struct sandbox_config c = { .dir = dir, .hostname = "h" };
	struct err e = ERR_INIT;
	ino_t ipc;

	CHECK_INT(sandbox_make(&c, &e), 0);
	ipc = ns_inode(dir, "ipc");
	CHECK(umount2(net_file, MNT_DETACH) == 0);
	CHECK(umount2(uts_file, MNT_DETACH) == 0 && unlink(uts_file) == 0);
	CHECK_INT(ns_inode(dir, "net"), 0);
	CHECK_INT(sandbox_make(&c, &e), 0);
	CHECK(ns_inode(dir, "net") != 0);
	CHECK(ns_inode(dir, "uts") != 0);
	CHECK_INT(ns_inode(dir, "ipc"), ipc);
	sandbox_remove(dir);
	CHECK(access(dir, F_OK) < 0);
}

TEST("sysctls of the machine, of the host's namespaces and nonsense are refused")
{
	static const struct {
		const char *sysctl;
		bool host_network, host_ipc;
		const char *text;
	} rows[] = {
		{ "kernel.panic=1", false, false, "sysctl kernel.panic: belongs to the whole machine, not to a pod" },
		{ "vm.swappiness=1", false, false, "sysctl vm.swappiness: belongs to the whole machine, not to a pod" },
		{ "net.ipv4.ip_forward=1", true, false,
		  "sysctl net.ipv4.ip_forward: the pod uses the host's namespace" },
		{ "kernel.sem=1 1 1 1", false, true, "sysctl kernel.sem: the pod uses the host's namespace" },
		{ "net.ipv4.ip_forward", false, false, "sysctl net.ipv4.ip_forward: no value" },
		{ "net/../../kernel/panic=1", false, false, "sysctl net/../../kernel/panic: not a name" },
		{ "net..x=1", false, false, "sysctl net..x: not a name" },
		{ "=1", false, false, "sysctl : not a name" },
		{ "net.ipv4.nonesuch=1", false, false,
		  "pod sandbox: sysctl net.ipv4.nonesuch=1: No such file or directory" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		auto_free char *dir = fresh_dir();
		const char *const sysctls[] = { rows[i].sysctl, NULL };
		struct sandbox_config c = { .dir = dir,
					    .hostname = "h",
					    .host_network = rows[i].host_network,
					    .host_ipc = rows[i].host_ipc,
					    .sysctls = sysctls };
		struct err e = ERR_INIT;

		CHECK_INT(sandbox_make(&c, &e), -1);
		CHECK_STR(e.text, rows[i].text);
		CHECK_INT(e.kind, ERR_INVALID);
		CHECK_INT(ns_inode(dir, "net"), 0);
		sandbox_remove(dir);
		CHECK(access(dir, F_OK) < 0);
	}
}
