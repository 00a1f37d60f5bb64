// SPDX-License-Identifier: Apache-2.0
/* children.c - an informer with an index by controller and, for objects without, by namespace */
#include "control/children.h"

#include "base/clock.h"
#include "base/jsonx.h"
#include "base/map.h"
#include "base/mem.h"
#include "control/pod_facts.h"
#include "kinds/selector.h"

#define EXPECT_MS 30000 /* then it will not come any more: it went before we could see it */

/* A write that is not seen yet. */
struct expected {
	char *owner, *revision;
	int64_t until;
};

struct children {
	const struct children_kind *kind;
	void *arg;
	struct informer *informer;
	struct map owned;    /* uid of an owner -> json object {child's uid: child} */
	struct map orphans;  /* namespace -> the same */
	struct map expected; /* child's uid -> struct expected */
};

static void decref(void *v)
{
	json_decref(v);
}

static void expected_free(void *p)
{
	struct expected *x = p;

	free(x->owner);
	free(x->revision);
	free(x);
}

/* ---- keeping ---- */

static void put(struct map *groups, const char *group, const json_t *child, bool there)
{
	const char *uid = jsonx_str_or(child, "metadata.uid", "");
	json_t *members = map_find(groups, group);

	if (!members && there) {
		members = json_object();
		map_set(groups, group, members);
	}
	if (there)
		json_object_set(members, uid, (json_t *)child);
	else
		json_object_del(members, uid);
	if (members && !json_object_size(members))
		map_remove(groups, group);
}

/* The reference to its owner if that is of the kind we follow, else NULL. */
static const json_t *owner_ref(const struct children *ch, const json_t *child)
{
	const json_t *ref = controller_of(child);

	return str_same(jsonx_str(ref, "kind"), ch->kind->owner) ? ref : NULL;
}

static bool is_orphan(const struct children *ch, const json_t *child)
{
	return ch->kind->orphan && child && !controller_of(child);
}

/* What belongs to others is not even kept: an operator would have every ConfigMap of the cluster in memory. */
static bool is_of_interest(void *arg, const json_t *child)
{
	return owner_ref(arg, child) || is_orphan(arg, child);
}

static void place(struct children *ch, const json_t *child, bool there)
{
	const json_t *ref = owner_ref(ch, child);

	if (ref)
		put(&ch->owned, jsonx_str_or(ref, "uid", ""), child, there);
	else if (is_orphan(ch, child))
		put(&ch->orphans, jsonx_str_or(child, "metadata.namespace", ""), child, there);
}

static void tell_owner(struct children *ch, const json_t *child)
{
	const json_t *ref = owner_ref(ch, child);
	auto_free char *key = NULL;

	if (!ref)
		return;
	key = xasprintf("%s/%s", jsonx_str_or(child, "metadata.namespace", ""), jsonx_str_or(ref, "name", ""));
	ch->kind->change(ch->arg, key);
}

static bool same_labels(const json_t *a, const json_t *b)
{
	const json_t *x = jsonx_at(a, "metadata.labels");
	const json_t *y = jsonx_at(b, "metadata.labels");

	return x == y || json_equal(x, y);
}

static void on_change(void *arg, const json_t *obj, const json_t *old)
{
	struct children *ch = arg;

	if (old)
		place(ch, old, false);
	if (obj)
		place(ch, obj, true);
	else
		map_remove(&ch->expected, jsonx_str_or(old, "metadata.uid", ""));
	tell_owner(ch, old);
	tell_owner(ch, obj);
	if (is_orphan(ch, obj) && !(is_orphan(ch, old) && same_labels(obj, old)))
		ch->kind->orphan(ch->arg, obj);
}

static void on_synced(void *arg)
{
	struct children *ch = arg;

	ch->kind->synced(ch->arg);
}

/* ---- asking ---- */

bool children_synced(const struct children *ch)
{
	return ch->informer && informer_synced(ch->informer);
}

