// SPDX-License-Identifier: Apache-2.0
/* Extra processes, terminals and attached streams of real containers. */
#include <fcntl.h>
#include <pty.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/jsonx.h"
#include "base/mem.h"
#include "base/str.h"
#include "box.h"
#include "test.h"

static const char *const both[] = { "crun", "runc" };

#define EACH_RUNTIME(b)                                                                                                \
	for (size_t which_ = 0; which_ < ARRAY_SIZE(both); which_++, bench_close(&(b)))                                \
		if (bench_open(&(b), both[which_]))

struct exec_trial {
	int dones, status;
	struct err error;
};

static void on_exec_done(void *arg, int status, const struct err *e)
{
	struct exec_trial *x = arg;

	x->dones++;
	x->status = status;
	if (e)
		x->error = *e;
}

static json_t *process(const char *script)
{
	return json_pack("{s:{s:i,s:i}, s:[s,s,s], s:[s], s:s}", "user", "uid", 0, "gid", 0, "args", "/bin/sh", "-c",
			 script, "env", "PATH=/bin", "cwd", "/");
}

static void read_all(int fd, struct sbuf *out)
{
	char buf[4096];
	ssize_t n;

	while ((n = read(fd, buf, sizeof(buf))) > 0)
		sbuf_add(out, buf, (size_t)n);
}

TEST("an extra process has the caller's descriptors and tells its exit status")
{
	struct bench b;

	EACH_RUNTIME(b)
	{
		struct trial *t = trial_run(&b, "sleep 1000");
		json_auto_t *p =
			process("read line; echo got $line; echo oops >&2; ls /proc/self/fd | tail -n 1; exit 12");
		auto_sbuf struct sbuf out = SBUF(1 << 16), err = SBUF(1 << 16);
		struct exec_trial x = { .error = ERR_INIT };
		int in_pipe[2], out_pipe[2], err_pipe[2];
		struct exec_start start;

		CHECK(bench_wait(&b, &t->dones, 1, 30));
		CHECK(pipe2(in_pipe, O_CLOEXEC) == 0 && pipe2(out_pipe, O_CLOEXEC) == 0 &&
		      pipe2(err_pipe, O_CLOEXEC) == 0);
		CHECK(write(in_pipe[1], "word\n", 5) == 5);
		start = (struct exec_start){ .id = t->id,
					     .process = p,
					     .stdin_fd = in_pipe[0],
					     .stdout_fd = out_pipe[1],
					     .stderr_fd = err_pipe[1] };
		b.runtime->ops->exec(b.runtime, &start, on_exec_done, &x);
		close(in_pipe[0]);
		close(in_pipe[1]);
		close(out_pipe[1]);
		close(err_pipe[1]);
		CHECK(bench_wait(&b, &x.dones, 1, 30));
		CHECK_INT(x.status, 12);
		CHECK_STR(x.error.text, "");
		read_all(out_pipe[0], &out);
		read_all(err_pipe[0], &err);
		CHECK(out.p && str_starts(out.p, "got word\n"));
		CHECK_STR(err.p ? err.p : "", "oops\n");
		close(out_pipe[0]);
		close(err_pipe[0]);
	}
}

TEST("an extra process that cannot run, and one in a container that is over, are errors")
{
	struct bench b;

	EACH_RUNTIME(b)
	{
		struct trial *t = trial_run(&b, "sleep 1000");
		json_auto_t *p = process("");
		struct exec_trial x = { .error = ERR_INIT }, y = { .error = ERR_INIT };
		struct exec_start start = {
			.id = t->id, .process = p, .stdin_fd = -1, .stdout_fd = -1, .stderr_fd = -1
		};

		CHECK(bench_wait(&b, &t->dones, 1, 30));
		json_array_set_new(json_object_get(p, "args"), 0, json_string("/bin/nonesuch"));
		b.runtime->ops->exec(b.runtime, &start, on_exec_done, &x);
		CHECK(bench_wait(&b, &x.dones, 1, 30));
		CHECK(x.status != 0);
		start.id = "nobody";
		b.runtime->ops->exec(b.runtime, &start, on_exec_done, &y);
		CHECK_INT(y.dones, 0);
		CHECK(bench_wait(&b, &y.dones, 1, 30));
		CHECK_INT(y.error.kind, ERR_NOT_FOUND);
	}
}

