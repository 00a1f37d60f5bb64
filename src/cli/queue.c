// SPDX-License-Identifier: Apache-2.0
/* queue.c - `stoker queue`: who runs, who waits, in which order, and until when
 *
 * The scheduler's line (api/rest_why.c) is asked for as a whole and shown as it is; with --watch again and again, for
 * an order is nothing that could be watched.
 */
#include <stdio.h>

#include "base/clock.h"
#include "base/jsonx.h"
#include "base/limits.h"
#include "base/mem.h"
#include "cli/again.h"
#include "cli/connect.h"
#include "cli/queue_rows.h"

struct queue_settings {
	struct connect_settings connect;
	const char *ns, *output;
	bool all_namespaces, watch;
	int64_t limit;
};

#define AT(field) offsetof(struct queue_settings, field)
static const struct opt queue_opts[] = {
	NAMESPACE_OPT(AT(ns), "whose work to show"),
	{ .name = "all-namespaces",
	  .letter = 'A',
	  .type = OPT_FLAG,
	  .offset = AT(all_namespaces),
	  .help = "everyone's" },
	{ .name = "limit",
	  .type = OPT_INT,
	  .offset = AT(limit),
	  .arg = "N",
	  .min = 1,
	  .max = 100000,
	  .help = "of the line, no more than that many (default: 1000)" },
	{ .name = "watch", .letter = 'w', .type = OPT_FLAG, .offset = AT(watch), .help = "go on, every two seconds" },
	{ .name = "output",
	  .letter = 'o',
	  .type = OPT_CHOICE,
	  .offset = AT(output),
	  .arg = "FORM",
	  .choices = "wide|json|yaml",
	  .help = "how to print: wide, json or yaml" },
	CONNECT_OPTS,
	OPT_END,
};

struct session {
	const struct command *cmd;
	const struct queue_settings *s;
	struct connection c;
	const char *ns, *queue; /* NULL: all */
	bool drawn;
};

static int ask(struct session *s, json_t **ret, struct err *e)
{
	auto_sbuf struct sbuf path = SBUF(LIMIT_URL);

	sbuf_addf(&path, "/apis/stoker.dev/v1/line?limit=%lld", (long long)s->s->limit);
	if (s->queue) {
		sbuf_adds(&path, "&queue=");
		client_escape(&path, s->queue);
	}
	if (client_raw_wait(s->c.client, path.p, ret, e) == 0)
		return 0;
	return e->kind != ERR_NOT_FOUND ? -1
					: err_set(e, ERR_NOT_FOUND,
						  "%s keeps no line of its own: `stoker ps` shows what waits there and "
						  "why, `stoker why NAME` more of it",
						  client_server(s->c.client));
}

/* An empty queue and one that is not there are two things. */
static int check_queue(struct session *s, struct err *e)
{
	struct ref ref = { .api_version = "stoker.dev/v1", .plural = "queues", .name = s->queue };
	json_auto_t *queue = NULL;

	if (!s->queue || streq(s->queue, "batch") || client_get_wait(s->c.client, &ref, &queue, e) == 0)
		return 0;
	if (e->kind == ERR_NOT_FOUND)
		return err_set(e, ERR_NOT_FOUND, "there is no queue \"%s\"; `kubectl get queues` shows which there are",
			       s->queue);
	err_clear(e);
	return 0;
}

static void say_rest(const struct session *s, size_t rows, size_t others)
{
	if (!rows)
		fprintf(stderr, "Nothing runs or waits%s%s%s%s.%s\n", s->queue ? " in queue " : "",
			s->queue ? s->queue : "", s->ns ? " in namespace " : "", s->ns ? s->ns : "",
			others ? "" : " `stoker run -- COMMAND` starts something.");
	if (others)
		fprintf(stderr, "%zu more of other namespaces: -A shows them.\n", others);
}

static int print(struct session *s)
{
	struct err e = ERR_INIT;
	json_auto_t *answer = NULL;
	json_auto_t *rows = NULL;
	auto_table struct table t = { 0 };
	bool screen = s->s->watch && output_width(1) > 0;
	size_t others = 0;

	if (ask(s, &answer, &e) < 0)
		return command_fail(s->cmd, &e);
	rows = queue_rows(json_object_get(answer, "items"), s->ns, &others);
	if (screen)
		fputs("\033[H\033[2J", stdout);
	else if (s->drawn)
		putchar('\n');
	if (output_is_objects(s->s->output)) {
		json_object_set(answer, "items", rows);
		output_object(s->s->output, answer);
		return 0;
	}
	queue_table(rows, !s->ns, clock_wall(), &t);
	if (json_array_size(rows))
		table_print(&t, s->s->output != NULL);
	fflush(stdout);
	say_rest(s, json_array_size(rows), others);
	s->drawn = true;
	return 0;
}

static int print_again(void *arg)
{
	return print(arg);
}

static int print_on(struct session *s)
{
	struct err e = ERR_INIT;
	int status = again_show(s->c.loop, print_again, s, &e);

	return status < 0 ? command_fail(s->cmd, &e) : status;
}

static int run_queue(const struct command *cmd, int argc, char **argv)
{
	struct queue_settings settings = { .limit = 1000 };
	struct session s = { .cmd = cmd, .s = &settings };
	struct err e = ERR_INIT;
	char **rest;
	int nrest;
	int status;

	if (command_parse(cmd, &settings, argc, argv, 0, 1, &rest, &nrest) < 0)
		return 2;
	if (connect_open(&settings.connect, &s.c, &e) < 0)
		return command_fail(cmd, &e);
	s.queue = nrest ? rest[0] : NULL;
	if (!settings.all_namespaces)
		s.ns = settings.ns ? settings.ns : client_default_namespace(s.c.client);
	if (check_queue(&s, &e) < 0)
		status = command_fail(cmd, &e);
	else
		status = settings.watch ? print_on(&s) : print(&s);
	connect_close(&s.c);
	return status;
}

const struct command cmd_queue = {
	.name = "queue",
	.args = "[QUEUE] [-n NAMESPACE | -A] [-w] [-o wide|json|yaml]",
	.summary = "Show who runs and who waits, in order",
	.details =
		"What runs comes first, with the time by which it ends at the latest; then what waits, in the order "
		"in\n"
		"which it is looked at, with its place in its queue and when it is expected to start (~); then what "
		"is\n"
		"held. Expected starts come from running the plan forward: everything is taken to last as long as "
		"its\n"
		"walltime allows. Work in namespaces that you may not see has no name.\n\n"
		"Examples:\n"
		"  stoker queue\n"
		"  stoker queue batch -A -o wide\n"
		"  stoker queue -A -w\n"
		"  stoker queue -A -o json | jq -r '.items[] | select(.state==\"waiting\") | .user' | sort | uniq -c\n",
	.opts = queue_opts,
	.run = run_queue,
};
