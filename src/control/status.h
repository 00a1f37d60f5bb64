// SPDX-License-Identifier: Apache-2.0
/* status.h - what the statuses of several kinds have alike; pure */
#ifndef STOKER_CONTROL_STATUS_H
#define STOKER_CONTROL_STATUS_H

#include <jansson.h>
#include <stdint.h>

/* What is 0 is not written, as in Kubernetes. */
void status_set_count(json_t *status, const char *key, int64_t n);
/* The condition ReplicaFailure, or without a reason none; `now` in seconds since 1970.  One that is there already stays
 * as it is: its message may name another pod each time. */
void status_set_failure(json_t *status, int64_t now, const char *reason, const char *message);

#endif
