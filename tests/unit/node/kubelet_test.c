// SPDX-License-Identifier: Apache-2.0
/* kubelet_test.c - commands, terminals, streams, connections and figures through the door of loop/kubelet.h */
#include "node/kubelet.h"

#include <errno.h>
#include <poll.h>
#include <sched.h>
#include <sys/mount.h>

#include "hand.h"

struct desk {
	struct hand hand;
	struct kubelet *k;
	json_t *process;
	struct pod_container container;
	bool absent;
	/* of the session */
	struct kubelet_session *s;
	struct sbuf out, err;
	int outputs, drains, ends, code;
	bool close_in_output, pause_in_output;
	struct err error;
	/* of usage */
	int64_t cpu_ns, age_ms;
	int reads;
};

static int desk_find(void *arg, const char *uid, const char *container, bool previous, struct pod_container *ret,
		     struct err *e)
{
	struct desk *d = arg;

	(void)uid;
	(void)previous;
	if (d->absent || !streq(container, "c"))
		return err_set(e, ERR_NOT_FOUND, "the pod does not run on this node");
	*ret = d->container;
	return 0;
}

static int desk_read(void *arg, const char *cgroup, struct usage_reading *ret, struct err *e)
{
	struct desk *d = arg;

	if (streq(cgroup, "/stoker-gone"))
		return err_set(e, ERR_INTERNAL, "no cgroup");
	d->reads++;
	*ret = (struct usage_reading){ .wall_us = 1000000,
				       .mono_ns = clock_mono_ns(),
				       .cpu_ns = d->cpu_ns,
				       .memory_bytes = 4096,
				       .age_ms = d->age_ms };
	return 0;
}

static void desk_open(struct desk *d)
{
	*d = (struct desk){ .out = SBUF(1 << 24), .err = SBUF(1 << 20), .age_ms = 2000 };
	hand_open(&d->hand);
	d->process =
		json_pack("{s:[s], s:[s], s:s, s:{s:i}}", "args", "never", "env", "A=B", "cwd", "/", "user", "uid", 7);
	d->container =
		(struct pod_container){ .id = "id", .cgroup = "/stoker-x", .process = d->process, .running = true };
	d->k = kubelet_new(&(struct kubelet_config){ .loop = d->hand.base.loop,
						     .runtime = &d->hand.base,
						     .node = "here",
						     .find = desk_find,
						     .arg = d,
						     .read_usage = desk_read });
}

static void desk_close(struct desk *d)
{
	kubelet_free(d->k);
	hand_close(&d->hand);
	json_decref(d->process);
	sbuf_done(&d->out);
	sbuf_done(&d->err);
}

static void on_output(void *arg, int stream, struct str bytes)
{
	struct desk *d = arg;

	CHECK_INT(d->ends, 0);
	d->outputs++;
	sbuf_add(stream == 1 ? &d->out : &d->err, bytes.p, bytes.n);
	if (d->pause_in_output)
		d->k->ops->pause(d->s, true);
	if (d->close_in_output)
		d->k->ops->close(d->s);
}

static void on_drained(void *arg)
{
	((struct desk *)arg)->drains++;
}

static void on_ended(void *arg, int code, const struct err *e)
{
	struct desk *d = arg;

	d->ends++;
	d->code = code;
	d->error = *e;
}

static const struct kubelet_target of_c = { "default", "p", "uid", "c" };

static bool begin(struct desk *d, bool attach, const char *script, bool in, bool tty)
{
	json_auto_t *command = json_pack("[s,s,s]", "sh", "-c", script ? script : "");
	struct kubelet_exec_request q = {
		.of = of_c, .command = command, .in = in, .out = true, .err = true, .tty = tty
	};
	struct kubelet_session_handlers h = { on_output, on_drained, on_ended, d };
	struct err e = ERR_INIT;
	int r = (attach ? d->k->ops->attach : d->k->ops->exec)(d->k, &q, &h, &d->s, &e);

	CHECK_STR(e.text, "");
	CHECK_INT(d->ends + d->outputs, 0);
	return r == 0;
}

