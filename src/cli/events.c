// SPDX-License-Identifier: Apache-2.0
/* events.c - `stoker events`: what happened, in the order of time
 *
 * Of one workload the events of its pods, and of what else it made, belong to it, also when those are deleted
 * (circle.h). With --watch an informer keeps the events; a little after each change those that have not been shown in
 * their present form are printed, so that events of one moment come in order and a pod's are not lost for coming before
 * its maker's.
 */
#include <signal.h>
#include <stdio.h>

#include "base/clock.h"
#include "base/jsonx.h"
#include "base/map.h"
#include "base/mem.h"
#include "cli/about.h"
#include "cli/connect.h"
#include "cli/event_rows.h"
#include "cli/output.h"
#include "kinds/core.h"

#define GATHER_MS 200

struct events_settings {
	struct connect_settings connect;
	const char *ns, *type, *output;
	int64_t since;
	bool all_namespaces, watch;
};

#define AT(field) offsetof(struct events_settings, field)
static const struct opt events_opts[] = {
	NAMESPACE_OPT(AT(ns), "where to look"),
	ALL_NAMESPACES_OPT(AT(all_namespaces)),
	{ .name = "type",
	  .type = OPT_CHOICE,
	  .offset = AT(type),
	  .arg = "TYPE",
	  .choices = "Normal|Warning",
	  .help = "only Normal or only Warning ones" },
	{ .name = "since",
	  .type = OPT_DURATION,
	  .offset = AT(since),
	  .arg = "TIME",
	  .help = "only what is younger, such as 10m or 1h" },
	{ .name = "watch", .letter = 'w', .type = OPT_FLAG, .offset = AT(watch), .help = "go on, a line for each" },
	OUTPUT_OPT(struct events_settings),
	CONNECT_OPTS,
	OPT_END,
};

struct session {
	const struct command *cmd;
	const struct events_settings *s;
	struct connection c;
	const char *ns; /* NULL: all */
	bool found;     /* a name was given */
	bool one;       /* and only its events are shown */
	struct about about;
	struct circle circle;
	/* --watch */
	struct informer *informer;
	struct map shown; /* uid -> the revision that was */
	struct loop_timer timer;
	bool interrupted, titled;
};

/* Those that were asked for; `all` in the order of time. */
static json_t *choose(struct session *s, const json_t *all)
{
	json_auto_t *own = s->one ? circle_events(&s->circle, all) : json_incref((json_t *)all);

	return events_filter(own, s->s->type, s->s->since ? clock_wall() - s->s->since : 0);
}

static void say_none(const struct session *s)
{
	fprintf(stderr,
		"There are no%s%s events%s%s. Events are kept for an hour; `stoker describe NAME` shows how "
		"something stands.\n",
		s->s->type ? " " : "", s->s->type ? s->s->type : "", s->one ? " about " : "",
		s->one ? s->about.name : "");
}

static int print_once(struct session *s)
{
	json_auto_t *all = NULL;
	json_auto_t *events = NULL;
	struct err e = ERR_INIT;

	if (about_list_events(s->c.client, s->ns, &all, &e) < 0)
		return command_fail(s->cmd, &e);
	events = choose(s, all);
	if (output_is_objects(s->s->output)) {
		output_list(s->s->output, events);
	} else if (json_array_size(events)) {
		auto_table struct table t = { 0 };

		events_table(events, !s->ns, false, clock_wall(), &t);
		table_print(&t, s->s->output != NULL);
	} else {
		say_none(s);
	}
	return 0;
}

/* ---- as they come ---- */

static bool is_new(struct session *s, const json_t *event)
{
	const char *uid = jsonx_str_or(event, "metadata.uid", "");
	const char *revision = jsonx_str_or(event, "metadata.resourceVersion", "");
	const char *shown = map_find(&s->shown, uid);

	if (shown && streq(shown, revision))
		return false;
	map_set(&s->shown, uid, xstrdup(revision));
	return true;
}

/* Without the title, which stands above the first lines. */
static void print_lines(struct session *s, const json_t *events)
{
	auto_sbuf struct sbuf text = SBUF(SIZE_MAX / 2);
	auto_table struct table t = { 0 };
	const char *p;

	events_table(events, !s->ns, true, clock_wall(), &t);
	table_text(&t, s->s->output != NULL, output_colours(STDOUT_FILENO), 0, &text);
	p = s->titled ? strchr(text.p, '\n') + 1 : text.p;
	fputs(p, stdout);
	s->titled = true;
}

