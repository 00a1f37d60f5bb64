// SPDX-License-Identifier: Apache-2.0
/* Processes of the host: whose they are, where their output goes, and that nothing of them is left. */
#include <fcntl.h>
#include <pty.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/jsonx.h"
#include "base/mem.h"
#include "base/str.h"
#include "box.h"
#include "node/process_spec.h"
#include "test.h"

#define UID  65534
#define GID  65533
#define MORE 65532

/* A home that the user owns. */
static char home[64];

static void make_home(void)
{
	snprintf(home, sizeof(home), "/tmp/stoker-home-XXXXXX");
	CHECK(mkdtemp(home) != NULL && chown(home, UID, GID) == 0);
}

static void remove_home(void)
{
	auto_free char *command = xasprintf("rm -rf %s", home);

	CHECK_INT(system(command), 0);
}

#define WITH_HOST(b)                                                                                                   \
	for (bool more_ = (make_home(), bench_open(&(b), "auto")); more_;                                              \
	     more_ = false, bench_close(&(b)), remove_home())

static json_t *document(const char *script)
{
	return json_pack("{s:s, s:[s,s,s], s:[s,s], s:s, s:{s:i, s:i, s:[i], s:i}, s:o, s:o}", "program", "/bin/sh",
			 "args", "-sh", "-c", script, "env", "PATH=/usr/bin:/bin", "WORD=a b", "cwd", home, "user",
			 "uid", UID, "gid", GID, "additionalGids", MORE, "umask", 077, "stdout",
			 jsonx_stringf("%s/out", home), "stderr", jsonx_stringf("%s/err", home));
}

static struct trial *run(struct bench *b, json_t *doc)
{
	struct trial *t = trial_new(b);

	t->process = doc;
	trial_start(b, t);
	return t;
}

static char *text_of(const char *name)
{
	auto_free char *path = name[0] == '/' ? xstrdup(name) : xasprintf("%s/%s", home, name);
	auto_sbuf struct sbuf text = SBUF(1 << 20);
	struct err e = ERR_INIT;

	if (file_read(path, 1 << 20, &text, &e) < 0)
		return xstrdup(e.text);
	return text.n ? sbuf_steal(&text) : xstrdup("");
}

#define CHECK_FILE(name, want)                                                                                         \
	do {                                                                                                           \
		auto_free char *text_ = text_of(name);                                                                 \
		CHECK_STR(text_, want);                                                                                \
	} while (0)

TEST("a process of the host is its user's, and so are the files of its output")
{
	struct bench b;

	WITH_HOST(b)
	{
		json_auto_t *doc =
			document("id -u; id -g; id -G; umask; pwd; echo $0; echo \"$WORD\"; cat; ls /proc/self/fd"
				 " | wc -l; echo oops >&2; exit 7");
		struct trial *t = run(&b, doc);
		auto_free char *want = xasprintf("%d\n%d\n%d %d\n0077\n%s\n-sh\na b\n4\n", UID, GID, GID, MORE, home);
		auto_free char *out = xasprintf("%s/out", home), *log = NULL;
		struct stat st;

		CHECK(bench_wait(&b, &t->exits, 1, 30));
		CHECK_INT(t->exit.code, 7);
		CHECK_INT(t->exit.signal, 0);
		CHECK_FILE("out", want);
		CHECK_FILE("err", "oops\n");
		CHECK(stat(out, &st) == 0 && st.st_uid == UID && st.st_gid == GID && (st.st_mode & 07777) == 0600);
		log = trial_log(t);
		CHECK(strstr(log, "-sh\n") && strstr(log, "oops\n"));
	}
}

TEST("a process with allowed programs executes no others, nor do its children")
{
	struct bench b;

	WITH_HOST(b)
	{
		json_auto_t *doc = document("sh -c 'cat /dev/null; echo $?; id -u >/dev/null 2>&1; echo $?'");
		struct trial *t;

		/* A loader comes first, or nothing begins. */
		json_object_set_new(doc, "allowed",
				    json_pack("[s,s,s,s,s]", "/lib64/ld-linux-x86-64.so.2",
					      "/lib/ld-linux-aarch64.so.1", "/bin/sh", "/bin/cat", "/nowhere"));
		t = run(&b, doc);
		CHECK(bench_wait(&b, &t->exits, 1, 30));
		CHECK_FILE("out", "0\n126\n");
	}
}

TEST("joined streams keep their order, text from outside begins a line of its own")
{
	struct bench b;

	WITH_HOST(b)
	{
		json_auto_t *doc = document("echo a; echo b >&2; echo c; printf x; read line");
		struct err e = ERR_INIT;
		struct trial *t;
		auto_free char *text = NULL;

		json_object_set_new(doc, "joined", json_string("stdout"));
		t = trial_new(&b);
		t->process = doc;
		t->stdin_open = true;
		trial_start(&b, t);
		CHECK(bench_wait(&b, &t->dones, 1, 30));
		for (int i = 0; i < 6000; i++, usleep(10000)) {
			free(text);
			text = text_of("out");
			if (strstr(text, "x"))
				break;
		}
		CHECK_INT(b.runtime->ops->say(b.runtime, t->id, 2, STR("=>> PBS: job killed\n"), &e), 0);
		b.runtime->ops->kill(b.runtime, t->id, SIGTERM, true, &e);
		CHECK(bench_wait(&b, &t->exits, 1, 30));
		CHECK_FILE("out", "a\nb\nc\nx\n=>> PBS: job killed\n");
		CHECK_INT(t->exit.code, 128 + SIGTERM);
		CHECK_INT(t->exit.signal, SIGTERM);
	}
}

