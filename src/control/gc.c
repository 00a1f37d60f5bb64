// SPDX-License-Identifier: Apache-2.0
/* gc.c - dependents follow their owners
 *
 * Watches every resource and keeps a graph of what is owned (gc_graph.c).  Three queues of uids, worked off a few a
 * turn:
 *
 *	doubted    an owner of this object went or changed: ask for each owner, then gc_plan() decides
 *	orphaned   this object loses the owners that leave it behind
 *	leaving    this object waits with the finalizer "foregroundDeletion" or "orphan": queue its dependents above,
 *and when none holds it up any more take the finalizer off
 *
 * An object is in a queue once, so an owner looks through its dependents once a turn however many of them went, and
 * stops at the first that holds it up: only the first look, and one when all that was queued is done, goes through all.
 *
 * A watch that was lost may have missed deletions, so its resource is listed and compared before it is watched again.
 *
 * A dependent is deleted with its uid as precondition, so that a new object of the same name is safe.
 */
#include "control/gc.h"

#include "base/clock.h"
#include "base/jsonx.h"
#include "base/log.h"
#include "base/mem.h"
#include "control/gc_graph.h"
#include "control/relist.h"
#include "control/uid_queue.h"

#define PER_TURN   64    /* requests of a kind */
#define LOOKS      20000 /* dependents looked at in a turn; one owner with more is still dealt with in one */
#define RELOAD_MS  200
#define REWATCH_MS 500
#define FOREGROUND "foregroundDeletion"
#define ORPHAN     "orphan"

struct gc_watch {
	struct gc *gc;
	struct resource *resource;
	void *watch;
	struct relist *relist; /* before it is watched again, or NULL */
	bool seen;             /* in the newest discovery */
	struct loop_timer again;
	struct gc_watch *next;
};

/* An object on its way out that waits for us. */
struct leaver {
	char *uid;
	char *api_version, *plural, *ns, *name;
	bool orphan;
	bool queued;
	bool looked; /* all its dependents were queued once */
};

struct gc {
	struct client *client;
	struct resources *resources;
	struct gc_watch *watches;
	struct gc_graph graph;
	struct map leavers; /* uid -> struct leaver */
	struct uid_queue doubted, orphaned, leaving;
	int64_t busy_ns; /* spent on them */
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
	uid_queue_push(&g->doubted, uid);
	loop_schedule(g->client->loop, &g->work);
}

