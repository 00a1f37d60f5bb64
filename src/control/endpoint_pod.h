// SPDX-License-Identifier: Apache-2.0
/* endpoint_pod.h - one pod as services see it; pure */
#ifndef STOKER_CONTROL_ENDPOINT_POD_H
#define STOKER_CONTROL_ENDPOINT_POD_H

#include <jansson.h>
#include <stdbool.h>

/* Has an address and has not finished; one that is ending counts only with `ending_too`. */
bool endpoint_pod_counts(const json_t *pod, bool ending_too);
bool endpoint_pod_ready(const json_t *pod);
bool endpoint_pod_ending(const json_t *pod);
/* Whether the two say the same to services (either may be NULL). */
bool endpoint_pod_same(const json_t *a, const json_t *b);
/* The ports of a service as this pod has them, by number: [{"name","port","protocol","appProtocol"}], new reference.
 * A named targetPort that the pod lacks is left out. */
json_t *endpoint_pod_ports(const json_t *service, const json_t *pod);
/* The name under which a headless service publishes it, or NULL. */
const char *endpoint_pod_hostname(const json_t *service, const json_t *pod);
/* A reference to it, new. */
json_t *endpoint_pod_target(const json_t *pod);

#endif
