// SPDX-License-Identifier: Apache-2.0
/* calls.c - counts the calls of each key, and finds their answers a controller or nobody */
#include "control/calls.h"

#include "base/jsonx.h"
#include "base/log.h"
#include "base/map.h"
#include "base/mem.h"

struct calls {
	struct client *client;
	void (*idle)(void *arg, const char *key, bool failed);
	void *arg;
	struct map keys; /* key -> struct under_way */
	struct call *all;
};

struct under_way {
	unsigned calls;
	bool failed;
};

struct call {
	struct calls *owner; /* NULL: nobody waits any more */
	char *key;
	json_t *what;
	calls_done *done;
	struct call *next, **pprev;
};

static void call_free(struct call *c)
{
	free(c->key);
	json_decref(c->what);
	free(c);
}

static void on_answer(void *arg, const json_t *obj, const struct err *e)
{
	struct call *c = arg;
	struct calls *k = c->owner;
	struct under_way *u;
	bool failed;

	if (!k) {
		call_free(c);
		return;
	}
	*c->pprev = c->next;
	if (c->next)
		c->next->pprev = c->pprev;
	u = map_find(&k->keys, c->key);
	if (e->kind != ERR_NONE && e->kind != ERR_CONFLICT && e->kind != ERR_NOT_FOUND)
		u->failed = true;
	if (c->done)
		c->done(k->arg, &(struct answer){ k, c->key, c->what, obj, e });
	else if (e->kind != ERR_NONE && e->kind != ERR_CONFLICT && e->kind != ERR_NOT_FOUND)
		log_warn("write for %s: %s, trying again", c->key, e->text);
	if (--u->calls == 0) {
		failed = u->failed;
		map_remove(&k->keys, c->key);
		k->idle(k->arg, c->key, failed);
	}
	call_free(c);
}

static struct call *call_new(struct calls *k, const char *key, calls_done *done, const json_t *what)
{
	struct call *c = xcalloc(1, sizeof(*c));
	struct under_way *u = map_find(&k->keys, key);

	c->owner = k;
	c->key = xstrdup(key);
	c->what = json_incref((json_t *)what);
	c->done = done;
	c->next = k->all;
	c->pprev = &k->all;
	if (c->next)
		c->next->pprev = &c->next;
	k->all = c;
	if (!u) {
		u = xcalloc(1, sizeof(*u));
		map_set(&k->keys, key, u);
	}
	u->calls++;
	return c;
}

struct calls *calls_new(struct client *c, void (*idle)(void *arg, const char *key, bool failed), void *arg)
{
	struct calls *k = xcalloc(1, sizeof(*k));

	k->client = c;
	k->idle = idle;
	k->arg = arg;
	map_init(&k->keys, free);
	return k;
}

void calls_free(struct calls *k)
{
	if (!k)
		return;
	for (struct call *c = k->all; c; c = c->next)
		c->owner = NULL;
	map_done(&k->keys);
	free(k);
}

bool calls_busy(const struct calls *k, const char *key)
{
	return map_find(&k->keys, key) != NULL;
}

void calls_get(struct calls *k, const char *key, const struct ref *ref, calls_done *done, const json_t *what)
{
	k->client->ops->get(k->client, ref, on_answer, call_new(k, key, done, what));
}

void calls_create(struct calls *k, const char *key, const struct ref *ref, const json_t *obj, calls_done *done,
		  const json_t *what)
{
	k->client->ops->create(k->client, ref, obj, on_answer, call_new(k, key, done, what));
}

void calls_update(struct calls *k, const char *key, const struct ref *ref, const json_t *obj, calls_done *done,
		  const json_t *what)
{
	k->client->ops->update(k->client, ref, obj, on_answer, call_new(k, key, done, what));
}

void calls_patch(struct calls *k, const char *key, const struct ref *ref, const char *type, const json_t *patch,
		 calls_done *done, const json_t *what)
{
	k->client->ops->patch(k->client, ref, type, patch, on_answer, call_new(k, key, done, what));
}

void calls_remove(struct calls *k, const char *key, const struct ref *ref, const json_t *options, calls_done *done,
		  const json_t *what)
{
	k->client->ops->remove(k->client, ref, options, on_answer, call_new(k, key, done, what));
}

struct ref calls_ref(const char *api_version, const char *plural, const json_t *obj)
{
	return (struct ref){ .api_version = api_version,
			     .plural = plural,
			     .ns = jsonx_str(obj, "metadata.namespace"),
			     .name = jsonx_str(obj, "metadata.name") };
}

bool calls_seen(const json_t *obj, const char *revision)
{
	int64_t at;
	int64_t have;

	return !str_int64(revision, 0, INT64_MAX, &at) ||
	       !str_int64(jsonx_str_or(obj, "metadata.resourceVersion", ""), 0, INT64_MAX, &have) || have >= at;
}
