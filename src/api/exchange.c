// SPDX-License-Identifier: Apache-2.0
/* exchange.c - from result to reply, once and after the commit
 *
 * Stored text is sent as it is behind a short prefix.  Everything else goes through JSON: tables, partial metadata,
 * YAML, indented text for people.
 */
#include "api/exchange.h"

#include <strings.h>

#include "api/audit.h"
#include "api/counters.h"
#include "api/object.h"
#include "api/sweep.h"
#include "api/wire.h"
#include "base/clock.h"
#include "base/jsonx.h"
#include "base/limits.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/yamlx.h"

#define TYPE_JSON "application/json"
#define TYPE_YAML "application/yaml"

void exchange_keep_peer(struct exchange *x)
{
	if (x->address)
		return;
	x->address = xstrdup(http_peer(x->http)->address);
	x->agent = x->req.user_agent ? xstrdup(x->req.user_agent) : NULL;
	x->req.user_agent = x->agent;
}

/* The client has gone, its write has not. */
static void abandon(struct exchange *x)
{
	exchange_keep_peer(x);
	x->http = NULL;
	x->abandoned = true;
	LIST_INSERT_HEAD(&x->rest->abandoned, x, link);
}

static void on_gone(void *arg)
{
	struct exchange *x = arg;

	if (x->mutating && (x->waiting || x->sweep)) {
		abandon(x);
		return;
	}
	if (x->waiting) {
		store_after_cancel(&x->after);
		x->waiting = false;
	}
	exchange_free(x);
}

struct exchange *exchange_new(struct rest *r, struct http_request *http)
{
	struct exchange *x = xcalloc(1, sizeof(*x));

	x->rest = r;
	x->http = http;
	x->req.grace_seconds = -1;
	http_on_close(http, on_gone, x);
	return x;
}

void exchange_free(struct exchange *x)
{
	if (x->abandoned)
		LIST_REMOVE(x, link);
	if (x->watcher)
		watch_stop(x->watcher);
	if (x->list)
		list_stream_free(x->list);
	sweep_cancel(x->sweep);
	if (x->stream)
		x->stream_free(x->stream);
	api_result_done(&x->result);
	identity_free(x->id);
	selector_free(x->labels);
	selector_free(x->fields);
	json_decref(x->query);
	json_decref(x->body);
	json_decref(x->req.duplicates);
	free(x->path);
	free(x->found);
	free(x->address);
	free(x->agent);
	free(x);
}

bool exchange_path_is(const struct exchange *x, const char *const *words, size_t n)
{
	if (x->nsegments != n)
		return false;
	for (size_t i = 0; i < n; i++)
		if (words[i] && !streq(words[i], x->segments[i]))
			return false;
	return true;
}

const char *exchange_param(const struct exchange *x, const char *name)
{
	return json_string_value(json_object_get(x->query, name));
}

bool exchange_flag(const struct exchange *x, const char *name)
{
	const char *v = exchange_param(x, name);

	return v && !streq(v, "0") && strcasecmp(v, "false") != 0;
}

void exchange_count(struct exchange *x, int code)
{
	static const char *const verbs[VERB__COUNT] = {
		[VERB_GET] = "GET",       [VERB_LIST] = "LIST",
		[VERB_WATCH] = "WATCH",   [VERB_CREATE] = "POST",
		[VERB_UPDATE] = "PUT",    [VERB_PATCH] = "PATCH",
		[VERB_DELETE] = "DELETE", [VERB_DELETECOLLECTION] = "DELETECOLLECTION",
	};
	const struct kind *k = x->req.kind;
	const char *verb = !k ? http_method(x->http) : x->req.patch == PATCH_APPLY ? "APPLY" : verbs[x->req.verb];

	counters_request(x->rest->counters, verb, k, x->req.subresource, code);
}

void exchange_audit(struct exchange *x, int code)
{
	const struct kind *k = x->req.kind;
	auto_free char *path = NULL;
	struct audit_event ev = {
		.caller = x->id ? x->req.caller : NULL,
		.impersonator = x->id ? identity_impersonator(x->id) : NULL,
		.verb = k ? verb_name(x->req.verb) : http_method(x->http),
		.code = code,
		.address = x->http ? http_peer(x->http)->address : x->address,
		.user_agent = x->req.user_agent,
		.notes = x->result.notes,
	};

	exchange_count(x, code);
	if (k) {
		ev.group = k->group;
		ev.version = k->version;
		ev.resource = k->plural;
		ev.subresource = x->req.subresource;
		ev.ns = x->req.ns;
		ev.name = x->req.name ? x->req.name : jsonx_str(x->body, "metadata.name");
		/* Reviews ask, they do not change anything. */
		if ((k->flags & KIND_VIRTUAL) && code < 400)
			return;
	}
	if (!audit_wanted(&ev))
		return;
	if (!k)
		ev.path = path = xstrndup(http_path(x->http).p, http_path(x->http).n);
	audit_record(api_audit(x->rest->api), &ev);
}

void exchange_upgraded(struct exchange *x)
{
	x->http = NULL;
	exchange_audit(x, 101);
	exchange_free(x);
}

/* Characters a header may not carry become spaces. */
static void add_warnings(struct exchange *x)
{
	json_t *w;
	size_t i;

	json_array_foreach (x->result.warnings, i, w) {
		auto_sbuf struct sbuf line = SBUF(LIMIT_STATUS_TEXT);

		sbuf_adds(&line, "299 - ");
		sbuf_add_json_string(&line, json_string_value(w), json_string_length(w));
		for (size_t k = 0; k < line.n; k++)
			if ((unsigned char)line.p[k] < 0x20)
				line.p[k] = ' ';
		http_add_header(x->http, "Warning", line.p);
	}
}

