// SPDX-License-Identifier: Apache-2.0
/* local.h - a whole training on one machine: servers and workers as processes of this one */
#ifndef STOKER_PSGD_LOCAL_H
#define STOKER_PSGD_LOCAL_H

#include <signal.h>

#include "psgd/settings.h"

/* Runs until all have ended; the exit status. */
int local_run(const struct settings *s, const sigset_t *waiting);
/* One parameter server on a listening socket; its settings from the options. */
int local_serve(const struct settings *s, int listener, uint32_t index, uint32_t servers, const sigset_t *waiting,
		struct err *e);

#endif
