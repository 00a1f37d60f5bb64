// SPDX-License-Identifier: Apache-2.0
/* keeper.c - when to look at an object, and the writes that all controllers of pods make
 *
 * An object is planned for only on knowledge that includes our own last writes: pods that were made or deleted are
 * expected in `owned`, a status that was written has its revision in `written`.
 */
#include "control/keeper.h"

#include "base/jsonx.h"
#include "base/log.h"
#include "base/map.h"
#include "base/mem.h"
#include "kinds/selector.h"

#define SOON_MS   500
#define BEHIND_MS 1000

struct keeper {
	const struct keeper_kind *kind;
	void *arg;
	struct client *client;
	struct owned *owned;
	struct events *events;
	struct informer *informer;
	struct workqueue *queue;
	struct calls *calls;
	struct map selectors; /* key -> struct selector, of kinds that try them all */
	struct map adopt;     /* keys of those that may find orphans of theirs */
	struct map written;   /* key -> revision of the last status, as text, until it is seen */
	struct map unkept;    /* key -> {"status", "revision"} of a status that the server has not kept as it was */
	struct map refused;   /* key -> why the last pod could not be made */
	struct map stuck;     /* key -> why the last pod could not be deleted */
};

char *keeper_key(const json_t *obj)
{
	return xasprintf("%s/%s", jsonx_str_or(obj, "metadata.namespace", ""), jsonx_str_or(obj, "metadata.name", ""));
}

const json_t *keeper_find(const struct keeper *k, const char *key)
{
	auto_free char *ns = xstrdup(key);
	char *name = strchr(ns, '/');

	if (!name)
		return NULL;
	*name++ = '\0';
	return informer_find(k->informer, ns, name);
}

bool keeper_next(const struct keeper *k, size_t *pos, const json_t **ret_obj)
{
	return informer_next(k->informer, pos, ret_obj);
}

bool keeper_synced(const struct keeper *k)
{
	return k->informer && informer_synced(k->informer) && (!k->owned || owned_synced(k->owned));
}

void keeper_look(struct keeper *k, const char *key)
{
	workqueue_add(k->queue, key);
}

void keeper_look_after(struct keeper *k, const char *key, int64_t ms)
{
	workqueue_add_after(k->queue, key, ms);
}

void keeper_may_adopt(struct keeper *k, const char *key)
{
	map_set(&k->adopt, key, k);
	workqueue_add(k->queue, key);
}

unsigned keeper_failures(const struct keeper *k, const char *key)
{
	return workqueue_failures(k->queue, key);
}

struct calls *keeper_calls(struct keeper *k)
{
	return k->calls;
}

void *keeper_arg(const struct keeper *k)
{
	return k->arg;
}

struct events *keeper_events(struct keeper *k)
{
	return k->events;
}

const char *keeper_create_error(const struct keeper *k, const char *key)
{
	return map_find(&k->refused, key);
}

const char *keeper_remove_error(const struct keeper *k, const char *key)
{
	return map_find(&k->stuck, key);
}

struct workqueue_counts keeper_counts(const struct keeper *k)
{
	return workqueue_counts(k->queue);
}

/* ---- writing ---- */

static void note_pod(struct keeper *k, const json_t *obj, const char *verb, const char *pod, const char *error)
{
	static const struct {
		const char *verb, *done, *failed, *done_text, *failed_text;
	} words[] = {
		{ "create", "SuccessfulCreate", "FailedCreate", "Created pod: ", "Error creating: " },
		{ "delete", "SuccessfulDelete", "FailedDelete", "Deleted pod: ", "Error deleting: " },
	};
	bool deleted = streq(verb, words[1].verb);
	auto_free char *text =
		k->kind->pod_event ? k->kind->pod_event(obj, verb, pod, error)
				   : xasprintf("%s%s", error ? words[deleted].failed_text : words[deleted].done_text,
					       error ? error : pod);
	auto_free char *reason = xasprintf("%s%s", error ? words[deleted].failed : words[deleted].done,
					   k->kind->noun ? k->kind->noun : "");

	events_note(k->events, obj, error ? "Warning" : "Normal", reason, "%s", text);
}

void keeper_refused(struct keeper *k, const char *key, const char *why)
{
	map_set(&k->refused, key, xstrdup(why));
}

/* What it carries is {"owner", "name"}; a name that the API makes is "". */
static void on_created(void *arg, const struct answer *a)
{
	struct keeper *k = arg;
	const json_t *owner = json_object_get(a->what, "owner");

	if (a->e->kind == ERR_NONE) {
		map_remove(&k->refused, a->key);
		owned_expect(k->owned, jsonx_str_or(owner, "metadata.uid", ""), a->obj);
		if (!k->kind->quiet)
			note_pod(k, owner, "create", jsonx_str_or(a->obj, "metadata.name", ""), NULL);
		return;
	}
	/* A namespace on its way out takes nothing new, and the owner goes with it. */
	if (a->e->ncauses && a->e->causes[0].kind == CAUSE_TERMINATING)
		return;
	keeper_refused(k, a->key, a->e->text);
	note_pod(k, owner, "create", jsonx_str_or(a->what, "name", ""), a->e->text);
}

