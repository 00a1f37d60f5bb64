// SPDX-License-Identifier: Apache-2.0
/* endpoints.c - keeps the Endpoints and EndpointSlices of every Service as endpoints_plan.h says
 *
 * A change marks the services it concerns, and each marked service is looked at once in the work phase of a turn: what
 * it should have is computed whole and compared with what informers know.  While writes for a service are under way it
 * is not looked at again, since the informers are behind; the changes that come of the writes mark it once more.
 *
 * Pods and slices are kept by namespace, so that one busy namespace costs the others nothing.
 */
#include "control/endpoints.h"

#include "base/clock.h"
#include "base/jsonx.h"
#include "base/log.h"
#include "base/map.h"
#include "base/mem.h"
#include "control/endpoint_pod.h"
#include "control/endpoints_plan.h"

#define TURN_NS  (10 * 1000000LL) /* of work in one turn */
#define RETRY_MS 1000
#define LEADER   "control-plane.alpha.kubernetes.io/leader" /* Endpoints that are somebody's lock, not a service's */
#define SLICES   "discovery.k8s.io/v1"

enum { FOLLOW_SERVICES, FOLLOW_PODS, FOLLOW_ENDPOINTS, FOLLOW_SLICES, FOLLOW__COUNT };

struct endpoints {
	struct client *client;
	struct informer *informers[FOLLOW__COUNT];
	struct map spaces;   /* namespace -> struct space */
	struct entry *dirty; /* first of a list */
	struct entry **last;
	struct workqueue_counts counts;
	struct loop_hook work;
	struct loop_timer retry;
	unsigned calls; /* under way; the last frees us if `freed` */
	bool freed;
};

struct space {
	char *name;
	struct map entries; /* service -> struct entry */
	struct map pods;    /* name -> json_t *, those with an address */
	struct map slices;  /* name -> json_t * */
};

/* A service, also one that is gone but has something left. */
struct entry {
	struct space *space;
	char *name;
	bool dirty;
	unsigned calls; /* under way */
	struct entry *next;
};

struct call {
	struct endpoints *owner;
	struct entry *entry;
};

static void decref(void *v)
{
	json_decref(v);
}

static void entry_free(void *p)
{
	struct entry *e = p;

	free(e->name);
	free(e);
}

static void space_free(void *p)
{
	struct space *s = p;

	map_done(&s->entries);
	map_done(&s->pods);
	map_done(&s->slices);
	free(s->name);
	free(s);
}

static struct space *space_of(struct endpoints *k, const json_t *obj)
{
	const char *name = jsonx_str_or(obj, "metadata.namespace", "");
	struct space *s = map_find(&k->spaces, name);

	if (s)
		return s;
	s = xcalloc(1, sizeof(*s));
	s->name = xstrdup(name);
	map_init(&s->entries, entry_free);
	map_init(&s->pods, decref);
	map_init(&s->slices, decref);
	map_set(&k->spaces, name, s);
	return s;
}

static void keep(struct map *m, const char *name, const json_t *obj)
{
	if (obj)
		map_set(m, name, json_incref((json_t *)obj));
	else
		map_remove(m, name);
}

/* --- marking --- */

static void put_on_list(struct endpoints *k, struct entry *e)
{
	if (e->dirty)
		return;
	e->dirty = true;
	e->next = NULL;
	*k->last = e;
	k->last = &e->next;
}

static void mark(struct endpoints *k, struct entry *e)
{
	k->counts.added += !e->dirty;
	put_on_list(k, e);
	loop_schedule(k->client->loop, &k->work);
}

static void mark_name(struct endpoints *k, struct space *s, const char *name, bool make)
{
	struct entry *e = map_find(&s->entries, name);

	if (!e && !make)
		return;
	if (!e) {
		e = xcalloc(1, sizeof(*e));
		e->space = s;
		e->name = xstrdup(name);
		map_set(&s->entries, name, e);
	}
	mark(k, e);
}

