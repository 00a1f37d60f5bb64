// SPDX-License-Identifier: Apache-2.0
/* log_door.h - the log operations of loop/kubelet.h, for node/kubelet.c to plug in */
#ifndef STOKER_NODE_LOG_DOOR_H
#define STOKER_NODE_LOG_DOOR_H

#include "loop/kubelet.h"
#include "node/logs.h"

struct pod_container;

/* log: of a container as pod_container_get() found it; ERR_NOT_FOUND if it has not begun one.  A follower ends when
 * logs_container_ended() is called for its path, or with what there is if the container is not running. */
int log_door_open(struct loop *loop, struct logs *logs, const struct pod_container *c,
		  const struct kubelet_log_request *q, const struct kubelet_log_handlers *h, struct kubelet_log **ret,
		  struct err *e);
/* log_pause, log_close: as they are. */
void log_door_pause(struct kubelet_log *l, bool paused);
void log_door_close(struct kubelet_log *l);
/* The container is over, for who has the log at hand; logs_container_ended() does the same by path. */
void log_door_ended(struct kubelet_log *l);

/* logs_find, log_kept: logs of pods that may be gone. */
json_t *log_door_find(struct logs *logs, const char *ns, const char *name);
/* measures: of some of these. */
json_t *log_door_measures(struct logs *logs, const char *ns, const json_t *pods);
int log_door_kept(struct loop *loop, struct logs *logs, const struct kubelet_log_request *q,
		  const struct kubelet_log_handlers *h, struct kubelet_log **ret, struct err *e);

#endif
