// SPDX-License-Identifier: Apache-2.0
/* split.c - see split.h
 *
 * Calls for our own kinds pass through untouched.  For the others whatever comes back, answers, lists and events of a
 * watch, is shown to the caller as a copy if there is something to turn; most objects have no such note and are passed
 * on as they are.
 */
#include "client/split.h"

#include "base/jsonx.h"
#include "base/mem.h"

#define REFERENCES "ownerReferences"

struct split {
	struct client base;
	struct split_config config;
	char *group, *id, *pods;
};

static struct split *split_of(struct client *c)
{
	return (struct split *)c;
}

/* ---- references and notes ---- */

static bool is_ours(const struct split_config *config, const char *api_version)
{
	size_t n = strlen(config->group);

	return strncmp(api_version, config->group, n) == 0 && api_version[n] == '/';
}

/* The place of our reference in the list, or its size. */
static size_t find_reference(const struct split_config *config, const json_t *list)
{
	json_t *ref;
	size_t i;

	json_array_foreach ((json_t *)list, i, ref)
		if (jsonx_bool_or(ref, "controller", false) && is_ours(config, jsonx_str_or(ref, "apiVersion", "")))
			break;
	return i;
}

/* A copy whose metadata and the named part of it can be changed. */
static json_t *open_up(const json_t *obj, const char *part, json_t **ret_metadata)
{
	json_t *copy = json_copy((json_t *)obj);
	json_t *metadata = json_copy(json_object_get(obj, "metadata"));
	json_t *inner = json_copy(json_object_get(metadata, part));

	if (inner)
		json_object_set_new(metadata, part, inner);
	json_object_set_new(copy, "metadata", metadata);
	*ret_metadata = metadata;
	return copy;
}

static json_t *note_of(const struct split_config *config, const json_t *ref)
{
	json_auto_t *note = json_pack("{s:O, s:O, s:O, s:O, s:s}", "apiVersion", json_object_get(ref, "apiVersion"),
				      "kind", json_object_get(ref, "kind"), "name", json_object_get(ref, "name"), "uid",
				      json_object_get(ref, "uid"), "store", config->id);
	auto_sbuf struct sbuf text = SBUF(4096);

	jsonx_dump(note, &text);
	return jsonx_string(text.p ? text.p : "");
}

json_t *split_outgoing(const struct split_config *config, const json_t *obj)
{
	const json_t *list = jsonx_at(obj, "metadata." REFERENCES);
	size_t at = find_reference(config, list);
	json_t *metadata;
	json_t *copy;
	json_t *notes;
	json_t *rest;

	if (at >= json_array_size(list))
		return json_incref((json_t *)obj);
	copy = open_up(obj, "annotations", &metadata);
	notes = json_object_get(metadata, "annotations");
	if (!json_is_object(notes)) {
		notes = json_object();
		json_object_set_new(metadata, "annotations", notes);
	}
	json_object_set_new(notes, SPLIT_NOTE, note_of(config, json_array_get(list, at)));
	rest = json_copy((json_t *)list);
	json_array_remove(rest, at);
	if (json_array_size(rest))
		json_object_set(metadata, REFERENCES, rest);
	else
		json_object_del(metadata, REFERENCES);
	json_decref(rest);
	return copy;
}

/* The reference that a note stands for; NULL if it is none of ours. */
static json_t *reference_of(const struct split_config *config, const char *text)
{
	json_auto_t *note = NULL;
	struct err e = ERR_INIT;
	json_t *ref;

	if (!text || jsonx_parse(text, strlen(text), NULL, NULL, &note, &e) < 0 || !json_is_object(note) ||
	    !str_same(jsonx_str(note, "store"), config->id) || !is_ours(config, jsonx_str_or(note, "apiVersion", "")))
		return NULL;
	ref = json_copy(note);
	json_object_del(ref, "store");
	json_object_set_new(ref, "controller", json_true());
	json_object_set_new(ref, "blockOwnerDeletion", json_true());
	return ref;
}

json_t *split_incoming(const struct split_config *config, const json_t *obj)
{
	const json_t *notes = jsonx_at(obj, "metadata.annotations");
	json_t *ref = reference_of(config, json_string_value(json_object_get(notes, SPLIT_NOTE)));
	json_t *metadata;
	json_t *copy;
	json_t *list;

	if (!ref)
		return json_incref((json_t *)obj);
	copy = open_up(obj, "annotations", &metadata);
	json_object_del(json_object_get(metadata, "annotations"), SPLIT_NOTE);
	list = json_copy(json_object_get(metadata, REFERENCES));
	if (!json_is_array(list))
		list = json_array();
	json_array_append_new(list, ref);
	json_object_set_new(metadata, REFERENCES, list);
	return copy;
}

