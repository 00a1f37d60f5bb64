// SPDX-License-Identifier: Apache-2.0
/* serviceaccounts.h - every namespace has the account "default" and the server's CA; secrets get their tokens */
#ifndef STOKER_CONTROL_SERVICEACCOUNTS_H
#define STOKER_CONTROL_SERVICEACCOUNTS_H

#include "client/client.h"
#include "control/workqueue.h"

struct service_accounts;

/* The CA is the client's; without one its ConfigMaps are left alone. */
struct service_accounts *service_accounts_new(struct client *c);
void service_accounts_free(struct service_accounts *k);
struct workqueue_counts service_accounts_counts(const struct service_accounts *k);

#endif
