// SPDX-License-Identifier: Apache-2.0
/* sandbox.h - the namespaces a pod's containers share, pinned by files so that no process needs to hold them */
#ifndef STOKER_NODE_SANDBOX_H
#define STOKER_NODE_SANDBOX_H

#include "base/err.h"

struct sandbox_config {
	const char *dir; /* DIR/run/pods/<uid>: net, ipc, uts appear in it */
	const char *hostname;
	bool host_network, host_ipc;
	const char *const *sysctls; /* "name=value", NULL-terminated, or NULL */
};

/* Makes what is missing; idempotent, so that a pod's sandbox is found again after a restart. */
int sandbox_make(const struct sandbox_config *c, struct err *e);
/* Unpins; the kernel frees them when the last process has gone. */
void sandbox_remove(const char *dir);
/* Path of a namespace file, NULL if the host's is used: kind is "net", "ipc" or "uts". */
const char *sandbox_ns(const char *dir, const char *kind, char *buf, size_t n);

#endif
