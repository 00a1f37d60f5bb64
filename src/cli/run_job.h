// SPDX-License-Identifier: Apache-2.0
/* run_job.h - from a command line to a Job.  Pure: what the caller's machine has to say is handed in */
#ifndef STOKER_CLI_RUN_JOB_H
#define STOKER_CLI_RUN_JOB_H

#include <jansson.h>

#include "base/opt.h"
#include "base/str.h"

#define RUN_CONTAINER   "main"
#define RUN_IMAGE       "host"
#define RUN_KEEP        "7d"  /* as long as logs are kept by default */
#define RUN_MASTER_PORT 29500 /* what PyTorch uses if nobody says otherwise */
#define RUN_SUFFIX      5

/* A text of --env-file and where it came from. */
struct run_env_file {
	const char *path;
	struct str text;
};

struct run_options {
	const char *name, *ns, *image, *cpus, *mem, *workdir, *queue, *priority_class, *node, *time, *keep;
	int64_t gpus, retries;
	int64_t workers; /* 0: a single pod without a number */
	bool remove;     /* --rm of a job that nobody watches: gone as soon as it has ended */
	struct opt_strings env, volumes, labels;
	const struct run_env_file *env_files;
	size_t nenv_files;
	char **command;
	int ncommand;
	const char *suffix;                       /* that makes a made name unique */
	const char *cwd;                          /* relative host paths begin here */
	const char *mount;                        /* directory to mount at its own place, or NULL */
	const char *(*variable)(const char *key); /* the caller's environment */
	bool (*is_missing)(const char *path);     /* on the host; NULL if the host is elsewhere */
};

/* *ret_service is NULL without workers.  Errors name the option. */
int run_job_make(const struct run_options *o, json_t **ret_job, json_t **ret_service, struct err *e);
/* "python3 ./train.py --x" is "python3-train-SUFFIX". */
void run_job_name(char *const *command, int n, const char *suffix, struct sbuf *out);
/* Bytes as people write them: 512M, 8g, 8Gi, 1.5GB are all powers of 1024, as for docker, srun and qsub. */
int run_job_memory(const char *text, struct sbuf *out, struct err *e);
/* Does one of the volumes already stand at the path, or above it? */
bool run_job_covers(const struct opt_strings *volumes, const char *path);

#endif
