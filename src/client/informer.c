// SPDX-License-Identifier: Apache-2.0
/* informer.c - a list and a watch kept as a local cache
 *
 * Lists once, watches from that revision, and lists again when the watch says its place is gone.  A new list is
 * compared with the cache, so that handlers see exactly what changed, deletions included.  From a client that asks for
 * pages a list comes in several, all of one revision; from one that streams lists it is the beginning of the watch, so
 * that the loop goes on meanwhile and all caches of the process have the same objects.  Failures are retried with a
 * growing delay; a watch that merely ended goes on where it stopped.
 */
#include <stdio.h>

#include "base/jsonx.h"
#include "base/log.h"
#include "base/map.h"
#include "base/mem.h"
#include "client/client.h"

#define RETRY_MIN_MS 200
#define RETRY_MAX_MS 30000

struct informer {
	struct client *client;
	char *api_version, *plural, *ns, *labels, *fields;
	struct informer_handlers handlers;
	struct map objects; /* "ns/name" -> json_t * */
	char *rv;
	char *cont;      /* where the list under way goes on, or NULL */
	bool had;        /* there was something before it that it may no longer have: */
	struct map seen; /* what it has had so far */
	void *watch;
	bool synced;
	bool listing;
	bool streaming; /* the watch has not yet told all there was */
	bool freed;     /* while a list is under way: its answer frees us */
	int64_t delay_ms;
	struct loop_timer retry;
};

static void start_list(struct informer *i);
static void start_watch(struct informer *i);

static void decref(void *v)
{
	json_decref(v);
}

static char *copy(const char *s)
{
	return s ? xstrdup(s) : NULL;
}

static char *key_of(const json_t *obj)
{
	return xasprintf("%s/%s", jsonx_str_or(obj, "metadata.namespace", ""), jsonx_str_or(obj, "metadata.name", ""));
}

static void retry_later(struct informer *i)
{
	i->delay_ms = i->delay_ms ? i->delay_ms * 2 : RETRY_MIN_MS;
	if (i->delay_ms > RETRY_MAX_MS)
		i->delay_ms = RETRY_MAX_MS;
	loop_timer_set(i->client->loop, &i->retry, i->delay_ms);
}

/* Puts or removes one object and tells what changed. */
static void store_object(struct informer *i, const json_t *obj, bool deleted)
{
	auto_free char *key = key_of(obj);
	json_auto_t *old = json_incref(map_find(&i->objects, key));

	if (i->handlers.keep && !i->handlers.keep(i->handlers.arg, obj)) {
		if (!old)
			return;
		deleted = true;
	}
	if (deleted)
		map_remove(&i->objects, key);
	else
		map_set(&i->objects, key, json_incref((json_t *)obj));
	if (!deleted && old &&
	    str_same(jsonx_str(old, "metadata.resourceVersion"), jsonx_str(obj, "metadata.resourceVersion")))
		return;
	if (i->handlers.change)
		i->handlers.change(i->handlers.arg, deleted ? NULL : obj, deleted ? (old ? old : obj) : old);
}

static void remember_revision(struct informer *i, const char *rv)
{
	if (!rv)
		return;
	free(i->rv);
	i->rv = xstrdup(rv);
}

/* What the new list no longer has was deleted while nobody watched. */
static void drop_missing(struct informer *i, const struct map *seen)
{
	json_auto_t *gone = json_array();
	const char *key;
	void *value;
	json_t *obj;
	size_t pos = 0;
	size_t n;

	while (map_next(&i->objects, &pos, &key, &value))
		if (!map_find(seen, key))
			json_array_append(gone, value);
	json_array_foreach (gone, n, obj)
		store_object(i, obj, true);
}

/* Items of a list over HTTP do not say what they are; everything from an informer does. */
static json_t *typed(const json_t *list, const json_t *obj)
{
	const char *kind = jsonx_str_or(list, "kind", "");
	size_t n = strlen(kind);
	json_t *copy;

	if (json_object_get(obj, "kind") || n < 5)
		return json_incref((json_t *)obj);
	copy = json_copy((json_t *)obj);
	json_object_set_new(copy, "kind", json_stringn(kind, n - 4));
	json_object_set(copy, "apiVersion", json_object_get(list, "apiVersion"));
	return copy;
}

/* The next list begins at its beginning. */
static void forget_pages(struct informer *i)
{
	map_done(&i->seen);
	map_init(&i->seen, NULL);
	free(i->cont);
	i->cont = NULL;
}

static void take_page(struct informer *i, const json_t *list)
{
	const char *cont = jsonx_str_or(list, "metadata.continue", "");
	json_t *obj;
	size_t n;

	json_array_foreach (json_object_get(list, "items"), n, obj) {
		auto_free char *key = key_of(obj);
		json_auto_t *whole = typed(list, obj);

		if (i->had)
			map_set(&i->seen, key, i);
		store_object(i, whole, false);
	}
	free(i->cont);
	i->cont = *cont ? xstrdup(cont) : NULL;
}

