// SPDX-License-Identifier: Apache-2.0
/* ps.c - `stoker ps`: everything that runs, waits or has just ended, in one table
 *
 * One list a kind, all asked for at once.  With --watch each kind has an informer, and the table is drawn again when
 * something has changed: on a terminal over the old one, else below it.
 */
#include <signal.h>
#include <stdio.h>

#include "base/clock.h"
#include "base/jsonx.h"
#include "base/mem.h"
#include "cli/connect.h"
#include "cli/find.h"
#include "cli/ps_rows.h"

#define KINDS_MAX 16
#define DRAW_MS   500 /* between two tables; ages go on by themselves every TICK_MS */
#define TICK_MS   5000

struct ps_settings {
	struct connect_settings connect;
	const char *ns, *output, *user;
	bool all, all_namespaces, watch;
};

#define AT(field) offsetof(struct ps_settings, field)
static const struct opt ps_opts[] = {
	NAMESPACE_OPT(AT(ns), "where to look"),
	ALL_NAMESPACES_OPT(AT(all_namespaces)),
	{ .name = "all",
	  .letter = 'a',
	  .type = OPT_FLAG,
	  .offset = AT(all),
	  .help = "also what ended more than an hour ago" },
	{ .name = "user",
	  .letter = 'u',
	  .type = OPT_STRING,
	  .offset = AT(user),
	  .arg = "NAME",
	  .help = "only that user's, in every namespace" },
	{ .name = "watch",
	  .letter = 'w',
	  .type = OPT_FLAG,
	  .offset = AT(watch),
	  .help = "go on, and show the table again when it changes" },
	OUTPUT_OPT(struct ps_settings),
	CONNECT_OPTS,
	OPT_END,
};

struct session {
	const struct command *cmd;
	const struct ps_settings *s;
	struct connection c;
	const char *ns; /* NULL: all */
	const struct kind *kinds[KINDS_MAX];
	struct ps_filter filter;
	/* --watch */
	struct informer *informers[KINDS_MAX];
	struct informer *events; /* from when a row needs them */
	bool may_events;
	struct loop_timer timer;
	bool interrupted, drawn;
};

static json_t *objects_of(const struct ps_row *rows, size_t n)
{
	json_t *items = json_array();

	for (size_t i = 0; i < n; i++)
		json_array_append(items, (json_t *)rows[i].obj);
	return items;
}

static void nothing_there(const struct session *s)
{
	const char *where = s->ns ? s->ns : "any namespace";

	fprintf(stderr, "Nothing runs in %s%s. `stoker run -- COMMAND` starts something; %s.\n",
		s->ns ? "namespace " : "", where,
		s->s->all ? "-A looks in every namespace" : "-a also shows what ended long ago");
}

#define REFUSALS (&(struct list_options){ .fields = "reason=FailedCreate" })

static void on_change(void *arg, const json_t *obj, const json_t *old);

/* Events about pods that could not be made.  A table can do without: errors are none.  With --watch there is no waiting
 * for them: they come into the next one. */
static json_t *refusals(struct session *s)
{
	struct ref ref = { .api_version = "v1", .plural = "events", .ns = s->ns };
	json_t *items = json_array();
	json_auto_t *list = NULL;
	struct err ignored = ERR_INIT;
	const json_t *event;
	size_t pos = 0;

	if (!s->s->watch) {
		client_list_wait(s->c.client, &ref, REFUSALS, &list, &ignored);
		json_array_extend(items, json_object_get(list, "items"));
		return items;
	}
	if (!s->events && s->may_events)
		s->events = informer_new(s->c.client, &ref, REFUSALS,
					 &(struct informer_handlers){ .change = on_change, .arg = s });
	while (s->events && informer_next(s->events, &pos, &event))
		json_array_append(items, (json_t *)event);
	return items;
}

static void print(struct session *s, json_t *const *lists)
{
	struct ps_row *rows = NULL;
	size_t n = 0;

	s->filter.now = clock_wall();
	ps_rows_make(lists, &s->filter, &rows, &n);
	if (output_is_objects(s->s->output)) {
		json_auto_t *items = objects_of(rows, n);

		output_list(s->s->output, items);
	} else if (n) {
		auto_table struct table t = { 0 };

		if (ps_rows_unexplained(rows, n)) {
			json_auto_t *events = refusals(s);

			ps_rows_explain(rows, n, events);
		}
		ps_rows_table(rows, n, !s->ns, s->filter.now, &t);
		table_print(&t, s->s->output != NULL);
	} else {
		nothing_there(s);
	}
	ps_rows_free(rows, n);
}

static int print_once(struct session *s)
{
	json_t *lists[KINDS_MAX] = { 0 };
	struct err e = ERR_INIT;
	int r = find_lists(s->c.client, workloads, workloads_count(), s->ns, NULL, lists, &e);

	if (r == 0)
		print(s, lists);
	for (size_t i = 0; i < workloads_count(); i++)
		json_decref(lists[i]);
	if (r < 0 && e.kind == ERR_FORBIDDEN && !s->ns)
		err_prefix(&e, "without -A and --user it shows your own namespace");
	return r < 0 ? command_fail(s->cmd, &e) : 0;
}

/* ---- again and again ---- */

