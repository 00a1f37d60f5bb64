// SPDX-License-Identifier: Apache-2.0
/* verb_get.c - GET of one object: the stored text, decoded only where a version or a subresource asks for it */
#include "api/object.h"
#include "api/verbs.h"
#include "base/json_read.h"
#include "base/jsonx.h"
#include "base/mem.h"

int verb_load(struct api *api, const struct kind *k, const char *ns, const char *name, json_t **ret, struct err *e)
{
	struct record r;
	int kind;

	if (api_store_kind(api, k, &kind, e) < 0)
		return -1;
	*ret = store_recent(api_store(api), kind, ns, name);
	if (*ret)
		return 0;
	return store_get(api_store(api), kind, ns, name, &r, e) < 0 ? -1 : object_parse(r.body, ret, e);
}

/* Caches leave managedFields out and have everything else.  False: it has changed. */
static bool is_seen(const struct kind *k, const json_t *seen, const struct record *r, struct str *ret_managers)
{
	char rv[24];

	snprintf(rv, sizeof(rv), "%lld", (long long)r->rv);
	return write_may_share(k) && str_same(jsonx_str(seen, "metadata.resourceVersion"), rv) &&
	       json_find_member(r->body, "metadata", "managedFields", ret_managers);
}

int verb_load_seen(struct api *api, const struct api_request *req, json_t **ret, struct sbuf *managers, struct err *e)
{
	struct str text;
	struct record r;
	int kind;

	if (req->seen) {
		if (api_store_kind(api, req->kind, &kind, e) < 0 ||
		    store_get(api_store(api), kind, req->ns, req->name, &r, e) < 0)
			return -1;
		if (is_seen(req->kind, req->seen, &r, &text)) {
			sbuf_add(managers, text.p, text.n);
			*ret = object_at_rest(req->seen);
			return 0;
		}
	}
	return verb_load(api, req->kind, req->ns, req->name, ret, e);
}

int verb_get(struct api *api, struct api_request *req, struct api_result *ret, struct err *e)
{
	struct record r;
	json_t *obj;
	int64_t at; /* what is stored now is never older than a revision that has been */
	int kind;

	if (list_revision(api, req, &at, e) < 0)
		return -1;
	ret->code = 200;
	ret->kind = req->kind;
	if (req->kind->from_storage || req->decoded) {
		if (verb_load(api, req->kind, req->ns, req->name, &obj, e) < 0)
			return -1;
		ret->object = object_for_version(req->kind, obj);
		return 0;
	}
	if (api_store_kind(api, req->kind, &kind, e) < 0 ||
	    store_get(api_store(api), kind, req->ns, req->name, &r, e) < 0)
		return -1;
	ret->text = xstrndup(r.body.p, r.body.n);
	ret->text_len = r.body.n;
	return 0;
}
