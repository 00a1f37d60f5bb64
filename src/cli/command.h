// SPDX-License-Identifier: Apache-2.0
/* command.h - one command, one file, one record
 *
 * The rows of cli/commands.c produce the help, the bash completion and the man page check; a command without a row does
 * not exist, a row without a man entry fails the build.
 */
#ifndef STOKER_CLI_COMMAND_H
#define STOKER_CLI_COMMAND_H

#include "base/opt.h"

struct command {
	const char *name;    /* "serve", "token create" */
	const char *args;    /* "[--data DIR]" or positional arguments in the usage line */
	const char *summary; /* one line */
	const char *details; /* the long help: paragraphs, examples; may be NULL */
	bool names;          /* arguments are [KIND/]NAME of workloads: completed by asking the server */
	const struct opt *opts;
	/* Exit status.  argv[0] is the command's own last word. */
	int (*run)(const struct command *cmd, int argc, char **argv);
};

const struct command *command_find(const char *name);
/* All of them, NULL-terminated. */
extern const struct command *const commands[];
/* One record a file. */
extern const struct command cmd_serve, cmd_down, cmd_operate, cmd_token_create, cmd_token_list, cmd_token_revoke,
	cmd_image_list, cmd_image_pull, cmd_image_push, cmd_image_tag, cmd_image_rm, cmd_image_inspect, cmd_image_prune,
	cmd_image_import, cmd_image_export, cmd_image_build, cmd_image_commit, cmd_gpus, cmd_logs, cmd_plot, cmd_run,
	cmd_train, cmd_follow, cmd_ps, cmd_wait, cmd_kill, cmd_describe, cmd_events, cmd_top, cmd_completion,
	cmd_version, cmd_help, cmd_why, cmd_queue, cmd_simulate, cmd_usage, cmd_hold, cmd_release, cmd_drain,
	cmd_reserve, cmd_reserve_list, cmd_reserve_delete;

/* `stoker CMD --help`. */
void command_help(const struct command *cmd);
/* Shows e on stderr as "stoker CMD: text" and returns 1; the one place where commands show errors. */
int command_fail(const struct command *cmd, const struct err *e);
/* The same for wrong usage, with where to read about it; returns 2. */
int command_misused(const struct command *cmd, const struct err *e);
/* Options and positional arguments of a command; --help prints and exits, a mistake is shown and gives -1 (exit status
 * 2). */
int command_parse(const struct command *cmd, void *settings, int argc, char **argv, int min_args, int max_args,
		  char ***ret_rest, int *ret_nrest);
/* The whole program, by argv[1]. */
int command_main(int argc, char **argv);

#endif