/* Turns the loop until the terminal has shown `want`. */
static bool terminal_shows(struct bench *b, int fd, struct sbuf *out, const char *want)
{
	for (int i = 0; i < 6000 && (!out->p || !strstr(out->p, want)); i++) {
		char buf[512];
		ssize_t n = read(fd, buf, sizeof(buf));

		/* How many carriage returns end a line is the runtime's affair. */
		for (ssize_t at = 0; at < n; at++)
			if (buf[at] != '\r')
				sbuf_addc(out, buf[at]);
		if (n <= 0)
			usleep(10000);
		loop_turn(b->loop, true);
	}
	return out->p && strstr(out->p, want);
}

TEST("an extra process with a terminal can be resized")
{
	struct bench b;

	EACH_RUNTIME(b)
	{
		struct trial *t = trial_run(&b, "sleep 1000");
		json_auto_t *p = process(
			"tty; until [ \"$(stty size 2>/dev/null)\" = '33 99' ]; do sleep 0.05; done; stty size; "
			"trap 'stty size; exit 3' WINCH; echo ready; while :; do sleep 0.05; done");
		auto_sbuf struct sbuf out = SBUF(1 << 16);
		struct winsize size = { .ws_row = 33, .ws_col = 99 };
		struct exec_trial x = { .error = ERR_INIT };
		struct exec_start start;
		struct err e = ERR_INIT;
		int master, slave;
		void *exec;

		CHECK(bench_wait(&b, &t->dones, 1, 30));
		CHECK(openpty(&master, &slave, NULL, NULL, &size) == 0);
		fcntl(master, F_SETFL, O_NONBLOCK);
		start = (struct exec_start){
			.id = t->id, .process = p, .stdin_fd = slave, .stdout_fd = -1, .stderr_fd = -1, .tty = true
		};
		exec = b.runtime->ops->exec(b.runtime, &start, on_exec_done, &x);
		close(slave);
		CHECK(terminal_shows(&b, master, &out, "ready"));
		CHECK_STR(out.p, "/dev/pts/0\n33 99\nready\n");
		if (b.runtime->ops->exec_resize(b.runtime, exec, 44, 111, &e) < 0)
			test_fail(__FILE__, __LINE__, "%s", e.text);
		CHECK(terminal_shows(&b, master, &out, "44 111"));
		CHECK(bench_wait(&b, &x.dones, 1, 30));
		CHECK_INT(x.status, 3);
		close(master);
	}
}

static bool is_zombie(int pid)
{
	auto_free char *path = xasprintf("/proc/%d/stat", pid);
	FILE *f = fopen(path, "re");
	char state = 'X';

	if (f && fscanf(f, "%*d (%*[^)]) %c", &state) != 1)
		state = 'X';
	if (f)
		fclose(f);
	return state == 'Z' || state == 'X';
}

/* Processes of a container that are not waiting to be reaped: its first one, a sleep, reaps nobody. */
static int living(const struct trial *t)
{
	auto_free char *v1 = xasprintf("/sys/fs/cgroup/pids%s/cgroup.procs", t->cgroup);
	auto_free char *v2 = xasprintf("/sys/fs/cgroup%s/cgroup.procs", t->cgroup);
	FILE *f = fopen(access(v1, F_OK) == 0 ? v1 : v2, "re");
	int pid, n = 0;

	CHECK(f != NULL);
	while (f && fscanf(f, "%d", &pid) == 1)
		n += !is_zombie(pid);
	if (f)
		fclose(f);
	return n;
}