static void send_text(struct exchange *x, int code, const char *type, struct str text)
{
	struct http_request *http = x->http;

	exchange_audit(x, code);
	http_on_close(http, NULL, NULL);
	http_reply(http, code, type, text.p, text.n);
	exchange_free(x);
}

void exchange_reply_text(struct exchange *x, int code, const char *type, struct str text)
{
	send_text(x, code, type, text);
}

void exchange_reply_json(struct exchange *x, int code, json_t *doc)
{
	auto_sbuf struct sbuf out = SBUF(LIMIT_REPLY_QUEUE);
	bool yaml = x->accept.form == REPLY_YAML;

	if (yaml)
		yamlx_dump(doc, &out);
	else if (x->pretty)
		jsonx_dump_pretty(doc, &out);
	else
		jsonx_dump(doc, &out);
	json_decref(doc);
	send_text(x, code, yaml ? TYPE_YAML : TYPE_JSON, sbuf_str(&out));
}

static void send_error(struct exchange *x)
{
	struct status_subject about = { x->req.kind, x->req.name };
	const char *name = jsonx_str(x->body, "metadata.name");

	if (!about.name && x->req.verb == VERB_CREATE)
		about.name = name ? name : "";
	if (x->err.kind == ERR_CORRUPT || x->err.kind == ERR_INTERNAL)
		log_error("answer a request with an error path=%.*s: %s", STR_FMT(http_path(x->http)), x->err.text);
	if (x->err.retry_after) {
		char seconds[16];

		snprintf(seconds, sizeof(seconds), "%d", x->err.retry_after);
		http_add_header(x->http, "Retry-After", seconds);
	}
	if (x->err.kind == ERR_UNAUTHORIZED)
		http_add_header(x->http, "WWW-Authenticate", "Bearer");
	add_warnings(x);
	exchange_reply_json(x, err_http_code(x->err.kind), status_from_err(&x->err, &about));
}

/* The common case: a prefix and the stored bytes. */
static void send_stored(struct exchange *x)
{
	auto_sbuf struct sbuf prefix = SBUF(1024);
	struct http_request *http = x->http;
	struct str parts[2];

	object_type_prefix(x->result.kind, &prefix);
	parts[0] = sbuf_str(&prefix);
	parts[1] = (struct str){ x->result.text + 1, x->result.text_len - 1 };
	exchange_audit(x, x->result.code);
	http_on_close(http, NULL, NULL);
	http_reply_parts(http, x->result.code, TYPE_JSON, parts, 2);
	exchange_free(x);
}

static json_t *table_of_one(const struct exchange *x, const json_t *obj)
{
	const char *version = x->accept.meta_version;
	enum include_object inc = negotiate_include(exchange_param(x, "includeObject"));

	return json_pack("{s:s, s:o, s:{s:O*}, s:o, s:[o]}", "kind", "Table", "apiVersion",
			 jsonx_stringf("meta.k8s.io/%s", version), "metadata", "resourceVersion",
			 jsonx_at(obj, "metadata.resourceVersion"), "columnDefinitions", table_columns(x->result.kind),
			 "rows", table_row(x->result.kind, obj, inc, version, clock_wall()));
}

static void send_object(struct exchange *x)
{
	const struct kind *k = x->result.kind;
	json_auto_t *obj = json_incref(x->result.object);
	struct err e = ERR_INIT;
	json_t *doc;

	if (!obj && object_parse((struct str){ x->result.text, x->result.text_len }, &obj, &e) < 0) {
		x->err = e;
		send_error(x);
		return;
	}
	if (!k)
		doc = json_incref(obj);
	else if (x->accept.form == REPLY_TABLE)
		doc = table_of_one(x, obj);
	else if (x->accept.form == REPLY_PARTIAL)
		doc = table_partial(obj, x->accept.meta_version);
	else
		doc = object_with_type(k, obj);
	exchange_reply_json(x, x->result.code, doc);
}

static void send_result(struct exchange *x)
{
	bool stored = x->result.text && (!x->result.object || x->result.object == x->result.text_of);

	if (!x->http) {
		exchange_audit(x, x->err.kind == ERR_NONE ? x->result.code : err_http_code(x->err.kind));
		exchange_free(x);
		return;
	}
	if (x->err.kind != ERR_NONE) {
		send_error(x);
		return;
	}
	add_warnings(x);
	if (stored && x->accept.form == REPLY_JSON && !x->pretty)
		send_stored(x);
	else
		send_object(x);
}

static void on_committed(void *arg, const struct err *e)
{
	struct exchange *x = arg;

	x->waiting = false;
	if (e->kind != ERR_NONE && (x->mutating || x->err.kind == ERR_NONE))
		x->err = *e;
	send_result(x);
}

void exchange_finish(struct exchange *x)
{
	struct store *store = api_store(x->rest->api);

	if (!store_dirty(store)) {
		send_result(x);
		return;
	}
	x->after = (struct store_after){ .fn = on_committed, .arg = x };
	x->waiting = true;
	store_after(store, &x->after);
}

void exchange_stop(struct exchange *x)
{
	if (x->waiting)
		store_after_cancel(&x->after);
	x->waiting = false;
	if (x->err.kind == ERR_NONE)
		err_set(&x->err, ERR_UNAVAILABLE, "the server is stopping");
	send_result(x);
}
