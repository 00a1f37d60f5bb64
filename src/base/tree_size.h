// SPDX-License-Identifier: Apache-2.0
/* tree_size.h - how much disk a directory takes, with everything below it on the same file system */
#ifndef STOKER_BASE_TREE_SIZE_H
#define STOKER_BASE_TREE_SIZE_H

#include <stdint.h>

struct tree_size {
	int64_t bytes;
	int64_t left;   /* files that may still be looked at; set it before.  0 afterwards: there were more */
	int64_t unread; /* directories that could not be opened */
};

/* -1 with errno if the directory itself cannot be opened. */
int tree_size(const char *path, struct tree_size *t);

#endif
