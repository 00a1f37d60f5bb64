// SPDX-License-Identifier: Apache-2.0
/* namespace.h - empties namespaces that are being deleted */
#ifndef STOKER_CONTROL_NAMESPACE_H
#define STOKER_CONTROL_NAMESPACE_H

#include "client/client.h"
#include "control/workqueue.h"

struct namespaces;
struct namespaces *namespaces_new(struct client *c);
void namespaces_free(struct namespaces *n);
struct workqueue_counts namespaces_counts(const struct namespaces *n);

/* True if the namespace is going and waits for its contents to go first. */
bool namespace_plan(const json_t *ns);

#endif
