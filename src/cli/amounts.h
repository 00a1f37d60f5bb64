// SPDX-License-Identifier: Apache-2.0
/* amounts.h - what pods and nodes have, ask for and use: processors, memory, GPUs.  Pure */
#ifndef STOKER_CLI_AMOUNTS_H
#define STOKER_CLI_AMOUNTS_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/str.h"

/* 0 is nothing, or nothing said. */
struct amounts {
	int64_t cpu; /* thousandths of a processor */
	int64_t memory;
	int64_t gpus;
};

/* "requests" or "limits" of a pod's spec. */
struct amounts amounts_of_spec(const json_t *spec, const char *which);
/* A map of quantities, such as a node's allocatable. */
struct amounts amounts_of_map(const json_t *quantities);
/* Of a PodMetrics or NodeMetrics. */
struct amounts amounts_used(const json_t *metrics);
void amounts_add(struct amounts *sum, const struct amounts *more);
/* The entry of that name and namespace, or NULL.  Borrowed. */
const json_t *amounts_find(const json_t *metrics, const char *ns, const char *name);

#define AMOUNT_TEXT 32
/* "250m", "1.5"; "64Mi", "1.5Gi".  Return `out`. */
const char *cpu_text(int64_t milli, char out[AMOUNT_TEXT]);
const char *memory_text(int64_t bytes, char out[AMOUNT_TEXT]);
/* "48%", or "-" of nothing. */
const char *percent_text(int64_t part, int64_t whole, char out[AMOUNT_TEXT]);
/* "2 CPUs, 4Gi memory, 1 GPU"; what is 0 is left out. */
void amounts_words(const struct amounts *a, struct sbuf *out);

#endif
