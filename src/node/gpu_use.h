// SPDX-License-Identifier: Apache-2.0
/* gpu_use.h - how much the cards are used, measured only while somebody wants to know
 *
 * Of real cards NVML knows it.  Simulated ones are used as much as a file says, DIR/gpu-use, with a line "INDEX
 * PERCENT" for each, or "all PERCENT"; what it does not say is not known.
 */
#ifndef STOKER_NODE_GPU_USE_H
#define STOKER_NODE_GPU_USE_H

#include "base/str.h"
#include "loop/loop.h"
#include "node/gpu.h"

struct gpu_use;
struct gpu_use *gpu_use_new(struct loop *loop, const struct gpus *g);
void gpu_use_free(struct gpu_use *u);
/* Measures, if it does not already; gpu_use_of() then knows what was since the last call. */
void gpu_use_next(struct gpu_use *u);
/* Nobody asks any more. */
void gpu_use_stop(struct gpu_use *u);

struct gpu_load {
	size_t cards;
	int most;     /* percent, of the busiest one; -1: nobody knows of any */
	bool unknown; /* of one of them nobody knows */
};
struct gpu_load gpu_use_of(const struct gpu_use *u, const char *pod_uid);

/* The pure part: what the file says of a card, or -1. */
int gpu_use_read(struct str text, int index);

#endif
