// SPDX-License-Identifier: Apache-2.0
/* endpoints_plan.h - what Endpoints and EndpointSlices a service should have; pure
 *
 * `pods` are those its selector matches, in any order; all results are new references and the same for the same input.
 */
#ifndef STOKER_CONTROL_ENDPOINTS_PLAN_H
#define STOKER_CONTROL_ENDPOINTS_PLAN_H

#include <jansson.h>
#include <stdbool.h>

#define SLICE_SERVICE        "kubernetes.io/service-name"
#define SLICE_MANAGER        "endpointslice.kubernetes.io/managed-by"
#define SLICE_MANAGER_PODS   "endpointslice-controller.k8s.io"
#define SLICE_MANAGER_MIRROR "endpointslicemirroring-controller.k8s.io"

/* Whether pods are looked for: it has a selector and is not just another name. */
bool service_selects(const json_t *service);
bool service_selects_pod(const json_t *service, const json_t *pod);

/* --- endpoints_plan.c --- */
/* The Endpoints object. */
json_t *endpoints_plan(const json_t *service, const json_t *pods);
/* Whether `have` is as `want` says. */
bool endpoints_same(const json_t *want, const json_t *have);

/* --- slices_plan.c --- */
/* An array of EndpointSlices with names. */
json_t *slices_plan(const json_t *service, const json_t *pods);
/* The same for a service without selector, from Endpoints that somebody else keeps (NULL: none). */
json_t *slices_mirror(const json_t *service, const json_t *endpoints);
bool slice_same(const json_t *want, const json_t *have);

/* For both: the labels of a service's objects; items sorted by a key's text; absent and empty arrays are the same. */
json_t *endpoints_labels(const json_t *service);
void endpoints_sort(json_t *array, const char *key);
bool endpoints_array_same(const json_t *a, const json_t *b);
/* Pods that have the same ports: an array of {"key", "ports", "pods"} in a fixed order.  Pods that have no port of the
 * service are left out, unless it is headless and has none itself. */
json_t *endpoints_group(const json_t *service, const json_t *pods, bool ending_too);

#endif