TEST("a command's output, errors and exit status reach the client, its input the command")
{
	struct desk d;

	desk_open(&d);
	if (begin(&d, false, "cat; echo oops >&2; exit 5", true, false)) {
		d.k->ops->input(d.s, STR("one "));
		d.k->ops->input(d.s, STR("two"));
		CHECK_INT(d.k->ops->input_pending(d.s), 7);
		CHECK(hand_wait(&d.hand, &d.drains, 1, 5));
		CHECK_INT(d.k->ops->input_pending(d.s), 0);
		d.k->ops->input_end(d.s);
		CHECK(hand_wait(&d.hand, &d.ends, 1, 5));
	}
	CHECK_STR(d.out.p, "one two");
	CHECK_STR(d.err.p, "oops\n");
	CHECK_INT(d.code, 5);
	CHECK_INT(d.error.kind, ERR_NONE);
	/* Who it is and what it may do are the container's. */
	CHECK_INT(jsonx_int_or(d.hand.process, "user.uid", 0), 7);
	CHECK_STR(jsonx_str(d.hand.process, "cwd"), "/");
	CHECK_INT(json_array_size(json_object_get(d.hand.process, "env")), 1);
	CHECK_INT(json_array_size(json_object_get(d.hand.process, "args")), 3);
	desk_close(&d);
}

TEST("a megabyte in and out arrives whole")
{
	struct desk d;
	char block[4096];
	size_t sent = 0;

	memset(block, 'x', sizeof(block));
	desk_open(&d);
	if (begin(&d, false, "cat", true, false)) {
		while (sent < 1 << 20) {
			for (int i = 0; i < 16; i++, sent += sizeof(block))
				d.k->ops->input(d.s, (struct str){ block, sizeof(block) });
			d.drains = 0;
			CHECK(hand_wait(&d.hand, &d.drains, 1, 5));
		}
		d.k->ops->input_end(d.s);
		CHECK(hand_wait(&d.hand, &d.ends, 1, 10));
	}
	CHECK_INT(d.out.n, sent);
	CHECK_INT(d.code, 0);
	desk_close(&d);
}

TEST("a client that does not read stops the command, not the server")
{
	struct desk d;
	size_t held;

	desk_open(&d);
	d.pause_in_output = true;
	if (begin(&d, false, "head -c 4000000 /dev/zero", false, false)) {
		CHECK(hand_wait(&d.hand, &d.outputs, 1, 5));
		for (int i = 0; i < 100; i++) {
			loop_turn(d.hand.base.loop, true);
			usleep(1000);
		}
		held = d.out.n;
		CHECK(held < 200000);
		CHECK_INT(d.outputs, 1);
		d.pause_in_output = false;
		d.k->ops->pause(d.s, false);
		CHECK(hand_wait(&d.hand, &d.ends, 1, 10));
	}
	CHECK_INT(d.out.n, 4000000);
	desk_close(&d);
}

TEST("a command with a terminal sees one, its size, and the end of input")
{
	struct desk d;

	desk_open(&d);
	if (begin(&d, false, "test -t 0 && test -t 1 && stty size; read line; echo got $line; cat; exit 3", true,
		  true)) {
		d.k->ops->resize(d.s, 33, 99);
		CHECK_INT(d.hand.rows, 33);
		CHECK_INT(d.hand.cols, 99);
		d.k->ops->input(d.s, STR("word\n"));
		CHECK(hand_wait(&d.hand, &d.drains, 1, 5));
		d.k->ops->input_end(d.s);
		CHECK(hand_wait(&d.hand, &d.ends, 1, 5));
	}
	CHECK(d.out.p && strstr(d.out.p, "33 99\r\n"));
	CHECK(d.out.p && strstr(d.out.p, "got word\r\n"));
	CHECK_INT(d.err.n, 0);
	CHECK_INT(d.code, 3);
	/* Programs ask what their terminal is called. */
	CHECK_STR(json_string_value(json_array_get(json_object_get(d.hand.process, "env"), 1)), "TERM=xterm");
	desk_close(&d);
}

