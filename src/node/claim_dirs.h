// SPDX-License-Identifier: Apache-2.0
/* claim_dirs.h - the provisioner of the class stoker-local: a directory for each claim */
#ifndef STOKER_NODE_CLAIM_DIRS_H
#define STOKER_NODE_CLAIM_DIRS_H

#include "client/client.h"
#include "node/trash.h"

#define CLAIM_DIRS_PROVISIONER "stoker.dev/directory"

struct claim_dirs;
/* `dir` is the data directory: claims are DIR/claims/NAMESPACE-CLAIM-UID.  Both are kept by reference. */
struct claim_dirs *claim_dirs_new(struct client *c, const char *dir, struct trash *trash);
void claim_dirs_free(struct claim_dirs *d);

#endif
