// SPDX-License-Identifier: Apache-2.0
/* rest.h - HTTP requests become API requests, results become replies */
#ifndef STOKER_API_REST_H
#define STOKER_API_REST_H

#include "api/api.h"
#include "loop/http.h"
#include "loop/kubelet.h"
#include "loop/scheduler.h"

struct rest;

struct rest *rest_new(struct api *api);
void rest_free(struct rest *r);
/* Who runs the pods: without one, what only a running pod can answer is refused.  Borrowed; NULL takes it away. */
void rest_set_kubelet(struct rest *r, struct kubelet *k);
/* Who places pods: without one, nobody knows why they wait.  Borrowed; NULL takes it away. */
void rest_set_scheduler(struct rest *r, struct scheduler *s);
/* Who has more to say in /metrics than the API itself: `add` appends to the text. */
void rest_set_metrics(struct rest *r, void (*add)(void *arg, struct sbuf *out), void *arg);
/* To be given to http_server_new(). */
struct http_handlers rest_handlers(struct rest *r);

#endif
