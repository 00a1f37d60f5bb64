// SPDX-License-Identifier: Apache-2.0
/* wait.c - `stoker wait`: comes back when work has ended, is ready, or is gone
 *
 * Each name is found once and then watched by an informer of that one object; nothing is asked again and again.  What
 * is not there (any more) is deleted, so waiting for a deletion can come too late without harm.
 */
#include <limits.h>
#include <signal.h>
#include <stdio.h>

#include "base/jsonx.h"
#include "base/mem.h"
#include "cli/connect.h"
#include "cli/find.h"
#include "cli/show.h"
#include "cli/wait_verdict.h"

#define STATUS_TIMEOUT 124 /* timeout(1)'s */

struct wait_settings {
	struct connect_settings connect;
	const char *ns, *what, *output;
	int64_t timeout;
	bool any, quiet;
};

#define AT(field) offsetof(struct wait_settings, field)
static const struct opt wait_opts[] = {
	{ .name = "for",
	  .type = OPT_STRING,
	  .offset = AT(what),
	  .arg = "STATE",
	  .help = "done, succeeded, failed, running, ready, deleted or condition=NAME (default: done, and ready for "
		  "what "
		  "does not end)" },
	{ .name = "timeout",
	  .letter = 't',
	  .type = OPT_DURATION,
	  .offset = AT(timeout),
	  .arg = "TIME",
	  .help = "give up after that long (default: never)" },
	{ .name = "any", .type = OPT_FLAG, .offset = AT(any), .help = "come back for the first of several" },
	{ .name = "quiet", .letter = 'q', .type = OPT_FLAG, .offset = AT(quiet), .help = "print nothing but errors" },
	NAMESPACE_OPT(AT(ns), "where to look"),
	OUTPUT_OPT_SAYING(struct wait_settings, "print no sentences but what was waited for, as it is at the end"),
	CONNECT_OPTS,
	OPT_END,
};

struct session;

/* One that is waited for. */
struct item {
	struct session *session;
	struct found found;
	struct wait_for what; /* its strings are the session's */
	char *uid;
	struct informer *informer;
	bool settled;
	struct sbuf sentence;
};

struct session {
	const struct command *cmd;
	const struct wait_settings *s;
	struct connection c;
	const char *ns;
	struct wait_for what;
	struct item *items;
	size_t n, waiting, came;
	struct loop_timer timer;
	bool late, interrupted;
	int status;
};

static bool speaks(const struct session *s)
{
	return !s->s->quiet && !s->s->output;
}

static void judge(struct item *i, const json_t *obj)
{
	struct session *s = i->session;
	enum wait_verdict v;

	if (i->settled)
		return;
	/* Another one of its name is not it. */
	if (obj && i->uid && !str_same(jsonx_str(obj, "metadata.uid"), i->uid))
		obj = NULL;
	if (obj) {
		json_decref(i->found.obj);
		i->found.obj = json_incref((json_t *)obj);
	}
	sbuf_reset(&i->sentence);
	v = wait_judge(&i->what, i->found.kind, obj, &i->sentence);
	if (v == WAIT_ON)
		return;
	i->settled = true;
	s->waiting--;
	s->came += v == WAIT_CAME;
	if (v == WAIT_NEVER)
		s->status = 1;
	if (v == WAIT_NEVER || speaks(s))
		fprintf(v == WAIT_CAME ? stdout : stderr, "%s/%s %s\n", i->found.kind->singular, i->found.name,
			i->sentence.p);
}

static void on_change(void *arg, const json_t *obj, const json_t *old)
{
	(void)old;
	judge(arg, obj);
}

/* The first list is in, and if it is empty nobody has been told. */
static void on_synced(void *arg)
{
	struct item *i = arg;

	if (!informer_find(i->informer, i->found.ns, i->found.name))
		judge(i, NULL);
}

static void on_late(void *arg)
{
	((struct session *)arg)->late = true;
}

static void on_interrupt(void *arg, int signo)
{
	(void)signo;
	((struct session *)arg)->interrupted = true;
}

static bool is_over(const struct session *s)
{
	return !s->waiting || (s->s->any && s->came) || s->late || s->interrupted;
}

static int say_late(const struct session *s)
{
	for (size_t k = 0; k < s->n; k++)
		if (!s->items[k].settled)
			fprintf(stderr, "stoker wait: %s/%s %s after %llds\n", s->items[k].found.kind->singular,
				s->items[k].found.name,
				s->items[k].sentence.n ? s->items[k].sentence.p : "has not come",
				(long long)s->s->timeout);
	return STATUS_TIMEOUT;
}

static void watch_one(struct item *i)
{
	auto_free char *field = xasprintf("metadata.name=%s", i->found.name);
	struct informer_handlers handlers = { .change = on_change, .synced = on_synced, .arg = i };
	struct ref ref = found_ref(&i->found);

	ref.name = NULL;
	i->informer = informer_new(i->session->c.client, &ref, &(struct list_options){ .fields = field }, &handlers);
}

