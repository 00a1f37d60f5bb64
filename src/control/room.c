// SPDX-License-Identifier: Apache-2.0
/* room.c - see room.h
 *
 * The status is what counts: a real Kubernetes goes by status.hard, and Stoker's own is never behind.
 */
#include "control/room.h"

#include "base/jsonx.h"
#include "base/mem.h"
#include "kinds/rules.h"

struct room {
	struct informer *informer;
	void (*more)(void *arg, const char *ns);
	void *arg;
};

/* What is left of one resource; false if nothing limits it. */
static bool left_of(const json_t *quota, const char *name, struct quantity *ret)
{
	const json_t *used = json_object_get(jsonx_at(quota, "status.used"), name);
	struct quantity have;

	if (!rule_quantity_parse(json_object_get(jsonx_at(quota, "status.hard"), name), ret))
		return false;
	if (used && rule_quantity_parse(used, &have))
		quantity_add(ret, &have, -1);
	return true;
}

bool room_grew(const json_t *quota, const json_t *old)
{
	const char *name;
	json_t *v;

	json_object_foreach (jsonx_at(old, "status.hard"), name, v) {
		struct quantity before, now;

		if (left_of(old, name, &before) && (!left_of(quota, name, &now) || quantity_cmp(&now, &before) > 0))
			return true;
	}
	return false;
}

static void on_quota(void *arg, const json_t *obj, const json_t *old)
{
	struct room *r = arg;

	if (room_grew(obj, old))
		r->more(r->arg, jsonx_str_or(old, "metadata.namespace", ""));
}

struct room *room_new(struct client *c, void (*more)(void *arg, const char *ns), void *arg)
{
	struct room *r = xcalloc(1, sizeof(*r));

	r->more = more;
	r->arg = arg;
	r->informer = informer_new(c, &(struct ref){ .api_version = "v1", .plural = "resourcequotas" }, NULL,
				   &(struct informer_handlers){ .change = on_quota, .arg = r });
	return r;
}

void room_free(struct room *r)
{
	if (!r)
		return;
	informer_free(r->informer);
	free(r);
}
