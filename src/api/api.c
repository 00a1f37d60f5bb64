// SPDX-License-Identifier: Apache-2.0
/* api.c - the room's context and the one door to its verbs
 *
 * api_call() asks authorization once, then picks the verb or the subresource's handler from a table.  Kinds that are
 * never stored (reviews) are answered by reviews in authz and authn.
 */
#include "api/api.h"

#include "api/accounts.h"
#include "api/audit.h"
#include "api/authn.h"
#include "api/authz.h"
#include "api/bootstrap.h"
#include "api/crd.h"
#include "api/limit_range.h"
#include "api/object.h"
#include "api/pbs.h"
#include "api/queue_rules.h"
#include "api/quota.h"
#include "api/service_address.h"
#include "api/verbs.h"
#include "api/watch.h"
#include "base/jsonx.h"
#include "base/map.h"
#include "base/mem.h"

struct api {
	struct loop *loop;
	struct store *store;
	struct pki *pki;
	struct api_config config;
	struct registry *registry;
	struct watch_hub *hub;
	struct authn *authn;
	struct authz *authz;
	struct audit *audit;
	struct crds *crds;
	struct service_addresses *addresses;
	struct quotas *quotas;
	struct limit_ranges *limit_ranges;
	struct accounts *accounts;
	struct queues *queues;
	struct pbs *pbs;
	struct api_namespace namespace;
	struct map store_kinds; /* "group/plural" -> store number + 1 */
};

int api_new(struct loop *loop, struct store *store, struct pki *pki, const struct api_config *config, struct api **ret,
	    struct err *e)
{
	struct api *api = xcalloc(1, sizeof(*api));

	api->loop = loop;
	api->store = store;
	api->pki = pki;
	api->config = *config;
	map_init(&api->store_kinds, NULL);
	api->registry = registry_new();
	api->hub = watch_hub_new(api);
	api->addresses = service_addresses_new(api);
	api->quotas = quotas_new(api);
	api->limit_ranges = limit_ranges_new(api);
	api->accounts = accounts_new();
	api->queues = queues_new(api);
	api->pbs = pbs_new(api);
	/* Order matters: bootstrap writes objects, and every write passes authorization and field managers. */
	api->authz = authz_new(api);
	api->authn = authn_new(api);
	api->audit = audit_new(loop, config->data_dir, config->audit_bytes);
	if (crds_new(api, &api->crds, e) < 0 || bootstrap(api, e) < 0 || authz_bootstrap(api->authz, e) < 0 ||
	    pbs_start(api->pbs, e) < 0) {
		api_free(api);
		return -1;
	}
	*ret = api;
	return 0;
}

void api_free(struct api *api)
{
	if (!api)
		return;
	watch_hub_free(api->hub);
	crds_free(api->crds);
	service_addresses_free(api->addresses);
	quotas_free(api->quotas);
	limit_ranges_free(api->limit_ranges);
	accounts_free(api->accounts);
	queues_free(api->queues);
	pbs_free(api->pbs);
	api_namespace_forget(&api->namespace);
	authn_free(api->authn);
	authz_free(api->authz);
	audit_free(api->audit);
	registry_free(api->registry);
	map_done(&api->store_kinds);
	free(api);
}

void api_result_done(struct api_result *r)
{
	json_decref(r->object);
	json_decref(r->warnings);
	json_decref(r->notes);
	free(r->text);
	*r = (struct api_result){ 0 };
}

int api_store_kind(struct api *api, const struct kind *k, int *ret, struct err *e)
{
	const struct kind *st = kind_storage(k);
	char key[512];
	void *known;

	snprintf(key, sizeof(key), "%s/%s", st->group, st->plural);
	known = map_find(&api->store_kinds, key);
	if (known) {
		*ret = (int)((intptr_t)known - 1);
		return 0;
	}
	if (store_kind(api->store, key, st->flags & (KIND_SEALED | KIND_EXPIRES), ret, e) < 0)
		return -1;
	map_set(&api->store_kinds, key, (void *)((intptr_t)*ret + 1));
	return 0;
}

int verb_authorize(struct api *api, const struct api_request *req, struct err *e)
{
	const char *one = selector_field_equals(req->field_sel, "metadata.name");
	struct authz_attributes at = {
		.verb = verb_name(req->verb),
		.group = req->kind->group,
		.resource = req->kind->plural,
		.subresource = req->subresource ? req->subresource : "",
		.ns = req->ns,
		.name = req->name ? req->name
			: one     ? one
				  : "", /* a list of one name may be allowed by that name */
	};

	if ((req->kind->flags & KIND_NAMESPACE) && req->name)
		at.ns = req->name; /* whoever may do it in a namespace may do it to the namespace */
	return authz_require(api->authz, req->caller, &at, e);
}

