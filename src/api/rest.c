// SPDX-License-Identifier: Apache-2.0
/* rest.c - the front desk: path, query and caller of a request; then one of the verbs
 *
 * A path is /api/v1/... or /apis/GROUP/VERSION/..., cut into decoded segments:
 *
 *	[namespaces/NS/]PLURAL[/NAME[/SUBRESOURCE]]      with "watch/" in front in the old style
 *	namespaces/NS/PLURAL/NAME/proxy[/ANYTHING]       of the core group; what follows belongs to someone else
 *
 * Everything else is a document (rest_docs.c) or nothing.
 */
#include "api/rest.h"

#include "api/authz.h"
#include "api/counters.h"
#include "api/exchange.h"
#include "api/verbs.h"
#include "base/jsonx.h"
#include "base/limits.h"
#include "base/log.h"
#include "base/mem.h"

/* Cut so far: /api/v1/namespaces/NS/PLURAL/NAME/proxy. */
static bool ends_in_proxy(const char *path, const size_t *starts, size_t n)
{
	static const char *const words[] = { "api", "v1", "namespaces", NULL, NULL, NULL, "proxy" };

	for (size_t i = 0; i < ARRAY_SIZE(words) && n == ARRAY_SIZE(words); i++)
		if (words[i] && !streq(path + starts[i], words[i]))
			return false;
	return n == ARRAY_SIZE(words);
}

static int cut_path(struct exchange *x, struct err *e)
{
	auto_sbuf struct sbuf all = SBUF(LIMIT_URL);
	struct str rest = http_path(x->http);
	size_t starts[MAX_SEGMENTS];
	struct str part;

	while (str_split(&rest, '/', &part)) {
		if (!part.n)
			continue;
		if (x->nsegments == MAX_SEGMENTS)
			return err_set(e, ERR_NOT_FOUND, "the server could not find the requested resource");
		starts[x->nsegments++] = all.n;
		if (!http_unescape(part, false, &all))
			return err_set(e, ERR_BAD_REQUEST, "the path has a bad escape or is not UTF-8");
		sbuf_addc(&all, '\0');
		x->is_proxy = ends_in_proxy(all.p, starts, x->nsegments);
		if (x->is_proxy)
			break;
	}
	if (x->is_proxy && rest.p)
		x->proxied = (struct str){ rest.p - 1, rest.n + 1 };
	x->path = sbuf_steal(&all);
	for (size_t i = 0; i < x->nsegments; i++) {
		x->segments[i] = x->path + starts[i];
		if (streq(x->segments[i], ".") || streq(x->segments[i], "..") || strchr(x->segments[i], '/'))
			return err_set(e, ERR_BAD_REQUEST, "a path segment may not be \"%s\"", x->segments[i]);
	}
	return 0;
}

static int cut_query(struct exchange *x, struct err *e)
{
	auto_sbuf struct sbuf key = SBUF(LIMIT_URL);
	auto_sbuf struct sbuf value = SBUF(LIMIT_URL);
	struct str rest = http_query(x->http);
	bool bad = false;
	int n = 0;

	if (!rest.n || x->is_proxy)
		return 0;
	x->query = json_object();
	while (http_query_next(&rest, &key, &value, &bad)) {
		if (++n > LIMIT_QUERY_PARAMS)
			return err_set(e, ERR_BAD_REQUEST, "the query has more than %d parameters", LIMIT_QUERY_PARAMS);
		if (!json_object_get(x->query, key.p ? key.p : ""))
			json_object_set_new(x->query, key.p ? key.p : "", jsonx_string(value.p ? value.p : ""));
	}
	if (bad)
		return err_set(e, ERR_BAD_REQUEST, "the query has a bad escape or is not UTF-8");
	return 0;
}

/* ---- which kind, which verb ---- */

struct rest_verb {
	const char *method;
	bool named;
	enum verb verb;
};

static const struct rest_verb verbs[] = {
	{ "GET", true, VERB_GET },     { "GET", false, VERB_LIST },     { "HEAD", true, VERB_GET },
	{ "HEAD", false, VERB_LIST },  { "POST", false, VERB_CREATE },  { "PUT", true, VERB_UPDATE },
	{ "PATCH", true, VERB_PATCH }, { "DELETE", true, VERB_DELETE }, { "DELETE", false, VERB_DELETECOLLECTION },
};

