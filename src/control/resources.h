// SPDX-License-Identifier: Apache-2.0
/* resources.h - which resources the API has, from discovery; for controllers that deal with all of them */
#ifndef STOKER_CONTROL_RESOURCES_H
#define STOKER_CONTROL_RESOURCES_H

#include "client/client.h"

/* One resource that can be listed and deleted, in its preferred version. */
struct resource {
	char *api_version;
	char *plural;
	char *kind;
	bool namespaced;
};

struct resources {
	struct resource *items;
	size_t n, cap;
};

/* Asks /api and /apis; done gets a new list (owned by the receiver) or an error.  Events are left out: they go by
 * themselves and own nothing. */
void resources_load(struct client *c, void (*done)(void *arg, struct resources *list, const struct err *e), void *arg);
void resources_free(struct resources *r);
/* The pure half: adds what one aggregated discovery document lists, or one version's list; and the paths of such lists
 * that an old server's answer names, a group's preferred version first. */
void resources_add(struct resources *r, const json_t *discovery);
void resources_add_list(struct resources *r, const json_t *list);
void resources_paths(const json_t *doc, json_t *paths);
/* Resource of a kind in any version of the group of `api_version`, or NULL. */
const struct resource *resources_find(const struct resources *r, const char *api_version, const char *kind);

#endif
