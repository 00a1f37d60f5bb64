// SPDX-License-Identifier: Apache-2.0
/* commands.c - the table of commands, help, and how their errors are shown
 *
 * Two-word commands ("token create") are rows like any other; `stoker token` alone lists the rows that begin with it.
 */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/mem.h"
#include "cli/command.h"

/* clang-format off */
const struct command *const commands[] = {
	&cmd_serve,
	&cmd_down,
	&cmd_operate,
	&cmd_gpus,
	&cmd_run,
	&cmd_train,
	&cmd_follow,
	&cmd_ps,
	&cmd_describe,
	&cmd_why,
	&cmd_queue,
	&cmd_events,
	&cmd_top,
	&cmd_usage,
	&cmd_logs,
	&cmd_plot,
	&cmd_wait,
	&cmd_kill,
	&cmd_hold,
	&cmd_release,
	&cmd_drain,
	&cmd_reserve,
	&cmd_reserve_list,
	&cmd_reserve_delete,
	&cmd_simulate,
	&cmd_token_create,
	&cmd_token_list,
	&cmd_token_revoke,
	&cmd_image_list,
	&cmd_image_pull,
	&cmd_image_push,
	&cmd_image_tag,
	&cmd_image_rm,
	&cmd_image_inspect,
	&cmd_image_prune,
	&cmd_image_import,
	&cmd_image_export,
	&cmd_image_build,
	&cmd_image_commit,
	&cmd_completion,
	&cmd_version,
	&cmd_help,
	NULL,
};
/* clang-format on */

const struct command *command_find(const char *name)
{
	for (size_t i = 0; commands[i]; i++)
		if (streq(commands[i]->name, name))
			return commands[i];
	return NULL;
}

void command_help(const struct command *cmd)
{
	auto_sbuf struct sbuf out = SBUF(64 * 1024);

	sbuf_addf(&out, "%s\n\nUsage: stoker %s%s%s\n", cmd->summary, cmd->name, *cmd->args ? " " : "", cmd->args);
	if (cmd->opts && cmd->opts[0].name) {
		sbuf_adds(&out, "\nOptions:\n");
		opt_help(cmd->opts, &out);
	}
	if (cmd->details)
		sbuf_addf(&out, "\n%s", cmd->details);
	fputs(out.p, stdout);
}

int command_fail(const struct command *cmd, const struct err *e)
{
	fflush(stdout);
	fprintf(stderr, "stoker %s: %s\n", cmd->name, e->text[0] ? e->text : err_reason(e->kind));
	return 1;
}

int command_misused(const struct command *cmd, const struct err *e)
{
	command_fail(cmd, e);
	fprintf(stderr, "See `stoker %s --help`.\n", cmd->name);
	return 2;
}

int command_parse(const struct command *cmd, void *settings, int argc, char **argv, int min_args, int max_args,
		  char ***ret_rest, int *ret_nrest)
{
	struct err e = ERR_INIT;

	for (int i = 1; i < argc && !streq(argv[i], "--"); i++)
		if (streq(argv[i], "--help") || streq(argv[i], "-h")) {
			command_help(cmd);
			exit(0);
		}
	if (opt_parse(cmd->opts, settings, argc, argv, false, ret_rest, ret_nrest, &e) < 0) {
		command_misused(cmd, &e);
		return -1;
	}
	if (*ret_nrest < min_args || *ret_nrest > max_args) {
		fprintf(stderr, "usage: stoker %s %s\nSee `stoker %s --help`.\n", cmd->name, cmd->args, cmd->name);
		return -1;
	}
	return 0;
}

static void list_commands(const char *prefix)
{
	for (size_t i = 0; commands[i]; i++)
		if (str_starts(commands[i]->name, prefix))
			printf("  %-16s %s\n", commands[i]->name, commands[i]->summary);
}

static void overview(void)
{
	puts("Stoker runs a lab's machine-learning work from one small program.\n\nCommands:");
	list_commands("");
	puts("\n`stoker COMMAND --help` explains one. The manual is `man stoker`.");
}

static int run_help(const struct command *cmd, int argc, char **argv)
{
	const struct command *about;
	auto_free char *name = NULL;

	if (argc < 2) {
		overview();
		return 0;
	}
	if (streq(argv[1], "--help") || streq(argv[1], "-h")) {
		command_help(cmd);
		return 0;
	}
	name = argc > 2 ? xasprintf("%s %s", argv[1], argv[2]) : xstrdup(argv[1]);
	about = command_find(name);
	if (!about)
		about = command_find(argv[1]);
	if (!about) {
		fprintf(stderr, "stoker help: there is no command \"%s\"\n", name);
		return 1;
	}
	command_help(about);
	return 0;
}

const struct command cmd_help = {
	.name = "help",
	.args = "[COMMAND]",
	.summary = "Show the commands, or explain one",
	.opts = (const struct opt[]){ OPT_END },
	.run = run_help,
};

static int run_version(const struct command *cmd, int argc, char **argv)
{
	char **rest;
	int nrest;

	if (command_parse(cmd, NULL, argc, argv, 0, 0, &rest, &nrest) < 0)
		return 2;
	puts("stoker " STOKER_VERSION " (Kubernetes API v1.32)");
	return 0;
}

const struct command cmd_version = {
	.name = "version",
	.args = "",
	.summary = "Print the version",
	.opts = (const struct opt[]){ OPT_END },
	.run = run_version,
};

/* The longest row that argv's first words spell, and how many words that took. */
static const struct command *match(int argc, char **argv, int *ret_words)
{
	const struct command *cmd;

	if (argc > 2) {
		auto_free char *two = xasprintf("%s %s", argv[1], argv[2]);

		*ret_words = 2;
		cmd = command_find(two);
		if (cmd)
			return cmd;
	}
	*ret_words = 1;
	return command_find(argv[1]);
}

/* `stoker token` alone: the rows that begin with it. */
static bool is_group(const char *word)
{
	auto_free char *prefix = xasprintf("%s ", word);

	for (size_t i = 0; commands[i]; i++)
		if (str_starts(commands[i]->name, prefix))
			return true;
	return false;
}

static int no_such_command(const char *word)
{
	const char *names[64];
	size_t n = 0;
	const char *near;

	for (size_t i = 0; commands[i] && n < ARRAY_SIZE(names); i++)
		names[n++] = commands[i]->name;
	near = opt_nearest(word, names, n);
	fprintf(stderr, "stoker: there is no command \"%s\"", word);
	if (near)
		fprintf(stderr, "; did you mean \"%s\"?", near);
	fprintf(stderr, "\n`stoker help` lists them.\n");
	return 2;
}

int command_main(int argc, char **argv)
{
	const struct command *cmd;
	int words;

	if (argc < 2 || streq(argv[1], "--help") || streq(argv[1], "-h")) {
		overview();
		return argc < 2 ? 2 : 0;
	}
	if (streq(argv[1], "--version"))
		return run_version(&cmd_version, 1, (char *[]){ (char *)"version", NULL });
	cmd = match(argc, argv, &words);
	if (cmd)
		return cmd->run(cmd, argc - words, argv + words);
	if (is_group(argv[1])) {
		auto_free char *prefix = xasprintf("%s ", argv[1]);

		printf("Commands:\n");
		list_commands(prefix);
		return argc > 2 && !streq(argv[2], "--help") ? 2 : 0;
	}
	return no_such_command(argv[1]);
}
