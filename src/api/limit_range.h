// SPDX-License-Identifier: Apache-2.0
/* limit_range.h - LimitRanges: how small and large single pods and claims of a namespace may be */
#ifndef STOKER_API_LIMIT_RANGE_H
#define STOKER_API_LIMIT_RANGE_H

#include "api/api.h"

/* The LimitRanges there are. */
struct limit_ranges;
struct limit_ranges *limit_ranges_new(struct api *api);
void limit_ranges_free(struct limit_ranges *l);

/* Gives the containers of a new pod the requests and limits that they lack. */
int limit_range_default(struct api *api, const struct api_request *req, json_t *obj, const json_t *old, struct err *e);
/* ERR_FORBIDDEN, in Kubernetes' words, for a pod or a claim outside the bounds. */
int limit_range_admit(struct api *api, const struct api_request *req, json_t *obj, const json_t *old, struct err *e);
/* A LimitRange was written. */
void limit_range_written(struct api *api, const json_t *obj, const json_t *old);

/* --- limit_rules.c: pure --- */
/* Puts one LimitRange's defaults into a pod; true if that changed something. */
bool limit_rules_default(const json_t *range, json_t *pod);
/* What is wrong by one LimitRange, as an array of texts, a new reference.  `plural` is "pods" or
 * "persistentvolumeclaims". */
json_t *limit_rules_check(const json_t *range, const char *plural, const json_t *obj);

#endif
