// SPDX-License-Identifier: Apache-2.0
/* A command in a container and what came of it; the kubelet here ends it as the test wants. */
#include "loop/kubelet_run.h"

#include <stddef.h>
#include <stdio.h>

#include "base/mem.h"
#include "test.h"

struct kubelet_session {
	struct kubelet_session_handlers h;
};

struct fake {
	struct kubelet base;
	struct kubelet_session session;
	bool refuse, closed;
};

static int do_exec(struct kubelet *k, const struct kubelet_exec_request *q, const struct kubelet_session_handlers *h,
		   struct kubelet_session **ret, struct err *e)
{
	struct fake *f = (struct fake *)k;

	if (f->refuse)
		return err_set(e, ERR_NOT_FOUND, "no such container");
	CHECK_STR(q->of.container, "job");
	f->session.h = *h;
	*ret = &f->session;
	return 0;
}

static void do_close(struct kubelet_session *s)
{
	((struct fake *)((char *)s - offsetof(struct fake, session)))->closed = true;
}

static const struct kubelet_ops ops = { .exec = do_exec, .close = do_close };

struct heard {
	int n, code;
	char text[2048];
};

static void on_done(void *arg, int code, struct str text, const struct err *e)
{
	struct heard *h = arg;
	struct err failed = ERR_INIT;

	h->n++;
	h->code = code;
	snprintf(h->text, sizeof(h->text), "%s", kubelet_run_failed(code, text, e, &failed) ? failed.text : "fine");
}

TEST("a command's end is told once, with the beginning of what it said")
{
	static const struct {
		const char *said;
		int code;
		enum err_kind kind;
		const char *text;
	} rows[] = {
		{ "whatever\n", 0, ERR_NONE, "fine" },
		{ "kill: no such process\n", 1, ERR_NONE, "kill: no such process" },
		{ "", 3, ERR_NONE, "it ended with exit status 3" },
		{ "half", -1, ERR_UNAVAILABLE, "cut off" },
	};
	const struct kubelet_target of = { .ns = "a", .pod = "p", .uid = "u", .container = "job" };

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct fake f = { .base = { &ops } };
		struct heard heard = { 0 };
		struct kubelet_run *run = NULL;
		struct err e = ERR_INIT, end = ERR_INIT;

		CHECK_INT(kubelet_run_new(&f.base, &of, NULL, on_done, &heard, &run, &e), 0);
		for (int k = 0; k < 3; k++) /* as much as it likes: the first kilobyte is kept */
			f.session.h.output(f.session.h.arg, 2, k ? (struct str){ NULL, 0 } : str_of(rows[i].said));
		if (rows[i].kind != ERR_NONE)
			err_set(&end, rows[i].kind, "%s", rows[i].text);
		f.session.h.ended(f.session.h.arg, rows[i].code, &end);
		CHECK_INT(heard.n, 1);
		CHECK_INT(heard.code, rows[i].code);
		CHECK_STR(heard.text, rows[i].text);
	}
}

TEST("a command that is refused or given up is told of nobody")
{
	const struct kubelet_target of = { .ns = "a", .pod = "p", .uid = "u", .container = "job" };
	struct fake f = { .base = { &ops }, .refuse = true };
	struct heard heard = { 0 };
	struct kubelet_run *run = NULL;
	struct err e = ERR_INIT;

	CHECK_INT(kubelet_run_new(&f.base, &of, NULL, on_done, &heard, &run, &e), -1);
	CHECK_STR(e.text, "no such container");
	f.refuse = false;
	CHECK_INT(kubelet_run_new(&f.base, &of, NULL, on_done, &heard, &run, &e), 0);
	for (int k = 0; k < 3000; k++)
		f.session.h.output(f.session.h.arg, 1, str_of("x"));
	kubelet_run_free(run);
	CHECK(f.closed);
	CHECK_INT(heard.n, 0);
}
