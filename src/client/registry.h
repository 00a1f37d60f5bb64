// SPDX-License-Identifier: Apache-2.0
/* registry.h - which images a registry has */
#ifndef STOKER_CLIENT_REGISTRY_H
#define STOKER_CLIENT_REGISTRY_H

#include <jansson.h>

#include "base/err.h"

/* "bit:5000/deepo:latest" and so on of all images in the registry "bit:5000", in its own order: an array, owned.  Waits
 * for it: for commands. */
int registry_images(const char *registry, json_t **ret, struct err *e);
/* Adds the names in a reply with tags ({"name","tags":[...]}).  Pure. */
void registry_add_tags(const char *registry, const json_t *reply, json_t *list);

#endif
