// SPDX-License-Identifier: Apache-2.0
/* gc.c - dependents follow their owners
 *
 * Watches every resource and keeps a graph of what is owned (gc_graph.c).  Two queues of uids, worked off a few at a
 *time:
 *
 *	doubted   an owner of this object went or changed: ask for each owner, then gc_plan() decides
 *	leaving   this object waits with the finalizer "foregroundDeletion" or "orphan": deal with its dependents, then
 *	          take the finalizer off
 *
 * A dependent is deleted with its uid as precondition, so that a new object of the same name is safe.
 */
#include "control/gc.h"

#include "base/jsonx.h"
#include "base/log.h"
#include "base/mem.h"
#include "control/gc_graph.h"

#define PER_TURN   64
#define RELOAD_MS  200
#define REWATCH_MS 500
#define FOREGROUND "foregroundDeletion"
#define ORPHAN     "orphan"

struct gc_watch {
	struct gc *gc;
	struct resource *resource;
	void *watch;
	bool seen; /* in the newest discovery */
	struct loop_timer again;
	struct gc_watch *next;
};

/* An object on its way out that waits for us. */
struct leaver {
	char *uid;
	char *api_version, *plural, *ns, *name;
	bool orphan;
};

struct gc {
	struct client *client;
	struct resources *resources;
	struct gc_watch *watches;
	struct gc_graph graph;
	struct map leavers; /* uid -> struct leaver */
	json_t *doubted;    /* array of uids */
	json_t *leaving;
	struct loop_hook work;
	struct loop_timer reload;
	unsigned asked; /* answers still to come; the last one frees us if `freed` */
	bool freed;
};

/* An answer has come; false if it came for nobody. */
static bool answered(struct gc *g)
{
	g->asked--;
	if (!g->freed)
		return true;
	if (!g->asked)
		free(g);
	return false;
}

static void doubt(struct gc *g, const char *uid)
{
	struct gc_node *n = gc_graph_find(&g->graph, uid);

	if (!n || n->queued)
		return;
	n->queued = true;
	json_array_append_new(g->doubted, json_string(uid));
	loop_schedule(g->client->loop, &g->work);
}

static void doubt_owned_by(struct gc *g, const char *owner_uid)
{
	const char *uid;
	json_t *v;

	json_object_foreach ((json_t *)gc_graph_owned(&g->graph, owner_uid), uid, v)
		doubt(g, uid);
}

static void look_at_leaver(struct gc *g, const char *uid)
{
	if (!map_find(&g->leavers, uid))
		return;
	json_array_append_new(g->leaving, json_string(uid));
	loop_schedule(g->client->loop, &g->work);
}

/* ---- doubted objects ---- */

struct inquiry {
	struct gc *gc;
	char *uid;
	enum gc_owner *owners;
	size_t n;
	size_t asked; /* answers still to come */
};

struct question {
	struct inquiry *inquiry;
	size_t index;
	char *owner_uid;
};

static void on_ignored(void *arg, const json_t *obj, const struct err *e)
{
	const char *what = arg;

	(void)obj;
	if (e->kind != ERR_NONE && e->kind != ERR_NOT_FOUND && e->kind != ERR_CONFLICT)
		log_warn("%s: %s, ignoring", what, e->text);
}

static void delete_node(struct gc *g, const struct gc_node *n, const char *policy)
{
	struct ref ref = { .api_version = n->api_version, .plural = n->plural, .ns = n->ns, .name = n->name };
	json_auto_t *options = json_pack("{s:s, s:{s:s}}", "propagationPolicy", policy, "preconditions", "uid", n->uid);

	g->client->ops->remove(g->client, &ref, options, on_ignored, (void *)"delete a dependent");
}

/* Takes the owners for which `drop` says so off an object. */
static void drop_owners(struct gc *g, const struct gc_node *n, bool (*drop)(void *arg, size_t i, const json_t *ref),
			void *arg)
{
	struct ref ref = { .api_version = n->api_version, .plural = n->plural, .ns = n->ns, .name = n->name };
	json_auto_t *patch = json_pack("{s:{s:s, s:[]}}", "metadata", "uid", n->uid, "ownerReferences");
	json_t *keep = jsonx_at(patch, "metadata.ownerReferences");
	json_t *owner;
	size_t i;

	json_array_foreach (n->owners, i, owner)
		if (!drop(arg, i, owner))
			json_array_append(keep, owner);
	if (!json_array_size(keep))
		jsonx_set_new(patch, "metadata.ownerReferences", json_null());
	g->client->ops->patch(g->client, &ref, "merge", patch, on_ignored, (void *)"drop an owner reference");
}

