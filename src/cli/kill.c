// SPDX-License-Identifier: Apache-2.0
/* kill.c - `stoker kill`: ends work, and waits until it has ended
 *
 * Kubernetes has no job that was cancelled: what is to end is deleted, its pods first.  The logs stay.  Work that has
 * ended already is left alone, because then only its record would go; --remove is for that.  PBS jobs can be cancelled,
 * and are.
 */
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/jsonx.h"
#include "base/mem.h"
#include "cli/connect.h"
#include "cli/ending.h"
#include "cli/ps_rows.h"
#include "cli/show.h"
#include "kinds/core.h"
#include "kinds/rest.h"

#define STATUS_TIMEOUT 124
#define KINDS_MAX      16
#define AT_A_TIME      32

struct kill_settings {
	struct connect_settings connect;
	const char *ns, *output;
	int64_t timeout;
	bool now, all, yes, remove, no_wait;
};

#define AT(field) offsetof(struct kill_settings, field)
static const struct opt kill_opts[] = {
	{ .name = "now",
	  .type = OPT_FLAG,
	  .offset = AT(now),
	  .help = "kill at once, without the grace period to clean up in" },
	{ .name = "all",
	  .type = OPT_FLAG,
	  .offset = AT(all),
	  .help = "everything of the namespace that has not ended" },
	{ .name = "yes", .letter = 'y', .type = OPT_FLAG, .offset = AT(yes), .help = "do not ask before --all" },
	{ .name = "remove",
	  .type = OPT_FLAG,
	  .offset = AT(remove),
	  .help = "also remove the record of what has ended already" },
	{ .name = "no-wait", .type = OPT_FLAG, .offset = AT(no_wait), .help = "do not wait until it has ended" },
	{ .name = "timeout",
	  .letter = 't',
	  .type = OPT_DURATION,
	  .offset = AT(timeout),
	  .arg = "TIME",
	  .help = "wait no longer than that; it goes on ending (default: as long as it takes)" },
	NAMESPACE_OPT(AT(ns), "where to look"),
	OUTPUT_OPT_SAYING(struct kill_settings, "print no sentences but what was ended, as it was"),
	CONNECT_OPTS,
	OPT_END,
};

struct session;

struct item {
	struct session *session;
	struct found found;
	struct ending *ending; /* or NULL: nothing to wait for */
	size_t pods;           /* that were alive */
	bool over;             /* it had ended before */
	bool gone;             /* or with --no-wait: about to be */
};

struct session {
	const struct command *cmd;
	const struct kill_settings *s;
	struct connection c;
	const char *ns;
	struct item *items;
	size_t n, cap, waiting;
	struct loop_timer timer;
	bool late, interrupted;
	int status;
};

/* ---- which ---- */

static void add_item(struct session *s, const struct found *f)
{
	struct item i = { .session = s, .found = *f };

	ARRAY_PUSH(s->items, s->n, s->cap, i);
}

static int take_all(struct session *s, struct err *e)
{
	json_t *lists[KINDS_MAX] = { 0 };
	struct ps_row *rows = NULL;
	size_t n = 0;

	if (find_lists(s->c.client, workloads, workloads_count(), s->ns, NULL, lists, e) < 0)
		return -1;
	ps_rows_make(lists, &(struct ps_filter){ .all = true, .now = clock_wall() }, &rows, &n);
	for (size_t i = 0; i < n; i++) {
		struct found f;

		if (work_is_over(&rows[i].work) && !s->s->remove)
			continue;
		found_init(&f, rows[i].kind, rows[i].obj);
		add_item(s, &f);
	}
	ps_rows_free(rows, n);
	for (size_t i = 0; i < workloads_count(); i++)
		json_decref(lists[i]);
	return 0;
}

static int take_named(struct session *s, char **names, int n, struct err *e)
{
	for (int i = 0; i < n; i++) {
		struct found f;

		if (find_one(s->c.client, names[i], s->ns, false, &f, e) < 0)
			return -1;
		if (f.element) {
			found_done(&f);
			return err_set(e, ERR_BAD_REQUEST, "%s is an element of an array: `qdel '%s'` ends it",
				       names[i], names[i]);
		}
		add_item(s, &f);
	}
	return 0;
}

