// SPDX-License-Identifier: Apache-2.0
/* subresources.c - scale, token, finalize: doors that open one part of an object; subresource_pod.c has those of pods
 *
 * Status and its like are plain updates of one part (see subresource_part); the rows below are the ones with a body or
 * an effect of their own.
 */
#include "api/authn.h"
#include "api/authz.h"
#include "api/object.h"
#include "api/patch.h"
#include "api/pod_owner.h"
#include "api/status.h"
#include "api/verbs.h"
#include "base/clock.h"
#include "base/jsonx.h"
#include "base/limits.h"
#include "base/mem.h"
#include "kinds/rest.h"

/* ---- scale ---- */

static json_t *at_dotted(const json_t *obj, const char *path)
{
	return path ? jsonx_at(obj, *path == '.' ? path + 1 : path) : NULL;
}

/* status.selector: a LabelSelector, a plain map, or text kept by the controller. */
static void scale_selector(const struct kind *k, const json_t *obj, struct sbuf *out)
{
	const json_t *sel = at_dotted(obj, k->scale_selector);
	struct selector *parsed = NULL;
	struct err e = ERR_INIT;
	json_auto_t *wrapped = NULL;

	if (json_is_string(sel)) {
		sbuf_adds(out, json_string_value(sel));
		return;
	}
	if (!sel)
		return;
	if (!json_object_get(sel, "matchLabels") && !json_object_get(sel, "matchExpressions"))
		wrapped = json_pack("{s:O}", "matchLabels", sel);
	if (selector_from_json(wrapped ? wrapped : sel, &parsed, &e) == 0)
		selector_text(parsed, out);
	selector_free(parsed);
}

static json_t *scale_of(const struct kind *k, const json_t *obj)
{
	static const char *const copied[] = { "name", "namespace", "uid", "resourceVersion", "creationTimestamp" };
	auto_sbuf struct sbuf selector = SBUF(LIMIT_URL);
	const json_t *meta = json_object_get(obj, "metadata");
	json_t *spec = at_dotted(obj, k->scale_spec);
	json_t *status = at_dotted(obj, k->scale_status);
	json_t *scale = json_pack("{s:s, s:s, s:{}, s:{s:I}, s:{s:I}}", "kind", "Scale", "apiVersion", "autoscaling/v1",
				  "metadata", "spec", "replicas", (json_int_t)json_integer_value(spec), "status",
				  "replicas", (json_int_t)json_integer_value(status));

	for (size_t i = 0; i < ARRAY_SIZE(copied); i++)
		if (json_object_get(meta, copied[i]))
			json_object_set(json_object_get(scale, "metadata"), copied[i],
					json_object_get(meta, copied[i]));
	scale_selector(k, obj, &selector);
	if (selector.n)
		jsonx_set_new(scale, "status.selector", jsonx_string(selector.p));
	return scale;
}

static int scale_get(struct api *api, struct api_request *req, struct api_result *ret, struct err *e)
{
	json_auto_t *old = NULL;

	if (verb_load(api, req->kind, req->ns, req->name, &old, e) < 0)
		return -1;
	old = object_for_version(req->kind, old);
	ret->code = 200;
	ret->object = scale_of(req->kind, old);
	return 0;
}

/* The Scale a PUT or PATCH asks for. */
static int wanted_scale(const struct api_request *req, json_t *now, json_t **ret, struct err *e)
{
	if (!json_is_object(req->body) && !(req->verb == VERB_PATCH && req->patch == PATCH_JSON))
		return err_set(e, ERR_BAD_REQUEST, "a Scale must be an object");
	if (req->verb == VERB_UPDATE || req->patch == PATCH_APPLY) {
		*ret = json_incref(req->body);
		return 0;
	}
	*ret = jsonx_copy(now);
	if (req->patch == PATCH_JSON)
		return patch_json(ret, req->body, e);
	patch_merge(*ret, req->body); /* a Scale has no lists: strategic and plain merge are the same */
	return 0;
}