TEST("a client that goes kills its command, also from inside a handler and when the server stops")
{
	struct desk d;

	desk_open(&d);
	if (begin(&d, false, "sleep 100", true, false)) {
		d.k->ops->close(d.s);
		CHECK_INT(d.hand.kills, 1);
	}
	desk_close(&d);
	CHECK_INT(d.ends, 0);
	desk_open(&d);
	d.close_in_output = true;
	if (begin(&d, false, "echo x; sleep 100", true, true))
		CHECK(hand_wait(&d.hand, &d.outputs, 1, 5));
	CHECK_INT(d.hand.kills, 1);
	desk_close(&d);
	CHECK_INT(d.ends, 0);
	desk_open(&d);
	begin(&d, false, "sleep 100", false, false);
	desk_close(&d);
	CHECK_INT(d.ends, 1);
	CHECK_STR(d.error.text, "the server stops");
}

TEST("input that nobody reads is dropped, and what a command leaves behind is not waited for")
{
	struct desk d;

	desk_open(&d);
	if (begin(&d, false, "exec 0<&-; echo closed; sleep 0.3", true, false)) {
		CHECK(hand_wait(&d.hand, &d.outputs, 1, 5));
		d.k->ops->input(d.s, STR("lost"));
		CHECK(hand_wait(&d.hand, &d.drains, 1, 5));
		CHECK_INT(d.ends, 0);
		CHECK(hand_wait(&d.hand, &d.ends, 1, 5));
	}
	CHECK_INT(d.code, 0);
	desk_close(&d);
	desk_open(&d);
	if (begin(&d, false, "sleep 4 & echo here", false, false))
		CHECK(hand_wait(&d.hand, &d.ends, 1, 3));
	CHECK_STR(d.out.p, "here\n");
	desk_close(&d);
}

TEST("more input than may wait ends the session")
{
	struct desk d;
	auto_free char *much = xcalloc(1, 1 << 20);

	desk_open(&d);
	if (begin(&d, false, "sleep 100", true, false)) {
		for (int i = 0; i < 5; i++)
			d.k->ops->input(d.s, (struct str){ much, 1 << 20 });
		CHECK(hand_wait(&d.hand, &d.ends, 1, 5));
	}
	CHECK_INT(d.error.kind, ERR_TOO_LARGE);
	CHECK_INT(d.hand.kills, 1);
	desk_close(&d);
}

TEST("an attached client has the container's own streams until that ends")
{
	struct desk d;
	int pair[2];
	char buf[64] = "";

	desk_open(&d);
	CHECK_INT(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair), 0);
	d.hand.attach_fd = pair[0];
	d.container.stdin_open = true;
	d.container.tty = true;
	if (begin(&d, true, NULL, true, true)) {
		CHECK(send(pair[1], "\2out", 4, 0) == 4 && send(pair[1], "\3err", 4, 0) == 4 &&
		      send(pair[1], "\2put", 4, 0) == 4 && send(pair[1], "\2", 1, 0) == 1);
		CHECK(hand_wait(&d.hand, &d.outputs, 2, 5));
		d.k->ops->resize(d.s, 10, 20);
		CHECK_INT(d.hand.rows, 10);
		d.k->ops->input(d.s, STR("typed"));
		CHECK(hand_wait(&d.hand, &d.drains, 1, 5));
		CHECK_INT(recv(pair[1], buf, sizeof(buf), 0), 5);
		CHECK_STR(buf, "typed");
		d.k->ops->input_end(d.s);
		CHECK(hand_wait(&d.hand, &d.drains, 2, 5));
		CHECK_INT(recv(pair[1], buf, sizeof(buf), 0), 0);
		CHECK_INT(d.ends, 0);
		close(pair[1]);
		CHECK(hand_wait(&d.hand, &d.ends, 1, 5));
	}
	CHECK_STR(d.out.p, "output");
	CHECK_INT(d.code, 0);
	desk_close(&d);
}

TEST("both streams of an attached container are told apart, and leaving does not end it")
{
	struct desk d;
	int pair[2];

	desk_open(&d);
	CHECK_INT(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair), 0);
	d.hand.attach_fd = pair[0];
	if (begin(&d, true, NULL, true, false)) {
		/* This one's stdin is not open. */
		d.k->ops->input(d.s, STR("typed"));
		CHECK_INT(d.k->ops->input_pending(d.s), 0);
		CHECK(hand_wait(&d.hand, &d.drains, 1, 5));
		CHECK(send(pair[1], "\2out", 4, 0) == 4 && send(pair[1], "\3err", 4, 0) == 4);
		CHECK(hand_wait(&d.hand, &d.outputs, 2, 5));
		d.k->ops->close(d.s);
	}
	CHECK_STR(d.out.p, "out");
	CHECK_STR(d.err.p, "err");
	CHECK_INT(d.hand.kills, 0);
	close(pair[1]);
	desk_close(&d);
	CHECK_INT(d.ends, 0);
}