/* --all is asked for once more, where there is somebody to ask. */
static int confirm(const struct session *s, struct err *e)
{
	const char *plural = s->n == 1 ? "" : "s";
	char answer[16] = "";

	if (!s->s->all || s->s->yes || !s->n)
		return 0;
	if (!isatty(STDIN_FILENO) || !isatty(STDERR_FILENO))
		return err_set(e, ERR_BAD_REQUEST,
			       "--all would end %zu workload%s of namespace \"%s\": say -y if you mean it", s->n,
			       plural, s->ns);
	for (size_t i = 0; i < s->n; i++)
		fprintf(stderr, "  %s/%s\n", s->items[i].found.kind->singular, s->items[i].found.name);
	fprintf(stderr, "End %zu workload%s of namespace \"%s\"? [y/N] ", s->n, plural, s->ns);
	if (!fgets(answer, sizeof(answer), stdin) || (answer[0] != 'y' && answer[0] != 'Y'))
		return err_set(e, ERR_BAD_REQUEST, "nothing was ended");
	return 0;
}

/* ---- how it went ---- */

static bool is_alive(const json_t *pod)
{
	struct work w;

	work_read(&kind_pod, pod, NULL, &w);
	return !work_is_over(&w);
}

/* What runs on and on is deleted for good: that is said, because a job that is killed merely ends. */
static const char *verb_of(const struct item *i)
{
	return i->over ? "removed" : work_ends(i->found.kind) ? "ended" : "deleted";
}

static void say_done(const struct item *i)
{
	auto_sbuf struct sbuf text = SBUF(1024);

	found_title(&i->found, &text);
	sbuf_addf(&text, " %s", verb_of(i));
	if (i->found.kind != &kind_pod && !i->over)
		sbuf_addf(&text, " (%zu pod%s stopped)", i->pods, i->pods == 1 ? "" : "s");
	puts(text.p);
	fflush(stdout);
}

static void on_gone(void *arg)
{
	struct item *i = arg;

	i->session->waiting--;
	if (!i->session->s->output)
		say_done(i);
	i->gone = true;
}

/* A pod or a Job that somebody keeps up comes back. */
static void warn_controlled(const struct item *i)
{
	const json_t *owner = find_controller(i->found.obj);
	const struct kind *k = owner ? workload_of(owner) : NULL;

	if (k && i->found.kind == &kind_pod && !i->over)
		fprintf(stderr, "%s/%s belongs to %s/%s, which may replace it; `stoker kill %s/%s` ends all of it.\n",
			i->found.kind->singular, i->found.name, k->singular, jsonx_str_or(owner, "name", ""),
			k->singular, jsonx_str_or(owner, "name", ""));
}

