// SPDX-License-Identifier: Apache-2.0
/* follow.c - `stoker follow`: how a job goes, until its end; follow_watch.c does it */
#include "cli/find.h"
#include "cli/follow_watch.h"
#include "cli/work.h"

struct follow_settings {
	struct connect_settings connect;
	const char *ns, *output;
	bool logs;
};

#define AT(field) offsetof(struct follow_settings, field)
static const struct opt follow_opts[] = {
	{ .name = "logs", .type = OPT_FLAG, .offset = AT(logs), .help = "show all output too, marked by its replica" },
	{ .name = "output",
	  .letter = 'o',
	  .type = OPT_CHOICE,
	  .offset = AT(output),
	  .arg = "FORM",
	  .choices = "json",
	  .help = "json: an object a line for each change" },
	NAMESPACE_OPT(AT(ns), "where to look"),
	CONNECT_OPTS,
	OPT_END,
};

static int follow_one(const struct command *cmd, const struct follow_settings *s, struct connection *c, const char *arg)
{
	struct follow_options o = { .logs = s->logs, .json = s->output != NULL };
	struct err e = ERR_INIT;
	struct found job;
	int status;

	if (find_one(c->client, arg, s->ns ? s->ns : client_default_namespace(c->client), false, &job, &e) < 0)
		return command_fail(cmd, &e);
	if (work_ends(job.kind)) {
		status = follow_watch(cmd, c, &job, &o);
	} else {
		err_set(&e, ERR_BAD_REQUEST, "a %s does not end by itself; `stoker logs -f %s` shows its output",
			job.kind->singular, arg);
		status = command_fail(cmd, &e);
	}
	found_done(&job);
	return status;
}

static int run_follow(const struct command *cmd, int argc, char **argv)
{
	struct follow_settings settings = { 0 };
	struct connection c;
	struct err e = ERR_INIT;
	char **rest;
	int nrest;
	int status;

	if (command_parse(cmd, &settings, argc, argv, 1, 1, &rest, &nrest) < 0)
		return 2;
	if (connect_open(&settings.connect, &c, &e) < 0)
		return command_fail(cmd, &e);
	status = follow_one(cmd, &settings, &c, rest[0]);
	connect_close(&c);
	return status;
}

const struct command cmd_follow = {
	.name = "follow",
	.args = "[KIND/]NAME [--logs] [-o json]",
	.summary = "Watch a training job: its replicas, progress and loss",
	.details = "On a terminal the picture is redrawn in its place; elsewhere each change is a line. Ctrl-C leaves "
		   "the job\n"
		   "running. Numbers are those that the programs print, such as \"epoch 3/10 loss 0.36\"; `stoker "
		   "plot` draws them.\n\n"
		   "Exit status: 0 if the job succeeded, else that of the replica that failed first; 124 at the time "
		   "limit, 143\n"
		   "if the job was deleted, 130 after Ctrl-C, 1 if nobody knows.\n\n"
		   "Examples:\n"
		   "  stoker follow mnist\n"
		   "  stoker follow tfjob/mnist --logs\n"
		   "  stoker follow mnist -o json | jq 'select(.type == \"measurement\") | .values.loss'\n",
	.names = true,
	.opts = follow_opts,
	.run = run_follow,
};