TEST("a container that does not run has no hands")
{
	struct desk d;
	json_auto_t *command = json_pack("[s]", "true");
	struct kubelet_exec_request q = { .of = of_c, .command = command };
	struct kubelet_session_handlers h = { on_output, on_drained, on_ended, &d };
	struct err e = ERR_INIT;

	desk_open(&d);
	d.container.running = false;
	CHECK_INT(d.k->ops->exec(d.k, &q, &h, &d.s, &e), -1);
	CHECK_INT(e.kind, ERR_NOT_FOUND);
	CHECK_STR(e.text, "container not found (\"c\")");
	CHECK_INT(d.k->ops->attach(d.k, &q, &h, &d.s, &e), -1);
	CHECK_INT(d.k->ops->dial(d.k, &of_c, 80, &e), -1);
	d.absent = true;
	CHECK_INT(d.k->ops->exec(d.k, &q, &h, &d.s, &e), -1);
	CHECK_STR(e.text, "the pod does not run on this node");
	q.command = NULL;
	CHECK_INT(d.k->ops->exec(d.k, &q, &h, &d.s, &e), -1);
	CHECK_INT(e.kind, ERR_BAD_REQUEST);
	desk_close(&d);
}

static void on_log_text(void *arg, struct str piece)
{
	struct desk *d = arg;

	sbuf_add(&d->out, piece.p, piece.n);
}

static void on_log_end(void *arg, const struct err *e)
{
	on_ended(arg, 0, e);
}

TEST("a container's log is read through the door")
{
	auto_free char *path = xasprintf("%s/door.log", test_dir());
	struct kubelet_log_request q = { .of = of_c, .tail_lines = 1, .limit_bytes = -1 };
	struct logs_config config = { .dir = test_dir() };
	struct kubelet_log *log = NULL;
	struct logs *logs = NULL;
	struct err e = ERR_INIT;
	struct desk d;
	FILE *f = fopen(path, "w");

	fputs("2026-01-02T03:04:05.000000000Z stdout F one\n2026-01-02T03:04:06.000000000Z stderr F two\n", f);
	fclose(f);
	desk_open(&d);
	kubelet_free(d.k);
	CHECK_INT(logs_open(d.hand.base.loop, &config, &logs, &e), 0);
	d.k = kubelet_new(&(struct kubelet_config){ .loop = d.hand.base.loop,
						    .runtime = &d.hand.base,
						    .logs = logs,
						    .node = "here",
						    .find = desk_find,
						    .arg = &d });
	d.container.log_path = path;
	CHECK_INT(d.k->ops->log(d.k, &q, &(struct kubelet_log_handlers){ on_log_text, on_log_end, &d }, &log, &e), 0);
	CHECK(hand_wait(&d.hand, &d.ends, 1, 5));
	CHECK_STR(d.out.p, "two\n");
	d.absent = true;
	CHECK_INT(d.k->ops->log(d.k, &q, &(struct kubelet_log_handlers){ on_log_text, on_log_end, &d }, &log, &e), -1);
	kubelet_free(TAKE(d.k));
	logs_free(logs);
	desk_close(&d);
}

static bool connects(int fd)
{
	struct pollfd p = { .fd = fd, .events = POLLOUT };
	int error = 0;
	socklen_t n = sizeof(error);

	return poll(&p, 1, 60000) == 1 && getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &n) == 0 && !error;
}

TEST("a port of a host-network pod is dialled as it is")
{
	struct desk d;
	struct err e = ERR_INIT;
	int port, listener = hand_listen(&port), fd;

	desk_open(&d);
	fd = d.k->ops->dial(d.k, &of_c, port, &e);
	CHECK(fd >= 0 && connects(fd));
	CHECK(fcntl(fd, F_GETFL) & O_NONBLOCK);
	close(fd);
	CHECK_INT(d.k->ops->dial(d.k, &of_c, 0, &e), -1);
	CHECK_INT(e.kind, ERR_BAD_REQUEST);
	d.container.net_ns = "/nowhere";
	CHECK_INT(d.k->ops->dial(d.k, &of_c, port, &e), -1);
	CHECK(strstr(e.text, "/nowhere"));
	close(listener);
	desk_close(&d);
}

