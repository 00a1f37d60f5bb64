// SPDX-License-Identifier: Apache-2.0
/* top_rows.h - what pods and nodes use, as rows.  Pure */
#ifndef STOKER_CLI_TOP_ROWS_H
#define STOKER_CLI_TOP_ROWS_H

#include "cli/amounts.h"
#include "cli/output.h"

struct top_row {
	const char *ns, *name, *node; /* borrowed from the lists; of a node only its name */
	bool measured;                /* or there are no figures (yet) */
	struct amounts used, requested;
	struct amounts most; /* a pod's limits, a node's allocatable; 0: none */
	int64_t gpus_free;   /* of a node */
	int64_t pods, pods_most;
};

struct top_rows {
	struct top_row *rows;
	size_t n, cap;
};
void top_rows_done(struct top_rows *r);

/* Pods that run, of those in the array, with their PodMetrics. */
void top_rows_pods(const json_t *pods, const json_t *metrics, struct top_rows *ret);
/* Nodes with their NodeMetrics; `pods` of all namespaces, or NULL if they may not be seen. */
void top_rows_nodes(const json_t *nodes, const json_t *metrics, const json_t *pods, struct top_rows *ret);
/* "cpu", "memory", "gpu": most first; NULL is cpu.  Equal ones by name. */
void top_rows_sort(struct top_rows *r, const char *by);

/* The caller has the table done.  `clock`, or NULL, is a column of its own in front. */
void top_pods_table(const struct top_rows *r, bool with_namespace, const char *clock, struct table *ret);
void top_nodes_table(const struct top_rows *r, const char *clock, struct table *ret);
/* Every card of the nodes. */
void top_cards_table(const json_t *nodes, struct table *ret);
/* Adds an object for each row, with plain numbers; `kind` is "Pod" or "Node". */
void top_rows_json(const struct top_rows *r, const char *kind, json_t *out);

#endif
