// SPDX-License-Identifier: Apache-2.0
/* sweep.h - deletecollection: many deletions, a few a turn */
#ifndef STOKER_API_SWEEP_H
#define STOKER_API_SWEEP_H

#include "api/api.h"

struct sweep;

/* Checks rights and parameters, then deletes what the request selects, as of now, in steps from the loop's work phase.
 * `done` is called once, after the last commit.  The request is borrowed until then. */
int sweep_start(struct api *api, const struct api_request *req, void (*done)(void *arg, const struct err *e), void *arg,
		struct sweep **ret, struct err *e);
/* Stops where it is; done is not called. */
void sweep_cancel(struct sweep *s);

#endif
