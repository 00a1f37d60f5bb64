// SPDX-License-Identifier: Apache-2.0
/* checkpoint.h - parameters on disk: a server's slice or the whole model (slice 0 of 1), replaced atomically */
#ifndef STOKER_PSGD_CHECKPOINT_H
#define STOKER_PSGD_CHECKPOINT_H

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

struct checkpoint {
	const char *model; /* "784-128-10" */
	uint64_t params;   /* of the whole model */
	uint32_t index, parts;
	size_t n; /* floats of this part */
	uint64_t ticks;
};

/* "DIR/model.psgd" for the whole, "DIR/ps-0-of-2.psgd" for a slice; the caller frees. */
char *checkpoint_path(const char *dir, uint32_t index, uint32_t parts, bool whole);
int checkpoint_write(const char *path, const struct checkpoint *c, const float *values, struct err *e);
/* Fills `values` and want->ticks if the file has what `want` describes; ERR_NOT_FOUND if there is no file, another kind
 * if it is damaged or of another model. */
int checkpoint_read(const char *path, struct checkpoint *want, float *values, struct err *e);

#endif