static int pick_verb(struct exchange *x, bool old_watch, struct err *e)
{
	const char *method = http_method(x->http);
	bool named = x->req.name != NULL;

	if (old_watch && !streq(method, "GET"))
		return err_set(e, ERR_NO_METHOD, "%s", "");
	if (x->is_proxy && streq(method, "OPTIONS")) {
		x->req.verb = VERB_GET;
		return 0;
	}
	if (x->req.subresource && streq(method, "POST")) {
		x->req.verb = VERB_CREATE;
		return 0;
	}
	for (size_t i = 0; i < ARRAY_SIZE(verbs); i++) {
		if (!streq(verbs[i].method, method) || verbs[i].named != named)
			continue;
		x->req.verb = verbs[i].verb;
		/* A watch is nothing but its body, which HEAD has not. */
		if ((verbs[i].verb == VERB_LIST && streq(method, "GET") && exchange_flag(x, "watch")) || old_watch)
			x->req.verb = VERB_WATCH;
		return 0;
	}
	return err_set(e, ERR_NO_METHOD, "%s", "");
}

/* Fills kind, ns, name and subresource from the segments behind the version. */
static int find_resource(struct exchange *x, const char *group, const char *version, size_t at, struct err *e)
{
	const struct registry *r = api_registry(x->rest->api);
	const char *const *s = x->segments + at;
	size_t n = x->nsegments - at;
	bool old_watch = n > 1 && streq(s[0], "watch");

	s += old_watch;
	n -= old_watch;
	x->req.ns = "";
	/* /namespaces/NS/PLURAL, but /namespaces/NAME[/status|/finalize] is the namespace itself */
	if (n >= 3 && streq(s[0], "namespaces") &&
	    !(n == 3 && !*group && (streq(s[2], "status") || streq(s[2], "finalize")))) {
		x->req.ns = s[1];
		s += 2;
		n -= 2;
	}
	x->req.kind = n ? registry_find(r, group, version, s[0]) : NULL;
	/* A part of an object cannot be watched; a right to the part must not show the whole. */
	if (!x->req.kind || n > (old_watch ? 2 : 3) || (*x->req.ns && !x->req.kind->namespaced)) {
		x->req.kind = NULL;
		return err_set(e, ERR_NOT_FOUND, "the server could not find the requested resource");
	}
	x->req.name = n > 1 ? s[1] : NULL;
	x->req.subresource = n > 2 ? s[2] : NULL;
	if (pick_verb(x, old_watch, e) < 0)
		return -1;
	if (x->req.kind->namespaced && !*x->req.ns && (x->req.name || x->req.verb == VERB_CREATE)) {
		if (!(x->req.kind->flags & KIND_VIRTUAL))
			return err_set(e, x->req.name ? ERR_NOT_FOUND : ERR_BAD_REQUEST,
				       x->req.name ? "the server could not find the requested resource"
						   : "an empty namespace may not be set during creation");
	}
	return 0;
}

static int route(struct exchange *x, bool *ret_resource, struct err *e)
{
	const struct registry *r = api_registry(x->rest->api);
	const char *const *s = x->segments;

	*ret_resource = !rest_usage_path(x);
	if (!*ret_resource || rest_logs_route(x) || rest_why_route(x) || rest_pbs_act_route(x))
		return 0;
	if (rest_line_is(x) || rest_pbs_is(x) || rest_pbs_past_path(x)) {
		*ret_resource = false;
		return 0;
	}
	if (x->nsegments >= 3 && streq(s[0], "api") && streq(s[1], "v1"))
		return find_resource(x, "", "v1", 2, e);
	if (x->nsegments >= 4 && streq(s[0], "apis") && registry_has_group(r, s[1], s[2]))
		return find_resource(x, s[1], s[2], 3, e);
	*ret_resource = false;
	return 0;
}

/* ---- parameters of verbs ---- */