static int scale_write(struct api *api, struct api_request *req, struct api_result *ret, struct err *e)
{
	json_auto_t *old = NULL;
	json_auto_t *seen = NULL;
	json_auto_t *now = NULL;
	json_auto_t *want = NULL;
	json_auto_t *obj = NULL;
	struct api_request over = *req;
	const json_t *n;

	if (verb_load(api, req->kind, req->ns, req->name, &old, e) < 0)
		return -1;
	seen = object_for_version(req->kind, json_incref(old));
	now = scale_of(req->kind, seen);
	if (wanted_scale(req, now, &want, e) < 0)
		return -1;
	n = jsonx_at(want, "spec.replicas");
	if (n && (!json_is_integer(n) || json_integer_value(n) < 0))
		return err_cause(e, CAUSE_INVALID, "spec.replicas",
				 "Invalid value: must be a whole number greater than or equal to 0");
	obj = jsonx_copy(seen);
	jsonx_set_new(obj, req->kind->scale_spec + (*req->kind->scale_spec == '.'),
		      json_integer(json_integer_value(n)));
	if (jsonx_str(want, "metadata.resourceVersion"))
		jsonx_set_new(obj, "metadata.resourceVersion", json_incref(jsonx_at(want, "metadata.resourceVersion")));
	over.subresource = NULL; /* the write itself is of the spec */
	if (write_over(api, &over, old, obj, false, ret, e) < 0)
		return -1;
	json_decref(now);
	now = ret->object;
	ret->object = scale_of(req->kind, now);
	ret->kind = NULL;
	return 0;
}

/* ---- bodies ---- */

int subresource_body(struct api *api, struct api_request *req, json_t **warnings, struct err *e)
{
	const struct registry *r = api_registry(api);
	const struct subresource *sub = kind_subresource(req->kind, req->subresource);
	const char *given = jsonx_str_or(req->body, "apiVersion", "");
	struct kind body = {
		.group = sub->group ? sub->group : req->kind->group,
		.version = sub->version ? sub->version : req->kind->version,
		.kind = sub->kind,
	};
	char version[320];

	kind_api_version(&body, version, sizeof(version));
	body.message = registry_message(r, version, sub->kind);
	/* An older version of the same body: its fields are the same. */
	if (registry_message(r, given, sub->kind) == body.message)
		json_object_del(req->body, "apiVersion");
	return object_decode(&body, req->body, req->fields, req->duplicates, warnings, e);
}

/* ---- service-account tokens ---- */

/* A body may say whose token it asks for, but it cannot be another's than the path's. */
static void check_place(const json_t *body, const char *field, const char *want, const char *what, struct err *e)
{
	const json_t *have = jsonx_at(body, field);

	if (json_string_length(have) && !streq(json_string_value(have), want))
		err_cause(e, CAUSE_INVALID, field,
			  "Invalid value: \"%s\": must match the service account %s if specified",
			  json_string_value(have), what);
}

/* Whoever holds a token of a pod is taken for one of its processes, and may for instance run commands in its siblings:
 * only for those who may run commands in the pod itself. */
static int check_bound_pod(struct api *api, const struct api_request *req, const json_t *ref, struct err *e)
{
	struct api_request pods = *req;
	json_auto_t *pod = NULL;

	if (!str_same(jsonx_str(ref, "kind"), "Pod"))
		return 0;
	pods.kind = registry_find(api_registry(api), "", "v1", "pods");
	pods.name = jsonx_str_or(ref, "name", "");
	pods.subresource = NULL;
	if (verb_load(api, pods.kind, req->ns, pods.name, &pod, e) < 0) {
		if (e->kind != ERR_NOT_FOUND)
			return -1;
		err_clear(e); /* the next one who looks for it says so */
		return 0;
	}
	return pod_owner_check_hands(api, &pods, pod, e);
}

