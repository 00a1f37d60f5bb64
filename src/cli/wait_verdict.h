// SPDX-License-Identifier: Apache-2.0
/* wait_verdict.h - has what someone waits for come, and can it still?  Pure */
#ifndef STOKER_CLI_WAIT_VERDICT_H
#define STOKER_CLI_WAIT_VERDICT_H

#include "cli/work.h"

enum wait_goal {
	WAIT_DONE,
	WAIT_SUCCEEDED,
	WAIT_FAILED,
	WAIT_RUNNING,
	WAIT_READY,
	WAIT_DELETED,
	WAIT_CONDITION,
	WAIT_GOAL__COUNT
};

struct wait_for {
	enum wait_goal goal;
	char *type, *value; /* of a condition; owned */
};

enum wait_verdict { WAIT_ON, WAIT_CAME, WAIT_NEVER };

/* "done", "condition=Ready", "condition=Ready=False"; the error lists the choices. */
int wait_for_parse(const char *text, struct wait_for *ret, struct err *e);
void wait_for_done(struct wait_for *w);
/* What is waited for if nobody says: the end of what ends, else that it is ready. */
enum wait_goal wait_for_default(const struct kind *k);
/* A goal that objects of the kind cannot reach is an error. */
int wait_for_check(const struct wait_for *w, const struct kind *k, struct err *e);
/* `obj` NULL: it was deleted.  The sentence, without its subject, says what is so now. */
enum wait_verdict wait_judge(const struct wait_for *w, const struct kind *k, const json_t *obj, struct sbuf *sentence);

#endif
