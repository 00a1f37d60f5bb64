// SPDX-License-Identifier: Apache-2.0
/* layer_pack.h - the reverse of layer.h: what a container changed becomes a layer's tar */
#ifndef STOKER_NODE_LAYER_PACK_H
#define STOKER_NODE_LAYER_PACK_H

#include <jansson.h>
#include <stdint.h>

#include "base/err.h"
#include "base/str.h"

/* Writes the upper directory of an overlay to out_fd as a plain tar; its "sha256:..." is appended to digest.  skip:
 * array of absolute paths that were mount points: an empty file or directory there was made by the runtime and is left
 * out.  The container may run meanwhile; each file is as it was when it was read. */
int layer_pack(const char *upper, int out_fd, const json_t *skip, struct sbuf *digest, int64_t *ret_bytes,
	       struct err *e);

#endif