void keeper_create_pod(struct keeper *k, const char *key, const json_t *obj, const json_t *pod)
{
	struct ref ref = { .api_version = "v1", .plural = "pods", .ns = jsonx_str(obj, "metadata.namespace") };
	json_auto_t *what = json_pack("{s:O, s:s}", "owner", obj, "name", jsonx_str_or(pod, "metadata.name", ""));

	calls_create(k->calls, key, &ref, pod, on_created, what);
}

/* What it carries is {"owner", "uid", "name"}. */
static void on_removed(void *arg, const struct answer *a)
{
	struct keeper *k = arg;
	const json_t *owner = json_object_get(a->what, "owner");

	if (a->e->kind == ERR_NONE) {
		map_remove(&k->stuck, a->key);
		owned_expect_gone(k->owned, jsonx_str_or(owner, "metadata.uid", ""), jsonx_str_or(a->what, "uid", ""));
		note_pod(k, owner, "delete", jsonx_str_or(a->what, "name", ""), NULL);
	} else if (a->e->kind != ERR_NOT_FOUND && a->e->kind != ERR_CONFLICT) {
		map_set(&k->stuck, a->key, xstrdup(a->e->text));
		note_pod(k, owner, "delete", jsonx_str_or(a->what, "name", ""), a->e->text);
	}
}

void keeper_remove_pod(struct keeper *k, const char *key, const json_t *obj, const struct pod_facts *p)
{
	keeper_remove_pod_within(k, key, obj, p, -1);
}

void keeper_remove_pod_within(struct keeper *k, const char *key, const json_t *obj, const struct pod_facts *p,
			      int64_t seconds)
{
	struct ref ref = calls_ref("v1", "pods", p->obj);
	json_auto_t *options = json_pack("{s:{s:s}}", "preconditions", "uid", p->uid);
	json_auto_t *what = json_pack("{s:O, s:s, s:s}", "owner", obj, "uid", p->uid, "name", p->name);

	if (seconds >= 0)
		json_object_set_new(options, "gracePeriodSeconds", json_integer(seconds));
	calls_remove(k->calls, key, &ref, options, on_removed, what);
}

static void decref(void *json)
{
	json_decref(json);
}

/* A server leaves out fields that are newer than itself, or that its definition of the kind does not have.  To write
 * them again and again would change nothing.  What it carries is the status. */
static void note_unkept(struct keeper *k, const struct answer *a, const char *rv)
{
	if (json_equal(a->what, json_object_get(a->obj, "status")))
		map_remove(&k->unkept, a->key);
	else
		map_set(&k->unkept, a->key, json_pack("{s:O, s:s}", "status", a->what, "revision", rv));
}

static void on_status(void *arg, const struct answer *a)
{
	struct keeper *k = arg;
	const char *rv = jsonx_str(a->obj, "metadata.resourceVersion");

	if (rv)
		map_set(&k->written, a->key, xstrdup(rv));
	if (rv)
		note_unkept(k, a, rv);
	else if (a->e->kind != ERR_CONFLICT && a->e->kind != ERR_NOT_FOUND)
		log_warn("write status of %s=%s: %s, trying again", k->kind->plural, a->key, a->e->text);
}

void keeper_write_status(struct keeper *k, const char *key, const json_t *obj, json_t *status)
{
	struct ref ref = calls_ref(k->kind->api_version, k->kind->plural, obj);
	const json_t *last = map_find(&k->unkept, key);
	json_auto_t *next = NULL;

	if (json_equal(status, json_object_get(obj, "status")))
		return;
	if (last && json_equal(status, json_object_get(last, "status")) &&
	    str_same(jsonx_str(last, "revision"), jsonx_str(obj, "metadata.resourceVersion")))
		return;
	next = json_copy((json_t *)obj);
	ref.subresource = "status";
	json_object_set(next, "status", status);
	calls_update(k->calls, key, &ref, next, on_status, status);
}

void keeper_expire(struct keeper *k, const char *key, const json_t *obj)
{
	struct ref ref = calls_ref(k->kind->api_version, k->kind->plural, obj);
	json_auto_t *options = json_pack("{s:s, s:{s:s}}", "propagationPolicy", "Foreground", "preconditions", "uid",
					 jsonx_str_or(obj, "metadata.uid", ""));

	calls_remove(k->calls, key, &ref, options, NULL, NULL);
}

/* ---- looking at one object ---- */

