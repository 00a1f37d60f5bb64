// SPDX-License-Identifier: Apache-2.0
/* run_pod.h - from a command line to a pod, for jobs of every sort.  Pure: what the caller's machine has to say is
 * handed in */
#ifndef STOKER_CLI_RUN_POD_H
#define STOKER_CLI_RUN_POD_H

#include <jansson.h>

#include "base/opt.h"
#include "base/str.h"

#define RUN_IMAGE  "host"
#define RUN_KEEP   "7d" /* as long as logs are kept by default */
#define RUN_SUFFIX 5

/* A text of --env-file and where it came from. */
struct run_env_file {
	const char *path;
	struct str text;
};

struct run_options {
	const char *name, *ns, *image, *cpus, *mem, *workdir, *queue, *priority_class, *node, *time, *keep, *begin;
	int64_t gpus, retries;
	int64_t workers; /* 0: a single pod without a number */
	bool remove;     /* --rm of a job that nobody watches: gone as soon as it has ended */
	struct opt_strings env, volumes, labels, after;
	const struct run_env_file *env_files;
	size_t nenv_files;
	char **command;
	int ncommand;
	int64_t now;                              /* seconds since 1970, for --begin */
	const char *suffix;                       /* that makes a made name unique */
	const char *cwd;                          /* relative host paths begin here */
	const char *mount;                        /* directory to mount at its own place, or NULL */
	const char *(*variable)(const char *key); /* the caller's environment */
	bool (*is_missing)(const char *path);     /* on the host; NULL if the host is elsewhere */
};

/* All errors name the option. */

/* --name, or "python3-train-SUFFIX" of "python3 ./train.py --x".  With `hosts` it must do as part of host names. */
int run_pod_name(const struct run_options *o, bool hosts, struct sbuf *out, struct err *e);
void run_pod_made_name(char *const *command, int n, const char *suffix, struct sbuf *out);
/* What an interpreter is told to run, the first word that is no option or the module after -m; NULL if the command is
 * no interpreter or has no such word.  Borrowed. */
const char *run_pod_script(char *const *command, int n);
/* Bytes as people write them: 512M, 8g, 8Gi, 1.5GB are all powers of 1024, as for docker, srun and qsub. */
int run_pod_memory(const char *text, struct sbuf *out, struct err *e);
/* Does one of the volumes already stand at the path, or above it? */
bool run_pod_covers(const struct opt_strings *volumes, const char *path);
/* Adds those of --label and --queue. */
int run_pod_labels(const struct run_options *o, json_t *labels, struct err *e);
/* Sets activeDeadlineSeconds and ttlSecondsAfterFinished. */
int run_pod_times(const struct run_options *o, json_t *spec, struct err *e);
/* When it may start, of --begin and --after: annotations of the workload (kinds/work_rules.h). */
int run_pod_start(const struct run_options *o, json_t *annotations, struct err *e);
json_t *run_pod_meta(const struct run_options *o, const char *name, const json_t *labels);
/* The spec of a pod with one container of that name; `env` (or NULL) has the variables that --env may change.  NULL if
 * an option is wrong. */
json_t *run_pod_spec(const struct run_options *o, const char *name, const json_t *env, struct err *e);
/* Of two with a name the later one wins, and stands where the first did.  Takes the variable. */
void run_pod_variable(json_t *env, const char *key, json_t *variable);

#endif
