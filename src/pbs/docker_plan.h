// SPDX-License-Identifier: Apache-2.0
/* docker_plan.h - startdocker: from what was asked for to a pod; and from a pod's end to an exit status.  Pure */
#ifndef STOKER_PBS_DOCKER_PLAN_H
#define STOKER_PBS_DOCKER_PLAN_H

#include <jansson.h>

#include "base/err.h"
#include "base/str.h"
#include "pbs/docker_options.h"

#define DOCKER_CONTAINER "main"

/* docker's own exit statuses. */
enum { DOCKER_FAILED = 125, DOCKER_CANNOT_RUN = 126, DOCKER_NOT_FOUND = 127, DOCKER_NO_FORMAT = 1 };

struct docker_ask {
	struct docker_options options;
	const char *data, *proc;      /* -D, -P */
	const char *script, *command; /* -s or -c */
	const char *image;
	/* who, and where */
	const char *user, *home;
	const json_t *settings; /* PBSServer's spec */
	const char *job_pod;    /* the job's pod that it is a part of; NULL: outside of jobs */
	int cards;              /* outside of jobs: how many */
	struct str env_text;    /* what the files of --env-file have */
	const char *(*variable)(const char *name);
	/* 0, or the errno with which the caller cannot have it. */
	int (*may_read)(const char *path);
};

/* A pod, owned; ERR_INVALID and words that follow "startdocker: ". */
int docker_plan(const struct docker_ask *ask, json_t **ret, struct err *e);

/* How a pod stands. */
struct docker_end {
	bool running; /* it can be attached to */
	bool over;
	int status;        /* if it is over */
	struct sbuf words; /* what is to be said then, or why it waits; "" for nothing */
};
void docker_look(const json_t *pod, struct docker_end *ret);
/* A program that was found, but whose interpreter was not: runtimes notice too late to say so otherwise than as the
 * container's own, whole output. */
void docker_look_at_output(const char *program, const char *output, struct docker_end *ret);

#endif