static void on_service(void *arg, const json_t *obj, const json_t *old)
{
	struct endpoints *k = arg;
	const json_t *any = obj ? obj : old;

	mark_name(k, space_of(k, any), jsonx_str_or(any, "metadata.name", ""), true);
}

static void on_pod(void *arg, const json_t *obj, const json_t *old)
{
	struct endpoints *k = arg;
	const json_t *any = obj ? obj : old;
	struct space *s = space_of(k, any);
	const char *service;
	size_t pos = 0;
	void *entry;

	keep(&s->pods, jsonx_str_or(any, "metadata.name", ""), endpoint_pod_counts(obj, true) ? obj : NULL);
	if (endpoint_pod_same(obj, old))
		return;
	while (map_next(&s->entries, &pos, &service, &entry)) {
		const json_t *svc = informer_find(k->informers[FOLLOW_SERVICES], s->name, service);

		if (service_selects_pod(svc, obj) || service_selects_pod(svc, old))
			mark(k, entry);
	}
}

static void on_endpoints(void *arg, const json_t *obj, const json_t *old)
{
	struct endpoints *k = arg;
	const json_t *any = obj ? obj : old;

	mark_name(k, space_of(k, any), jsonx_str_or(any, "metadata.name", ""), false);
}

static const char *label_of(const json_t *obj, const char *label)
{
	const char *value = json_string_value(json_object_get(jsonx_at(obj, "metadata.labels"), label));

	return value ? value : "";
}

static bool is_ours(const json_t *slice)
{
	const char *manager = label_of(slice, SLICE_MANAGER);

	return streq(manager, SLICE_MANAGER_PODS) || streq(manager, SLICE_MANAGER_MIRROR);
}

static void on_slice(void *arg, const json_t *obj, const json_t *old)
{
	struct endpoints *k = arg;
	const json_t *any = obj ? obj : old;
	struct space *s = space_of(k, any);

	keep(&s->slices, jsonx_str_or(any, "metadata.name", ""), obj);
	if (is_ours(any))
		mark_name(k, s, label_of(any, SLICE_SERVICE), false);
	if (obj && old && is_ours(old))
		mark_name(k, s, label_of(old, SLICE_SERVICE), false);
}

/* --- writing --- */

static void entry_drop_if_gone(struct endpoints *k, struct entry *e)
{
	if (!e->dirty && !e->calls && !informer_find(k->informers[FOLLOW_SERVICES], e->space->name, e->name))
		map_remove(&e->space->entries, e->name);
}

static void endpoints_done(struct endpoints *k)
{
	map_done(&k->spaces);
	free(k);
}

static void on_written(void *arg, const json_t *obj, const struct err *e)
{
	struct call *c = arg;
	struct endpoints *k = c->owner;
	struct entry *entry = c->entry;

	(void)obj;
	free(c);
	k->calls--;
	entry->calls--;
	if (k->freed) {
		if (!k->calls)
			endpoints_done(k);
		return;
	}
	if (e->kind != ERR_NONE && e->kind != ERR_NOT_FOUND) {
		/* A namespace on its way out takes nothing new, and a conflict is an informer that lags. */
		if (e->kind != ERR_CONFLICT && e->kind != ERR_FORBIDDEN)
			log_warn("write endpoints service=%s/%s: %s, trying again", entry->space->name, entry->name,
				 e->text);
		k->counts.retried += !entry->dirty;
		put_on_list(k, entry);
		loop_timer_set(k->client->loop, &k->retry, RETRY_MS);
	} else if (entry->dirty) {
		loop_schedule(k->client->loop, &k->work);
	}
	entry_drop_if_gone(k, entry);
}

static struct call *call_new(struct endpoints *k, struct entry *e)
{
	struct call *c = xcalloc(1, sizeof(*c));

	*c = (struct call){ k, e };
	k->calls++;
	e->calls++;
	return c;
}

