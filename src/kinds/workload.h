// SPDX-License-Identifier: Apache-2.0
/* workload.h - what every kind with a pod template has in common: rows, rules, columns */
#ifndef STOKER_KINDS_WORKLOAD_H
#define STOKER_KINDS_WORKLOAD_H

#include "kinds/cells.h"
#include "kinds/kind.h"

/* spec.selector: required, not empty, and matching the labels of spec.template.  `what` names the kind in the
 * complaint. */
void workload_check_selector(const json_t *spec, const struct path *at, const char *what, struct err *e);
/* The part about labels alone. */
void workload_check_labels(const json_t *spec, const struct path *at, struct err *e);
/* Pods of controllers that keep a number of them alive restart always and have no deadline. */
void workload_check_restart(const json_t *spec, const struct path *at, const char *what, struct err *e);

/* A status that counts pods cannot count more ready, available or labelled ones than there are. */
void workload_check_counts(const json_t *status, const struct path *at, struct err *e);

/* Wide columns over spec.template and spec.selector. */
json_t *workload_cell_containers(const json_t *obj, int64_t now);
json_t *workload_cell_images(const json_t *obj, int64_t now);
json_t *workload_cell_selector(const json_t *obj, int64_t now);

#define COLUMN_CONTAINERS                                                                                              \
	COLUMN_WIDE("Containers", "Names of the containers in the template.", workload_cell_containers)
#define COLUMN_IMAGES   COLUMN_WIDE("Images", "Images of the containers in the template.", workload_cell_images)
#define COLUMN_SELECTOR COLUMN_WIDE("Selector", "Which pods belong to this object.", workload_cell_selector)

#endif