static void print_new(void *arg)
{
	struct session *s = arg;
	json_auto_t *all = json_array();
	json_auto_t *sorted = NULL;
	json_auto_t *events = NULL;
	json_auto_t *new = json_array();
	const json_t *obj;
	size_t pos = 0;

	while (informer_next(s->informer, &pos, &obj))
		json_array_append(all, (json_t *)obj);
	sorted = events_sorted(all);
	events = choose(s, sorted);
	for (size_t i = 0; i < json_array_size(events); i++)
		if (is_new(s, json_array_get(events, i)))
			json_array_append(new, json_array_get(events, i));
	if (!output_is_objects(s->s->output)) {
		if (json_array_size(new))
			print_lines(s, new);
	} else {
		for (size_t i = 0; i < json_array_size(new); i++) {
			if (streq(s->s->output, "yaml"))
				puts("---");
			output_object(s->s->output, json_array_get(new, i));
		}
	}
	fflush(stdout);
}

static void on_change(void *arg, const json_t *obj, const json_t *old)
{
	struct session *s = arg;

	(void)old;
	if (obj && !loop_timer_pending(&s->timer))
		loop_timer_set(s->c.loop, &s->timer, GATHER_MS);
}

static void on_interrupt(void *arg, int signo)
{
	(void)signo;
	((struct session *)arg)->interrupted = true;
}

static int print_on(struct session *s)
{
	struct ref ref = { .api_version = "v1", .plural = "events", .ns = s->ns };
	json_auto_t *probe = NULL;
	struct err e = ERR_INIT;

	if (s->s->output && streq(s->s->output, "name")) {
		err_set(&e, ERR_BAD_REQUEST, "--watch prints lines, json or yaml; -o name prints once");
		return command_fail(s->cmd, &e);
	}
	/* An informer that may not list would try for ever. */
	if (client_list_wait(s->c.client, &ref, &(struct list_options){ .limit = 1 }, &probe, &e) < 0 ||
	    loop_on_signal(s->c.loop, SIGINT, on_interrupt, s, &e) < 0)
		return command_fail(s->cmd, &e);
	map_init(&s->shown, free);
	s->timer = (struct loop_timer){ .fire = print_new, .arg = s };
	s->informer =
		informer_new(s->c.client, &ref, NULL, &(struct informer_handlers){ .change = on_change, .arg = s });
	while (!s->interrupted && !ferror(stdout))
		loop_turn(s->c.loop, false);
	informer_free(s->informer);
	loop_timer_done(&s->timer);
	map_done(&s->shown);
	return s->interrupted ? 128 + SIGINT : 1;
}

/* ---- the command ---- */

static int take_name(struct session *s, char **words, int n)
{
	auto_free char *arg = about_argument(words, n);
	struct err e = ERR_INIT;

	if (about_find(s->c.client, arg, s->ns, &s->about, &e) < 0)
		return command_fail(s->cmd, &e);
	s->found = true;
	/* A namespace's are all those in it. */
	s->one = s->about.kind != &kind_namespace;
	about_circle(&s->about, &s->circle);
	s->ns = about_events_ns(&s->about);
	return 0;
}

static int run_events(const struct command *cmd, int argc, char **argv)
{
	struct events_settings settings = { 0 };
	struct session s = { .cmd = cmd, .s = &settings };
	struct err e = ERR_INIT;
	char **rest;
	int nrest;
	int status = 0;

	if (command_parse(cmd, &settings, argc, argv, 0, 2, &rest, &nrest) < 0)
		return 2;
	if (connect_open(&settings.connect, &s.c, &e) < 0)
		return command_fail(cmd, &e);
	if (!settings.all_namespaces)
		s.ns = settings.ns ? settings.ns : client_default_namespace(s.c.client);
	if (nrest)
		status = take_name(&s, rest, nrest);
	if (status == 0)
		status = settings.watch ? print_on(&s) : print_once(&s);
	if (s.found) {
		circle_done(&s.circle);
		about_done(&s.about);
	}
	connect_close(&s.c);
	return status;
}

const struct command cmd_events = {
	.name = "events",
	.args = "[[KIND/]NAME] [-n NAMESPACE | -A] [-w] [--type Warning] [--since TIME]",
	.summary = "Show what happened, oldest first",
	.details =
		"With a NAME, only what happened to that object, its pods and whatever else it made, also if they are\n"
		"deleted. AGE is when it happened last, and how often: \"5s (x12 over 3m)\". Events are kept for an\n"
		"hour.\n\n"
		"Examples:\n"
		"  stoker events\n"
		"  stoker events job/train              # and its pods'\n"
		"  stoker events --type Warning --since 10m -A\n"
		"  stoker events -w train               # as they come\n",
	.names = true,
	.opts = events_opts,
	.run = run_events,
};
