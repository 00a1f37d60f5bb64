// SPDX-License-Identifier: Apache-2.0
/* train_job.h - from a command line to a training job.  Pure: what the caller's machine has to say is handed in */
#ifndef STOKER_CLI_TRAIN_JOB_H
#define STOKER_CLI_TRAIN_JOB_H

#include "cli/run_pod.h"
#include "kinds/kind.h"

#define TRAIN_FRAMEWORKS "tensorflow|pytorch|paddle|mpi"
#define TRAIN_RESTARTS   "never|onfailure|exitcode|gang"
#define TRAIN_BACKOFF    6 /* restarts in all where they are wanted and nobody says how many */

struct train_options {
	const char *framework;               /* NULL: guessed */
	const char *restart;                 /* one of TRAIN_RESTARTS, or NULL */
	const char *hang_after;              /* a duration */
	const char *nproc, *elastic;         /* "auto", "4"; "1:4" */
	int64_t workers, ps, slots, backoff; /* -1: not said */
	bool chief, no_chief, evaluator;
	/* The text of a script, or false.  NULL: files are elsewhere. */
	bool (*read)(const char *path, struct sbuf *out);
};

/* With nothing said. */
#define TRAIN_OPTIONS ((struct train_options){ .workers = -1, .ps = -1, .slots = -1, .backoff = -1 })

/* Errors name the option. */
int train_job_make(const struct run_options *run, const struct train_options *o, const struct kind **ret_kind,
		   json_t **ret_job, struct err *e);
/* The one object of a manifest (the documents of its text), if that is a training job: its kind and a new reference. */
int train_job_of_manifest(const json_t *docs, const char *ns, const struct kind **ret_kind, json_t **ret_job,
			  struct err *e);

#endif
