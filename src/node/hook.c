// SPDX-License-Identifier: Apache-2.0
/* hook.c - postStart and preStop handlers, run once
 *
 * A command must end with 0; of an HTTP request only that there is an answer matters, not what it says; a tcpSocket is
 * read by Kubernetes and does nothing, so it does nothing here.  There is no deadline: a preStop hook has what is left
 * of the grace period, which its caller watches over.
 */
#include "base/jsonx.h"
#include "base/mem.h"
#include "base/str.h"
#include "node/action.h"
#include "node/probe.h"

#define SLEEP_MAX_MS (24 * 3600 * 1000LL) /* longer than any grace period that means something */

struct hook {
	struct loop *loop;
	const json_t *handler;
	struct action *action;
	struct loop_timer sleep;
	void (*done)(void *arg, const struct err *e);
	void *arg;
};

void hook_cancel(struct hook *h)
{
	if (!h)
		return;
	action_cancel(h->action);
	loop_timer_done(&h->sleep);
	json_decref((json_t *)h->handler);
	free(h);
}

static void finish(struct hook *h, const struct err *e)
{
	void (*done)(void *, const struct err *) = h->done;
	void *arg = h->arg;
	struct err copy = *e;

	hook_cancel(h);
	done(arg, &copy);
}

static void on_end(void *arg, const struct action_end *end)
{
	struct hook *h = arg;
	struct err e = *end->e;

	h->action = NULL;
	if (e.kind == ERR_NONE && end->kind == ACTION_EXEC && end->code) {
		auto_free char *command = action_command_text(h->handler);

		err_set(&e, ERR_UNAVAILABLE, "command '%s' exited with %d: %.*s", command, end->code,
			STR_FMT(str_trim(end->output)));
	}
	finish(h, &e);
}

static int64_t sleep_ms(const json_t *sleep)
{
	int64_t seconds = jsonx_int_or(sleep, "seconds", 0);

	return seconds > SLEEP_MAX_MS / 1000 ? SLEEP_MAX_MS : seconds * 1000;
}

static void on_slept(void *arg)
{
	finish(arg, &ERR_INIT);
}

struct hook *hook_run(const struct probe_target *t, const char *which, void (*done)(void *arg, const struct err *e),
		      void *arg)
{
	const json_t *handler = json_object_get(json_object_get(t->container, "lifecycle"), which);
	const json_t *sleep = json_object_get(handler, "sleep");
	struct hook *h;

	if (!handler)
		return NULL;
	h = xcalloc(1, sizeof(*h));
	*h = (struct hook){ .loop = t->loop, .handler = json_incref((json_t *)handler), .done = done, .arg = arg };
	h->sleep = (struct loop_timer){ .fire = on_slept, .arg = h };
	if (sleep || json_object_get(handler, "tcpSocket"))
		loop_timer_set(t->loop, &h->sleep, sleep_ms(sleep));
	else
		h->action = action_start(t, handler, 0, on_end, h);
	return h;
}
