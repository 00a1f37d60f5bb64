// SPDX-License-Identifier: Apache-2.0
/* quota.c - the account: which quotas there are, and what is used of them
 *
 * What is used is counted from the store when a namespace's quotas are first looked at, and follows every write from
 * then on, in the write's own turn.  A write is checked against it (quota_admit) and charged when the store has taken
 * it (quota_written); nothing comes between the two, so no two writes ever see the same room.  If the turn's commit
 * fails everything is forgotten and counted again.
 *
 * The status of a quota only tells what the account says (quota_status.c); nobody decides by it.  Namespaces without
 * quotas cost one look into a map.
 */
#include "api/quota_parts.h"

#include "api/object.h"
#include "base/clock.h"
#include "base/jsonx.h"
#include "base/mem.h"

static void space_free(void *arg)
{
	struct quota_space *s = arg;

	for (size_t i = 0; i < s->n; i++)
		quota_free(s->quotas[i]);
	free(s->quotas);
	free(s->ns);
	free(s);
}

static void forget_all(struct quotas *qs)
{
	quota_status_forget(qs, NULL);
	map_done(&qs->spaces);
	map_init(&qs->spaces, space_free);
	qs->loaded = false;
}

static void on_lost(void *arg)
{
	struct quotas *qs = arg;

	forget_all(qs);
	loop_schedule(api_loop(qs->api), &qs->hook);
}

struct quotas *quotas_new(struct api *api)
{
	struct quotas *qs = xcalloc(1, sizeof(*qs));

	*qs = (struct quotas){
		.api = api,
		.kinds = {
			[QUOTA_PODS_KIND] = { .group = "", .version = "v1", .plural = "pods" },
			[QUOTA_CLAIMS_KIND] = { .group = "", .version = "v1", .plural = "persistentvolumeclaims" },
			[QUOTA_SERVICES_KIND] = { .group = "", .version = "v1", .plural = "services" },
			[QUOTA_OWN_KIND] = { .group = "", .version = "v1", .plural = "resourcequotas" },
		},
		.guard = { .lost = on_lost, .arg = qs },
	};
	map_init(&qs->spaces, space_free);
	quota_status_init(qs);
	return qs;
}

void quotas_free(struct quotas *qs)
{
	if (!qs)
		return;
	turn_guard_done(&qs->guard);
	quota_status_done(qs);
	map_done(&qs->spaces);
	free(qs);
}

/* ---- quotas come and go ---- */

static struct quota **find_slot(struct quota_space *s, const char *name)
{
	for (size_t i = 0; i < s->n; i++)
		if (streq(s->quotas[i]->name, name))
			return &s->quotas[i];
	return NULL;
}

static void put_in_order(struct quota_space *s, struct quota *q)
{
	size_t at;

	ARRAY_PUSH(s->quotas, s->n, s->cap, q);
	for (at = s->n - 1; at > 0 && strcmp(s->quotas[at - 1]->name, q->name) > 0; at--)
		s->quotas[at] = s->quotas[at - 1];
	s->quotas[at] = q;
}

static void quota_put(struct quotas *qs, const json_t *obj)
{
	const char *ns = jsonx_str_or(obj, "metadata.namespace", "");
	struct quota_space *s = map_find(&qs->spaces, ns);
	struct quota *q = quota_new(obj);
	struct quota **slot;

	if (!s) {
		s = xcalloc(1, sizeof(*s));
		s->ns = xstrdup(ns);
		map_set(&qs->spaces, ns, s);
	}
	slot = find_slot(s, q->name);
	if (slot) {
		s->counted &= quota_inherit(q, *slot);
		quota_free(*slot);
		*slot = q;
	} else {
		s->counted = false;
		put_in_order(s, q);
	}
	quota_status_queue(qs, s);
}

static void quota_drop(struct quotas *qs, const json_t *obj)
{
	struct quota_space *s = map_find(&qs->spaces, jsonx_str_or(obj, "metadata.namespace", ""));
	struct quota **slot = s ? find_slot(s, jsonx_str_or(obj, "metadata.name", "")) : NULL;

	if (!slot)
		return;
	quota_free(*slot);
	memmove(slot, slot + 1, (size_t)(s->quotas + --s->n - slot) * sizeof(struct quota *));
	if (s->n)
		return;
	quota_status_forget(qs, s);
	map_remove(&qs->spaces, s->ns);
}

struct loading {
	struct quotas *qs;
	struct err *e;
};

static bool on_quota(void *arg, const struct record *r)
{
	struct loading *l = arg;
	json_auto_t *obj = NULL;

	if (object_parse(r->body, &obj, l->e) < 0)
		return false;
	quota_put(l->qs, obj);
	return true;
}

