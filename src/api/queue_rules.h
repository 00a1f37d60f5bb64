// SPDX-License-Identifier: Apache-2.0
/* queue_rules.h - which queue work waits in, and who may put it there; for api/admission.c
 *
 * Work is what a user submits: a Job, a training job, a Deployment, a pod of its own.  It names its queue by the label
 * stoker.dev/queue, else its namespace does by a label or annotation of that name, else it is batch.  What a queue does
 * not take is refused when it is submitted.  Pods and objects that controllers make of it follow it, whatever has
 * become of the queue since: they would be refused again and again.
 */
#ifndef STOKER_API_QUEUE_RULES_H
#define STOKER_API_QUEUE_RULES_H

#include "api/api.h"

/* The queues there are, and how much work is in those that limit it. */
struct queues;
struct queues *queues_new(struct api *api);
void queues_free(struct queues *qs);

/* Puts queue, walltime and deadline in; refuses what its queue does not take. */
int queue_assign(struct api *api, const struct api_request *req, json_t *obj, const json_t *old, struct err *e);
/* ERR_FORBIDDEN for batch, where everything goes that names no queue. */
int queue_admit_delete(const struct api_request *req, const json_t *old, struct err *e);
/* Of a Queue: a Route that leads to queues that are not there.  They may be made later, so it is no error. */
void queue_warn(struct api *api, const struct api_request *req, const json_t *obj, const json_t *old,
		struct api_result *ret);
/* Counts; either may be NULL. */
void queue_written(struct api *api, const struct kind *k, const json_t *obj, const json_t *old);

#endif
