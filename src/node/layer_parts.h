// SPDX-License-Identifier: Apache-2.0
/* layer_parts.h - what the files of layer.h share */
#ifndef STOKER_NODE_LAYER_PARTS_H
#define STOKER_NODE_LAYER_PARTS_H

#include <time.h>

#include "base/str.h"
#include "node/layer.h"

struct archive;
struct archive_entry;
struct archive_lib;

/* Directories get their times last: making what is in them changes them. */
struct layer_dir_time {
	char *path;
	struct timespec mtime;
};

struct layer_tree {
	const struct archive_lib *lib;
	int root;
	const struct layer_limits *limits;
	struct layer_sum sum;
	struct layer_dir_time *dirs;
	size_t ndirs, cap;
};

void layer_tree_done(struct layer_tree *t);
/* Makes what one entry of the archive says. */
int layer_entry_make(struct layer_tree *t, struct archive *a, struct archive_entry *entry, struct err *e);
/* After the last entry: directory times, and the rules on /dev, /proc and /sys. */
int layer_tree_finish(struct layer_tree *t, struct err *e);

/* --- layer_path.c --- */
/* Appends the name without leading slashes, "." and doubled slashes; ERR_INVALID for "..", overlong names and names
 * with a NUL in them.  The root itself becomes "". */
int layer_path_clean(const char *name, struct sbuf *out, struct err *e);
/* Opens a directory of the tree; symlinks on the way count from the root of the tree and never leave it.  With `make`
 * what is missing is made.  The fd, or -1. */
int layer_path_open(int root, const char *path, bool make, struct err *e);
/* An error about an entry; errno decides its kind. */
int layer_path_errno(struct err *e, const char *path, const char *what);

#endif