int quotas_load(struct quotas *qs, struct err *e)
{
	struct stored_kind *own = &qs->kinds[QUOTA_OWN_KIND];
	struct loading l = { qs, e };

	if (qs->loaded)
		return 0;
	for (size_t i = 0; i < QUOTA_KIND__COUNT; i++)
		if (stored_resolve(qs->api, &qs->kinds[i], e) < 0)
			return -1;
	forget_all(qs);
	if (store_list(api_store(qs->api), &(struct store_range){ .kind = own->number }, on_quota, &l, e) < 0 ||
	    e->kind != ERR_NONE)
		return -1;
	qs->loaded = true;
	turn_guard_watch_read(&qs->guard, api_store(qs->api));
	return 0;
}

/* ---- counting ---- */

/* Pods on their way out are watched for the moment at which they count no more. */
static void follow_leaving(struct quotas *qs, struct quota_space *s, const json_t *pod, const json_t *before)
{
	int64_t deadline = quota_pod_deadline(pod);

	s->leaving += (unsigned)(deadline != 0) - (unsigned)(quota_pod_deadline(before) != 0);
	if (deadline)
		quota_status_wake(qs, s, deadline);
}

struct counting {
	struct quotas *qs;
	struct quota_space *space;
	const struct kind *kind;
	struct err *e;
};

/* Objects of most kinds need not be looked at to be counted. */
static bool is_plain_count(const struct quota *q, const struct quota_item *i)
{
	return i->measure == QUOTA_COUNT && !json_array_size(q->scopes);
}

static bool on_counted(void *arg, const struct record *r)
{
	struct counting *c = arg;
	struct quota_space *s = c->space;
	struct quota_subject subject;
	json_auto_t *obj = NULL;

	if (object_parse(r->body, &obj, c->e) < 0)
		return false;
	quota_subject_init(&subject, c->kind, obj, s->as_of);
	for (size_t i = 0; i < s->n; i++) {
		if (!quota_matches(s->quotas[i], &subject))
			continue;
		for (size_t k = 0; k < s->quotas[i]->n; k++) {
			struct quota_item *item = &s->quotas[i]->items[k];
			struct quantity amount = quota_measure(&subject, item);

			if (!is_plain_count(s->quotas[i], item))
				quantity_add(&item->used, &amount, 1);
		}
	}
	if (subject.pod)
		follow_leaving(c->qs, s, obj, NULL);
	quota_subject_done(&subject);
	return true;
}

/* Which kind's objects must be read for an item; -1 if none. */
static int kind_to_read(const struct quota *q, const struct quota_item *i)
{
	static const int rows[QUOTA_MEASURE__COUNT] = {
		[QUOTA_NOTHING] = -1,
		[QUOTA_COUNT] = QUOTA_PODS_KIND, /* with scopes, which only pods have */
		[QUOTA_PODS] = QUOTA_PODS_KIND,
		[QUOTA_REQUEST] = QUOTA_PODS_KIND,
		[QUOTA_LIMIT] = QUOTA_PODS_KIND,
		[QUOTA_CLAIMS] = QUOTA_CLAIMS_KIND,
		[QUOTA_STORAGE] = QUOTA_CLAIMS_KIND,
		[QUOTA_NODE_PORTS] = QUOTA_SERVICES_KIND,
		[QUOTA_BALANCERS] = QUOTA_SERVICES_KIND,
	};

	return is_plain_count(q, i) ? -1 : rows[i->measure];
}

/* Objects of the kind that an item names; none if it is not served (yet). */
static int count_plain(struct quotas *qs, const char *ns, struct quota_item *i, struct err *e)
{
	const struct kind *k = registry_preferred(api_registry(qs->api), i->of, i->what);
	struct quantity n = { .format = 'd' };
	int number;

	if (k && k->namespaced && !(k->flags & (KIND_EXPIRES | KIND_VIRTUAL))) {
		if (api_store_kind(qs->api, k, &number, e) < 0)
			return -1;
		n.nano = (__int128)store_count(api_store(qs->api), number, ns) * 1000000000;
	}
	i->used = n;
	return 0;
}

/* Starts every item: at its count, or at nothing.  *ret_read says by bits which kinds are still to be read. */
static int count_begin(struct quotas *qs, struct quota_space *s, unsigned *ret_read, struct err *e)
{
	*ret_read = 0;
	for (size_t i = 0; i < s->n; i++) {
		for (size_t k = 0; k < s->quotas[i]->n; k++) {
			struct quota_item *item = &s->quotas[i]->items[k];
			int kind = kind_to_read(s->quotas[i], item);

			item->used = (struct quantity){ .format = 'd' };
			if (kind >= 0)
				*ret_read |= 1u << kind;
			else if (item->measure == QUOTA_COUNT && count_plain(qs, s->ns, item, e) < 0)
				return -1;
		}
	}
	return 0;
}

