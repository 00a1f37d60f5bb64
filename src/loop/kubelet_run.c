// SPDX-License-Identifier: Apache-2.0
/* kubelet_run.c - see kubelet_run.h */
#include "loop/kubelet_run.h"

#include "base/mem.h"

#define MOST_TEXT 1024u /* for a message; the rest is dropped */

struct kubelet_run {
	struct kubelet *kubelet;
	struct kubelet_session *session;
	kubelet_run_done *done;
	void *arg;
	struct sbuf text;
};

static void run_free(struct kubelet_run *r)
{
	sbuf_done(&r->text);
	free(r);
}

static void on_output(void *arg, int stream, struct str bytes)
{
	struct kubelet_run *r = arg;
	size_t room = MOST_TEXT - r->text.n;

	(void)stream;
	sbuf_add(&r->text, bytes.p, bytes.n < room ? bytes.n : room);
}

static void on_drained(void *arg)
{
	(void)arg;
}

static void on_ended(void *arg, int code, const struct err *e)
{
	struct kubelet_run *r = arg;

	r->done(r->arg, code, str_trim(sbuf_str(&r->text)), e);
	run_free(r);
}

int kubelet_run_new(struct kubelet *k, const struct kubelet_target *of, const json_t *command, kubelet_run_done *done,
		    void *arg, struct kubelet_run **ret, struct err *e)
{
	struct kubelet_run *r = xcalloc(1, sizeof(*r));
	const struct kubelet_session_handlers h = { on_output, on_drained, on_ended, r };
	const struct kubelet_exec_request q = { .of = *of, .command = command, .out = true, .err = true };

	*r = (struct kubelet_run){ .kubelet = k, .done = done, .arg = arg, .text = SBUF(MOST_TEXT) };
	if (k->ops->exec(k, &q, &h, &r->session, e) < 0) {
		run_free(r);
		return -1;
	}
	*ret = r;
	return 0;
}

void kubelet_run_free(struct kubelet_run *r)
{
	if (!r)
		return;
	r->kubelet->ops->close(r->session);
	run_free(r);
}

bool kubelet_run_failed(int code, struct str text, const struct err *e, struct err *ret)
{
	if (e->kind != ERR_NONE)
		*ret = *e;
	else if (code != 0 && text.n)
		err_set(ret, ERR_CONFLICT, "%.*s", STR_FMT(text));
	else if (code != 0)
		err_set(ret, ERR_CONFLICT, "it ended with exit status %d", code);
	return e->kind != ERR_NONE || code != 0;
}
