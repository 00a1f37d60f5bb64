// SPDX-License-Identifier: Apache-2.0
/* trash.h - directories of any size go a little at a time, so that nobody waits for them */
#ifndef STOKER_NODE_TRASH_H
#define STOKER_NODE_TRASH_H

#include "loop/loop.h"

struct trash;
/* DIR/trash; what an earlier server had not finished goes on. */
struct trash *trash_new(struct loop *loop, const char *dir);
void trash_free(struct trash *t);
/* The directory is gone from its place when this returns. */
void trash_put(struct trash *t, const char *path);

#endif
