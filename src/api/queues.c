// SPDX-License-Identifier: Apache-2.0
/* queues.c - see queue_parts.h
 *
 * All Queues are kept, decoded: they are few.  A write of one that changes more than its status has them read again.
 *
 * Work in queues that limit it is counted as quota.c counts: from the store when it is first asked for, then with every
 * write, in the write's own turn, so no two submissions see the same room.  What was counted is remembered by uid; so
 * it is given back as it was charged, even if its namespace has another owner by then.
 */
#include "api/accounts.h"
#include "api/object.h"
#include "api/pod_owner.h"
#include "api/queue_parts.h"
#include "base/jsonx.h"
#include "base/mem.h"
#include "kinds/walltime.h"

/* One work as it is counted. */
struct entry {
	char *uid, *ns, *queue, *user, *group;
	bool pod;
	struct amount_of_limits jobs; /* an array's elements are a job each */
};

static void entry_free(void *v)
{
	struct entry *n = v;

	free(n->uid);
	free(n->ns);
	free(n->queue);
	free(n->user);
	free(n->group);
	free(n);
}

static void known_free(void *v)
{
	struct queue_known *q = v;

	free(q->name);
	json_decref(q->spec);
	limits_use_done(&q->use);
	quota_done(&q->quota);
	free(q);
}

static void forget_all(struct queues *qs)
{
	map_done(&qs->known);
	map_init(&qs->known, known_free);
	map_done(&qs->entries);
	map_init(&qs->entries, entry_free);
	qs->loaded = qs->counted = qs->limits_queued = false;
	qs->above_rv = 0;
}

static void on_lost(void *arg)
{
	forget_all(arg);
}

struct queues *queues_new(struct api *api)
{
	struct queues *qs = xcalloc(1, sizeof(*qs));

	*qs = (struct queues){ .api = api,
			       .kind = { .group = "stoker.dev", .version = "v1", .plural = "queues" },
			       .guard = { .lost = on_lost, .arg = qs } };
	map_init(&qs->known, known_free);
	map_init(&qs->entries, entry_free);
	return qs;
}

void queues_free(struct queues *qs)
{
	if (!qs)
		return;
	turn_guard_done(&qs->guard);
	map_done(&qs->known);
	map_done(&qs->entries);
	free(qs);
}

/* ---- which there are ---- */

static int64_t read_time(const json_t *spec, const char *field)
{
	const char *text = jsonx_str(spec, field);
	int64_t seconds;

	return text && walltime_parse(text, &seconds) ? seconds : TIME_NONE;
}

static struct queue_known *known_new(const json_t *obj)
{
	struct queue_known *q = xcalloc(1, sizeof(*q));

	q->name = xstrdup(jsonx_str_or(obj, "metadata.name", ""));
	q->spec = json_incref(json_object_get(obj, "spec"));
	limits_read(&q->limits, json_object_get(q->spec, "limits"));
	limits_use_init(&q->use);
	quota_read(&q->quota, q->spec);
	q->limited = json_object_size(json_object_get(q->spec, "limits")) > 0;
	for (int scope = 0; scope < LIMIT_SCOPE__COUNT; scope++)
		q->limits_queued |= q->limits.most[scope].v[LIMIT_QUEUED] >= 0;
	q->default_walltime = read_time(q->spec, "defaultWalltime");
	q->max_walltime = read_time(q->spec, "maxWalltime");
	q->min_walltime = read_time(q->spec, "minWalltime");
	return q;
}

struct loading {
	struct queues *qs;
	struct err *e;
};

static bool on_queue(void *arg, const struct record *r)
{
	struct loading *l = arg;
	json_auto_t *obj = NULL;
	struct queue_known *q;

	if (object_parse(r->body, &obj, l->e) < 0)
		return false;
	q = known_new(obj);
	l->qs->limits_queued |= q->limits_queued;
	map_set(&l->qs->known, q->name, q);
	return true;
}

static int load(struct queues *qs, struct err *e)
{
	struct loading l = { qs, e };

	if (qs->loaded)
		return 0;
	forget_all(qs);
	if (stored_resolve(qs->api, &qs->kind, e) < 0 ||
	    store_list(api_store(qs->api), &(struct store_range){ .kind = qs->kind.number }, on_queue, &l, e) < 0 ||
	    e->kind != ERR_NONE)
		return -1;
	qs->loaded = true;
	turn_guard_watch_read(&qs->guard, api_store(qs->api));
	return 0;
}

int queues_find(struct api *api, const char *name, struct queue_known **ret, struct err *e)
{
	struct queues *qs = api_queues(api);

	if (load(qs, e) < 0)
		return -1;
	*ret = map_find(&qs->known, name);
	return 0;
}

