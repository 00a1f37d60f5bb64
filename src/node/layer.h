// SPDX-License-Identifier: Apache-2.0
/* layer.h - a layer's tar stream becomes a directory that overlayfs can stack */
#ifndef STOKER_NODE_LAYER_H
#define STOKER_NODE_LAYER_H

#include <stdint.h>

#include "base/err.h"

/* Ceilings against bombs: far above real layers, far below what hurts. */
#define LAYER_ENTRIES 4000000
#define LAYER_BYTES   (INT64_C(512) << 30)

struct layer_limits {
	int64_t entries;
	int64_t bytes; /* of the tar stream, and of all files as large as they claim to be */
};

struct layer_sum {
	int64_t entries;
	int64_t bytes;
};

/* Unpacks the tar (plain, gzip or zstd) read from blob_fd into the empty directory dir_fd, in this process.  With
 * diff_id ("sha256:...") the uncompressed bytes must have that hash.  ERR_INVALID: not a layer that may run here;
 * ERR_TOO_LARGE, ERR_STORAGE_FULL.  On failure the directory holds rubbish, but nothing outside it has changed. */
int layer_unpack(int blob_fd, int dir_fd, const char *diff_id, const struct layer_limits *limits, struct layer_sum *ret,
		 struct err *e);
/* The same in a child process that is confined to the directory; blocks until it ends. */
int layer_unpack_confined(int blob_fd, int dir_fd, const char *diff_id, const struct layer_limits *limits,
			  struct layer_sum *ret, struct err *e);

#endif
