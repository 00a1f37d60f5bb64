// SPDX-License-Identifier: Apache-2.0
/* qhold.h - plans of qhold and qrls; pure */
#ifndef STOKER_PBS_QHOLD_H
#define STOKER_PBS_QHOLD_H

#include "pbs/act.h"

/* act.arg: the letters. */
int hold_plan(const struct act *a, const struct act_target *t, json_t *spec, struct err *e);
int release_plan(const struct act *a, const struct act_target *t, json_t *spec, struct err *e);

#endif