static int issue_token(struct api *api, struct api_request *req, struct api_result *ret, struct err *e)
{
	auto_sbuf struct sbuf token = SBUF(LIMIT_URL);
	json_auto_t *sa = NULL;
	char now[CLOCK_RFC3339_LEN];
	char expires[CLOCK_RFC3339_LEN];
	json_t *spec;
	int64_t until;

	if (verb_load(api, req->kind, req->ns, req->name, &sa, e) < 0 ||
	    subresource_body(api, req, &ret->warnings, e) < 0)
		return -1;
	message_default(&token_request_message, req->body);
	check_place(req->body, "metadata.name", req->name, "name", e);
	check_place(req->body, "metadata.namespace", req->ns, "namespace", e);
	message_validate(&token_request_message, req->body, NULL, e);
	if (e->kind != ERR_NONE)
		return -1;
	spec = json_object_get(req->body, "spec");
	if (check_bound_pod(api, req, json_object_get(spec, "boundObjectRef"), e) < 0 ||
	    authn_issue_token(api_authn(api), req->ns, req->name, jsonx_str_or(sa, "metadata.uid", ""), spec,
			      req->dry_run ? NULL : &token, &until, e) < 0)
		return -1;
	clock_rfc3339(clock_wall(), now);
	clock_rfc3339(until, expires);
	ret->code = 201;
	ret->object = json_pack("{s:s, s:s, s:{s:s, s:s, s:s}, s:O, s:{s:s, s:s}}", "kind", "TokenRequest",
				"apiVersion", "authentication.k8s.io/v1", "metadata", "name", req->name, "namespace",
				req->ns, "creationTimestamp", now, "spec", spec, "status", "token",
				token.p ? token.p : "", "expirationTimestamp", expires);
	return 0;
}

/* ---- namespace finalizers ---- */

static int finalize(struct api *api, struct api_request *req, struct api_result *ret, struct err *e)
{
	json_auto_t *old = NULL;
	json_auto_t *obj = NULL;
	json_t *left;

	if (object_decode(req->kind, req->body, req->fields, req->duplicates, &ret->warnings, e) < 0 ||
	    verb_load(api, req->kind, req->ns, req->name, &old, e) < 0 ||
	    write_check_version(req, req->body, old, e) < 0)
		return -1;
	left = jsonx_at(req->body, "spec.finalizers");
	obj = jsonx_copy(old);
	if (json_array_size(left))
		jsonx_set_new(obj, "spec.finalizers", json_incref(left));
	else
		jsonx_del(obj, "spec.finalizers");
	if (kind_validate(req->kind, obj, e) < 0)
		return -1;
	if (jsonx_at(old, "metadata.deletionTimestamp") &&
	    !object_is_held(req->kind, obj, jsonx_at(obj, "metadata.finalizers"))) {
		struct api_result gone = { 0 };
		int r = write_remove(api, req, old, &gone, e);

		api_result_done(&gone);
		ret->code = 200;
		ret->kind = req->kind;
		ret->object = json_incref(obj);
		return r;
	}
	return write_store(api, req, old, obj, 200, ret, e);
}

static const struct {
	const char *group, *plural; /* plural NULL: any kind that has the subresource */
	const char *name;
	unsigned verbs;
	verb_fn *fn;
} handlers[] = {
	{ NULL, NULL, "scale", V(GET), scale_get },
	{ NULL, NULL, "scale", V(UPDATE) | V(PATCH), scale_write },
	{ "", "pods", "binding", V(CREATE), bind_pod },
	{ "", "pods", "eviction", V(CREATE), evict_pod },
	{ "", "serviceaccounts", "token", V(CREATE), issue_token },
	{ "", "namespaces", "finalize", V(UPDATE), finalize },
};

verb_fn *subresource_handler(const struct kind *k, const char *name, enum verb verb)
{
	for (size_t i = 0; i < ARRAY_SIZE(handlers); i++)
		if (streq(handlers[i].name, name) && (handlers[i].verbs & (1u << verb)) &&
		    (!handlers[i].plural ||
		     (streq(handlers[i].group, k->group) && streq(handlers[i].plural, k->plural))))
			return handlers[i].fn;
	return NULL;
}

const char *subresource_part(const char *name)
{
	return streq(name, "status") || streq(name, "approval") ? "status" : NULL;
}
