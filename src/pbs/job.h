// SPDX-License-Identifier: Apache-2.0
/* job.h - from what was asked for to the PBSJob that is sent; pure */
#ifndef STOKER_PBS_JOB_H
#define STOKER_PBS_JOB_H

#include <jansson.h>

#include "pbs/options.h"
#include "pbs/paths.h"

/* Who submits, and from where. */
struct submitter {
	struct place place;
	char *const *environment; /* "NAME=value", NULL at the end */
	int64_t now;
	const char *arguments; /* qsub's own, in one line */
	bool rerunnable;       /* unless -r says otherwise */
};

/* What can only be seen when everything was said: options that do not go together. */
int job_check(struct ask *a, struct err *e);
/* `script` is the text to keep; empty with a command or an interactive job.  Only after job_check(). */
json_t *job_make(const struct ask *a, const struct submitter *who, struct str script);
/* What qalter changes, as a merge patch of a PBSJob's spec. */
json_t *job_changes(const struct ask *a, const struct submitter *who);
/* Was -I or -W interactive=true said? */
bool job_is_interactive(const struct ask *a);
/* -I -x: what is run at the terminal instead of a shell. */
bool job_script_is_command(const struct ask *a);

#endif