static int write_options(struct exchange *x, struct err *e)
{
	const char *dry = exchange_param(x, "dryRun");
	const char *fields = exchange_param(x, "fieldValidation");

	if (dry && *dry && !streq(dry, "All"))
		return err_cause(e, CAUSE_NOT_SUPPORTED, "dryRun",
				 "Unsupported value: \"%.40s\": supported values: \"All\"", dry);
	x->req.dry_run = dry && *dry;
	if (fields && streq(fields, "Strict"))
		x->req.fields = FIELDS_STRICT;
	else if (fields && streq(fields, "Ignore"))
		x->req.fields = FIELDS_IGNORE;
	else if (fields && *fields && !streq(fields, "Warn"))
		return err_cause(e, CAUSE_NOT_SUPPORTED, "fieldValidation",
				 "Unsupported value: \"%.40s\": supported values: \"Ignore\", \"Strict\", \"Warn\"",
				 fields);
	x->req.force = exchange_flag(x, "force");
	x->req.field_manager = exchange_param(x, "fieldManager");
	if (x->req.field_manager && strlen(x->req.field_manager) > 128)
		return err_cause(e, CAUSE_TOO_LONG, "fieldManager", "Too long: may not be longer than 128");
	return 0;
}

static int read_options(struct exchange *x, struct err *e)
{
	const char *limit = exchange_param(x, "limit");

	if (limit && !str_int64(limit, 0, INT64_MAX, &x->req.limit))
		return err_set(e, ERR_BAD_REQUEST, "limit: Invalid value: \"%.40s\": must be a whole number", limit);
	x->req.cont = exchange_param(x, "continue");
	x->req.rv = exchange_param(x, "resourceVersion");
	x->req.rv_match = exchange_param(x, "resourceVersionMatch");
	if (selector_parse_labels(exchange_param(x, "labelSelector"), &x->labels, e) < 0)
		return err_prefix(e, "unable to parse labelSelector");
	if (selector_parse_fields(exchange_param(x, "fieldSelector"), x->req.kind, &x->fields, e) < 0)
		return -1;
	x->req.labels = x->labels;
	x->req.field_sel = x->fields;
	return 0;
}

/* ---- dispatch ---- */

static bool wants_indent(const struct exchange *x)
{
	static const char *const people[] = { "curl", "Wget", "Mozilla/5.0" };
	const char *agent = x->req.user_agent;

	if (exchange_param(x, "pretty"))
		return exchange_flag(x, "pretty");
	for (size_t i = 0; agent && i < ARRAY_SIZE(people); i++)
		if (str_starts(agent, people[i]))
			return true;
	return false;
}

/* Reviews have no table, and a client that insists on one is told so. */
static unsigned forms_of(const struct api_request *req)
{
	return req->kind->flags & KIND_VIRTUAL && req->verb == VERB_CREATE ? FORMS_DOCUMENT : FORMS_OBJECT;
}

static int prepare_resource(struct exchange *x, struct err *e)
{
	if (negotiate_accept(http_header(x->http, "Accept"), forms_of(&x->req), &x->accept, e) < 0)
		return -1;
	switch (x->req.verb) {
	case VERB_CREATE:
	case VERB_UPDATE:
	case VERB_PATCH:
		x->mutating = !(x->req.kind->flags & KIND_VIRTUAL);
		return write_options(x, e) < 0 ? -1 : body_read(x, e);
	case VERB_DELETE:
		x->mutating = true;
		return write_options(x, e) < 0 ? -1 : body_delete_options(x, e);
	case VERB_DELETECOLLECTION:
		x->mutating = true;
		return write_options(x, e) < 0 || read_options(x, e) < 0 ? -1 : body_delete_options(x, e);
	default:
		return read_options(x, e);
	}
}

static void serve_resource(struct exchange *x)
{
	struct api *api = x->rest->api;
	stream_fn *stream = rest_stream_find(x);
	bool reads = x->req.verb == VERB_LIST || x->req.verb == VERB_WATCH;

	if (x->req.caller->local && authn_ensure_namespace(api_authn(api), x->req.caller, &x->err) < 0) {
		exchange_finish(x);
		return;
	}
	/* Rights come before the body is even looked at; a list may owe them to its field selector. */
	if ((!reads && verb_authorize(api, &x->req, &x->err) < 0) || (!stream && prepare_resource(x, &x->err) < 0) ||
	    (reads && verb_authorize(api, &x->req, &x->err) < 0)) {
		exchange_finish(x);
		return;
	}
	if (stream) {
		stream(x);
		return;
	}
	if (rest_metrics(x) || rest_pod_elsewhere(x))
		return;
	if (x->req.verb == VERB_LIST) {
		rest_list(x);
		return;
	}
	if (x->req.verb == VERB_WATCH) {
		rest_watch(x);
		return;
	}
	if (x->req.verb == VERB_DELETECOLLECTION) {
		rest_delete_collection(x);
		return;
	}
	api_call(api, &x->req, &x->result, &x->err);
	exchange_finish(x);
}

