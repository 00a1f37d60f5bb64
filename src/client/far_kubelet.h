// SPDX-License-Identifier: Apache-2.0
/* far_kubelet.h - another cluster's pods behind the API's door to containers (loop/kubelet.h)
 *
 * For an API whose objects have pods elsewhere (client/split.h): logs, exec and attach go to that cluster's API.  Known
 * are those pods that a kind of ours controls.
 */
#ifndef STOKER_CLIENT_FAR_KUBELET_H
#define STOKER_CLIENT_FAR_KUBELET_H

#include "client/split.h"
#include "loop/kubelet.h"

struct far_kubelet;

/* The config as for client_split_new(); `near` is not used, and all of it outlives the kubelet. */
struct far_kubelet *far_kubelet_new(const struct split_config *config);
void far_kubelet_free(struct far_kubelet *k);
struct kubelet *far_kubelet_door(struct far_kubelet *k);

/* A pod as the API here takes it: with its controller, and with the rights of whom it runs as.  NULL if it is none of
 * ours; a new reference.  Pure. */
json_t *far_kubelet_pod(const struct split_config *config, const json_t *pod);
/* The query of a log, from its '?' on.  Pure. */
void far_kubelet_log_query(const struct kubelet_log_request *q, struct sbuf *out);

#endif