int quota_space_count(struct quotas *qs, struct quota_space *s, struct err *e)
{
	unsigned to_read;

	if (s->counted)
		return 0;
	s->as_of = clock_wall();
	s->deadline = 0;
	s->leaving = 0;
	if (count_begin(qs, s, &to_read, e) < 0)
		return -1;
	for (int kind = 0; kind < QUOTA_KIND__COUNT; kind++) {
		struct store_range all = { .kind = qs->kinds[kind].number, .ns = s->ns };
		struct counting c = { qs, s, qs->kinds[kind].kind, e };

		if (!(to_read & 1u << kind))
			continue;
		if (store_list(api_store(qs->api), &all, on_counted, &c, e) < 0 || e->kind != ERR_NONE)
			return -1;
	}
	s->counted = true;
	turn_guard_watch_read(&qs->guard, api_store(qs->api));
	return 0;
}

/* ---- writes ---- */

/* Events come and go by themselves, and no quota has ever counted them. */
static bool is_counted_kind(const struct kind *k)
{
	return k->namespaced && !(k->flags & KIND_EXPIRES);
}

static int check(struct quota_space *s, struct quota_subject *now, struct quota_subject *before, struct err *e)
{
	for (size_t i = 0; !before && i < s->n; i++)
		if (quota_check_stated(s->quotas[i], now, e) < 0)
			return -1;
	for (size_t i = 0; i < s->n; i++)
		if (quota_check_room(s->quotas[i], now, before, e) < 0)
			return -1;
	return 0;
}

int quota_admit(struct api *api, const struct api_request *req, json_t *obj, const json_t *old, struct err *e)
{
	struct quotas *qs = api_quotas(api);
	struct quota_subject now;
	struct quota_subject before = { 0 };
	struct quota_space *s;
	int r;

	if (req->subresource || !is_counted_kind(req->kind))
		return 0;
	if (quotas_load(qs, e) < 0)
		return -1;
	s = map_find(&qs->spaces, req->ns);
	if (!s)
		return 0;
	if (quota_space_count(qs, s, e) < 0)
		return -1;
	quota_subject_init(&now, req->kind, obj, s->as_of);
	if (old)
		quota_subject_init(&before, req->kind, old, s->as_of);
	r = check(s, &now, old ? &before : NULL, e);
	quota_subject_done(&now);
	quota_subject_done(&before);
	if (r < 0 && e->kind == ERR_FORBIDDEN) {
		char resource[320];

		kind_resource_name(req->kind, resource, sizeof(resource));
		err_prefix(e, "%.200s \"%.250s\" is forbidden", resource, jsonx_str_or(obj, "metadata.name", ""));
	}
	return r;
}

static void charge(struct quotas *qs, struct quota_space *s, const struct kind *k, const json_t *obj, const json_t *old)
{
	struct quota_subject now = { 0 };
	struct quota_subject before = { 0 };
	bool changed = false;

	if (obj)
		quota_subject_init(&now, k, obj, s->as_of);
	if (old)
		quota_subject_init(&before, k, old, s->as_of);
	for (size_t i = 0; i < s->n; i++)
		changed |= quota_charge(s->quotas[i], obj ? &now : NULL, old ? &before : NULL);
	if (now.pod || before.pod)
		follow_leaving(qs, s, obj, old);
	quota_subject_done(&now);
	quota_subject_done(&before);
	if (changed)
		quota_status_queue(qs, s);
}

/* Whether a status says what the account does. */
static bool is_told(struct quota_space *s, const json_t *obj)
{
	struct quota **slot = find_slot(s, jsonx_str_or(obj, "metadata.name", ""));
	json_auto_t *status = slot ? quota_status(*slot) : NULL;

	return jsonx_equal(status, json_object_get(obj, "status"));
}

static void quota_object_written(struct quotas *qs, const json_t *obj, const json_t *old)
{
	struct quota_space *s = map_find(&qs->spaces, jsonx_str_or(obj ? obj : old, "metadata.namespace", ""));

	if (!obj)
		quota_drop(qs, old);
	else if (!old || !s || !json_equal(json_object_get(obj, "spec"), json_object_get(old, "spec")))
		quota_put(qs, obj);
	else if (!is_told(s, obj))
		quota_status_queue(qs, s);
}

void quota_written(struct api *api, const struct kind *k, const json_t *obj, const json_t *old)
{
	struct quotas *qs = api_quotas(api);
	struct quota_space *s;

	if (!qs->loaded || !is_counted_kind(k)) /* the hook that loads everything is on its way: quota_status.c */
		return;
	s = map_find(&qs->spaces, jsonx_str_or(obj ? obj : old, "metadata.namespace", ""));
	if (s && s->counted) {
		charge(qs, s, k, obj, old);
		turn_guard_watch(&qs->guard, api_store(api));
	}
	if (kind_storage(k) == qs->kinds[QUOTA_OWN_KIND].kind) {
		quota_object_written(qs, obj, old);
		turn_guard_watch(&qs->guard, api_store(api));
	}
}
