// SPDX-License-Identifier: Apache-2.0
/* owned.c - an informer of all pods with an index by node, by controller and, for those without, by namespace
 *
 * Facts are read when a pod changes, so that a controller may walk over a thousand pods for every change of one.
 */
#include "control/owned.h"

#include "base/clock.h"
#include "base/jsonx.h"
#include "base/map.h"
#include "base/mem.h"
#include "control/room.h"

#define EXPECT_MS 30000 /* then it will not come any more: it went before we could see it */

struct pod_list {
	struct owned_pod **pods;
	size_t n, cap;
};

struct owner {
	char *uid;
	json_t *ref; /* of the last pod */
	struct pod_list list;
};

struct space {
	char *ns;
	struct pod_list list;
};

struct owned_node {
	char *name;
	struct owned_pod *first;
};

/* One write that is not seen yet. */
struct expected {
	char *owner;
	bool gone; /* a deletion */
	int64_t until;
};

struct follower {
	struct owned_handlers h;
	struct follower *next;
};

struct owned {
	struct client *client;
	struct informer *informer;
	struct room *room;
	struct map pods;     /* uid -> struct owned_pod */
	struct map owners;   /* uid -> struct owner */
	struct map spaces;   /* namespace -> struct space */
	struct map nodes;    /* name -> struct owned_node */
	struct map expected; /* pod's uid -> struct expected */
	struct follower *followers;
};

static void pod_free(void *p)
{
	struct owned_pod *pod = p;

	json_decref((json_t *)pod->facts.obj);
	free(pod);
}

static void owner_free(void *p)
{
	struct owner *o = p;

	free(o->uid);
	json_decref(o->ref);
	free(o->list.pods);
	free(o);
}

static void space_free(void *p)
{
	struct space *s = p;

	free(s->ns);
	free(s->list.pods);
	free(s);
}

static void node_free(void *p)
{
	struct owned_node *n = p;

	free(n->name);
	free(n);
}

static void expected_free(void *p)
{
	struct expected *x = p;

	free(x->owner);
	free(x);
}

static void list_add(struct pod_list *l, struct owned_pod *p)
{
	p->place = l->n;
	ARRAY_PUSH(l->pods, l->n, l->cap, p);
}

static void list_remove(struct pod_list *l, const struct owned_pod *p)
{
	l->pods[p->place] = l->pods[--l->n];
	l->pods[p->place]->place = p->place;
}

static struct owner *owner_of(struct owned *o, const json_t *ref)
{
	const char *uid = jsonx_str_or(ref, "uid", "");
	struct owner *w = map_find(&o->owners, uid);

	if (!w) {
		w = xcalloc(1, sizeof(*w));
		w->uid = xstrdup(uid);
		map_set(&o->owners, uid, w);
	}
	json_decref(w->ref);
	w->ref = json_copy((json_t *)ref);
	return w;
}

static struct space *space_of(struct owned *o, const json_t *pod)
{
	const char *ns = jsonx_str_or(pod, "metadata.namespace", "");
	struct space *s = map_find(&o->spaces, ns);

	if (!s) {
		s = xcalloc(1, sizeof(*s));
		s->ns = xstrdup(ns);
		map_set(&o->spaces, ns, s);
	}
	return s;
}

static void place(struct owned *o, struct owned_pod *p)
{
	const json_t *ref = controller_of(p->facts.obj);

	p->owner = ref ? owner_of(o, ref) : NULL;
	p->space = ref ? NULL : space_of(o, p->facts.obj);
	list_add(p->owner ? &p->owner->list : &p->space->list, p);
}

static void displace(struct owned *o, struct owned_pod *p)
{
	if (p->owner) {
		list_remove(&p->owner->list, p);
		if (!p->owner->list.n)
			map_remove(&o->owners, p->owner->uid);
	} else if (p->space) {
		list_remove(&p->space->list, p);
		if (!p->space->list.n)
			map_remove(&o->spaces, p->space->ns);
	}
	p->owner = NULL;
	p->space = NULL;
}

static void join_node(struct owned *o, struct owned_pod *p)
{
	struct owned_node *n = map_find(&o->nodes, p->facts.node);

	if (!*p->facts.node)
		return;
	if (!n) {
		n = xcalloc(1, sizeof(*n));
		n->name = xstrdup(p->facts.node);
		map_set(&o->nodes, n->name, n);
	}
	p->node = n;
	p->beside = n->first;
	p->pbeside = &n->first;
	if (p->beside)
		p->beside->pbeside = &p->beside;
	n->first = p;
}