TEST("whoever says 143 was not killed by a signal")
{
	struct bench b;

	WITH_HOST(b)
	{
		json_auto_t *doc = document("exit 143");
		struct trial *t = run(&b, doc);

		CHECK(bench_wait(&b, &t->exits, 1, 30));
		CHECK_INT(t->exit.code, 143);
		CHECK_INT(t->exit.signal, 0);
	}
}

/* Where output must not go, and what is said. */
TEST("a path leads nowhere the user may not write")
{
	struct bench b;

	WITH_HOST(b)
	{
		auto_free char *secret = xasprintf("%s-root", home), *link = xasprintf("%s/link", home);
		auto_free char *fifo = xasprintf("%s/fifo", home), *dir = xasprintf("%s/", home);
		const char *const paths[] = { link,
					      secret,
					      fifo,
					      dir,
					      "/proc/self/comm",
					      "/proc/self/fd/3",
					      "/dev/tty",
					      "/etc/passwd",
					      "/nowhere/out",
					      "/proc/self/timerslack_ns" };
		struct err e = ERR_INIT;

		CHECK_INT(file_write(secret, 0600, STR("root's\n"), &e), 0);
		CHECK(symlink(secret, link) == 0 && mkfifo(fifo, 0666) == 0 && chmod(fifo, 0666) == 0);
		for (size_t i = 0; i < ARRAY_SIZE(paths); i++) {
			json_auto_t *doc = document("echo written");
			struct trial *t = trial_new(&b);

			json_object_set_new(doc, "stdout", json_string(paths[i]));
			t->process = doc;
			t->may_fail = true;
			trial_start(&b, t);
			CHECK(bench_wait(&b, &t->dones, 1, 30));
			CHECK_INT(t->pid, 0);
			CHECK(str_starts(t->error.text, START_NO_OUTPUT ": "));
			CHECK_INT(t->error.kind, ERR_INVALID);
		}
		CHECK_FILE(secret, "root's\n");
		unlink(secret);
	}
}

TEST("/dev/null takes output, and what a directory or program lacks is told to the user")
{
	struct bench b;

	WITH_HOST(b)
	{
		json_auto_t *quiet = document("echo gone"), *lost = document("echo never"), *odd = document("");
		struct trial *t;

		json_object_set_new(quiet, "stdout", json_string("/dev/null"));
		t = run(&b, quiet);
		CHECK(bench_wait(&b, &t->exits, 1, 30));
		CHECK_INT(t->exit.code, 0);
		json_object_set_new(lost, "cwd", json_string("/nowhere/x"));
		t = trial_new(&b);
		t->process = lost;
		t->may_fail = true;
		trial_start(&b, t);
		CHECK(bench_wait(&b, &t->dones, 1, 30));
		CHECK_STR(t->error.text,
			  "ChdirFailed: cannot enter the working directory /nowhere/x: No such file or directory");
		CHECK_FILE("err", "PBS: chdir to '/nowhere/x' failed: No such file or directory\n");
		json_object_set_new(odd, "program", json_string("no-such-program"));
		t = trial_new(&b);
		t->process = odd;
		t->may_fail = true;
		trial_start(&b, t);
		CHECK(bench_wait(&b, &t->dones, 1, 30));
		CHECK_STR(t->error.text,
			  "ExecFailed: cannot execute the program no-such-program: No such file or directory");
		CHECK_FILE("err", "PBS: cannot execute 'no-such-program': No such file or directory\n");
	}
}

TEST("nothing of a process survives it, whatever it did to get away")
{
	struct bench b;

	WITH_HOST(b)
	{
		json_auto_t *doc =
			document("(setsid sh -c 'exec >/dev/null 2>&1 </dev/null; echo $$ > left; sleep 1000' &) &"
				 " while ! test -s left; do sleep 0.02; done; exit 0");
		struct trial *t = run(&b, doc);
		auto_free char *left = NULL;
		pid_t pid;

		CHECK(bench_wait(&b, &t->exits, 1, 30));
		left = text_of("left");
		pid = (pid_t)strtol(left, NULL, 10);
		CHECK(pid > 1);
		for (int i = 0; i < 6000 && kill(pid, 0) == 0; i++)
			usleep(10000);
		CHECK(kill(pid, 0) < 0);
	}
}

