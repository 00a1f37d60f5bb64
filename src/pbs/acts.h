// SPDX-License-Identifier: Apache-2.0
/* acts.h - what the commands that act on jobs would write, for their tests; pure */
#ifndef STOKER_PBS_ACTS_H
#define STOKER_PBS_ACTS_H

#include "pbs/act.h"

int alter_plan(const struct act *a, const struct act_target *t, json_t *spec, struct err *e);   /* arg: a spec */
int move_plan(const struct act *a, const struct act_target *t, json_t *spec, struct err *e);    /* a queue */
int rerun_plan(const struct act *a, const struct act_target *t, json_t *spec, struct err *e);   /* nothing */
int run_plan(const struct act *a, const struct act_target *t, json_t *spec, struct err *e);     /* hosts, or NULL */
int suspend_plan(const struct act *a, const struct act_target *t, json_t *spec, struct err *e); /* suspend, resume */

#endif