/* Says it once while it lasts. */
static void list_failed(struct informer *i, const struct err *e)
{
	if (!i->delay_ms)
		log_warn("list %s: %s, trying again", i->plural, e->text);
	forget_pages(i);
	retry_later(i);
}

static void end_list(struct informer *i, const json_t *list)
{
	if (i->had)
		drop_missing(i, &i->seen);
	forget_pages(i);
	remember_revision(i, jsonx_str(list, "metadata.resourceVersion"));
	if (i->synced)
		return;
	i->synced = true;
	if (i->handlers.synced)
		i->handlers.synced(i->handlers.arg);
}

static void on_list(void *arg, const json_t *list, const struct err *e)
{
	struct informer *i = arg;

	i->listing = false;
	if (i->freed) {
		informer_free(i);
		return;
	}
	if (e->kind != ERR_NONE) {
		list_failed(i, e);
		return;
	}
	i->delay_ms = 0;
	take_page(i, list);
	if (i->cont) {
		start_list(i);
		return;
	}
	end_list(i, list);
	start_watch(i);
}

static void start_list(struct informer *i)
{
	struct ref ref = { .api_version = i->api_version, .plural = i->plural, .ns = i->ns };
	struct list_options o = { .labels = i->labels, .fields = i->fields, .limit = i->client->page, .cont = i->cont };

	if (!i->cont)
		i->had = i->objects.n > 0;
	i->listing = true;
	i->client->ops->list(i->client, &ref, &o, on_list, i);
}

static void start(struct informer *i)
{
	if (i->rv || i->client->streams_lists)
		start_watch(i);
	else
		start_list(i);
}

static void on_retry(void *arg)
{
	start(arg);
}

/* An object of what there was at first, or the mark behind the last of them.  Revisions come in no order there. */
static void take_streamed(struct informer *i, const char *type, const json_t *obj)
{
	auto_free char *key = NULL;

	if (!streq(type, "BOOKMARK")) {
		if (i->had) {
			key = key_of(obj);
			map_set(&i->seen, key, i);
		}
		store_object(i, obj, false);
	} else if (client_list_ends(obj)) {
		i->streaming = false;
		end_list(i, obj);
	}
}

static void on_event(void *arg, const char *type, const json_t *obj, const struct err *e)
{
	struct informer *i = arg;

	if (!obj) {
		i->client->ops->watch_stop(i->client, i->watch);
		i->watch = NULL;
		forget_pages(i);
		if (e->kind == ERR_EXPIRED) {
			free(i->rv);
			i->rv = NULL;
			start(i);
		} else {
			retry_later(i);
		}
		return;
	}
	i->delay_ms = 0;
	if (i->streaming) {
		take_streamed(i, type, obj);
		return;
	}
	remember_revision(i, jsonx_str(obj, "metadata.resourceVersion"));
	if (!streq(type, "BOOKMARK"))
		store_object(i, obj, streq(type, "DELETED"));
}

static void start_watch(struct informer *i)
{
	struct ref ref = { .api_version = i->api_version, .plural = i->plural, .ns = i->ns };
	struct list_options o = { .labels = i->labels, .fields = i->fields, .rv = i->rv, .mark_list_end = !i->rv };

	i->streaming = !i->rv;
	i->had = i->objects.n > 0;
	i->watch = i->client->ops->watch(i->client, &ref, &o, on_event, i);
}

struct informer *informer_new(struct client *c, const struct ref *ref, const struct list_options *o,
			      const struct informer_handlers *h)
{
	struct informer *i = xcalloc(1, sizeof(*i));

	i->client = c;
	i->api_version = xstrdup(ref->api_version);
	i->plural = xstrdup(ref->plural);
	i->ns = copy(ref->ns);
	i->labels = copy(o ? o->labels : NULL);
	i->fields = copy(o ? o->fields : NULL);
	i->handlers = *h;
	map_init(&i->objects, decref);
	map_init(&i->seen, NULL);
	i->retry = (struct loop_timer){ .fire = on_retry, .arg = i };
	start(i);
	return i;
}

void informer_free(struct informer *i)
{
	if (!i)
		return;
	if (i->listing) {
		i->freed = true;
		return;
	}
	if (i->watch)
		i->client->ops->watch_stop(i->client, i->watch);
	loop_timer_done(&i->retry);
	map_done(&i->objects);
	map_done(&i->seen);
	free(i->cont);
	free(i->api_version);
	free(i->plural);
	free(i->ns);
	free(i->labels);
	free(i->fields);
	free(i->rv);
	free(i);
}

bool informer_synced(const struct informer *i)
{
	return i->synced;
}

const json_t *informer_find(const struct informer *i, const char *ns, const char *name)
{
	auto_free char *key = xasprintf("%s/%s", ns ? ns : "", name);

	return map_find(&i->objects, key);
}

bool informer_next(const struct informer *i, size_t *pos, const json_t **ret_obj)
{
	void *v = NULL;

	if (!map_next(&i->objects, pos, NULL, &v))
		return false;
	*ret_obj = v;
	return true;
}