/* Another process in a network of its own, with a listener there. */
static pid_t neighbour(int *ret_port)
{
	int fds[2], port = 0;
	pid_t pid;

	CHECK_INT(pipe(fds), 0);
	pid = fork();
	if (!pid) {
		if (unshare(CLONE_NEWNET) == 0 && system("ip link set lo up") == 0)
			hand_listen(&port);
		if (write(fds[1], &port, sizeof(port)) < 0)
			_exit(1);
		alarm(120);
		pause();
		_exit(0);
	}
	CHECK(read(fds[0], ret_port, sizeof(*ret_port)) == sizeof(*ret_port));
	close(fds[0]);
	close(fds[1]);
	return pid;
}

TEST("a port of a pod with its own network is reached there, and the server stays where it is")
{
	struct desk d;
	struct err e = ERR_INIT;
	int port, fd;
	char path[64], before[64] = "", after[64] = "";
	pid_t pid;

	if (geteuid() != 0)
		return;
	pid = neighbour(&port);
	desk_open(&d);
	snprintf(path, sizeof(path), "/proc/%d/ns/net", (int)pid);
	d.container.net_ns = path;
	CHECK(readlink("/proc/self/ns/net", before, sizeof(before) - 1) > 0);
	CHECK(port > 0);
	fd = d.k->ops->dial(d.k, &of_c, port, &e);
	CHECK_STR(e.text, "");
	CHECK(fd >= 0 && connects(fd));
	close(fd);
	CHECK(readlink("/proc/self/ns/net", after, sizeof(after) - 1) > 0);
	CHECK_STR(after, before);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	desk_close(&d);
}

TEST("use is told from the first question on: since the beginning, then between readings")
{
	struct desk d;
	json_auto_t *names = json_pack("[s,s]", "init", "c");
	json_t *use = NULL;
	struct err e = ERR_INIT;
	int64_t cpu;

	desk_open(&d);
	d.cpu_ns = 1000000000;
	CHECK_INT(d.k->ops->pod_usage(d.k, "uid", names, &use, &e), 0);
	CHECK_STR(e.text, "");
	CHECK_STR(jsonx_str(use, "timestamp"), "1970-01-01T00:00:01Z");
	CHECK_INT(jsonx_int_or(use, "window", 0), 2);
	CHECK_INT(json_array_size(json_object_get(use, "containers")), 1);
	CHECK_INT(jsonx_int_or(json_array_get(json_object_get(use, "containers"), 0), "cpu_nano", 0), 500000000);
	CHECK_INT(jsonx_int_or(json_array_get(json_object_get(use, "containers"), 0), "memory_bytes", 0), 4096);
	json_decref(use);
	/* The second reading comes by itself. */
	d.cpu_ns += 500000000;
	CHECK(hand_wait(&d.hand, &d.reads, 2, 4));
	CHECK_INT(d.k->ops->pod_usage(d.k, "uid", names, &use, &e), 0);
	cpu = jsonx_int_or(json_array_get(json_object_get(use, "containers"), 0), "cpu_nano", 0);
	CHECK(cpu > 200000000 && cpu < 260000000);
	CHECK_INT(d.reads, 2);
	json_decref(use);
	use = NULL;
	d.container.running = false;
	CHECK_INT(d.k->ops->pod_usage(d.k, "uid", names, &use, &e), -1);
	CHECK_INT(e.kind, ERR_NOT_FOUND);
	d.container = (struct pod_container){ .running = true, .cgroup = "/stoker-gone" };
	CHECK_INT(d.k->ops->pod_usage(d.k, "uid", names, &use, &e), -1);
	CHECK_INT(e.kind, ERR_NOT_FOUND);
	CHECK_INT(d.k->ops->node_usage(d.k, "elsewhere", &use, &e), -1);
	CHECK_INT(d.k->ops->node_usage(d.k, "here", &use, &e), 0);
	CHECK_INT(jsonx_int_or(use, "cpu_nano", 0), 750000000);
	CHECK(jsonx_int_or(use, "load_milli", -1) >= 0);
	json_decref(use);
	desk_close(&d);
}
