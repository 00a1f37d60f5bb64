// SPDX-License-Identifier: Apache-2.0
/* kubelet_oci_test.c - hands in real containers: what only crun and runc can show */
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/jsonx.h"
#include "base/mem.h"
#include "box.h"
#include "node/kubelet.h"
#include "test.h"

static const char *const both[] = { "crun", "runc" };

#define EACH_RUNTIME(b)                                                                                                \
	for (size_t which_ = 0; which_ < ARRAY_SIZE(both); which_++, bench_close(&(b)))                                \
		if (bench_open(&(b), both[which_]))

struct visit {
	struct bench *b;
	struct kubelet *k;
	struct kubelet_session *s;
	struct pod_container container;
	json_t *process;
	struct sbuf out;
	int outputs, drains, ends, code;
	struct err error;
};

static int visit_find(void *arg, const char *uid, const char *container, bool previous, struct pod_container *ret,
		      struct err *e)
{
	(void)uid;
	(void)container;
	(void)previous;
	(void)e;
	*ret = ((struct visit *)arg)->container;
	return 0;
}

static void visit_open(struct visit *v, struct bench *b, const struct trial *t)
{
	*v = (struct visit){ .b = b, .out = SBUF(1 << 20) };
	v->process = json_pack("{s:{s:i,s:i}, s:[s], s:[s], s:s}", "user", "uid", 0, "gid", 0, "args", "never", "env",
			       "PATH=/bin", "cwd", "/");
	v->container = (struct pod_container){ .id = t->id,
					       .cgroup = t->cgroup,
					       .process = v->process,
					       .running = true,
					       .tty = t->tty,
					       .stdin_open = t->stdin_open };
	v->k = kubelet_new(&(struct kubelet_config){
		.loop = b->loop, .runtime = b->runtime, .node = "here", .find = visit_find, .arg = v });
}

static void visit_close(struct visit *v)
{
	kubelet_free(v->k);
	json_decref(v->process);
	sbuf_done(&v->out);
}

/* How many carriage returns end a line is the runtime's affair. */
static void on_output(void *arg, int stream, struct str bytes)
{
	struct visit *v = arg;

	(void)stream;
	for (size_t i = 0; i < bytes.n; i++)
		if (bytes.p[i] != '\r')
			sbuf_addc(&v->out, bytes.p[i]);
	v->outputs++;
}

static void on_drained(void *arg)
{
	((struct visit *)arg)->drains++;
}

static void on_ended(void *arg, int code, const struct err *e)
{
	struct visit *v = arg;

	v->ends++;
	v->code = code;
	v->error = *e;
}

static bool begin(struct visit *v, bool attach, const char *script, bool tty)
{
	json_auto_t *command = json_pack("[s,s,s]", "/bin/sh", "-c", script);
	struct kubelet_exec_request q = {
		.of = { "ns", "p", "uid", "c" }, .command = command, .in = true, .out = true, .err = true, .tty = tty
	};
	struct kubelet_session_handlers h = { on_output, on_drained, on_ended, v };
	struct err e = ERR_INIT;

	if ((attach ? v->k->ops->attach : v->k->ops->exec)(v->k, &q, &h, &v->s, &e) == 0)
		return true;
	test_fail(__FILE__, __LINE__, "%s", e.text);
	return false;
}

static bool shows(struct visit *v, const char *want)
{
	for (int i = 0; i < 12000 && (!v->out.p || !strstr(v->out.p, want)); i++) {
		loop_turn(v->b->loop, true);
		usleep(5000);
	}
	return v->out.p && strstr(v->out.p, want);
}