TEST("the next server finds a process, who it is and how it ends")
{
	struct bench b;

	WITH_HOST(b)
	{
		json_auto_t *doc = document("while ! test -e go; do sleep 0.02; done; echo on; exit 9");
		json_auto_t *found = NULL;
		struct trial *t = run(&b, doc);
		auto_free char *go = xasprintf("%s/go", home);
		struct err e = ERR_INIT;

		CHECK(bench_wait(&b, &t->dones, 1, 30));
		if (!bench_restart(&b))
			return;
		CHECK_INT(b.found_running, 1);
		found = b.runtime->ops->process(b.runtime, t->id);
		CHECK_INT(jsonx_int_or(found, "user.uid", -1), UID);
		CHECK_STR(jsonx_str_or(found, "cwd", ""), home);
		CHECK(jsonx_equal(json_object_get(found, "args"), json_object_get(doc, "args")));
		CHECK(jsonx_equal(json_object_get(found, "env"), json_object_get(doc, "env")));
		CHECK_INT(file_write(go, 0644, STR(""), &e), 0);
		CHECK(bench_wait(&b, &t->exits, 1, 30));
		CHECK_INT(t->exit.code, 9);
		CHECK_FILE("out", "on\n");
	}
}

struct exec_trial {
	int dones, status;
};

static void on_exec_done(void *arg, int status, const struct err *e)
{
	struct exec_trial *x = arg;

	(void)e;
	x->dones++;
	x->status = status;
}

TEST("an extra process is beside it: same user, same group, its environment")
{
	struct bench b;

	WITH_HOST(b)
	{
		json_auto_t *doc = document("sleep 1000");
		json_auto_t *extra = document("id -u; echo \"$WORD\"; grep -c stoker- /proc/self/cgroup; exit 12");
		struct trial *t = run(&b, doc);
		auto_sbuf struct sbuf out = SBUF(1 << 16);
		struct exec_trial x = { 0 };
		char buf[4096];
		int fds[2];
		ssize_t n;

		CHECK(bench_wait(&b, &t->dones, 1, 30) && pipe2(fds, O_CLOEXEC) == 0);
		json_object_set_new(
			extra, "args",
			json_pack("[s,s,O]", "sh", "-c", json_array_get(json_object_get(extra, "args"), 2)));
		b.runtime->ops->exec(b.runtime,
				     &(struct exec_start){ .id = t->id,
							   .process = extra,
							   .stdin_fd = -1,
							   .stdout_fd = fds[1],
							   .stderr_fd = fds[1] },
				     on_exec_done, &x);
		close(fds[1]);
		CHECK(bench_wait(&b, &x.dones, 1, 30));
		while ((n = read(fds[0], buf, sizeof(buf))) > 0)
			sbuf_add(&out, buf, (size_t)n);
		close(fds[0]);
		CHECK_INT(x.status, 12);
		CHECK(out.p && str_starts(out.p, "65534\na b\n"));
		CHECK(out.p && !strstr(out.p, "\n0\n"));
	}
}

TEST("a terminal is the user's, and what is typed reaches the shell")
{
	struct bench b;

	WITH_HOST(b)
	{
		json_auto_t *doc =
			document("test -t 0 && test -O /dev/stdin && echo tty; stty size; read x; echo \"got $x\"");
		struct err e = ERR_INIT;
		struct trial *t = trial_new(&b);
		auto_free char *log = NULL;
		int fd;

		json_object_set_new(doc, "stdout", json_string(""));
		json_object_set_new(doc, "stderr", json_string(""));
		t->process = doc;
		t->tty = t->stdin_open = true;
		trial_start(&b, t);
		CHECK(bench_wait(&b, &t->dones, 1, 30));
		fd = b.runtime->ops->attach(b.runtime, t->id, &e);
		CHECK(fd >= 0 && send(fd, "word\r", 5, 0) == 5);
		CHECK(bench_wait(&b, &t->exits, 1, 30));
		close(fd);
		log = trial_log(t);
		CHECK(strstr(log, "tty") && strstr(log, "got word"));
	}
}

TEST("devices can be kept from a group by their numbers")
{
	struct bench b;

	WITH_HOST(b)
	{
		json_auto_t *doc =
			document("(: < /dev/zero) 2>/dev/null && echo zero; (: < /dev/full) 2>/dev/null && echo full; "
				 ": < /dev/null && echo null");
		struct cgroup_device deny[] = { { 1, 5 }, { 1, 7 } };
		struct trial *t = trial_new(&b);
		auto_free char *joins = NULL;
		struct err e = ERR_INIT;

		CHECK_INT(cgroup_make_process(cgroups_here(), t->cgroup, NULL, true, &joins, &e), 0);
		if (cgroup_deny_devices(cgroups_here(), t->cgroup, deny, ARRAY_SIZE(deny), &e) < 0)
			test_fail(__FILE__, __LINE__, "%s", e.text);
		t->process = doc;
		t->devices = true;
		trial_start(&b, t);
		CHECK(bench_wait(&b, &t->exits, 1, 30));
		CHECK_FILE("out", "null\n");
	}
}