static void remove_object(struct endpoints *k, struct entry *e, const char *version, const char *plural,
			  const json_t *obj)
{
	struct ref ref = { version, plural, e->space->name, jsonx_str_or(obj, "metadata.name", ""), NULL };
	json_auto_t *options = json_pack("{s:{s:s}}", "preconditions", "uid", jsonx_str_or(obj, "metadata.uid", ""));

	k->client->ops->remove(k->client, &ref, options, on_written, call_new(k, e));
}

/* Creates it, or puts the named parts of `want` into what is there. */
static void write_object(struct endpoints *k, struct entry *e, const struct ref *ref, const json_t *want,
			 const json_t *have, const char *const *parts)
{
	json_auto_t *obj = NULL;

	if (!have) {
		struct ref collection = *ref;

		collection.name = NULL;
		k->client->ops->create(k->client, &collection, want, on_written, call_new(k, e));
		return;
	}
	obj = jsonx_copy(have);
	for (; *parts; parts++) {
		json_t *part = jsonx_at(want, *parts);

		if (part)
			jsonx_set_new(obj, *parts, json_incref(part));
		else
			jsonx_del(obj, *parts);
	}
	k->client->ops->update(k->client, ref, obj, on_written, call_new(k, e));
}

/* --- looking at one service --- */

static void sync_endpoints(struct endpoints *k, struct entry *e, const json_t *service, const json_t *pods)
{
	static const char *const parts[] = { "metadata.labels", "subsets", NULL };
	struct ref ref = { "v1", "endpoints", e->space->name, e->name, NULL };
	const json_t *have = informer_find(k->informers[FOLLOW_ENDPOINTS], e->space->name, e->name);
	json_auto_t *want = endpoints_plan(service, pods);

	if (!have || !endpoints_same(want, have))
		write_object(k, e, &ref, want, have, parts);
}

/* Makes the slices of a service those of `want`. */
static void sync_slices(struct endpoints *k, struct entry *e, const json_t *want)
{
	static const char *const parts[] = { "metadata.labels", "metadata.ownerReferences", "endpoints", "ports",
					     NULL };
	struct map wanted;
	json_t *slice;
	size_t i;
	size_t pos = 0;
	const char *name;
	void *have;

	map_init(&wanted, NULL);
	json_array_foreach (want, i, slice) {
		struct ref ref = { SLICES, "endpointslices", e->space->name, jsonx_str(slice, "metadata.name"), NULL };

		have = map_find(&e->space->slices, ref.name);
		map_set(&wanted, ref.name, slice);
		if (!have || (is_ours(have) && !slice_same(slice, have)))
			write_object(k, e, &ref, slice, have, parts);
	}
	while (map_next(&e->space->slices, &pos, &name, &have))
		if (is_ours(have) && streq(label_of(have, SLICE_SERVICE), e->name) && !map_find(&wanted, name))
			remove_object(k, e, SLICES, "endpointslices", have);
	map_done(&wanted);
}

static json_t *pods_of(const struct space *s, const json_t *service)
{
	json_t *pods = json_array();
	size_t pos = 0;
	void *pod;

	while (map_next(&s->pods, &pos, NULL, &pod))
		if (service_selects_pod(service, pod))
			json_array_append(pods, pod);
	return pods;
}

static void look_at(struct endpoints *k, struct entry *e)
{
	const json_t *service = informer_find(k->informers[FOLLOW_SERVICES], e->space->name, e->name);
	const json_t *endpoints = informer_find(k->informers[FOLLOW_ENDPOINTS], e->space->name, e->name);
	json_auto_t *slices = NULL;

	if (!service && endpoints)
		remove_object(k, e, "v1", "endpoints", endpoints);
	if (service_selects(service)) {
		json_auto_t *pods = pods_of(e->space, service);

		sync_endpoints(k, e, service, pods);
		slices = slices_plan(service, pods);
	} else if (service && endpoints) {
		slices = slices_mirror(service, endpoints);
	}
	sync_slices(k, e, slices);
	entry_drop_if_gone(k, e);
}

