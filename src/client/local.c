// SPDX-License-Identifier: Apache-2.0
/* local.c - struct client in this process: the same verbs, without the wire
 *
 * Answers come after the commit like everyone else's, from store_after().  A call made by a controller in the work
 * phase is committed at the end of the next turn, together with whatever else that turn brings.
 */
#include "api/api.h"
#include "api/object.h"
#include "api/status.h"
#include "api/sweep.h"
#include "api/watch.h"
#include "api/wire.h"
#include "base/jsonx.h"
#include "base/limits.h"
#include "base/mem.h"
#include "client/client.h"
#include "client/status.h"

struct local_client {
	struct client base;
	struct api *api;
	const struct caller *caller;
	struct collection *collections; /* under way */
};

/* One call waiting for its commit.  Errors are large and rare, so a call has room for one only if it failed. */
struct call {
	struct store_after after;
	client_done *done;
	void *arg;
	json_t *doc;
	struct err *failed; /* or NULL */
};

static void on_committed(void *arg, const struct err *e)
{
	struct call *c = arg;
	const struct err *what = c->failed ? c->failed : e;

	c->done(c->arg, what->kind == ERR_NONE ? c->doc : NULL, what);
	json_decref(c->doc);
	free(c->failed);
	free(c);
}

static struct call *call_new(client_done *done, void *arg)
{
	struct call *c = xcalloc(1, sizeof(*c));

	c->done = done;
	c->arg = arg;
	c->after = (struct store_after){ .fn = on_committed, .arg = c };
	return c;
}

static void call_fail(struct call *c, const struct err *e)
{
	if (e->kind == ERR_NONE)
		return;
	c->failed = xmemdup(e, sizeof(*e));
	client_status_settle(c->failed);
}

static const struct kind *find_kind(struct local_client *l, const struct ref *ref, struct err *e)
{
	const char *slash = strchr(ref->api_version, '/');
	auto_free char *group = slash ? xstrndup(ref->api_version, (size_t)(slash - ref->api_version)) : xstrdup("");
	const struct kind *k =
		registry_find(api_registry(l->api), group, slash ? slash + 1 : ref->api_version, ref->plural);

	if (!k)
		err_set(e, ERR_NOT_FOUND, "there is no resource %s in %s", ref->plural, ref->api_version);
	return k;
}

static struct api_request request_of(struct local_client *l, const struct ref *ref, enum verb verb, struct err *e)
{
	return (struct api_request){
		.caller = l->caller,
		.verb = verb,
		.kind = find_kind(l, ref, e),
		.subresource = ref->subresource,
		.ns = ref->ns ? ref->ns : "",
		.name = ref->name,
		.fields = FIELDS_IGNORE,
		.field_manager = "stoker",
		.grace_seconds = -1,
		.dry_run = ref->dry_run,
		.seen = ref->seen,
	};
}

/* The standard sentence where the error has none: what a Status would say. */
static void complete_error(struct err *e, const struct api_request *req)
{
	const char *name = req->name ? req->name : jsonx_str(req->body, "metadata.name");
	json_auto_t *status = status_from_err(e, &(struct status_subject){ req->kind, name });

	if (!e->text[0])
		snprintf(e->text, sizeof(e->text), "%s", jsonx_str_or(status, "message", ""));
}

static void run(struct local_client *l, struct api_request *req, client_done *done, void *arg, struct err *e)
{
	struct call *c = call_new(done, arg);
	struct api_result res = { 0 };

	if (e->kind == ERR_NONE && api_call(l->api, req, &res, e) == 0) {
		if (!res.object)
			object_parse((struct str){ res.text, res.text_len }, &res.object, e);
		if (res.object)
			c->doc = res.kind ? object_with_type(res.kind, res.object) : json_incref(res.object);
		api_result_done(&res);
	} else {
		complete_error(e, req);
	}
	call_fail(c, e);
	store_after(api_store(l->api), &c->after);
}