static bool is_gone(void *arg, size_t i, const json_t *ref)
{
	const struct inquiry *q = arg;

	(void)ref;
	return i < q->n && (q->owners[i] == GC_OWNER_ABSENT || q->owners[i] == GC_OWNER_WAITING);
}

static void inquiry_free(struct inquiry *q)
{
	free(q->owners);
	free(q->uid);
	free(q);
}

static void conclude(struct inquiry *q)
{
	struct gc *g = q->gc;
	struct gc_node *n = gc_graph_find(&g->graph, q->uid);

	if (n && json_array_size(n->owners) == q->n) {
		switch (gc_plan(q->owners, q->n)) {
		case GC_DELETE:
			delete_node(g, n, "Background");
			break;
		case GC_DELETE_FOREGROUND:
			delete_node(g, n, "Foreground");
			break;
		case GC_DROP_REFS:
			drop_owners(g, n, is_gone, q);
			break;
		case GC_KEEP:
			break;
		}
	}
	inquiry_free(q);
}

static bool has_finalizer(const json_t *obj, const char *name)
{
	json_t *f;
	size_t i;

	json_array_foreach (jsonx_at(obj, "metadata.finalizers"), i, f)
		if (str_same(json_string_value(f), name))
			return true;
	return false;
}

static void on_owner(void *arg, const json_t *obj, const struct err *e)
{
	struct question *qu = arg;
	struct inquiry *q = qu->inquiry;
	enum gc_owner state = GC_OWNER_PRESENT;
	bool wanted = answered(q->gc);

	if (e->kind != ERR_NONE)
		state = e->kind == ERR_NOT_FOUND ? GC_OWNER_ABSENT : GC_OWNER_UNKNOWN;
	else if (!str_same(jsonx_str(obj, "metadata.uid"), qu->owner_uid))
		state = GC_OWNER_ABSENT;
	else if (jsonx_at(obj, "metadata.deletionTimestamp") && has_finalizer(obj, FOREGROUND))
		state = GC_OWNER_WAITING;
	q->owners[qu->index] = state;
	free(qu->owner_uid);
	free(qu);
	if (--q->asked > 0)
		return;
	if (wanted)
		conclude(q);
	else
		inquiry_free(q);
}

/* Asks for owner number i, if there is anything to ask. */
static void ask(struct gc *g, struct inquiry *q, const struct gc_node *n, size_t i, const json_t *owner)
{
	const struct resource *r =
		resources_find(g->resources, jsonx_str_or(owner, "apiVersion", ""), jsonx_str_or(owner, "kind", ""));
	struct question *qu;
	struct ref ref;

	if (!r) /* a kind that is not served (any more): not ours to judge */
		return;
	if (r->namespaced && !*n->ns) {
		q->owners[i] = GC_OWNER_ABSENT; /* a cluster-wide object cannot be owned from within a namespace */
		return;
	}
	ref = (struct ref){ .api_version = r->api_version,
			    .plural = r->plural,
			    .ns = r->namespaced ? n->ns : NULL,
			    .name = jsonx_str_or(owner, "name", "") };
	qu = xcalloc(1, sizeof(*qu));
	qu->inquiry = q;
	qu->index = i;
	qu->owner_uid = xstrdup(jsonx_str_or(owner, "uid", ""));
	q->asked++;
	g->asked++;
	g->client->ops->get(g->client, &ref, on_owner, qu);
}

static void inquire(struct gc *g, const char *uid)
{
	struct gc_node *n = gc_graph_find(&g->graph, uid);
	struct inquiry *q;
	json_t *owner;
	size_t i;

	if (!n)
		return;
	n->queued = false;
	q = xcalloc(1, sizeof(*q));
	q->gc = g;
	q->uid = xstrdup(uid);
	q->n = json_array_size(n->owners);
	q->owners = xcalloc(q->n, sizeof(*q->owners));
	q->asked = 1; /* ours: answers may come at once */
	json_array_foreach (n->owners, i, owner)
		ask(g, q, n, i, owner);
	if (--q->asked == 0)
		conclude(q);
}

/* ---- leaving objects ---- */

static bool is_owner(void *arg, size_t i, const json_t *ref)
{
	(void)i;
	return str_same(jsonx_str(ref, "uid"), arg);
}

struct release {
	struct gc *gc;
	char *uid;
};

