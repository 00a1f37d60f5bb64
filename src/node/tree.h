// SPDX-License-Identifier: Apache-2.0
/* tree.h - removing directories of any size and depth */
#ifndef STOKER_NODE_TREE_H
#define STOKER_NODE_TREE_H

#include <stdbool.h>
#include <stddef.h>

/* Removes path and all below it; never follows a symlink, never crosses into another file system.  At most *budget
 * files and directories go (NULL: no limit).  True if nothing is left. */
bool tree_remove(const char *path, size_t *budget);

#endif