static void draw(void *arg)
{
	struct session *s = arg;
	json_t *lists[KINDS_MAX] = { 0 };
	bool screen = output_width(1) > 0;

	for (size_t i = 0; workloads[i]; i++) {
		json_t *items = json_array();
		const json_t *obj;
		size_t pos = 0;

		while (s->informers[i] && informer_next(s->informers[i], &pos, &obj))
			json_array_append(items, (json_t *)obj);
		lists[i] = json_pack("{s:o}", "items", items);
	}
	if (screen)
		fputs("\033[H\033[2J", stdout);
	else if (s->drawn)
		putchar('\n');
	print(s, lists);
	fflush(stdout);
	for (size_t i = 0; workloads[i]; i++)
		json_decref(lists[i]);
	s->drawn = true;
	if (screen)
		loop_timer_set(s->c.loop, &s->timer, TICK_MS);
}

static void on_change(void *arg, const json_t *obj, const json_t *old)
{
	struct session *s = arg;

	(void)obj;
	(void)old;
	loop_timer_set(s->c.loop, &s->timer, DRAW_MS);
}

static void on_interrupt(void *arg, int signo)
{
	(void)signo;
	((struct session *)arg)->interrupted = true;
}

static bool may_see_events(struct session *s)
{
	struct ref ref = { .api_version = "v1", .plural = "events", .ns = s->ns };
	json_auto_t *list = NULL;
	struct err e = ERR_INIT;

	return client_list_wait(s->c.client, &ref, &(struct list_options){ .limit = 1 }, &list, &e) == 0;
}

static int print_on(struct session *s)
{
	struct err e = ERR_INIT;
	json_t *lists[KINDS_MAX] = { 0 };

	if (output_is_objects(s->s->output)) {
		err_set(&e, ERR_BAD_REQUEST, "--watch shows a table; -o %s prints once", s->s->output);
		return command_fail(s->cmd, &e);
	}
	/* Which kinds are there and ours to see: an informer of another one would try for ever. */
	if (find_lists(s->c.client, workloads, workloads_count(), s->ns, &(struct list_options){ .limit = 1 }, lists,
		       &e) < 0 ||
	    loop_on_signal(s->c.loop, SIGINT, on_interrupt, s, &e) < 0)
		return command_fail(s->cmd, &e);
	s->may_events = may_see_events(s);
	s->timer = (struct loop_timer){ .fire = draw, .arg = s };
	for (size_t i = 0; workloads[i]; i++) {
		char version[64];
		struct ref ref = { .api_version = version, .plural = workloads[i]->plural, .ns = s->ns };

		kind_api_version(workloads[i], version, sizeof(version));
		if (lists[i])
			s->informers[i] = informer_new(s->c.client, &ref, NULL,
						       &(struct informer_handlers){ .change = on_change, .arg = s });
		json_decref(lists[i]);
	}
	loop_timer_set(s->c.loop, &s->timer, DRAW_MS);
	while (!s->interrupted && !ferror(stdout))
		loop_turn(s->c.loop, false);
	for (size_t i = 0; workloads[i]; i++)
		informer_free(s->informers[i]);
	informer_free(s->events);
	loop_timer_done(&s->timer);
	return s->interrupted ? 128 + SIGINT : 1;
}

/* ---- the command ---- */

static int take_kinds(struct session *s, char **words, int n, struct err *e)
{
	for (int i = 0; i < n; i++) {
		const struct kind *k = find_kind(str_of(words[i]));

		if (!k || !is_workload(k))
			return err_set(
				e, ERR_BAD_REQUEST,
				"\"%s\" is no kind of workload; a kind is written job, pod, deployment and so on",
				words[i]);
		s->kinds[i] = k;
	}
	s->filter.kinds = s->kinds;
	s->filter.nkinds = (size_t)n;
	return 0;
}

static int run_ps(const struct command *cmd, int argc, char **argv)
{
	struct ps_settings settings = { 0 };
	struct session s = { .cmd = cmd, .s = &settings };
	struct err e = ERR_INIT;
	char **rest;
	int nrest;
	int status;

	if (command_parse(cmd, &settings, argc, argv, 0, KINDS_MAX, &rest, &nrest) < 0)
		return 2;
	if (take_kinds(&s, rest, nrest, &e) < 0 || connect_open(&settings.connect, &s.c, &e) < 0)
		return command_fail(cmd, &e);
	s.filter.all = settings.all;
	s.filter.user = settings.user;
	if (!settings.all_namespaces && !settings.user)
		s.ns = settings.ns ? settings.ns : client_default_namespace(s.c.client);
	status = settings.watch ? print_on(&s) : print_once(&s);
	connect_close(&s.c);
	return status;
}

const struct command cmd_ps = {
	.name = "ps",
	.args = "[KIND]... [-n NAMESPACE | -A] [-a] [-w] [-o wide|json|yaml|name]",
	.summary = "Show what runs, waits and has just ended",
	.details =
		"One table of all workloads: Jobs, training jobs, Deployments, pods and so on. What another one made\n"
		"(a Job's pods, a Deployment's ReplicaSets) is part of its line; name a KIND to see it by itself.\n"
		"PODS counts those that are ready or have succeeded, of those that are wanted.\n\n"
		"Examples:\n"
		"  stoker ps\n"
		"  stoker ps -a -o wide\n"
		"  stoker ps pods                 # also those of jobs\n"
		"  stoker ps -A -w                # everyone's, as it changes\n"
		"  stoker ps -o name              # for scripts\n",
	.opts = ps_opts,
	.run = run_ps,
};