static void on_leaver_loaded(void *arg, const json_t *obj, const struct err *e)
{
	struct release *q = arg;
	struct gc *g = q->gc;
	struct leaver *l = answered(g) ? map_find(&g->leavers, q->uid) : NULL;

	if (e->kind == ERR_NONE && l && str_same(jsonx_str(obj, "metadata.uid"), l->uid)) {
		struct ref ref = { .api_version = l->api_version, .plural = l->plural, .ns = l->ns, .name = l->name };
		json_auto_t *patch = json_pack("{s:{s:O, s:[]}}", "metadata", "resourceVersion",
					       jsonx_at(obj, "metadata.resourceVersion"), "finalizers");
		json_t *f;
		size_t i;

		json_array_foreach (jsonx_at(obj, "metadata.finalizers"), i, f)
			if (!str_same(json_string_value(f), l->orphan ? ORPHAN : FOREGROUND))
				json_array_append(jsonx_at(patch, "metadata.finalizers"), f);
		g->client->ops->patch(g->client, &ref, "merge", patch, on_ignored, (void *)"release an owner");
	}
	free(q->uid);
	free(q);
}

static void take_finalizer_off(struct gc *g, const struct leaver *l)
{
	struct ref ref = { .api_version = l->api_version, .plural = l->plural, .ns = l->ns, .name = l->name };
	struct release *q = xcalloc(1, sizeof(*q));

	q->gc = g;
	q->uid = xstrdup(l->uid);
	g->asked++;
	g->client->ops->get(g->client, &ref, on_leaver_loaded, q);
}

/* Objects that own one another and all wait in the foreground would wait for ever: none of them counts. */
static bool in_circle(const struct gc *g, const char *dependent, const char *owner)
{
	return map_find(&g->leavers, dependent) && gc_graph_reaches(&g->graph, dependent, owner);
}

static void serve_leaver(struct gc *g, const char *uid)
{
	struct leaver *l = map_find(&g->leavers, uid);
	json_auto_t *owned = json_copy((json_t *)gc_graph_owned(&g->graph, uid));
	bool blocked = false;
	const char *dep;
	json_t *v;

	if (!l)
		return;
	json_object_foreach (owned, dep, v) {
		struct gc_node *n = gc_graph_find(&g->graph, dep);

		if (!n)
			continue;
		if (l->orphan)
			drop_owners(g, n, is_owner, l->uid);
		else
			doubt(g, dep);
		blocked |= l->orphan || (gc_node_blocks(n, uid) && !in_circle(g, dep, uid));
	}
	if (!blocked)
		take_finalizer_off(g, l);
}

static void leaver_free(void *arg)
{
	struct leaver *l = arg;

	free(l->uid);
	free(l->api_version);
	free(l->plural);
	free(l->ns);
	free(l->name);
	free(l);
}

static void note_leaver(struct gc *g, const struct resource *r, const json_t *obj)
{
	const char *uid = jsonx_str_or(obj, "metadata.uid", "");
	struct leaver *l;

	l = xcalloc(1, sizeof(*l));
	l->uid = xstrdup(uid);
	l->api_version = xstrdup(r->api_version);
	l->plural = xstrdup(r->plural);
	l->ns = xstrdup(jsonx_str_or(obj, "metadata.namespace", ""));
	l->name = xstrdup(jsonx_str_or(obj, "metadata.name", ""));
	l->orphan = has_finalizer(obj, ORPHAN);
	map_set(&g->leavers, uid, l);
	look_at_leaver(g, uid);
}

/* ---- events ---- */

static void on_gone(struct gc *g, const char *uid)
{
	struct gc_node *n = gc_graph_find(&g->graph, uid);
	json_auto_t *owners = n ? json_incref(n->owners) : NULL;
	json_t *owner;
	size_t i;

	gc_graph_remove(&g->graph, uid);
	map_remove(&g->leavers, uid);
	json_array_foreach (owners, i, owner)
		look_at_leaver(g, jsonx_str_or(owner, "uid", ""));
	doubt_owned_by(g, uid);
}

static void on_seen(struct gc *g, const struct resource *r, const json_t *obj, bool added)
{
	const char *uid = jsonx_str_or(obj, "metadata.uid", "");
	struct gc_node *n = gc_graph_find(&g->graph, uid);
	json_auto_t *before = n ? json_incref(n->owners) : NULL;
	json_t *owner;
	size_t i;

	n = gc_graph_put(&g->graph, r, obj);
	if (n && (added || n->owners != before))
		doubt(g, uid);
	if (before && (!n || n->owners != before))
		json_array_foreach (before, i, owner)
			look_at_leaver(g, jsonx_str_or(owner, "uid", ""));
	if (jsonx_at(obj, "metadata.deletionTimestamp") &&
	    (has_finalizer(obj, FOREGROUND) || has_finalizer(obj, ORPHAN)))
		note_leaver(g, r, obj);
}