static void local_get(struct client *base, const struct ref *ref, client_done *done, void *arg)
{
	struct local_client *l = (struct local_client *)base;
	struct err e = ERR_INIT;
	struct api_request req = request_of(l, ref, VERB_GET, &e);

	req.decoded = true;
	run(l, &req, done, arg, &e);
}

static void write_with_body(struct client *base, const struct ref *ref, enum verb verb, const json_t *body,
			    enum patch_type patch, client_done *done, void *arg)
{
	struct local_client *l = (struct local_client *)base;
	struct err e = ERR_INIT;
	struct api_request req = request_of(l, ref, verb, &e);
	json_auto_t *copy = jsonx_copy(body); /* the verbs change what they are given */

	req.body = copy;
	req.patch = patch;
	run(l, &req, done, arg, &e);
}

static void local_create(struct client *c, const struct ref *ref, const json_t *obj, client_done *done, void *arg)
{
	write_with_body(c, ref, VERB_CREATE, obj, PATCH_NONE, done, arg);
}

static void local_update(struct client *c, const struct ref *ref, const json_t *obj, client_done *done, void *arg)
{
	write_with_body(c, ref, VERB_UPDATE, obj, PATCH_NONE, done, arg);
}

static void local_patch(struct client *c, const struct ref *ref, const char *type, const json_t *patch,
			client_done *done, void *arg)
{
	static const struct {
		const char *name;
		enum patch_type type;
	} types[] = { { "merge", PATCH_MERGE },
		      { "strategic", PATCH_STRATEGIC },
		      { "json", PATCH_JSON },
		      { "apply", PATCH_APPLY } };
	enum patch_type t = PATCH_MERGE;

	for (size_t i = 0; i < ARRAY_SIZE(types); i++)
		if (streq(types[i].name, type))
			t = types[i].type;
	write_with_body(c, ref, VERB_PATCH, patch, t, done, arg);
}

static void set_delete_options(struct api_request *req, const json_t *options)
{
	const char *policy = jsonx_str_or(options, "propagationPolicy", "Background");

	req->grace_seconds = jsonx_int_or(options, "gracePeriodSeconds", -1);
	req->if_uid = jsonx_str(options, "preconditions.uid");
	req->propagation = streq(policy, "Foreground") ? PROPAGATE_FOREGROUND
			   : streq(policy, "Orphan")   ? PROPAGATE_ORPHAN
						       : PROPAGATE_BACKGROUND;
}

/* A collection goes over many turns, so it keeps its request. */
struct collection {
	struct api_request req;
	char *ns;
	client_done *done;
	void *arg;
	struct sweep *sweep;
	struct collection *next, **pprev;
};

static void on_swept(void *arg, const struct err *e)
{
	struct collection *c = arg;
	json_auto_t *status = status_success(&(struct status_subject){ c->req.kind, NULL }, NULL);

	*c->pprev = c->next;
	if (c->next)
		c->next->pprev = c->pprev;
	c->done(c->arg, e->kind == ERR_NONE ? status : NULL, e);
	free(c->ns);
	free(c);
}

static void remove_collection(struct local_client *l, const struct ref *ref, const json_t *options, client_done *done,
			      void *arg)
{
	struct collection *c = xcalloc(1, sizeof(*c));
	struct err e = ERR_INIT;

	c->ns = xstrdup(ref->ns ? ref->ns : "");
	c->done = done;
	c->arg = arg;
	c->next = l->collections;
	c->pprev = &l->collections;
	if (c->next)
		c->next->pprev = &c->next;
	l->collections = c;
	c->req = request_of(l, ref, VERB_DELETECOLLECTION, &e);
	c->req.ns = c->ns;
	set_delete_options(&c->req, options);
	c->req.if_uid = NULL;
	if (e.kind != ERR_NONE || sweep_start(l->api, &c->req, on_swept, c, &c->sweep, &e) < 0)
		on_swept(c, &e);
}