static int watch(struct session *s)
{
	struct err e = ERR_INIT;

	if (loop_on_signal(s->c.loop, SIGINT, on_interrupt, s, &e) < 0)
		return command_fail(s->cmd, &e);
	if (s->s->timeout)
		loop_timer_set(s->c.loop, &s->timer, s->s->timeout * 1000);
	for (size_t k = 0; k < s->n; k++)
		if (!s->items[k].settled)
			watch_one(&s->items[k]);
	while (!is_over(s))
		loop_turn(s->c.loop, false);
	if (s->interrupted)
		return 128 + SIGINT;
	if (s->s->any && s->came)
		return 0;
	return s->waiting ? say_late(s) : s->status;
}

/* What is gone is shown as it was last seen; what was gone before, not at all. */
static void show_items(const struct session *s)
{
	const struct found **shown = xcalloc(s->n + 1, sizeof(*shown));
	size_t n = 0;

	for (size_t k = 0; k < s->n; k++)
		if (s->items[k].found.obj && (s->items[k].settled || !s->s->any))
			shown[n++] = &s->items[k].found;
	show_found(s->c.client, s->s->output, shown, n);
	free(shown);
}

/* ---- the command ---- */

static int take(struct session *s, const char *arg, struct item *i, struct err *e)
{
	*i = (struct item){ .session = s, .what = s->what, .sentence = SBUF(1024) };
	if (find_one(s->c.client, arg, s->ns, false, &i->found, e) < 0) {
		if (e->kind != ERR_NOT_FOUND || s->what.goal != WAIT_DELETED || !s->s->what)
			return -1;
		err_clear(e);
		i->settled = true;
		s->came++;
		if (speaks(s))
			printf("%s is deleted\n", arg);
		return 0;
	}
	s->waiting++;
	i->uid = xstrdup(jsonx_str_or(i->found.obj, "metadata.uid", ""));
	if (!s->s->what)
		i->what.goal = wait_for_default(i->found.kind);
	return wait_for_check(&i->what, i->found.kind, e);
}

static void session_done(struct session *s)
{
	for (size_t k = 0; k < s->n; k++) {
		informer_free(s->items[k].informer);
		found_done(&s->items[k].found);
		free(s->items[k].uid);
		sbuf_done(&s->items[k].sentence);
	}
	free(s->items);
	wait_for_done(&s->what);
	loop_timer_done(&s->timer);
	connect_close(&s->c);
}

static int run_wait(const struct command *cmd, int argc, char **argv)
{
	struct wait_settings settings = { 0 };
	struct session s = { .cmd = cmd, .s = &settings, .timer = { .fire = on_late, .arg = &s } };
	struct err e = ERR_INIT;
	char **rest;
	int nrest;

	if (command_parse(cmd, &settings, argc, argv, 1, INT_MAX, &rest, &nrest) < 0)
		return 2;
	if (settings.what && wait_for_parse(settings.what, &s.what, &e) < 0)
		return command_misused(cmd, &e);
	if (connect_open(&settings.connect, &s.c, &e) < 0) {
		wait_for_done(&s.what);
		return command_fail(cmd, &e);
	}
	s.ns = settings.ns ? settings.ns : client_default_namespace(s.c.client);
	s.items = xcalloc((size_t)nrest, sizeof(*s.items));
	for (; s.n < (size_t)nrest && e.kind == ERR_NONE; s.n++)
		take(&s, rest[s.n], &s.items[s.n], &e);
	s.status = e.kind == ERR_NONE ? watch(&s) : command_fail(cmd, &e);
	if (settings.output && e.kind == ERR_NONE && !s.interrupted)
		show_items(&s);
	session_done(&s);
	return s.status;
}

const struct command cmd_wait = {
	.name = "wait",
	.args = "[KIND/]NAME... [--for STATE] [--timeout TIME] [--any] [-o wide|json|yaml|name]",
	.summary = "Wait until work has ended, is ready or is gone",
	.details = "Exit status: 0 when what was waited for has come, 1 if it cannot come any more (a job that failed, "
		   "was\n"
		   "deleted, or ended otherwise), 2 for wrong usage, 124 after the timeout, 130 after Ctrl-C.\n\n"
		   "Examples:\n"
		   "  stoker wait train-7 && echo done\n"
		   "  stoker wait job/a job/b --timeout 2h       # both\n"
		   "  stoker wait a b --any                      # the first\n"
		   "  stoker wait deployment/web                 # until it is ready\n"
		   "  stoker wait train-7 -o json | jq .status\n"
		   "  stoker wait train-7 --for running; stoker logs -f train-7\n"
		   "  stoker wait pod/x --for condition=Ready=False\n",
	.names = true,
	.opts = wait_opts,
	.run = run_wait,
};