static void on_event(void *arg, const char *type, const json_t *obj, const struct err *e)
{
	struct gc_watch *w = arg;
	struct gc *g = w->gc;

	if (!obj) {
		(void)e;
		g->client->ops->watch_stop(g->client, w->watch);
		w->watch = NULL;
		loop_timer_set(g->client->loop, &w->again, REWATCH_MS);
		return;
	}
	if (streq(type, "BOOKMARK"))
		return;
	if (streq(w->resource->kind, "CustomResourceDefinition") && !loop_timer_pending(&g->reload))
		loop_timer_set(g->client->loop, &g->reload, RELOAD_MS);
	if (streq(type, "DELETED"))
		on_gone(g, jsonx_str_or(obj, "metadata.uid", ""));
	else
		on_seen(g, w->resource, obj, streq(type, "ADDED"));
}

static void start_watch(void *arg)
{
	struct gc_watch *w = arg;
	struct ref ref = { .api_version = w->resource->api_version, .plural = w->resource->plural };

	w->watch = w->gc->client->ops->watch(w->gc->client, &ref, NULL, on_event, w);
}

static void on_work(void *arg)
{
	struct gc *g = arg;

	for (int i = 0; i < PER_TURN && json_array_size(g->leaving); i++) {
		json_auto_t *uid = json_incref(json_array_get(g->leaving, 0));

		json_array_remove(g->leaving, 0);
		serve_leaver(g, json_string_value(uid));
	}
	for (int i = 0; i < PER_TURN && json_array_size(g->doubted); i++) {
		json_auto_t *uid = json_incref(json_array_get(g->doubted, 0));

		json_array_remove(g->doubted, 0);
		inquire(g, json_string_value(uid));
	}
	if (json_array_size(g->leaving) || json_array_size(g->doubted))
		loop_schedule(g->client->loop, &g->work);
}

/* ---- which resources there are ---- */

static void watch_free(struct gc_watch *w)
{
	if (w->watch)
		w->gc->client->ops->watch_stop(w->gc->client, w->watch);
	loop_timer_done(&w->again);
	free(w->resource->api_version);
	free(w->resource->plural);
	free(w->resource->kind);
	free(w->resource);
	free(w);
}

static void add_watch(struct gc *g, const struct resource *r)
{
	struct gc_watch *w;

	for (w = g->watches; w; w = w->next)
		if (streq(w->resource->api_version, r->api_version) && streq(w->resource->plural, r->plural)) {
			w->seen = true;
			return;
		}
	w = xcalloc(1, sizeof(*w));
	w->gc = g;
	w->seen = true;
	w->resource = xcalloc(1, sizeof(*w->resource));
	w->resource->api_version = xstrdup(r->api_version);
	w->resource->plural = xstrdup(r->plural);
	w->resource->kind = xstrdup(r->kind);
	w->resource->namespaced = r->namespaced;
	w->again = (struct loop_timer){ .fire = start_watch, .arg = w };
	w->next = g->watches;
	g->watches = w;
	start_watch(w);
}

static void on_resources(void *arg, struct resources *list, const struct err *e)
{
	struct gc *g = arg;
	struct gc_watch **p;

	if (!answered(g)) {
		resources_free(list);
		return;
	}
	if (!list) {
		log_warn("list the API's resources: %s, trying again", e->text);
		loop_timer_set(g->client->loop, &g->reload, RELOAD_MS);
		return;
	}
	resources_free(g->resources);
	g->resources = list;
	for (struct gc_watch *w = g->watches; w; w = w->next)
		w->seen = false;
	for (size_t i = 0; i < list->n; i++)
		if (!streq(list->items[i].plural, "events")) /* many, short-lived, and nobody's */
			add_watch(g, &list->items[i]);
	for (p = &g->watches; *p;) {
		struct gc_watch *w = *p;

		if (w->seen) {
			p = &w->next;
			continue;
		}
		*p = w->next;
		watch_free(w);
	}
}

static void on_reload(void *arg)
{
	struct gc *g = arg;

	g->asked++;
	resources_load(g->client, on_resources, g);
}

struct gc *gc_new(struct client *c)
{
	struct gc *g = xcalloc(1, sizeof(*g));

	g->client = c;
	gc_graph_init(&g->graph);
	map_init(&g->leavers, leaver_free);
	g->doubted = json_array();
	g->leaving = json_array();
	g->work = (struct loop_hook){ .run = on_work, .arg = g, .phase = LOOP_WORK };
	g->reload = (struct loop_timer){ .fire = on_reload, .arg = g };
	on_reload(g);
	return g;
}

void gc_free(struct gc *g)
{
	if (!g)
		return;
	while (g->watches) {
		struct gc_watch *w = g->watches;

		g->watches = w->next;
		watch_free(w);
	}
	loop_unschedule(g->client->loop, &g->work);
	loop_timer_done(&g->reload);
	resources_free(g->resources);
	gc_graph_done(&g->graph);
	map_done(&g->leavers);
	json_decref(g->doubted);
	json_decref(g->leaving);
	g->freed = true;
	if (!g->asked)
		free(g);
}
