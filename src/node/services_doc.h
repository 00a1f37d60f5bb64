// SPDX-License-Identifier: Apache-2.0
/* services_doc.h - API objects as the network wants them; pure */
#ifndef STOKER_NODE_SERVICES_DOC_H
#define STOKER_NODE_SERVICES_DOC_H

#include <jansson.h>
#include <stdbool.h>

/* One service of the document of net_sync_services(); new reference.  `endpoints` may be NULL.  `starting` are pods
 * that are about to run, {"ip": "hostname, or empty"}: they count as ready, whatever the Endpoints say yet. */
json_t *service_doc(const json_t *service, const json_t *endpoints, const json_t *starting);
/* Whether the names of a headless service lead to this pod from before its first process on. */
bool service_names_early(const json_t *service, const json_t *pod);
/* Whose pods of this namespace are: "" is everybody's. */
const char *namespace_group(const json_t *ns);

#endif