/* Kubernetes has no words of its own for a group that nobody serves, and clients of several clusters meet that. */
static bool unknown_group(struct exchange *x)
{
	if (x->nsegments < 2 || !streq(x->segments[0], "apis") ||
	    registry_has_group(api_registry(x->rest->api), x->segments[1], NULL))
		return false;
	exchange_reply_text(x, 404, "text/plain; charset=utf-8", STR("404 page not found\n"));
	return true;
}

static void serve_document(struct exchange *x)
{
	static const struct {
		const char *method, *verb;
	} rows[] = { { "GET", "get" },     { "HEAD", "head" },     { "POST", "post" },      { "PUT", "put" },
		     { "PATCH", "patch" }, { "DELETE", "delete" }, { "OPTIONS", "options" } };
	auto_free char *path = xstrndup(http_path(x->http).p, http_path(x->http).n);
	struct authz_attributes at = { .verb = "other", .path = path };

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		if (streq(rows[i].method, http_method(x->http)))
			at.verb = rows[i].verb;
	if (authz_require(api_authz(x->rest->api), x->req.caller, &at, &x->err) < 0) {
		exchange_finish(x);
		return;
	}
	if (!unknown_group(x) && !rest_line(x) && !rest_pbs(x) && !rest_pbs_past(x) && !rest_document(x)) {
		err_set(&x->err, ERR_NOT_FOUND, "the server could not find the requested resource");
		exchange_finish(x);
	}
}

static void on_request(void *arg, struct http_request *http)
{
	struct rest *r = arg;
	struct exchange *x = exchange_new(r, http);
	bool resource = false;

	x->req.user_agent = http_header(http, "User-Agent");
	if (cut_path(x, &x->err) < 0 || cut_query(x, &x->err) < 0 ||
	    authn_identify(api_authn(r->api), http, &x->id, &x->err) < 0) {
		exchange_finish(x);
		return;
	}
	x->req.caller = identity_caller(x->id);
	x->pretty = wants_indent(x);
	if (route(x, &resource, &x->err) < 0) {
		exchange_finish(x);
		return;
	}
	if (resource)
		serve_resource(x);
	else
		serve_document(x);
}

static void on_bad_request(void *arg, const struct err *e, int code, struct sbuf *body, const char **ret_type)
{
	json_auto_t *status = status_from_err(e, &(struct status_subject){ 0 });

	(void)arg;
	/* HTTP has codes of its own for what is too long, and a Status says what its status line says. */
	json_object_set_new(status, "code", json_integer(code));
	jsonx_dump(status, body);
	*ret_type = "application/json";
}

struct rest *rest_new(struct api *api)
{
	struct rest *r = xcalloc(1, sizeof(*r));

	r->api = api;
	r->docs = docs_new(api);
	r->counters = counters_new(api);
	LIST_INIT(&r->abandoned);
	return r;
}

void rest_set_kubelet(struct rest *r, struct kubelet *k)
{
	r->kubelet = k;
}

void rest_set_scheduler(struct rest *r, struct scheduler *s)
{
	r->scheduler = s;
}

void rest_set_metrics(struct rest *r, void (*add)(void *arg, struct sbuf *out), void *arg)
{
	r->add_metrics = add;
	r->metrics_arg = arg;
}

void rest_free(struct rest *r)
{
	if (!r)
		return;
	while (!LIST_EMPTY(&r->abandoned))
		exchange_stop(LIST_FIRST(&r->abandoned));
	docs_free(r->docs);
	counters_free(r->counters);
	free(r);
}

struct http_handlers rest_handlers(struct rest *r)
{
	return (struct http_handlers){ .request = on_request, .bad_request = on_bad_request, .arg = r };
}
