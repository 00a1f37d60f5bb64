// SPDX-License-Identifier: Apache-2.0
/* services.h - what the API says of Services, Endpoints and namespaces becomes the network's rules and names
 *
 * Follows Services, Endpoints, Pods and Namespaces and hands the network one document a turn at most.
 */
#ifndef STOKER_NODE_SERVICES_H
#define STOKER_NODE_SERVICES_H

#include "client/client.h"
#include "node/net.h"

struct services;
/* `synced` once, when the first whole document has been applied: pods may start then. */
struct services *services_new(struct client *c, struct net *net, void (*synced)(void *arg), void *arg);
void services_free(struct services *s);
/* A pod has just got its address and is about to start: names and isolation know it before its first process. */
int services_add_pod(struct services *s, const json_t *pod, const char *ip, struct err *e);
/* The services of a namespace (and default/kubernetes), for environment variables: a new array of Service objects. */
json_t *services_for_env(struct services *s, const char *ns);
/* Makes the Endpoints of default/kubernetes say where the API is, now and whenever somebody deletes them: for people
 * and clients that look; the network itself knows. */
void services_publish_api(struct services *s, const char *ip, int port);

#endif
