// SPDX-License-Identifier: Apache-2.0
/* run_here.h - options of commands that make jobs of a command line, and what this machine adds to them: the current
 * directory, the environment, files
 *
 * With the image `host` a command expects its files where they are, so the home directory (or the current one, if that
 * is elsewhere) is mounted at its own place.  Whether the server lets this user do so is asked with a dry run.
 */
#ifndef STOKER_CLI_RUN_HERE_H
#define STOKER_CLI_RUN_HERE_H

#include <limits.h>

#include "cli/connect.h"
#include "cli/run_pod.h"

/* First member of such a command's settings. */
struct run_here_settings {
	struct connect_settings connect;
	struct run_options job;
	struct opt_strings env_files;
	bool no_mount, dry_run, help;
};

#define RUN_AT(field) offsetof(struct run_here_settings, field)
/* The last rows of its table. */
#define RUN_OPTS                                                                                                       \
	{ .name = "name",                                                                                              \
	  .type = OPT_STRING,                                                                                          \
	  .offset = RUN_AT(job.name),                                                                                  \
	  .arg = "NAME",                                                                                               \
	  .help = "of the job (default: made from the command)" },                                                     \
		{ .name = "image",                                                                                     \
		  .type = OPT_STRING,                                                                                  \
		  .offset = RUN_AT(job.image),                                                                         \
		  .arg = "IMAGE",                                                                                      \
		  .help = "container image (default: host, this machine's own files)" },                               \
		{ .name = "gpus",                                                                                      \
		  .letter = 'g',                                                                                       \
		  .type = OPT_INT,                                                                                     \
		  .offset = RUN_AT(job.gpus),                                                                          \
		  .arg = "N",                                                                                          \
		  .max = 4096,                                                                                         \
		  .help = "GPUs for each worker (default: 0)" },                                                       \
		{ .name = "cpus",                                                                                      \
		  .letter = 'c',                                                                                       \
		  .type = OPT_STRING,                                                                                  \
		  .offset = RUN_AT(job.cpus),                                                                          \
		  .arg = "N",                                                                                          \
		  .help = "processors for each worker, such as 4 or 0.5" },                                            \
		{ .name = "mem",                                                                                       \
		  .letter = 'm',                                                                                       \
		  .type = OPT_STRING,                                                                                  \
		  .offset = RUN_AT(job.mem),                                                                           \
		  .arg = "SIZE",                                                                                       \
		  .help = "memory for each worker, such as 512M or 8G" },                                              \
		{ .name = "env",                                                                                       \
		  .letter = 'e',                                                                                       \
		  .type = OPT_STRINGS,                                                                                 \
		  .offset = RUN_AT(job.env),                                                                           \
		  .arg = "K=V",                                                                                        \
		  .help = "set a variable, or copy yours with K alone; may be repeated" },                             \
		{ .name = "env-file",                                                                                  \
		  .type = OPT_STRINGS,                                                                                 \
		  .offset = RUN_AT(env_files),                                                                         \
		  .arg = "FILE",                                                                                       \
		  .help = "variables from a file, one a line" },                                                       \
		{ .name = "volume",                                                                                    \
		  .letter = 'v',                                                                                       \
		  .type = OPT_STRINGS,                                                                                 \
		  .offset = RUN_AT(job.volumes),                                                                       \
		  .arg = "HOST:PATH",                                                                                  \
		  .help = "mount HOST:PATH[:ro] or claim:NAME:PATH[:ro]; may be repeated" },                           \
		{ .name = "workdir",                                                                                   \
		  .type = OPT_STRING,                                                                                  \
		  .offset = RUN_AT(job.workdir),                                                                       \
		  .arg = "DIR",                                                                                        \
		  .help = "where to run (default with image host: here)" },                                            \
		{ .name = "no-mount",                                                                                  \
		  .type = OPT_FLAG,                                                                                    \
		  .offset = RUN_AT(no_mount),                                                                          \
		  .help = "do not mount the home or the current directory" },                                          \
		{ .name = "queue",                                                                                     \
		  .letter = 'Q',                                                                                       \
		  .type = OPT_STRING,                                                                                  \
		  .offset = RUN_AT(job.queue),                                                                         \
		  .arg = "QUEUE",                                                                                      \
		  .help = "where to wait for a place" },                                                               \
		{ .name = "priority-class",                                                                            \
		  .type = OPT_STRING,                                                                                  \
		  .offset = RUN_AT(job.priority_class),                                                                \
		  .arg = "NAME",                                                                                       \
		  .help = "PriorityClass of its pods" },                                                               \
		{ .name = "begin",                                                                                     \
		  .type = OPT_STRING,                                                                                  \
		  .offset = RUN_AT(job.begin),                                                                         \
		  .arg = "TIME",                                                                                       \
		  .help = "not before then: 14:00, \"tomorrow 9:00\", \"2026-11-20 09:00\", +2h" },                    \
		{ .name = "after",                                                                                     \
		  .type = OPT_STRINGS,                                                                                 \
		  .offset = RUN_AT(job.after),                                                                         \
		  .arg = "ok|notok|any:KIND/NAME",                                                                     \
		  .help = "not before that has succeeded, failed or ended; may be repeated" },                         \
		{ .name = "time",                                                                                      \
		  .letter = 't',                                                                                       \
		  .type = OPT_STRING,                                                                                  \
		  .offset = RUN_AT(job.time),                                                                          \
		  .arg = "LIMIT",                                                                                      \
		  .help = "end it after that long: 90 (seconds), 30m, 1:30:00" },                                      \
		{ .name = "keep",                                                                                      \
		  .type = OPT_STRING,                                                                                  \
		  .offset = RUN_AT(job.keep),                                                                          \
		  .arg = "TIME",                                                                                       \
		  .help = "how long its record stays after its end (default: 7d)" },                                   \
		{ .name = "node",                                                                                      \
		  .type = OPT_STRING,                                                                                  \
		  .offset = RUN_AT(job.node),                                                                          \
		  .arg = "NAME",                                                                                       \
		  .help = "run it on that node" },                                                                     \
		{ .name = "label",                                                                                     \
		  .letter = 'l',                                                                                       \
		  .type = OPT_STRINGS,                                                                                 \
		  .offset = RUN_AT(job.labels),                                                                        \
		  .arg = "K=V",                                                                                        \
		  .help = "label it; may be repeated" },                                                               \
		{ .name = "dry-run",                                                                                   \
		  .type = OPT_FLAG,                                                                                    \
		  .offset = RUN_AT(dry_run),                                                                           \
		  .help = "print what would be submitted, and submit nothing" },                                       \
		NAMESPACE_OPT(RUN_AT(job.ns), "where to run it"),                                                      \
		{ .name = "help", .letter = 'h', .type = OPT_FLAG, .offset = RUN_AT(help), .help = "show this" },      \
		CONNECT_OPTS

struct run_here {
	struct run_here_settings *s;
	struct client *client;
	char cwd[PATH_MAX];
	char suffix[RUN_SUFFIX + 1];
	char *mount; /* owned */
	struct run_env_file *env_files;
	struct sbuf *env_texts;
};

/* Fills in what the options of the job leave open; these then borrow from `h`.  ERR_BAD_REQUEST is the command line's.
 */
int run_here_init(struct run_here *h, struct run_here_settings *s, struct client *c, struct err *e);
/* With the settings' own lists. */
void run_here_done(struct run_here *h);
/* A pod of that spec would be refused because of the mounted directory: if the command can do without, says so and
 * takes it out of the options.  *ret_changed: the job is to be made again. */
int run_here_settle(struct run_here *h, const char *command, const json_t *pod_spec, bool *ret_changed, struct err *e);
/* Adds what to do about a job that was not taken; returns -1. */
int run_here_advice(struct err *e);

#endif