static void orphan(struct gc *g, struct gc_node *n)
{
	if (n->orphaned)
		return;
	n->orphaned = true;
	uid_queue_push(&g->orphaned, n->uid);
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
	struct leaver *l = map_find(&g->leavers, uid);

	if (!l || l->queued)
		return;
	l->queued = true;
	uid_queue_push(&g->leaving, uid);
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
			if (!n->deleting)
				delete_node(g, n, "Background");
			break;
		case GC_DELETE_FOREGROUND:
			if (!n->deleting)
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

static bool leaves_it_behind(void *arg, size_t i, const json_t *ref)
{
	const struct gc *g = arg;
	const struct leaver *l = map_find(&g->leavers, jsonx_str_or(ref, "uid", ""));

	(void)i;
	return l && l->orphan;
}

static void serve_orphan(struct gc *g, const char *uid)
{
	struct gc_node *n = gc_graph_find(&g->graph, uid);
	json_t *owner;
	size_t i;

	if (!n)
		return;
	n->orphaned = false;
	json_array_foreach (n->owners, i, owner)
		if (leaves_it_behind(g, i, owner)) {
			drop_owners(g, n, leaves_it_behind, g);
			return;
		}
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
static bool holds_up(const struct gc *g, const struct gc_node *n, const char *owner, const json_t *above_owner)
{
	if (!gc_node_blocks(n, owner))
		return false;
	return !json_object_get(above_owner, n->uid) || !map_find(&g->leavers, n->uid);
}

/* Returns how many dependents it looked at. */
static size_t serve_leaver(struct gc *g, const char *uid)
{
	struct leaver *l = map_find(&g->leavers, uid);
	json_auto_t *above = l ? gc_graph_above(&g->graph, uid) : NULL;
	bool held = false;
	size_t looks = 0;
	const char *dep;
	json_t *v;
	bool all;

	if (!l)
		return 0;
	l->queued = false;
	all = !l->looked || !(l->orphan ? g->orphaned.n : g->doubted.n);
	l->looked = true;
	json_object_foreach ((json_t *)gc_graph_owned(&g->graph, uid), dep, v) {
		struct gc_node *n = gc_graph_find(&g->graph, dep);

		looks++;
		if (all && l->orphan)
			orphan(g, n);
		else if (all && !n->deleting)
			doubt(g, dep);
		held = held || l->orphan || holds_up(g, n, uid, above);
		if (held && !all)
			break;
	}
	if (!held)
		take_finalizer_off(g, l);
	return looks;
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
	struct leaver *l = map_find(&g->leavers, uid);
	bool orphans = has_finalizer(obj, ORPHAN);

	if (!l) {
		l = xcalloc(1, sizeof(*l));
		l->uid = xstrdup(uid);
		l->api_version = xstrdup(r->api_version);
		l->plural = xstrdup(r->plural);
		l->ns = xstrdup(jsonx_str_or(obj, "metadata.namespace", ""));
		l->name = xstrdup(jsonx_str_or(obj, "metadata.name", ""));
		map_set(&g->leavers, uid, l);
	}
	if (l->orphan != orphans)
		l->looked = false;
	l->orphan = orphans;
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

static void start_watch(struct gc_watch *w, const char *rv)
{
	struct ref ref = { .api_version = w->resource->api_version, .plural = w->resource->plural };
	struct list_options o = { .rv = rv };

	w->watch = w->gc->client->ops->watch(w->gc->client, &ref, &o, on_event, w);
}

/* ---- after a lost watch ---- */

static void on_relisted_object(void *arg, const json_t *obj)
{
	struct gc_watch *w = arg;

	on_seen(w->gc, w->resource, obj, true);
}

static bool is_of(const struct resource *r, const char *api_version, const char *plural)
{
	return streq(r->api_version, api_version) && streq(r->plural, plural);
}

static bool lost_an_owner(const struct gc_node *n, const char *kind, const json_t *uids)
{
	json_t *owner;
	size_t i;

	json_array_foreach (n->owners, i, owner)
		if (str_same(jsonx_str(owner, "kind"), kind) && !json_object_get(uids, jsonx_str_or(owner, "uid", "")))
			return true;
	return false;
}

/* What was known of the resource and is not among its uids went while nobody looked. */
static void compare(struct gc *g, const struct resource *r, const json_t *uids)
{
	json_auto_t *gone = json_object();
	const char *uid;
	void *value;
	json_t *v;

	for (size_t pos = 0; map_next(&g->graph.nodes, &pos, &uid, &value);) {
		const struct gc_node *n = value;

		if (is_of(r, n->api_version, n->plural) && !json_object_get(uids, uid))
			json_object_set_new(gone, uid, json_true());
		else if (lost_an_owner(n, r->kind, uids))
			doubt(g, uid);
	}
	for (size_t pos = 0; map_next(&g->leavers, &pos, &uid, &value);) {
		const struct leaver *l = value;

		if (is_of(r, l->api_version, l->plural) && !json_object_get(uids, uid))
			json_object_set_new(gone, uid, json_true());
	}
	json_object_foreach (gone, uid, v)
		on_gone(g, uid);
}

static void on_relisted(void *arg, const json_t *uids, const char *rv, const struct err *e)
{
	struct gc_watch *w = arg;

	w->relist = NULL;
	if (e->kind != ERR_NONE) {
		loop_timer_set(w->gc->client->loop, &w->again, REWATCH_MS);
		return;
	}
	compare(w->gc, w->resource, uids);
	start_watch(w, rv);
}

static void on_again(void *arg)
{
	struct gc_watch *w = arg;
	struct relist_handlers h = { .object = on_relisted_object, .done = on_relisted, .arg = w };

	w->relist = relist_new(w->gc->client, w->resource, &h);
}

/* Serves as many of the uids that are there now as a turn may; those that are queued meanwhile wait for the next. */
static void serve(struct gc *g, struct uid_queue *q, void (*one)(struct gc *g, const char *uid))
{
	for (size_t n = q->n < PER_TURN ? q->n : PER_TURN; n > 0; n--) {
		auto_free char *uid = uid_queue_steal(q);

		one(g, uid);
	}
}

static void serve_leaving(struct gc *g)
{
	size_t looks = 0;

	for (size_t n = g->leaving.n < PER_TURN ? g->leaving.n : PER_TURN; n > 0 && looks < LOOKS; n--) {
		auto_free char *uid = uid_queue_steal(&g->leaving);

		looks += serve_leaver(g, uid);
	}
}

static void on_work(void *arg)
{
	struct gc *g = arg;
	int64_t start = clock_mono_ns();

	serve_leaving(g);
	serve(g, &g->orphaned, serve_orphan);
	serve(g, &g->doubted, inquire);
	g->busy_ns += clock_mono_ns() - start;
	if (g->leaving.n || g->orphaned.n || g->doubted.n)
		loop_schedule(g->client->loop, &g->work);
}

/* ---- which resources there are ---- */

static void watch_free(struct gc_watch *w)
{
	if (w->watch)
		w->gc->client->ops->watch_stop(w->gc->client, w->watch);
	relist_free(w->relist);
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
	w->again = (struct loop_timer){ .fire = on_again, .arg = w };
	w->next = g->watches;
	g->watches = w;
	start_watch(w, NULL);
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
	uid_queue_done(&g->doubted);
	uid_queue_done(&g->orphaned);
	uid_queue_done(&g->leaving);
	g->freed = true;
	if (!g->asked)
		free(g);
}

struct workqueue_counts gc_counts(const struct gc *g)
{
	const struct uid_queue *queues[] = { &g->doubted, &g->orphaned, &g->leaving };
	struct workqueue_counts c = { .busy_ns = g->busy_ns };

	for (size_t i = 0; i < ARRAY_SIZE(queues); i++) {
		c.added += queues[i]->pushed;
		c.looked += queues[i]->stolen;
		c.ready += queues[i]->n;
	}
	return c;
}