static void local_remove(struct client *base, const struct ref *ref, const json_t *options, client_done *done,
			 void *arg)
{
	struct local_client *l = (struct local_client *)base;
	struct err e = ERR_INIT;
	struct api_request req;

	if (!ref->name) {
		remove_collection(l, ref, options, done, arg);
		return;
	}
	req = request_of(l, ref, VERB_DELETE, &e);
	set_delete_options(&req, options);
	run(l, &req, done, arg, &e);
}

/* ---- lists ---- */

static bool add_item(void *arg, const struct api_item *item)
{
	json_array_append_new(arg, object_for_caches(item->kind, item->object));
	return true;
}

static void local_list(struct client *base, const struct ref *ref, const struct list_options *o, client_done *done,
		       void *arg)
{
	struct local_client *l = (struct local_client *)base;
	struct call *c = call_new(done, arg);
	struct err e = ERR_INIT;
	struct api_request req = request_of(l, ref, VERB_LIST, &e);
	struct selector *labels = NULL;
	struct selector *fields = NULL;
	json_t *items = json_array();
	auto_free char *cont = NULL;
	int64_t rv = 0;
	int64_t remaining = 0;

	if (o) {
		req.limit = o->limit;
		req.cont = o->cont;
	}
	if (e.kind == ERR_NONE && selector_parse_labels(o ? o->labels : NULL, &labels, &e) == 0 &&
	    selector_parse_fields(o ? o->fields : NULL, req.kind, &fields, &e) == 0) {
		req.labels = labels;
		req.field_sel = fields;
		if (api_list(l->api, &req, true, add_item, items, &rv, &cont, &remaining, &e) == 0) {
			c->doc = json_pack("{s:o, s:s, s:{s:o}, s:O}", "kind", jsonx_stringf("%sList", req.kind->kind),
					   "apiVersion", ref->api_version, "metadata", "resourceVersion",
					   jsonx_stringf("%lld", (long long)rv), "items", items);
			if (cont)
				jsonx_set_new(c->doc, "metadata.continue", json_string(cont));
		}
	}
	call_fail(c, &e);
	json_decref(items);
	selector_free(labels);
	selector_free(fields);
	store_after(api_store(l->api), &c->after);
}

/* ---- watches ---- */

struct local_watch {
	struct watcher *watcher;
	client_event *event;
	void *arg;
	struct err failed; /* told from the loop, never from within watch() */
	struct loop *loop;
	struct loop_hook tell;
};

static void tell_failure(void *arg)
{
	struct local_watch *w = arg;

	w->event(w->arg, "", NULL, &w->failed);
}

/* Only errors come as text. */
static void on_line(void *arg, struct str line, struct http_shared **shared)
{
	struct local_watch *w = arg;
	json_auto_t *event = NULL;
	struct err e = ERR_INIT;

	(void)shared;
	if (jsonx_parse(line.p, line.n, NULL, NULL, &event, &e) == 0)
		err_set(&w->failed, ERR_EXPIRED, "%s", jsonx_str_or(event, "object.message", "the watch ended"));
}

static void on_object(void *arg, const char *type, const json_t *obj)
{
	struct local_watch *w = arg;
	struct err none = ERR_INIT;

	w->event(w->arg, type, obj, &none);
}

static size_t never_pending(void *arg)
{
	(void)arg;
	return 0;
}

static void on_end(void *arg, bool cut)
{
	struct local_watch *w = arg;

	(void)cut;
	w->watcher = NULL;
	if (w->failed.kind == ERR_NONE)
		err_set(&w->failed, ERR_UNAVAILABLE, "the watch ended");
	loop_schedule(w->loop, &w->tell);
}

