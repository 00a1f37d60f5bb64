// SPDX-License-Identifier: Apache-2.0
/* measure_keep.h - the numbers that a training job's containers print, kept beside their logs
 *
 * RUN.measures beside RUN.log (base/measures.h says what is in it) has what was recognised in the output.  It outlives
 * what rotation takes from the log, and goes with the log's directory.
 */
#ifndef STOKER_NODE_MEASURE_KEEP_H
#define STOKER_NODE_MEASURE_KEEP_H

#include <jansson.h>
#include <sys/queue.h>

#include "node/logs.h"

struct measure_keeper;
LIST_HEAD(measure_keepers, measure_keeper);

/* Does the pod belong to a training job?  Others cost nothing. */
bool measure_keep_wants(const json_t *pod);
/* Follows this log until logs_container_ended() or measure_keep_pod_ended(); once for each log, and not if all of it
 * has been kept already. */
void measure_keep_start(struct loop *loop, struct logs *logs, struct measure_keepers *list, const char *uid,
			const char *log_path);
/* The pod is gone: what is there is read, and that is all. */
void measure_keep_pod_ended(struct measure_keepers *list, const char *uid);
void measure_keep_stop(struct measure_keepers *list);

/* The file of a log, malloc'ed. */
char *measure_keep_path(const char *log_path);
/* What is kept of these pods (as logs_find() describes them): {"series":[...]}, see measures_json(), and "left": how
 * many runs were left out because they are more than can be read at once. */
json_t *measure_keep_find(const json_t *pods);

#endif
