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
	const char *fields;
	struct changes_handlers handlers;
	char *rv; /* of the last that was told; NULL: there must be a list */
	void *watch;
	bool listing;
	bool streaming; /* the watch has not yet told all there was */
	bool freed;     /* while a list is under way: its answer frees us */
	struct loop_timer again;
};

static void start(struct changes *f);

static void set_rv(struct changes *f, const json_t *obj)
{
	free(f->rv);
	f->rv = xstrdup(jsonx_str_or(obj, "metadata.resourceVersion", "0"));
}

/* Revisions come in no order there. */
static void take_streamed(struct changes *f, const char *type, const json_t *obj)
{
	if (!streq(type, "BOOKMARK")) {
		f->handlers.change(f->handlers.arg, type, obj);
	} else if (client_list_ends(obj)) {
		f->streaming = false;
		set_rv(f, obj);
		f->handlers.listed(f->handlers.arg);
	}
}

static void on_event(void *arg, const char *type, const json_t *obj, const struct err *e)
{
	struct changes *f = arg;

	if (!obj) {
		f->client->ops->watch_stop(f->client, f->watch);
		f->watch = NULL;
		if (e->kind == ERR_EXPIRED) {
			free(f->rv);
			f->rv = NULL;
			start(f);
		} else {
			loop_timer_set(f->client->loop, &f->again, AGAIN_MS);
		}
		return;
	}
	if (f->streaming) {
		take_streamed(f, type, obj);
		return;
	}
	set_rv(f, obj);
	if (!streq(type, "BOOKMARK"))
		f->handlers.change(f->handlers.arg, type, obj);
}

static void start_watch(struct changes *f)
{
	struct list_options o = { .fields = f->fields, .rv = f->rv, .mark_list_end = !f->rv };

	f->streaming = !f->rv;
	if (f->streaming)
		f->handlers.begin(f->handlers.arg);
	f->watch = f->client->ops->watch(f->client, f->ref, &o, on_event, f);
}

static void on_list(void *arg, const json_t *list, const struct err *e)
{
	struct changes *f = arg;
	json_t *obj;
	size_t i;

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
	f->handlers.begin(f->handlers.arg);
	json_array_foreach (json_object_get(list, "items"), i, obj)
		f->handlers.change(f->handlers.arg, "ADDED", obj);
	set_rv(f, list);
	f->handlers.listed(f->handlers.arg);
	start_watch(f);
}

static void start_list(struct changes *f)
{
	f->listing = true;
	f->client->ops->list(f->client, f->ref, &(struct list_options){ .fields = f->fields }, on_list, f);
}

static void start(struct changes *f)
{
	if (f->rv || f->client->streams_lists)
		start_watch(f);
	else
		start_list(f);
}

static void on_again(void *arg)
{
	start(arg);
}

bool client_list_ends(const json_t *bookmark)
{
	return json_object_get(jsonx_at(bookmark, "metadata.annotations"), "k8s.io/initial-events-end");
}

struct changes *changes_new(struct client *c, const struct ref *ref, const char *fields,
			    const struct changes_handlers *h)
{
	struct changes *f = xcalloc(1, sizeof(*f));

	*f = (struct changes){ .client = c, .ref = ref, .fields = fields, .handlers = *h };
	f->again = (struct loop_timer){ .fire = on_again, .arg = f };
	start(f);
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