size_t children_of(const struct children *ch, const char *owner_uid, const json_t ***ret)
{
	json_t *members = map_find(&ch->owned, owner_uid);
	const json_t **all = xcalloc(json_object_size(members) + 1, sizeof(*all));
	const char *uid;
	json_t *child;
	size_t n = 0;

	json_object_foreach (members, uid, child)
		all[n++] = child;
	*ret = all;
	return n;
}

const json_t *children_find(const struct children *ch, const char *ns, const char *name)
{
	return informer_find(ch->informer, ns, name);
}

/* ---- expecting ---- */

void children_expect(struct children *ch, const char *owner_uid, const json_t *written)
{
	const char *uid = jsonx_str_or(written, "metadata.uid", "");
	const char *revision = jsonx_str_or(written, "metadata.resourceVersion", "");
	const json_t *child = json_object_get(map_find(&ch->owned, owner_uid), uid);
	struct expected *x;

	if (child && calls_seen(child, revision))
		return;
	x = xcalloc(1, sizeof(*x));
	*x = (struct expected){ xstrdup(owner_uid), xstrdup(revision), clock_mono_ms() + EXPECT_MS };
	map_set(&ch->expected, uid, x);
}

bool children_settled(struct children *ch, const char *owner_uid)
{
	const json_t *members = map_find(&ch->owned, owner_uid);
	int64_t now = clock_mono_ms();
	bool settled = true;
	const char *uid;
	size_t pos = 0;
	void *v;

	while (ch->expected.n && map_next(&ch->expected, &pos, &uid, &v)) {
		const struct expected *x = v;
		const json_t *child = streq(x->owner, owner_uid) ? json_object_get(members, uid) : NULL;

		if (x->until <= now || (child && calls_seen(child, x->revision)))
			map_remove(&ch->expected, uid);
		else if (streq(x->owner, owner_uid))
			settled = false;
	}
	return settled;
}

/* ---- claiming ---- */

static bool matches(const struct claim_request *r, const json_t *child)
{
	return selector_match_labels(r->selector, jsonx_at(child, "metadata.labels"));
}

bool children_claim(struct children *ch, struct calls *calls, const char *key, const struct claim_request *r)
{
	json_t *own = map_find(&ch->owned, jsonx_str_or(r->owner, "metadata.uid", ""));
	json_t *orphans = map_find(&ch->orphans, jsonx_str_or(r->owner, "metadata.namespace", ""));
	bool called = false;
	const char *uid;
	json_t *child;

	if (jsonx_at(r->owner, "metadata.deletionTimestamp"))
		return false;
	json_object_foreach (own, uid, child)
		if (!matches(r, child)) {
			struct ref ref = calls_ref(ch->kind->api_version, ch->kind->plural, child);

			adoption_release(calls, key, r, &ref, child);
			called = true;
		}
	json_object_foreach (orphans, uid, child)
		if (r->adopt && !jsonx_at(child, "metadata.deletionTimestamp") && matches(r, child)) {
			struct ref ref = calls_ref(ch->kind->api_version, ch->kind->plural, child);

			adoption_adopt(calls, key, r, &ref, child);
			called = true;
		}
	return called;
}

/* ---- life ---- */

struct children *children_new(struct client *c, const struct children_kind *kind, void *arg)
{
	struct children *ch = xcalloc(1, sizeof(*ch));

	ch->kind = kind;
	ch->arg = arg;
	map_init(&ch->owned, decref);
	map_init(&ch->orphans, decref);
	map_init(&ch->expected, expected_free);
	ch->informer =
		informer_new(c, &(struct ref){ .api_version = kind->api_version, .plural = kind->plural }, NULL,
			     &(struct informer_handlers){
				     .change = on_change, .synced = on_synced, .arg = ch, .keep = is_of_interest });
	return ch;
}

void children_free(struct children *ch)
{
	if (!ch)
		return;
	informer_free(ch->informer);
	map_done(&ch->owned);
	map_done(&ch->orphans);
	map_done(&ch->expected);
	free(ch);
}
