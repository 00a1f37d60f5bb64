// SPDX-License-Identifier: Apache-2.0
/* kubelet_run.h - one command in a container, and what came of it: for whoever has no client to pass its output to */
#ifndef STOKER_LOOP_KUBELET_RUN_H
#define STOKER_LOOP_KUBELET_RUN_H

#include "loop/kubelet.h"

struct kubelet_run;

/* Its exit status and the beginning of what it printed, or the error.  The run is gone after it. */
typedef void kubelet_run_done(void *arg, int code, struct str text, const struct err *e);

/* `command` is an array of texts.  `done` is never called before it returns. */
int kubelet_run_new(struct kubelet *k, const struct kubelet_target *of, const json_t *command, kubelet_run_done *done,
		    void *arg, struct kubelet_run **ret, struct err *e);
/* Nobody waits for it any more. */
void kubelet_run_free(struct kubelet_run *r);

/* Why it failed, in words; false if it did not. */
bool kubelet_run_failed(int code, struct str text, const struct err *e, struct err *ret);

#endif