static int review(struct api *api, struct api_request *req, struct api_result *ret, struct err *e)
{
	if (object_decode(req->kind, req->body, req->fields, req->duplicates, &ret->warnings, e) < 0 ||
	    object_stamp_place(req->kind, req->body, req->ns, e) < 0 || kind_validate(req->kind, req->body, e) < 0 ||
	    authz_review(api->authz, req->caller, req->kind, req->body, e) < 0)
		return -1;
	ret->code = 201;
	ret->kind = req->kind;
	ret->object = json_incref(req->body);
	if (!json_object_get(ret->object, "metadata"))
		json_object_set_new(ret->object, "metadata", json_object());
	return 0;
}

/* Lists, watches and deletions of collections take many turns: list.h, watch.h, sweep.h. */
static verb_fn *const verbs[VERB__COUNT] = {
	[VERB_GET] = verb_get,     [VERB_CREATE] = verb_create, [VERB_UPDATE] = verb_update,
	[VERB_PATCH] = verb_patch, [VERB_DELETE] = verb_delete,
};

/* The handler of a request, or NULL with an error. */
static verb_fn *pick(const struct api_request *req, struct err *e)
{
	const struct subresource *sub;
	verb_fn *special;

	if (!req->subresource) {
		if ((req->kind->verbs & (1u << req->verb)) && verbs[req->verb])
			return req->kind->flags & KIND_VIRTUAL && req->verb == VERB_CREATE ? review : verbs[req->verb];
		err_set(e, ERR_NO_METHOD, "%s", "");
		return NULL;
	}
	sub = kind_subresource(req->kind, req->subresource);
	if (!sub) {
		err_set(e, ERR_NOT_FOUND, "the server could not find the requested resource");
		return NULL;
	}
	if (!(sub->verbs & (1u << req->verb))) {
		err_set(e, ERR_NO_METHOD, "%s", "");
		return NULL;
	}
	special = subresource_handler(req->kind, req->subresource, req->verb);
	if (special)
		return special;
	if (subresource_part(req->subresource))
		return verbs[req->verb];
	err_set(e, ERR_NOT_FOUND, "%s/%s is not served here", req->kind->plural, req->subresource);
	return NULL;
}

int api_call(struct api *api, struct api_request *req, struct api_result *ret, struct err *e)
{
	verb_fn *fn;

	*ret = (struct api_result){ 0 };
	api_namespace_forget(&api->namespace);
	if (verb_authorize(api, req, e) < 0)
		return -1;
	fn = pick(req, e);
	if (!fn)
		return -1;
	if (fn(api, req, ret, e) < 0) {
		api_result_done(ret);
		return -1;
	}
	return 0;
}

struct loop *api_loop(struct api *api)
{
	return api->loop;
}

struct store *api_store(struct api *api)
{
	return api->store;
}

struct registry *api_registry(struct api *api)
{
	return api->registry;
}

struct authn *api_authn(struct api *api)
{
	return api->authn;
}

struct authz *api_authz(struct api *api)
{
	return api->authz;
}

struct audit *api_audit(struct api *api)
{
	return api->audit;
}

struct watch_hub *api_hub(struct api *api)
{
	return api->hub;
}

struct crds *api_crds(struct api *api)
{
	return api->crds;
}

struct api_namespace *api_namespace(struct api *api)
{
	return &api->namespace;
}

void api_namespace_forget(struct api_namespace *n)
{
	free(n->name);
	json_decref(n->doc);
	*n = (struct api_namespace){ 0 };
}

struct accounts *api_accounts(struct api *api)
{
	return api->accounts;
}

struct service_addresses *api_addresses(struct api *api)
{
	return api->addresses;
}

struct queues *api_queues(struct api *api)
{
	return api->queues;
}

struct pbs *api_pbs(struct api *api)
{
	return api->pbs;
}

struct quotas *api_quotas(struct api *api)
{
	return api->quotas;
}

struct limit_ranges *api_limit_ranges(struct api *api)
{
	return api->limit_ranges;
}

struct pki *api_pki(struct api *api)
{
	return api->pki;
}

const struct api_config *api_config(const struct api *api)
{
	return &api->config;
}