TEST("a shell in a real container has a terminal of the client's size and ends with its status")
{
	struct bench b;

	EACH_RUNTIME(b)
	{
		struct trial *t = trial_run(&b, "sleep 1000");
		struct visit v;

		CHECK(bench_wait(&b, &t->dones, 1, 30));
		visit_open(&v, &b, t);
		if (begin(&v, false,
			  "echo term $TERM; until [ \"$(stty size)\" = '33 99' ]; do sleep 0.05; done; echo sized; "
			  "read line; echo got $line; cat; exit 9",
			  true)) {
			v.k->ops->resize(v.s, 33, 99);
			CHECK(shows(&v, "sized\n"));
			v.k->ops->input(v.s, STR("word\n"));
			CHECK(shows(&v, "got word\n"));
			v.k->ops->input_end(v.s);
			CHECK(bench_wait(&b, &v.ends, 1, 30));
			CHECK_INT(v.code, 9);
			CHECK_STR(v.error.text, "");
			CHECK(strstr(v.out.p, "term xterm\n"));
		}
		visit_close(&v);
	}
}

TEST("bytes pass through a command in a real container unchanged, and a client that leaves takes its command along")
{
	struct bench b;

	EACH_RUNTIME(b)
	{
		struct trial *t = trial_run(&b, "sleep 1000");
		struct visit v;
		struct err e = ERR_INIT;
		struct cgroup_usage use = { 0 };
		char block[4096];

		for (size_t i = 0; i < sizeof(block); i++)
			block[i] = (char)(i % 7 + 'a');
		CHECK(bench_wait(&b, &t->dones, 1, 30));
		visit_open(&v, &b, t);
		if (begin(&v, false, "cat", false)) {
			for (int i = 0; i < 64; i++)
				v.k->ops->input(v.s, (struct str){ block, sizeof(block) });
			v.k->ops->input_end(v.s);
			CHECK(bench_wait(&b, &v.ends, 1, 30));
			CHECK_INT(v.code, 0);
			CHECK_INT(v.out.n, 64 * sizeof(block));
			CHECK(v.out.n >= sizeof(block) &&
			      !memcmp(v.out.p + v.out.n - sizeof(block), block, sizeof(block)));
		}
		sbuf_reset(&v.out);
		if (begin(&v, false, "echo here; sleep 1000", false)) {
			CHECK(shows(&v, "here\n"));
			v.k->ops->close(v.s);
			for (int i = 0;
			     i < 12000 && (cgroup_read(cgroups_here(), t->cgroup, &use, &e) < 0 || use.pids > 1); i++) {
				loop_turn(b.loop, true);
				usleep(5000);
			}
			CHECK_INT(use.pids, 1);
		}
		visit_close(&v);
	}
}

TEST("an attached client talks to a real container until that ends, and its use is told at once")
{
	struct bench b;

	EACH_RUNTIME(b)
	{
		struct trial *t = trial_new(&b);
		json_auto_t *names = json_pack("[s]", "c");
		json_t *use = NULL;
		struct err e = ERR_INIT;
		struct visit v;

		t->stdin_open = true;
		trial_write(
			t, bench_config(&b, t, "while read line; do echo got $line; [ $line != end ] || exit 6; done"));
		trial_start(&b, t);
		CHECK(bench_wait(&b, &t->dones, 1, 30));
		visit_open(&v, &b, t);
		usleep(50000); /* older than a tick */
		CHECK_INT(v.k->ops->pod_usage(v.k, "uid", names, &use, &e), 0);
		CHECK_STR(e.text, "");
		CHECK(jsonx_int_or(use, "window", 0) >= 1 && jsonx_int_or(use, "window", 0) < 60);
		json_decref(use);
		if (begin(&v, true, "", false)) {
			v.k->ops->input(v.s, STR("one\n"));
			CHECK(shows(&v, "got one\n"));
			v.k->ops->input(v.s, STR("end\n"));
			CHECK(bench_wait(&b, &v.ends, 1, 30));
			CHECK_INT(v.code, 0);
			CHECK(strstr(v.out.p, "got end\n"));
		}
		CHECK(bench_wait(&b, &t->exits, 1, 30));
		CHECK_INT(t->exit.code, 6);
		visit_close(&v);
	}
}
