// SPDX-License-Identifier: Apache-2.0
/* resource_list.h - amounts by resource, and what a pod asks for in all */
#ifndef STOKER_KINDS_RESOURCE_LIST_H
#define STOKER_KINDS_RESOURCE_LIST_H

#include <jansson.h>

#include "kinds/quantity.h"

/* A handful of rows in no order. */
struct resource_list {
	struct resource_amount {
		char *name;
		struct quantity amount;
	} * items;
	size_t n, cap;
};

void resource_list_done(struct resource_list *l);
/* NULL if the list does not name it. */
const struct quantity *resource_list_find(const struct resource_list *l, const char *name);
/* Puts the amounts of a map of quantities in; the larger one stays.  What is no quantity is left out. */
void resource_list_read(struct resource_list *l, const json_t *quantities);

/* A part of a GPU's memory, of one that may be shared. */
#define RESOURCE_NAME_GPU_MEMORY "stoker.dev/gpu-memory"
/* In MiB, rounded up, what an amount of it stands for: bytes, unless it is so little that MiB were meant. */
int64_t gpu_memory_mib(int64_t amount);

/* The name that a resource goes by: GPUs had another one once. */
const char *resource_name(const char *name);

/* The "requests" or "limits" of a pod: those of its containers, which run together, or those of the init container that
 * needs most, beside the ones that go on running (restartPolicy Always); what the pod says for itself stands above
 * both. With `overhead`, what the runtime needs is added, to limits only where there is one. */
void pod_resources(const json_t *spec, const char *which, bool overhead, struct resource_list *ret);

#endif
