// SPDX-License-Identifier: Apache-2.0
/* changes.c - see changes.h */
#include "client/changes.h"

#include "base/jsonx.h"
#include "base/log.h"
#include "base/mem.h"

#define AGAIN_MS 5000 /* after a failure */

struct changes {
	struct client *client;
	const struct ref *ref;
	struct changes_handlers handlers;
	char *rv; /* of the last that was told; NULL: there must be a list */
	void *watch;
	bool listing;
	bool freed; /* while a list is under way: its answer frees us */
	struct loop_timer again;
};

static void start_list(struct changes *f);

static void set_rv(struct changes *f, const json_t *obj)
{
	free(f->rv);
	f->rv = xstrdup(jsonx_str_or(obj, "metadata.resourceVersion", "0"));
}

static void on_event(void *arg, const char *type, const json_t *obj, const struct err *e)
{
	struct changes *f = arg;

	if (!obj) {
		f->client->ops->watch_stop(f->client, f->watch);
		f->watch = NULL;
		if (e->kind == ERR_EXPIRED)
			start_list(f);
		else
			loop_timer_set(f->client->loop, &f->again, AGAIN_MS);
		return;
	}
	set_rv(f, obj);
	if (!streq(type, "BOOKMARK"))
		f->handlers.change(f->handlers.arg, type, obj);
}

static void start_watch(struct changes *f)
{
	struct list_options o = { .rv = f->rv };

	f->watch = f->client->ops->watch(f->client, f->ref, &o, on_event, f);
}

static void on_list(void *arg, const json_t *list, const struct err *e)
{
	struct changes *f = arg;

	f->listing = false;
	if (f->freed) {
		free(f);
		return;
	}
	if (e->kind != ERR_NONE) {
		log_warn("list %s for %s: %s, trying again", f->ref->plural, f->handlers.purpose, e->text);
		loop_timer_set(f->client->loop, &f->again, AGAIN_MS);
		return;
	}
	f->handlers.list(f->handlers.arg, json_object_get(list, "items"));
	set_rv(f, list);
	start_watch(f);
}

static void start_list(struct changes *f)
{
	free(f->rv);
	f->rv = NULL;
	f->listing = true;
	f->client->ops->list(f->client, f->ref, &(struct list_options){ 0 }, on_list, f);
}

static void on_again(void *arg)
{
	struct changes *f = arg;

	if (f->rv)
		start_watch(f);
	else
		start_list(f);
}

struct changes *changes_new(struct client *c, const struct ref *ref, const struct changes_handlers *h)
{
	struct changes *f = xcalloc(1, sizeof(*f));

	*f = (struct changes){ .client = c, .ref = ref, .handlers = *h };
	f->again = (struct loop_timer){ .fire = on_again, .arg = f };
	start_list(f);
	return f;
}

void changes_free(struct changes *f)
{
	if (!f)
		return;
	if (f->watch)
		f->client->ops->watch_stop(f->client, f->watch);
	loop_timer_done(&f->again);
	free(f->rv);
	f->freed = true;
	if (!f->listing)
		free(f);
}