static void leave_node(struct owned *o, struct owned_pod *p)
{
	if (!p->node)
		return;
	*p->pbeside = p->beside;
	if (p->beside)
		p->beside->pbeside = p->pbeside;
	if (!p->node->first)
		map_remove(&o->nodes, p->node->name);
	p->node = NULL;
}

static void see(struct owned *o, const struct pod_facts *f, bool gone)
{
	const struct expected *x = map_find(&o->expected, f->uid);

	if (x && (gone || !x->gone || f->deleting))
		map_remove(&o->expected, f->uid);
}

/* ---- telling ---- */

static void tell_change(struct owned *o, const json_t *ref, const struct pod_facts *now, const struct pod_facts *old)
{
	const char *kind = jsonx_str_or(ref, "kind", "");

	for (const struct follower *f = o->followers; f; f = f->next)
		if (f->h.kind && streq(f->h.kind, kind))
			f->h.change(f->h.arg, ref, now, old);
}

static void tell_orphan(struct owned *o, const struct pod_facts *now)
{
	for (const struct follower *f = o->followers; f; f = f->next)
		if (f->h.orphan)
			f->h.orphan(f->h.arg, now);
}

static void tell_any(struct owned *o, const struct pod_facts *now, const struct pod_facts *old)
{
	for (const struct follower *f = o->followers; f; f = f->next)
		if (f->h.any)
			f->h.any(f->h.arg, now, old);
}

static void pod_gone(struct owned *o, struct owned_pod *p)
{
	struct pod_facts facts = p->facts;
	json_auto_t *obj = json_incref((json_t *)facts.obj);
	json_auto_t *ref = json_incref((json_t *)controller_of(obj));

	displace(o, p);
	leave_node(o, p);
	see(o, &facts, true);
	map_remove(&o->pods, facts.uid);
	if (ref)
		tell_change(o, ref, NULL, &facts);
	tell_any(o, NULL, &facts);
}

static void pod_came(struct owned *o, const json_t *obj)
{
	struct owned_pod *p = xcalloc(1, sizeof(*p));
	const json_t *ref = controller_of(obj);

	p->facts = pod_facts(obj);
	json_incref((json_t *)obj);
	map_set(&o->pods, p->facts.uid, p);
	place(o, p);
	join_node(o, p);
	see(o, &p->facts, false);
	if (ref)
		tell_change(o, ref, &p->facts, NULL);
	else
		tell_orphan(o, &p->facts);
	tell_any(o, &p->facts, NULL);
}

static void pod_changed(struct owned *o, struct owned_pod *p, const json_t *obj)
{
	struct pod_facts old = p->facts;
	json_auto_t *before = (json_t *)old.obj; /* the entry's reference, until all are told */
	const json_t *was = controller_of(before);
	const json_t *ref = controller_of(obj);
	bool same = str_same(jsonx_str(was, "uid"), jsonx_str(ref, "uid"));

	json_incref((json_t *)obj);
	p->facts = pod_facts(obj);
	if (!same || !json_equal(jsonx_at(before, "metadata.labels"), jsonx_at(obj, "metadata.labels")))
		p->checked = false;
	if (!same) {
		displace(o, p);
		place(o, p);
	}
	if (!streq(p->facts.node, p->node ? p->node->name : "")) {
		leave_node(o, p);
		join_node(o, p);
	}
	see(o, &p->facts, false);
	if (was && !same)
		tell_change(o, was, NULL, &old);
	if (ref)
		tell_change(o, ref, &p->facts, same ? &old : NULL);
	else
		tell_orphan(o, &p->facts);
	tell_any(o, &p->facts, &old);
}

static void on_pod(void *arg, const json_t *obj, const json_t *old)
{
	struct owned *o = arg;
	const char *uid = jsonx_str_or(obj, "metadata.uid", "");
	const char *was = jsonx_str_or(old, "metadata.uid", "");
	struct owned_pod *p;

	/* One of the same name may have taken its place while nobody watched. */
	if (old && !streq(uid, was) && (p = map_find(&o->pods, was)))
		pod_gone(o, p);
	if (!obj)
		return;
	p = map_find(&o->pods, uid);
	if (p)
		pod_changed(o, p, obj);
	else
		pod_came(o, obj);
}