static int begin(struct session *s, struct item *i, struct err *e)
{
	json_auto_t *pods = NULL;
	struct work w;
	json_t *pod;
	size_t k;

	work_read(i->found.kind, i->found.obj, NULL, &w);
	i->over = work_is_over(&w);
	if (i->over && !s->s->remove) {
		fprintf(stderr, "%s/%s had ended before (%s); nothing was done. --remove removes its record.\n",
			i->found.kind->singular, i->found.name, work_phase_name(w.phase));
		return 0;
	}
	warn_controlled(i);
	if (find_pods(s->c.client, &i->found, &pods, e) < 0)
		return -1;
	json_array_foreach (pods, k, pod)
		i->pods += is_alive(pod);
	if (ending_begin(s->c.client, &i->found, s->s->now, e) < 0)
		return -1;
	if (s->s->no_wait) {
		if (!s->s->output)
			printf("%s/%s is being %s\n", i->found.kind->singular, i->found.name, verb_of(i));
		i->gone = true;
		return 0;
	}
	s->waiting++;
	i->ending = ending_watch(s->c.client, &i->found, on_gone, i);
	return 0;
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

/* Each that is waited for has a watch of its own, so there are only so many at a time. */
static void begin_some(struct session *s, size_t *next)
{
	for (size_t i = 0; i < *next; i++)
		if (s->items[i].gone) {
			ending_free(s->items[i].ending);
			s->items[i].ending = NULL;
		}
	for (; *next < s->n && s->waiting < AT_A_TIME && !s->interrupted; ++*next) {
		struct err e = ERR_INIT;

		if (begin(s, &s->items[*next], &e) < 0)
			s->status = command_fail(s->cmd, &e);
		if (*next + 1 == s->n && s->waiting && isatty(STDERR_FILENO))
			fprintf(stderr, "Waiting for the end; Ctrl-C leaves, and it comes all the same.\n");
	}
}

static int end_all(struct session *s)
{
	struct err e = ERR_INIT;
	size_t next = 0;

	if (loop_on_signal(s->c.loop, SIGINT, on_interrupt, s, &e) < 0)
		return command_fail(s->cmd, &e);
	if (s->s->timeout)
		loop_timer_set(s->c.loop, &s->timer, s->s->timeout * 1000);
	while ((next < s->n || s->waiting) && !s->late && !s->interrupted) {
		begin_some(s, &next);
		if (s->waiting)
			loop_turn(s->c.loop, false);
	}
	if (s->interrupted)
		return 128 + SIGINT;
	if (s->late) {
		fprintf(stderr, "stoker kill: %zu still ending after %llds; `stoker ps` shows them\n", s->waiting,
			(long long)s->s->timeout);
		return STATUS_TIMEOUT;
	}
	return s->status;
}

static void show_ended(const struct session *s)
{
	const struct found **shown = xcalloc(s->n + 1, sizeof(*shown));
	size_t n = 0;

	for (size_t i = 0; i < s->n; i++)
		if (s->items[i].gone)
			shown[n++] = &s->items[i].found;
	show_found(s->c.client, s->s->output, shown, n);
	free(shown);
}

/* ---- the command ---- */

static int find_and_end(struct session *s, char **names, int n)
{
	struct err e = ERR_INIT;
	int status;

	if (!s->s->all == !n) {
		err_set(&e, ERR_BAD_REQUEST,
			n ? "give names or --all, not both" : "what is to be ended? Give names, or --all");
		command_fail(s->cmd, &e);
		return 2;
	}
	if ((s->s->all ? take_all(s, &e) : take_named(s, names, n, &e)) < 0 || confirm(s, &e) < 0)
		return command_fail(s->cmd, &e);
	if (!s->n)
		fprintf(stderr, "Nothing runs in namespace %s.\n", s->ns);
	status = end_all(s);
	if (s->s->output)
		show_ended(s);
	return status;
}

static int run_kill(const struct command *cmd, int argc, char **argv)
{
	struct kill_settings settings = { 0 };
	struct session s = { .cmd = cmd, .s = &settings, .timer = { .fire = on_late, .arg = &s } };
	struct err e = ERR_INIT;
	char **rest;
	int nrest;
	int status;

	if (command_parse(cmd, &settings, argc, argv, 0, INT_MAX, &rest, &nrest) < 0)
		return 2;
	if (connect_open(&settings.connect, &s.c, &e) < 0)
		return command_fail(cmd, &e);
	s.ns = settings.ns ? settings.ns : client_default_namespace(s.c.client);
	status = find_and_end(&s, rest, nrest);
	for (size_t i = 0; i < s.n; i++) {
		ending_free(s.items[i].ending);
		found_done(&s.items[i].found);
	}
	free(s.items);
	loop_timer_done(&s.timer);
	connect_close(&s.c);
	return status;
}

const struct command cmd_kill = {
	.name = "kill",
	.args = "[KIND/]NAME... [--now] [--all] [-y] [-o wide|json|yaml|name]",
	.summary = "End work: jobs, pods, Deployments and their like",
	.details = "The work's pods get SIGTERM, and SIGKILL after their grace period; then its object is deleted. "
		   "What it\n"
		   "printed stays: `stoker logs NAME` still shows it. Deployments and others that would start pods "
		   "anew are\n"
		   "deleted for good. Work that has ended is left as it is. A PBS job ends as with qdel, and qstat "
		   "still shows it.\n\n"
		   "Exit status: 0 when all has ended, 1 if something could not be ended, 124 after the timeout, 130 "
		   "after\n"
		   "Ctrl-C.\n\n"
		   "Examples:\n"
		   "  stoker kill train-7\n"
		   "  stoker kill --now job/a pod/b\n"
		   "  stoker kill --all -y -n alice\n",
	.names = true,
	.opts = kill_opts,
	.run = run_kill,
};
