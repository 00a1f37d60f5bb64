// SPDX-License-Identifier: Apache-2.0
/* control.h - what happens by itself
 *
 * A controller takes a `struct client` and nothing else.  Its decisions are pure functions over small structs (*_plan),
 * tested by tables; applying them twice is harmless.
 */
#ifndef STOKER_CONTROL_CONTROL_H
#define STOKER_CONTROL_CONTROL_H

#include "client/client.h"
#include "control/workqueue.h"
#include "loop/gate.h"

struct control;

/* A set of controllers: a bit for each row of the table in control.c. */
typedef uint64_t control_set;

/* Reads what --controllers says, in kube-controller-manager's way: names separated by commas, `*` for all, `-NAME` for
 * all but that one.  Names of Kubernetes 1.27 and later ("job-controller") mean the same as the older ones ("job"). */
int control_choose(const char *list, control_set *ret, struct err *e);
/* The names of all, separated by ", ". */
void control_names(struct sbuf *out);
/* What one of the set needs of its server, as "v1/pods batch/v1/jobs"; NULL after the last.  Start with *pos = 0. */
const char *control_needs(control_set set, size_t *pos, const char **ret_name);

/* Starts the controllers of the set on this client. */
struct control *control_new(struct client *c, control_set set);
/* The same with a gate in front of the cluster, for those whose pods go together or whose jobs are held; it outlives
 * them. */
struct control *control_new_gated(struct client *c, control_set set, struct gate *gate);
/* Pods of PBS jobs are another cluster's (control/pbs.h); at once after control_new(). */
struct pbs_abroad_config;
void control_send_abroad(struct control *k, const struct pbs_abroad_config *config);
/* Whether one of the set has such pods; and whether one has jobs that may hold themselves back. */
bool control_has_gangs(control_set set);
bool control_has_jobs(control_set set);
/* Whatever they have under way is not heard of any more. */
void control_free(struct control *c);
/* The work queues of those that run; false after the last.  Start with *pos = 0. */
bool control_next(const struct control *k, size_t *pos, const char **ret_name, struct workqueue_counts *ret);
/* control_metrics.c: the same for Prometheus, under the names that client-go uses.  NULL: none run. */
void control_metrics(const struct control *k, struct sbuf *out);
/* Of several. */
void control_metrics_all(const struct control *const *ks, size_t n, struct sbuf *out);

#endif