TEST("an extra process can be killed with its children, at once or later")
{
	struct bench b;

	EACH_RUNTIME(b)
	{
		struct trial *t = trial_run(&b, "exec sleep 1000");
		json_auto_t *p = process("sleep 1000 & sleep 1000");
		struct exec_start start = {
			.id = t->id, .process = p, .stdin_fd = -1, .stdout_fd = -1, .stderr_fd = -1
		};

		CHECK(bench_wait(&b, &t->dones, 1, 30));
		for (int pause = 0; pause < 6; pause++) {
			struct exec_trial x = { .error = ERR_INIT };
			void *exec = b.runtime->ops->exec(b.runtime, &start, on_exec_done, &x);

			usleep((useconds_t)(pause == 5 ? 400000 : pause * 7000));
			b.runtime->ops->exec_kill(b.runtime, exec);
			CHECK(bench_wait(&b, &x.dones, 1, 30));
			CHECK_INT(x.status, 137);
		}
		for (int i = 0; i < 3000 && living(t) != 1; i++)
			usleep(20000);
		CHECK_INT(living(t), 1);
	}
}

/* --- attach --- */

/* Receives packets until their text (without the leading stream byte) has `want`. */
static bool attached_shows(int fd, struct sbuf *out, const char *want)
{
	for (int i = 0; i < 3000 && (!out->p || !strstr(out->p, want)); i++) {
		char buf[8192];
		ssize_t n = recv(fd, buf, sizeof(buf), 0);

		if (n > 1 && (buf[0] == 2 || buf[0] == 3))
			sbuf_add(out, buf + 1, (size_t)n - 1);
		else
			usleep(20000);
	}
	return out->p && strstr(out->p, want);
}

TEST("attach carries input and output, and the log can be reopened")
{
	struct bench b;

	EACH_RUNTIME(b)
	{
		struct trial *t = trial_new(&b);
		auto_free char *old = xasprintf("%s.1", t->log), *log = NULL;
		auto_sbuf struct sbuf out = SBUF(1 << 16);
		struct err e = ERR_INIT;
		int fd;

		t->stdin_open = true;
		trial_write(t, bench_config(&b, t, "while read line; do echo got $line; done; exit 6"));
		trial_start(&b, t);
		CHECK(bench_wait(&b, &t->dones, 1, 30));
		fd = b.runtime->ops->attach(b.runtime, t->id, &e);
		if (fd < 0)
			test_fail(__FILE__, __LINE__, "%s", e.text);
		CHECK(send(fd, "one\n", 4, MSG_NOSIGNAL) == 4);
		CHECK(attached_shows(fd, &out, "got one\n"));
		CHECK(rename(t->log, old) == 0);
		if (b.runtime->ops->reopen_log(b.runtime, t->id, &e) < 0)
			test_fail(__FILE__, __LINE__, "%s", e.text);
		for (int i = 0; i < 6000 && access(t->log, F_OK) < 0; i++)
			usleep(10000);
		CHECK(send(fd, "two\n", 4, MSG_NOSIGNAL) == 4);
		CHECK(attached_shows(fd, &out, "got two\n"));
		/* The first one's end of input is the container's. */
		shutdown(fd, SHUT_WR);
		CHECK(bench_wait(&b, &t->exits, 1, 30));
		CHECK_INT(t->exit.code, 6);
		CHECK(access(t->log, F_OK) == 0);
		log = trial_log(t);
		CHECK_STR(log, "got one\ngot two\n");
		close(fd);
	}
}

TEST("a container's own terminal can be resized")
{
	struct bench b;

	EACH_RUNTIME(b)
	{
		struct trial *t = trial_new(&b);
		json_t *config =
			bench_config(&b, t, "trap 'stty size; exit 3' WINCH; echo ready; while :; do sleep 0.05; done");
		auto_free char *log = NULL;
		struct err e = ERR_INIT;

		t->tty = true;
		jsonx_set_new(config, "process.terminal", json_true());
		trial_write(t, config);
		trial_start(&b, t);
		CHECK(bench_wait(&b, &t->dones, 1, 30));
		for (int i = 0; i < 6000; i++) {
			free(log);
			log = trial_log(t);
			if (strstr(log, "ready"))
				break;
			usleep(10000);
		}
		if (b.runtime->ops->resize(b.runtime, t->id, 21, 77, &e) < 0)
			test_fail(__FILE__, __LINE__, "%s", e.text);
		CHECK(bench_wait(&b, &t->exits, 1, 30));
		CHECK_INT(t->exit.code, 3);
		free(log);
		log = trial_log(t);
		CHECK(strstr(log, "21 77") != NULL);
	}
}
