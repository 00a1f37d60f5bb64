// SPDX-License-Identifier: Apache-2.0
/* trainer.h - the tasks that compute: trainers (chief and workers) and evaluators */
#ifndef STOKER_PSGD_TRAINER_H
#define STOKER_PSGD_TRAINER_H

#include <signal.h>

#include "psgd/cluster.h"
#include "psgd/settings.h"

/* Trains until training is over; the one of rank 0 leads.  0 also after a signal, see stop_signal(). */
int trainer_run(const struct settings *s, const struct cluster *c, const sigset_t *waiting, struct err *e);
/* Looks at the model now and then and says how good it is, until training is over. */
int evaluator_run(const struct settings *s, const struct cluster *c, const sigset_t *waiting, struct err *e);

#endif