static int by_name(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

int64_t queues_cohort(struct api *api, const struct queue_known *q, enum limit_of of)
{
	int64_t all = 0;
	size_t pos = 0;
	void *v;

	while (map_next(&api_queues(api)->known, &pos, NULL, &v)) {
		const struct quota *other = &((const struct queue_known *)v)->quota;

		if (other->some && str_same(other->cohort, q->quota.cohort) && other->own.v[of] > 0)
			all += other->own.v[of];
	}
	return all;
}

void queues_list(struct api *api, struct sbuf *out)
{
	const struct map *known = &api_queues(api)->known;
	auto_free const char **names = xcalloc(known->n + 1, sizeof(*names));
	size_t n = 0;
	size_t pos = 0;

	while (map_next(known, &pos, &names[n], NULL))
		n++;
	qsort(names, n, sizeof(*names), by_name);
	for (size_t i = 0; i < n; i++)
		sbuf_addf(out, "%s%s", i ? ", " : "", names[i]);
}

/* ---- how much is in them ---- */

static struct entry *entry_new(const struct kind *k, const json_t *obj)
{
	struct entry *n = xcalloc(1, sizeof(*n));
	const char *queue = queue_label(obj);

	n->pod = queue_is_pod(k);
	n->uid = xstrdup(jsonx_str_or(obj, "metadata.uid", ""));
	n->ns = xstrdup(jsonx_str_or(obj, "metadata.namespace", ""));
	n->queue = xstrdup(*queue ? queue : QUEUE_DEFAULT);
	n->user = xstrdup(work_note(obj, n->pod ? USER_ANNOTATION : CREATOR_ANNOTATION));
	n->group = xstrdup(n->pod ? work_note(obj, GROUP_ANNOTATION) : "");
	n->jobs.v[LIMIT_QUEUED] = queue_jobs(k, obj);
	return n;
}

/* A workload says who wrote it; who is charged follows from that and from its namespace, as for its pods. */
static void find_user(struct queues *qs, struct entry *n)
{
	const struct account *acc;
	const json_t *namespace = NULL;
	struct err e = ERR_INIT;

	if (!n->pod && stored_namespace(qs->api, n->ns, &namespace, &e) == 0 &&
	    *work_note(namespace, OWNER_ANNOTATION)) {
		free(n->user);
		n->user = xstrdup(work_note(namespace, OWNER_ANNOTATION));
	}
	if (!n->pod && *n->user && (acc = accounts_find(api_accounts(qs->api), n->user, &e))) {
		free(n->group);
		n->group = xstrdup(acc->group);
	}
	if (!*n->user) {
		free(n->user);
		n->user = xstrdup(n->ns);
	}
}

/* Takes it. */
static void enter(struct queues *qs, struct entry *n)
{
	struct queue_known *q = map_find(&qs->known, n->queue);

	if (!q || !q->limits_queued) {
		entry_free(n);
		return;
	}
	find_user(qs, n);
	limits_count(&q->use, n->user, n->group, &n->jobs, 1);
	map_set(&qs->entries, n->uid, n);
}

static void leave(struct queues *qs, const struct entry *n)
{
	struct queue_known *q = map_find(&qs->known, n->queue);

	if (q)
		limits_count(&q->use, n->user, n->group, &n->jobs, -1);
	map_remove(&qs->entries, n->uid);
}

struct counting {
	struct queues *qs;
	const struct kind *kind;
	struct entry **found;
	size_t n, cap;
	struct err *e;
};

static bool on_counted(void *arg, const struct record *r)
{
	struct counting *c = arg;
	const struct queue_known *batch = map_find(&c->qs->known, QUEUE_DEFAULT);
	json_auto_t *obj = NULL;

	/* Most is a controller's, or in a queue that does not count: it need not be decoded. */
	if (queue_mentions(r->body, "\"controller\":true") ||
	    (!(batch && batch->limits_queued) && !queue_mentions(r->body, "\"" QUEUE_LABEL "\":\"")))
		return true;
	if (object_parse(r->body, &obj, c->e) < 0)
		return false;
	if (queue_counts(c->kind, obj))
		ARRAY_PUSH(c->found, c->n, c->cap, entry_new(c->kind, obj));
	return true;
}

static int count_kind(struct queues *qs, const struct kind *k, struct err *e)
{
	struct counting c = { .qs = qs, .kind = k, .e = e };
	struct store_range all = { 0 };
	int r;

	if (api_store_kind(qs->api, k, &all.kind, e) < 0)
		return -1;
	r = store_list(api_store(qs->api), &all, on_counted, &c, e);
	for (size_t i = 0; i < c.n; i++)
		enter(qs, c.found[i]);
	free(c.found);
	return r < 0 || e->kind != ERR_NONE ? -1 : 0;
}

static int count(struct queues *qs, struct err *e)
{
	const struct kind *k;

	if (qs->counted)
		return 0;
	for (size_t i = 0; (k = registry_at(api_registry(qs->api), i)); i++)
		if (kind_storage(k) == k && queue_concerns(k) && count_kind(qs, k, e) < 0) {
			forget_all(qs);
			return -1;
		}
	qs->counted = true;
	turn_guard_watch_read(&qs->guard, api_store(qs->api));
	return 0;
}

int queues_full(struct api *api, struct queue_known *q, const char *user, const char *group, int64_t jobs,
		struct limit_hit *ret_hit, struct err *e)
{
	struct amount_of_limits more = { .v[LIMIT_QUEUED] = jobs };

	if (!q->limits_queued)
		return 0;
	if (count(api_queues(api), e) < 0)
		return -1;
	return limits_exceeded(&q->limits, &q->use, user, group, &more, ret_hit);
}

/* ---- writes ---- */

static void work_written(struct queues *qs, const struct kind *k, const json_t *obj, const json_t *old)
{
	const struct entry *n = map_find(&qs->entries, jsonx_str_or(obj ? obj : old, "metadata.uid", ""));
	const char *queue = queue_label(obj);
	bool counts = obj && queue_counts(k, obj);

	if (n && (!counts || !streq(n->queue, *queue ? queue : QUEUE_DEFAULT))) {
		leave(qs, n);
		n = NULL;
	}
	if (!n && counts)
		enter(qs, entry_new(k, obj));
	turn_guard_watch(&qs->guard, api_store(qs->api));
}

void queue_written(struct api *api, const struct kind *k, const json_t *obj, const json_t *old)
{
	struct queues *qs = api_queues(api);

	if (qs->loaded && k == qs->kind.kind) {
		if (!obj || !old || !jsonx_equal(json_object_get(obj, "spec"), json_object_get(old, "spec")))
			forget_all(qs);
	} else if (qs->counted && qs->limits_queued && queue_concerns(k)) {
		work_written(qs, k, obj, old);
	}
}