static json_t *incoming_any(const struct split_config *config, const json_t *doc)
{
	json_t *items = json_object_get(doc, "items");
	json_t *copy;
	json_t *list;
	json_t *obj;
	size_t i;

	if (!json_is_array(items))
		return split_incoming(config, doc);
	copy = json_copy((json_t *)doc);
	list = json_array();
	json_array_foreach (items, i, obj)
		json_array_append_new(list, split_incoming(config, obj));
	json_object_set_new(copy, "items", list);
	return copy;
}

/* ---- calls ---- */

/* The client for it; Events are about our own kinds. */
static struct client *route(struct split *s, const struct ref *ref)
{
	bool event = streq(ref->plural, "events");

	return event || is_ours(&s->config, ref->api_version) ? s->config.near : s->config.far;
}

/* One to the other cluster whose answer is to be turned.  A creation keeps what it needs to be sent once more. */
struct far_call {
	struct split *split;
	client_done *done;
	void *arg;
	json_t *obj;
	char *api_version, *plural, *ns;
	bool dry_run;
};

static struct far_call *far_call_new(struct split *s, client_done *done, void *arg)
{
	struct far_call *f = xcalloc(1, sizeof(*f));

	*f = (struct far_call){ .split = s, .done = done, .arg = arg };
	return f;
}

static void on_answer(void *arg, const json_t *obj, const struct err *e)
{
	struct far_call *f = arg;
	json_auto_t *seen = obj ? incoming_any(&f->split->config, obj) : NULL;

	f->done(f->arg, seen, e);
	json_decref(f->obj);
	free(f->api_version);
	free(f->plural);
	free(f->ns);
	free(f);
}

static void split_get(struct client *c, const struct ref *ref, client_done *done, void *arg)
{
	struct split *s = split_of(c);
	struct client *to = route(s, ref);

	if (to == s->config.near)
		to->ops->get(to, ref, done, arg);
	else
		to->ops->get(to, ref, on_answer, far_call_new(s, done, arg));
}

/* Only those pods that matter. */
static struct list_options options_of(const struct split *s, const struct ref *ref, const struct list_options *o,
				      char **ret_labels)
{
	struct list_options mine = o ? *o : (struct list_options){ 0 };

	*ret_labels = NULL;
	if (!s->pods || !streq(ref->plural, "pods") || !streq(ref->api_version, "v1"))
		return mine;
	*ret_labels = mine.labels ? xasprintf("%s,%s", mine.labels, s->pods) : xstrdup(s->pods);
	mine.labels = *ret_labels;
	return mine;
}

static void split_list(struct client *c, const struct ref *ref, const struct list_options *o, client_done *done,
		       void *arg)
{
	struct split *s = split_of(c);
	struct client *to = route(s, ref);
	auto_free char *labels = NULL;
	struct list_options mine;

	if (to == s->config.near) {
		to->ops->list(to, ref, o, done, arg);
		return;
	}
	mine = options_of(s, ref, o, &labels);
	to->ops->list(to, ref, &mine, on_answer, far_call_new(s, done, arg));
}

static void on_namespace(void *arg, const json_t *obj, const struct err *e)
{
	struct far_call *f = arg;
	struct client *far = f->split->config.far;
	struct ref ref = { .api_version = f->api_version, .plural = f->plural, .ns = f->ns, .dry_run = f->dry_run };

	(void)obj;
	if (e->kind == ERR_NONE || e->kind == ERR_EXISTS)
		far->ops->create(far, &ref, f->obj, on_answer, f);
	else
		on_answer(f, NULL, e);
}

/* What cannot be found when something is created is the namespace. */
static void on_created(void *arg, const json_t *obj, const struct err *e)
{
	struct far_call *f = arg;
	struct client *far = f->split->config.far;
	struct ref ref = { .api_version = "v1", .plural = "namespaces" };
	json_auto_t *namespace = NULL;

	if (e->kind != ERR_NOT_FOUND || !f->ns || !*f->ns || f->dry_run) {
		on_answer(f, obj, e);
		return;
	}
	namespace =
		json_pack("{s:s, s:s, s:{s:s}}", "apiVersion", "v1", "kind", "Namespace", "metadata", "name", f->ns);
	far->ops->create(far, &ref, namespace, on_namespace, f);
}

static void split_create(struct client *c, const struct ref *ref, const json_t *obj, client_done *done, void *arg)
{
	struct split *s = split_of(c);
	struct client *to = route(s, ref);
	struct far_call *f;

	if (to == s->config.near) {
		to->ops->create(to, ref, obj, done, arg);
		return;
	}
	f = far_call_new(s, done, arg);
	f->obj = split_outgoing(&s->config, obj);
	f->api_version = xstrdup(ref->api_version);
	f->plural = xstrdup(ref->plural);
	f->ns = ref->ns ? xstrdup(ref->ns) : NULL;
	f->dry_run = ref->dry_run;
	to->ops->create(to, ref, f->obj, on_created, f);
}

