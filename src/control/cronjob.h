// SPDX-License-Identifier: Apache-2.0
/* cronjob.h - starts Jobs at given times */
#ifndef STOKER_CONTROL_CRONJOB_H
#define STOKER_CONTROL_CRONJOB_H

#include "client/client.h"
#include "control/workqueue.h"

struct cronjobs;
struct cronjobs *cronjobs_new(struct client *c);
void cronjobs_free(struct cronjobs *k);
struct workqueue_counts cronjobs_counts(const struct cronjobs *k);

#endif
