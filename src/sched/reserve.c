// SPDX-License-Identifier: Apache-2.0
/* reserve.c - see reserve.h
 *
 * The status says what follows from the spec, the nodes and the time; a timer waits for the next moment at which it
 * says something else.
 */
#include "sched/reserve.h"

#include "base/clock.h"
#include "base/jsonx.h"
#include "base/log.h"
#include "base/mem.h"
#include "kinds/placement.h"
#include "kinds/reservation.h"

#define LOOK_AT_MOST_MS (3600 * 1000) /* the clock may be set */

struct reserve {
	struct client *client;
	struct world *world;
	const struct informer *nodes;
	struct informer *reservations;
	void (*changed)(void *arg);
	void *arg;
	struct loop_timer timer;
	unsigned calls;
	bool freed;
};

static int64_t now_ms(void)
{
	return clock_wall_micros() / 1000;
}

/* ---- to the world ---- */

/* An array of texts as borrowed names; NULL if there are none. */
static char **names_of(const json_t *list)
{
	size_t n = json_array_size(list);
	char **names = n ? xcalloc(n + 1, sizeof(*names)) : NULL;

	for (size_t i = 0; i < n; i++)
		names[i] = (char *)json_string_value(json_array_get(list, i));
	return names;
}

static bool has_selector(const json_t *spec)
{
	return json_object_size(json_object_get(spec, "nodeSelector")) > 0;
}

static int by_name(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* The names of nodes that the selector means, in order. */
static json_t *selected(const struct reserve *r, const json_t *spec)
{
	const char **names = NULL;
	size_t n = 0, cap = 0, pos = 0;
	json_t *list = json_array();
	const json_t *node;

	while (has_selector(spec) && informer_next(r->nodes, &pos, &node))
		if (node_selector_matches(json_object_get(spec, "nodeSelector"), jsonx_at(node, "metadata.labels")))
			ARRAY_PUSH(names, n, cap, jsonx_str_or(node, "metadata.name", ""));
	if (n)
		qsort(names, n, sizeof(*names), by_name);
	for (size_t i = 0; i < n; i++)
		json_array_append_new(list, json_string(names[i]));
	free(names);
	return list;
}

static void tell_world(struct reserve *r, const json_t *obj, const json_t *chosen)
{
	const json_t *spec = json_object_get(obj, "spec");
	const char *name = jsonx_str_or(obj, "metadata.name", "");
	struct block b = { .key = (char *)name, .gpus = jsonx_int_or(spec, "gpus", 0) };
	char *nobody = NULL;
	auto_free char **users = names_of(json_object_get(spec, "users"));
	auto_free char **groups = names_of(json_object_get(spec, "groups"));
	auto_free char **queues = names_of(json_object_get(spec, "queues"));
	auto_free char **nodes = names_of(has_selector(spec) ? chosen : json_object_get(spec, "nodes"));

	if (!reservation_times(spec, &b.start_ms, &b.end_ms) || b.end_ms <= now_ms()) {
		world_unblock(r->world, name);
		return;
	}
	b.users = users;
	b.groups = groups;
	b.queues = queues;
	/* A selector that means no node yet is not all of them. */
	b.nodes = nodes || !has_selector(spec) ? nodes : &nobody;
	world_block_for(r->world, &b);
}

/* ---- the status ---- */

static void on_patched(void *arg, const json_t *obj, const struct err *e)
{
	struct reserve *r = arg;

	(void)obj;
	if (e->kind != ERR_NONE && e->kind != ERR_NOT_FOUND && !r->freed)
		log_warn("tell how a reservation stands: %s, ignoring", e->text);
	if (--r->calls == 0 && r->freed)
		free(r);
}

static void tell_status(struct reserve *r, const json_t *obj, const json_t *chosen)
{
	const json_t *spec = json_object_get(obj, "spec");
	const char *phase = reservation_phase(spec, now_ms());
	json_auto_t *status = json_pack("{s:s}", "phase", phase);
	json_auto_t *patch = NULL;
	struct ref ref = { .api_version = "stoker.dev/v1",
			   .plural = "reservations",
			   .name = jsonx_str_or(obj, "metadata.name", ""),
			   .subresource = "status" };

	if (has_selector(spec))
		json_object_set(status, "nodes", (json_t *)chosen);
	if (str_same(jsonx_str(obj, "status.phase"), phase) &&
	    (!has_selector(spec) || jsonx_equal(jsonx_at(obj, "status.nodes"), chosen)))
		return;
	patch = json_pack("{s:{s:s}, s:O}", "metadata", "uid", jsonx_str_or(obj, "metadata.uid", ""), "status", status);
	r->calls++;
	r->client->ops->patch(r->client, &ref, "merge", patch, on_patched, r);
}

static void look_at(struct reserve *r, const json_t *obj)
{
	json_auto_t *chosen = selected(r, json_object_get(obj, "spec"));

	tell_world(r, obj, chosen);
	tell_status(r, obj, chosen);
}

/* ---- time ---- */

/* Ms until the next beginning or end; at most LOOK_AT_MOST_MS. */
static int64_t next_moment(const struct reserve *r)
{
	int64_t now = now_ms();
	int64_t next = LOOK_AT_MOST_MS;
	const json_t *obj;
	size_t pos = 0;

	while (informer_next(r->reservations, &pos, &obj)) {
		int64_t start;
		int64_t end;

		if (!reservation_times(json_object_get(obj, "spec"), &start, &end))
			continue;
		if (start > now && start - now < next)
			next = start - now;
		if (end > now && end - now < next)
			next = end - now;
	}
	return next;
}

static void set_timer(struct reserve *r)
{
	loop_timer_set(r->client->loop, &r->timer, next_moment(r) + 1);
}

static void look_at_all(struct reserve *r, bool selectors_only)
{
	const json_t *obj;
	size_t pos = 0;

	while (informer_next(r->reservations, &pos, &obj))
		if (!selectors_only || has_selector(json_object_get(obj, "spec")))
			look_at(r, obj);
	r->changed(r->arg);
}

static void on_time(void *arg)
{
	struct reserve *r = arg;

	look_at_all(r, false);
	set_timer(r);
}

static void on_reservation(void *arg, const json_t *obj, const json_t *old)
{
	struct reserve *r = arg;

	if (obj)
		look_at(r, obj);
	else
		world_unblock(r->world, jsonx_str_or(old, "metadata.name", ""));
	set_timer(r);
	r->changed(r->arg);
}

static void on_synced(void *arg)
{
	struct reserve *r = arg;

	r->changed(r->arg);
}

void reserve_nodes_changed(struct reserve *r)
{
	look_at_all(r, true);
}

/* ---- life ---- */

struct reserve *reserve_new(struct client *c, struct world *w, const struct informer *nodes, void (*changed)(void *arg),
			    void *arg)
{
	struct reserve *r = xcalloc(1, sizeof(*r));
	struct informer_handlers h = { .change = on_reservation, .synced = on_synced, .arg = r };

	*r = (struct reserve){ .client = c, .world = w, .nodes = nodes, .changed = changed, .arg = arg };
	r->timer = (struct loop_timer){ .fire = on_time, .arg = r };
	r->reservations =
		informer_new(c, &(struct ref){ .api_version = "stoker.dev/v1", .plural = "reservations" }, NULL, &h);
	return r;
}

void reserve_free(struct reserve *r)
{
	if (!r)
		return;
	informer_free(r->reservations);
	loop_timer_done(&r->timer);
	r->freed = true;
	if (!r->calls)
		free(r);
}

bool reserve_synced(const struct reserve *r)
{
	return informer_synced(r->reservations);
}
