// SPDX-License-Identifier: Apache-2.0
/* netns.h - connections as a pod sees them */
#ifndef STOKER_NODE_NETNS_H
#define STOKER_NODE_NETNS_H

#include "base/err.h"

/* A non-blocking TCP socket on its way to 127.0.0.1:port in the network namespace at `path` (NULL: this process's own);
 * the caller's to close. */
int netns_dial(const char *path, int port, struct err *e);

#endif