/* Whether the cache is behind our own last write. */
static bool is_behind(struct keeper *k, const char *key, const json_t *obj)
{
	const char *written = map_find(&k->written, key);

	if (!written)
		return false;
	if (!calls_seen(obj, written))
		return true;
	map_remove(&k->written, key);
	return false;
}

static struct selector *selector_of(const struct keeper *k, const json_t *obj)
{
	json_auto_t *wrapped = NULL;
	const json_t *json = jsonx_at(obj, "spec.selector");
	struct selector *s = NULL;
	struct err e = ERR_INIT;

	if (k->kind->plain_selector && json)
		json = wrapped = json_pack("{s:O}", "matchLabels", json);
	return selector_from_json(json, &s, &e) == 0 ? s : NULL;
}

/* True if pods are being claimed or let go. */
static bool claim(struct keeper *k, const char *key, const json_t *obj)
{
	struct owned_list own = owned_by(k->owned, jsonx_str_or(obj, "metadata.uid", ""));
	struct claim_request r = { .owner = obj,
				   .api_version = k->kind->api_version,
				   .kind = k->kind->kind,
				   .plural = k->kind->plural,
				   .finalizer = k->kind->finalizer,
				   .is_member = k->kind->is_member,
				   .adopt = map_find(&k->adopt, key) &&
					    (!k->kind->may_adopt || k->kind->may_adopt(obj)) };
	struct selector *selector;
	bool needed = r.adopt;
	bool called;

	map_remove(&k->adopt, key);
	for (size_t i = 0; !needed && i < own.n; i++)
		needed = !own.pods[i]->checked;
	selector = needed ? selector_of(k, obj) : NULL;
	if (!selector)
		return false;
	r.selector = selector;
	called = owned_claim(k->owned, k->calls, key, &r);
	selector_free(selector);
	return called;
}

static void look(void *arg, const char *key)
{
	struct keeper *k = arg;
	json_auto_t *obj = NULL;

	if (calls_busy(k->calls, key))
		return; /* on_idle() comes back to it */
	obj = json_incref((json_t *)keeper_find(k, key));
	if (!obj) {
		if (!k->kind->gone || !k->kind->gone(k->arg, key))
			workqueue_forget(k->queue, key);
		return;
	}
	if (k->kind->is_ours && !k->kind->is_ours(obj))
		return;
	if (is_behind(k, key, obj) || (k->owned && !owned_settled(k->owned, jsonx_str_or(obj, "metadata.uid", "")))) {
		workqueue_add_after(k->queue, key, BEHIND_MS);
		return;
	}
	if (!k->owned || k->kind->no_selector || !claim(k, key, obj))
		k->kind->plan(k->arg, key, obj);
}

static void on_idle(void *arg, const char *key, bool failed)
{
	struct keeper *k = arg;

	workqueue_written(k->queue, key, failed);
}

/* ---- what happens ---- */

static void free_selector(void *s)
{
	selector_free(s);
}

static void forget(struct keeper *k, const char *key)
{
	map_remove(&k->selectors, key);
	map_remove(&k->adopt, key);
	map_remove(&k->written, key);
	map_remove(&k->unkept, key);
	map_remove(&k->refused, key);
	map_remove(&k->stuck, key);
}

/* Whoever selects otherwise than before has other pods. */
static void reselect(struct keeper *k, const char *key, const json_t *obj)
{
	struct owned_list own = owned_by(k->owned, jsonx_str_or(obj, "metadata.uid", ""));

	for (size_t i = 0; i < own.n; i++)
		own.pods[i]->checked = false;
	if (!k->kind->orphan) {
		map_set(&k->selectors, key, selector_of(k, obj));
		map_set(&k->adopt, key, k);
	}
}

static void on_object(void *arg, const json_t *obj, const json_t *old)
{
	struct keeper *k = arg;
	auto_free char *key = keeper_key(obj ? obj : old);
	bool same = obj && old && str_same(jsonx_str(obj, "metadata.uid"), jsonx_str(old, "metadata.uid"));

	if (old && !same)
		forget(k, key);
	if (obj && k->owned && !k->kind->no_selector &&
	    !(same && json_equal(jsonx_at(obj, "spec.selector"), jsonx_at(old, "spec.selector"))))
		reselect(k, key, obj);
	if (k->kind->changed)
		k->kind->changed(k->arg, key, obj, old);
	workqueue_add(k->queue, key);
}

enum keeper_when keeper_pod_counts(void *arg, const char *key, const struct pod_facts *now, const struct pod_facts *old)
{
	(void)arg;
	(void)key;
	if (!now || !old || now->phase != old->phase || now->deleting != old->deleting || now->ready != old->ready ||
	    now->ready_since != old->ready_since ||
	    !json_equal(jsonx_at(now->obj, "metadata.labels"), jsonx_at(old->obj, "metadata.labels")))
		return KEEPER_NOW;
	return KEEPER_NOT;
}