static bool all_synced(const struct endpoints *k)
{
	for (size_t i = 0; i < FOLLOW__COUNT; i++)
		if (!k->informers[i] || !informer_synced(k->informers[i]))
			return false;
	return true;
}

static void on_work(void *arg)
{
	struct endpoints *k = arg;
	int64_t start = clock_mono_ns();
	int64_t end = start + TURN_NS;
	struct entry *list;

	if (!all_synced(k))
		return;
	list = k->dirty;
	k->dirty = NULL;
	k->last = &k->dirty;
	while (list) {
		struct entry *e = list;

		list = e->next;
		e->dirty = false;
		if (e->calls) {
			put_on_list(k, e); /* on_written() comes back to it */
		} else if (clock_mono_ns() >= end) {
			put_on_list(k, e);
			loop_schedule(k->client->loop, &k->work);
		} else {
			k->counts.looked++;
			look_at(k, e);
		}
	}
	k->counts.busy_ns += clock_mono_ns() - start;
}

static void on_retry(void *arg)
{
	struct endpoints *k = arg;

	loop_schedule(k->client->loop, &k->work);
}

/* --- life --- */

/* What was left behind by services that went while nobody looked. */
static void mark_leftovers(struct endpoints *k)
{
	const json_t *obj;
	size_t pos = 0;

	while (informer_next(k->informers[FOLLOW_ENDPOINTS], &pos, &obj))
		if (!json_object_get(jsonx_at(obj, "metadata.annotations"), LEADER))
			mark_name(k, space_of(k, obj), jsonx_str_or(obj, "metadata.name", ""), true);
	pos = 0;
	while (informer_next(k->informers[FOLLOW_SLICES], &pos, &obj))
		if (is_ours(obj))
			mark_name(k, space_of(k, obj), label_of(obj, SLICE_SERVICE), true);
}

static void on_synced(void *arg)
{
	struct endpoints *k = arg;

	if (!all_synced(k))
		return;
	mark_leftovers(k);
	loop_schedule(k->client->loop, &k->work);
}

struct endpoints *endpoints_new(struct client *c)
{
	static const struct {
		const char *version, *plural, *fields;
		void (*change)(void *arg, const json_t *obj, const json_t *old);
	} rows[FOLLOW__COUNT] = {
		[FOLLOW_SERVICES] = { "v1", "services", NULL, on_service },
		[FOLLOW_PODS] = { "v1", "pods", "status.phase!=Succeeded,status.phase!=Failed", on_pod },
		[FOLLOW_ENDPOINTS] = { "v1", "endpoints", NULL, on_endpoints },
		[FOLLOW_SLICES] = { SLICES, "endpointslices", NULL, on_slice },
	};
	struct endpoints *k = xcalloc(1, sizeof(*k));

	k->client = c;
	k->last = &k->dirty;
	map_init(&k->spaces, space_free);
	k->work = (struct loop_hook){ .run = on_work, .arg = k, .phase = LOOP_WORK };
	k->retry = (struct loop_timer){ .fire = on_retry, .arg = k };
	for (size_t i = 0; i < FOLLOW__COUNT; i++)
		k->informers[i] =
			informer_new(c, &(struct ref){ .api_version = rows[i].version, .plural = rows[i].plural },
				     &(struct list_options){ .fields = rows[i].fields },
				     &(struct informer_handlers){ rows[i].change, on_synced, k });
	return k;
}

void endpoints_free(struct endpoints *k)
{
	if (!k)
		return;
	for (size_t i = 0; i < FOLLOW__COUNT; i++)
		informer_free(k->informers[i]);
	loop_unschedule(k->client->loop, &k->work);
	loop_timer_done(&k->retry);
	k->freed = true;
	if (!k->calls)
		endpoints_done(k);
}

struct workqueue_counts endpoints_counts(const struct endpoints *k)
{
	struct workqueue_counts c = k->counts;

	for (const struct entry *e = k->dirty; e; e = e->next)
		c.ready++;
	return c;
}