static void split_update(struct client *c, const struct ref *ref, const json_t *obj, client_done *done, void *arg)
{
	struct split *s = split_of(c);
	struct client *to = route(s, ref);
	json_auto_t *sent = NULL;

	if (to == s->config.near) {
		to->ops->update(to, ref, obj, done, arg);
		return;
	}
	sent = split_outgoing(&s->config, obj);
	to->ops->update(to, ref, sent, on_answer, far_call_new(s, done, arg));
}

static void split_patch(struct client *c, const struct ref *ref, const char *type, const json_t *patch,
			client_done *done, void *arg)
{
	struct split *s = split_of(c);
	struct client *to = route(s, ref);
	json_auto_t *sent = NULL;

	if (to == s->config.near) {
		to->ops->patch(to, ref, type, patch, done, arg);
		return;
	}
	sent = split_outgoing(&s->config, patch);
	to->ops->patch(to, ref, type, sent, on_answer, far_call_new(s, done, arg));
}

static void split_remove(struct client *c, const struct ref *ref, const json_t *options, client_done *done, void *arg)
{
	struct split *s = split_of(c);
	struct client *to = route(s, ref);

	if (to == s->config.near)
		to->ops->remove(to, ref, options, done, arg);
	else
		to->ops->remove(to, ref, options, on_answer, far_call_new(s, done, arg));
}

/* ---- watches ---- */

struct split_watch {
	struct split *split;
	struct client *of;
	void *handle;
	client_event *event;
	void *arg;
};

/* The caller may end the watch from within. */
static void on_event(void *arg, const char *type, const json_t *obj, const struct err *e)
{
	struct split_watch *w = arg;
	json_auto_t *seen = obj && w->of == w->split->config.far ? split_incoming(&w->split->config, obj)
								 : json_incref((json_t *)obj);

	w->event(w->arg, type, seen, e);
}

static void *split_watch(struct client *c, const struct ref *ref, const struct list_options *o, client_event *event,
			 void *arg)
{
	struct split *s = split_of(c);
	struct split_watch *w = xcalloc(1, sizeof(*w));
	auto_free char *labels = NULL;
	struct list_options mine = options_of(s, ref, o, &labels);

	*w = (struct split_watch){ .split = s, .of = route(s, ref), .event = event, .arg = arg };
	w->handle = w->of->ops->watch(w->of, ref, &mine, on_event, w);
	return w;
}

static void split_watch_stop(struct client *c, void *watch)
{
	struct split_watch *w = watch;

	(void)c;
	w->of->ops->watch_stop(w->of, w->handle);
	free(w);
}

/* ---- the rest is the other cluster's ---- */

static void split_raw(struct client *c, const char *method, const char *path, struct str body,
		      void (*done)(void *arg, int code, struct str body, const struct err *e), void *arg)
{
	struct client *far = split_of(c)->config.far;

	far->ops->raw(far, method, path, body, done, arg);
}

static void *split_stream(struct client *c, const char *path, void (*piece)(void *arg, struct str piece),
			  void (*done)(void *arg, const struct err *e), void *arg)
{
	struct client *far = split_of(c)->config.far;

	return far->ops->stream(far, path, piece, done, arg);
}

static void split_stream_stop(struct client *c, void *stream)
{
	struct client *far = split_of(c)->config.far;

	far->ops->stream_stop(far, stream);
}

static void split_free(struct client *c)
{
	struct split *s = split_of(c);

	free(s->group);
	free(s->id);
	free(s->pods);
	free(s);
}

static const struct client_ops split_ops = {
	.get = split_get,
	.list = split_list,
	.create = split_create,
	.update = split_update,
	.patch = split_patch,
	.remove = split_remove,
	.watch = split_watch,
	.watch_stop = split_watch_stop,
	.raw = split_raw,
	.stream = split_stream,
	.stream_stop = split_stream_stop,
	.free = split_free,
};

struct client *client_split_new(const struct split_config *config)
{
	struct split *s = xcalloc(1, sizeof(*s));

	s->base = (struct client){
		.ops = &split_ops, .loop = config->far->loop, .page = config->far->page, .ca_pem = config->far->ca_pem
	};
	s->group = xstrdup(config->group);
	s->id = xstrdup(config->id);
	s->pods = config->pods ? xstrdup(config->pods) : NULL;
	s->config = *config;
	s->config.group = s->group;
	s->config.id = s->id;
	s->config.pods = s->pods;
	return &s->base;
}