static void on_synced(void *arg)
{
	struct owned *o = arg;

	for (const struct follower *f = o->followers; f; f = f->next)
		f->h.synced(f->h.arg);
}

/* ---- asking ---- */

bool owned_synced(const struct owned *o)
{
	return informer_synced(o->informer);
}

struct owned_list owned_by(const struct owned *o, const char *owner_uid)
{
	const struct owner *w = map_find(&o->owners, owner_uid);

	return w ? (struct owned_list){ w->list.pods, w->list.n } : (struct owned_list){ NULL, 0 };
}

struct owned_list owned_orphans(const struct owned *o, const char *ns)
{
	const struct space *s = map_find(&o->spaces, ns);

	return s ? (struct owned_list){ s->list.pods, s->list.n } : (struct owned_list){ NULL, 0 };
}

const struct owned_pod *owned_find(const struct owned *o, const char *pod_uid)
{
	return map_find(&o->pods, pod_uid);
}

const struct owned_pod *owned_on(const struct owned *o, const char *node)
{
	const struct owned_node *n = map_find(&o->nodes, node);

	return n ? n->first : NULL;
}

bool owned_next(const struct owned *o, size_t *pos, const struct owned_pod **ret)
{
	void *v = NULL;

	if (!map_next(&o->pods, pos, NULL, &v))
		return false;
	*ret = v;
	return true;
}

/* ---- expecting ---- */

static void expect(struct owned *o, const char *owner_uid, const char *pod_uid, bool gone)
{
	struct expected *x = xcalloc(1, sizeof(*x));

	*x = (struct expected){ xstrdup(owner_uid), gone, clock_mono_ms() + EXPECT_MS };
	map_set(&o->expected, pod_uid, x);
}

void owned_expect(struct owned *o, const char *owner_uid, const json_t *created)
{
	const char *uid = jsonx_str_or(created, "metadata.uid", "");

	if (!map_find(&o->pods, uid))
		expect(o, owner_uid, uid, false);
}

void owned_expect_gone(struct owned *o, const char *owner_uid, const char *pod_uid)
{
	const struct owned_pod *p = map_find(&o->pods, pod_uid);

	if (p && !p->facts.deleting)
		expect(o, owner_uid, pod_uid, true);
}

/* With the API in this process nothing is ever expected here: what is written is seen before its answer comes. */
bool owned_settled(struct owned *o, const char *owner_uid)
{
	int64_t now = clock_mono_ms();
	bool settled = true;
	const char *uid;
	size_t pos = 0;
	void *v;

	while (o->expected.n && map_next(&o->expected, &pos, &uid, &v)) {
		const struct expected *x = v;

		if (x->until <= now)
			map_remove(&o->expected, uid);
		else if (streq(x->owner, owner_uid))
			settled = false;
	}
	return settled;
}

static void on_room(void *arg, const char *ns)
{
	struct owned *o = arg;

	for (struct follower *f = o->followers; f; f = f->next)
		if (f->h.room)
			f->h.room(f->h.arg, ns);
}

/* ---- life ---- */

void owned_follow(struct owned *o, const struct owned_handlers *h)
{
	struct follower *f = xcalloc(1, sizeof(*f));

	f->h = *h;
	f->next = o->followers;
	o->followers = f;
}

void owned_unfollow(struct owned *o, void *arg)
{
	for (struct follower **at = &o->followers; *at; at = &(*at)->next)
		if ((*at)->h.arg == arg) {
			struct follower *f = *at;

			*at = f->next;
			free(f);
			return;
		}
}

struct owned *owned_new(struct client *c)
{
	struct owned *o = xcalloc(1, sizeof(*o));

	o->client = c;
	map_init(&o->pods, pod_free);
	map_init(&o->owners, owner_free);
	map_init(&o->spaces, space_free);
	map_init(&o->nodes, node_free);
	map_init(&o->expected, expected_free);
	o->informer = informer_new(c, &(struct ref){ .api_version = "v1", .plural = "pods" }, NULL,
				   &(struct informer_handlers){ .change = on_pod, .synced = on_synced, .arg = o });
	o->room = room_new(c, on_room, o);
	return o;
}

void owned_free(struct owned *o)
{
	if (!o)
		return;
	informer_free(o->informer);
	room_free(o->room);
	map_done(&o->pods);
	map_done(&o->owners);
	map_done(&o->spaces);
	map_done(&o->nodes);
	map_done(&o->expected);
	free(o);
}