static void on_pod(void *arg, const json_t *owner_ref, const struct pod_facts *pod, const struct pod_facts *old)
{
	struct keeper *k = arg;
	const json_t *any = pod ? pod->obj : old->obj;
	auto_free char *key =
		xasprintf("%s/%s", jsonx_str_or(any, "metadata.namespace", ""), jsonx_str_or(owner_ref, "name", ""));
	enum keeper_when when = k->kind->pod_changed ? k->kind->pod_changed(k->arg, key, pod, old) : KEEPER_NOW;

	if (when == KEEPER_NOW)
		workqueue_add(k->queue, key);
	else if (when == KEEPER_SOON)
		workqueue_add_after(k->queue, key, SOON_MS);
}

static void on_orphan(void *arg, const struct pod_facts *pod)
{
	struct keeper *k = arg;
	const json_t *labels = jsonx_at(pod->obj, "metadata.labels");
	const char *ns = jsonx_str_or(pod->obj, "metadata.namespace", "");
	const char *key;
	size_t pos = 0;
	void *selector;

	if (k->kind->orphan) {
		k->kind->orphan(k->arg, pod);
		return;
	}
	while (!pod->deleting && map_next(&k->selectors, &pos, &key, &selector))
		if (selector && strncmp(key, ns, strlen(ns)) == 0 && key[strlen(ns)] == '/' &&
		    selector_match_labels(selector, labels))
			keeper_may_adopt(k, key);
}

static void on_any(void *arg, const struct pod_facts *pod, const struct pod_facts *old)
{
	struct keeper *k = arg;

	if (!pod)
		k->kind->pod_gone(k->arg, old);
}

/* The API gives no other sign of it than its words: there is no room, or the pod must say what it needs. */
static bool held_by_quota(const char *why)
{
	return strstr(why, "exceeded quota: ") || strstr(why, "failed quota: ");
}

/* Those that a quota held back need not wait for their next try. */
static void on_room(void *arg, const char *ns)
{
	struct keeper *k = arg;
	size_t n = strlen(ns);
	const char *key;
	size_t pos = 0;
	void *why;

	while (map_next(&k->refused, &pos, &key, &why))
		if (strncmp(key, ns, n) == 0 && key[n] == '/' && held_by_quota(why))
			workqueue_add(k->queue, key);
}

void keeper_start(struct keeper *k)
{
	const struct owned_pod *pod;
	const json_t *obj;
	size_t pos = 0;

	if (!keeper_synced(k) || (k->kind->synced && !k->kind->synced(k->arg)))
		return;
	while (informer_next(k->informer, &pos, &obj)) {
		auto_free char *key = keeper_key(obj);

		workqueue_add(k->queue, key);
	}
	pos = 0;
	while (k->owned && k->kind->orphan && owned_next(k->owned, &pos, &pod))
		if (!pod->owner)
			k->kind->orphan(k->arg, &pod->facts);
	if (k->kind->started)
		k->kind->started(k->arg);
	workqueue_start(k->queue);
}

static void on_synced(void *arg)
{
	keeper_start(arg);
}

struct keeper *keeper_new(struct client *c, struct owned *owned, const struct keeper_kind *kind, void *arg)
{
	struct keeper *k = xcalloc(1, sizeof(*k));
	struct ref ref = { .api_version = kind->api_version, .plural = kind->plural };

	k->kind = kind;
	k->arg = arg;
	k->client = c;
	k->owned = owned;
	k->events = events_new(c, kind->component, NULL);
	k->queue = workqueue_new(c->loop, look, k);
	k->calls = calls_new(c, on_idle, k);
	map_init(&k->selectors, free_selector);
	map_init(&k->adopt, NULL);
	map_init(&k->written, free);
	map_init(&k->unkept, decref);
	map_init(&k->refused, free);
	map_init(&k->stuck, free);
	if (owned)
		owned_follow(owned, &(struct owned_handlers){ .kind = kind->kind,
							      .change = on_pod,
							      .orphan = on_orphan,
							      .synced = on_synced,
							      .any = kind->pod_gone ? on_any : NULL,
							      .room = on_room,
							      .arg = k });
	k->informer = informer_new(c, &ref, NULL,
				   &(struct informer_handlers){ .change = on_object, .synced = on_synced, .arg = k });
	return k;
}

void keeper_free(struct keeper *k)
{
	if (!k)
		return;
	if (k->owned)
		owned_unfollow(k->owned, k);
	informer_free(k->informer);
	workqueue_free(k->queue);
	calls_free(k->calls);
	events_free(k->events);
	map_done(&k->selectors);
	map_done(&k->adopt);
	map_done(&k->written);
	map_done(&k->unkept);
	map_done(&k->refused);
	map_done(&k->stuck);
	free(k);
}
