// SPDX-License-Identifier: Apache-2.0
/* claims.h - binds PersistentVolumeClaims to PersistentVolumes */
#ifndef STOKER_CONTROL_CLAIMS_H
#define STOKER_CONTROL_CLAIMS_H

#include "client/client.h"
#include "control/workqueue.h"

struct claims;
struct claims *claims_new(struct client *c);
void claims_free(struct claims *k);
struct workqueue_counts claims_counts(const struct claims *k);

#endif