static void *local_watch(struct client *base, const struct ref *ref, const struct list_options *o, client_event *event,
			 void *arg)
{
	struct local_client *l = (struct local_client *)base;
	struct local_watch *w = xcalloc(1, sizeof(*w));
	struct watch_sink sink = {
		.write = on_line, .object = on_object, .pending = never_pending, .end = on_end, .arg = w
	};
	struct watch_options wo = { .form = WATCH_JSON, .meta_version = "v1", .timeout_seconds = 30 * 24 * 3600 };
	struct api_request req = request_of(l, ref, VERB_WATCH, &w->failed);
	struct selector *labels = NULL;
	struct selector *fields = NULL;

	w->event = event;
	w->arg = arg;
	w->loop = base->loop;
	w->tell = (struct loop_hook){ .run = tell_failure, .arg = w, .phase = LOOP_WORK };
	if (o && o->rv && str_int64(o->rv, 1, INT64_MAX, &wo.since))
		wo.skip_list = true;
	wo.initial_events = o && o->mark_list_end;
	if (w->failed.kind == ERR_NONE && selector_parse_labels(o ? o->labels : NULL, &labels, &w->failed) == 0 &&
	    selector_parse_fields(o ? o->fields : NULL, req.kind, &fields, &w->failed) == 0) {
		req.labels = labels;
		req.field_sel = fields;
		if (watch_start(api_hub(l->api), &req, &wo, &sink, &w->watcher, &w->failed) == 0)
			return w;
	}
	selector_free(labels);
	selector_free(fields);
	loop_schedule(w->loop, &w->tell);
	return w;
}

static void local_watch_stop(struct client *c, void *watch)
{
	struct local_watch *w = watch;

	(void)c;
	if (w->watcher)
		watch_stop(w->watcher);
	loop_unschedule(w->loop, &w->tell);
	free(w);
}

/* In this process there is only discovery to ask for; everything else has a verb. */
static void local_raw(struct client *base, const char *method, const char *path, struct str body,
		      void (*done)(void *arg, int code, struct str body, const struct err *e), void *arg)
{
	struct local_client *l = (struct local_client *)base;
	auto_sbuf struct sbuf text = SBUF(LIMIT_REPLY_QUEUE);
	json_auto_t *doc = NULL;
	struct err e = ERR_INIT;

	(void)body;
	if (streq(method, "GET") && (streq(path, "/api") || streq(path, "/apis"))) {
		doc = discovery_aggregated(api_registry(l->api), streq(path, "/api"), "v2");
		jsonx_dump(doc, &text);
		done(arg, 200, sbuf_str(&text), &e);
		return;
	}
	err_set(&e, ERR_NO_METHOD, "%s %s is only served over HTTP", method, path);
	done(arg, 0, (struct str){ "", 0 }, &e);
}

/* Nothing in this process is read as it comes but by its own door. */
static void *local_stream(struct client *c, const char *path, void (*piece)(void *arg, struct str piece),
			  void (*done)(void *arg, const struct err *e), void *arg)
{
	struct err e = ERR_INIT;

	(void)c;
	(void)piece;
	err_set(&e, ERR_NO_METHOD, "GET %s is only served over HTTP", path);
	done(arg, &e);
	return NULL;
}

static void local_stream_stop(struct client *c, void *stream)
{
	(void)c;
	(void)stream;
}

/* A collection under way stops here: the API goes before the store says its last word. */
static void local_free(struct client *base)
{
	struct local_client *l = (struct local_client *)base;
	struct err e = ERR_INIT;

	err_set(&e, ERR_UNAVAILABLE, "the server is stopping");
	while (l->collections) {
		sweep_cancel(l->collections->sweep);
		on_swept(l->collections, &e);
	}
	free(l);
}

static const struct client_ops local_ops = {
	.get = local_get,
	.list = local_list,
	.create = local_create,
	.update = local_update,
	.patch = local_patch,
	.remove = local_remove,
	.watch = local_watch,
	.watch_stop = local_watch_stop,
	.raw = local_raw,
	.stream = local_stream,
	.stream_stop = local_stream_stop,
	.free = local_free,
};

struct client *client_local_new(struct api *api, const struct caller *caller)
{
	struct local_client *l = xcalloc(1, sizeof(*l));

	l->base = (struct client){ .ops = &local_ops, .loop = api_loop(api), .streams_lists = true };
	if (api_pki(api))
		l->base.ca_pem = pki_ca_pem(api_pki(api)).p;
	l->api = api;
	l->caller = caller;
	return &l->base;
}
