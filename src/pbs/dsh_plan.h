// SPDX-License-Identifier: Apache-2.0
/* dsh_plan.h - pbsdsh: which programs are run where; pure */
#ifndef STOKER_PBS_DSH_PLAN_H
#define STOKER_PBS_DSH_PLAN_H

#include <jansson.h>

#include "base/err.h"
#include "base/str.h"

struct dsh_ask {
	int64_t copies;   /* -c; 0: as many as there are slots */
	int64_t slot;     /* -n; -1: all */
	const char *host; /* -h */
	bool each_host;   /* -u */
	const char *env;  /* -e: NAME or NAME=value, separated by commas */
	bool all_env;     /* -E */
	char *const *environ;
	char *const *program; /* NULL-terminated */
};

struct dsh_task {
	const char *pod; /* borrowed from the pods */
	int rank, slot;
};

/* Tasks in the order of their slots, owned, into *ret.  `pods` are job_pods(); `job` says how many slots each has. */
int dsh_plan(const struct dsh_ask *ask, const json_t *job, const json_t *pods, struct dsh_task **ret, size_t *ret_n,
	     struct err *e);
/* The command of a task for exec: NULL-terminated texts, owned with the array. */
char **dsh_command(const struct dsh_ask *ask, const struct dsh_task *t);
void dsh_command_free(char **command);

#endif
