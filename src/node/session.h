// SPDX-License-Identifier: Apache-2.0
/* session.h - a client's hands in a container: an extra process or the container's own stdio; for the files of this
 * room
 *
 * The rest of the operations are those of loop/kubelet.h.
 */
#ifndef STOKER_NODE_SESSION_H
#define STOKER_NODE_SESSION_H

#include <sys/queue.h>

#include "loop/kubelet.h"
#include "node/pod.h"

#define SESSION_INPUT_MAX (4u * 1024 * 1024) /* what a client may send ahead of a process that does not read */

LIST_HEAD(session_list, kubelet_session);

struct session_where {
	struct loop *loop;
	struct runtime *runtime;
	struct session_list *list; /* where it is until it ends */
};

int session_exec(const struct session_where *at, const struct pod_container *c, const struct kubelet_exec_request *q,
		 const struct kubelet_session_handlers *h, struct kubelet_session **ret, struct err *e);
int session_attach(const struct session_where *at, const struct pod_container *c, const struct kubelet_exec_request *q,
		   const struct kubelet_session_handlers *h, struct kubelet_session **ret, struct err *e);
void session_input(struct kubelet_session *s, struct str bytes);
size_t session_input_pending(const struct kubelet_session *s);
void session_input_end(struct kubelet_session *s);
void session_resize(struct kubelet_session *s, int rows, int cols);
void session_pause(struct kubelet_session *s, bool paused);
void session_close(struct kubelet_session *s);
/* The server stops: all are told so, and their processes are killed. */
void session_stop_all(struct session_list *list);

#endif
