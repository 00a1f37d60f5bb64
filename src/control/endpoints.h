// SPDX-License-Identifier: Apache-2.0
/* endpoints.h - Services find their pods: keeps Endpoints and EndpointSlices */
#ifndef STOKER_CONTROL_ENDPOINTS_H
#define STOKER_CONTROL_ENDPOINTS_H

#include "client/client.h"
#include "control/workqueue.h"

struct endpoints;
struct endpoints *endpoints_new(struct client *c);
void endpoints_free(struct endpoints *k);
struct workqueue_counts endpoints_counts(const struct endpoints *k);

#endif
