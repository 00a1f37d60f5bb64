// SPDX-License-Identifier: Apache-2.0
/* verb_patch.c - PATCH: load, change a copy, and go on as an update
 *
 * The patch works on the object as the client sees it (its version, with kind and apiVersion), because JSON patches may
 * name any path.  Apply is the one patch that may create.  Everything happens within one loop turn, so there is no race
 * to retry.
 */
#include "api/object.h"
#include "api/patch.h"
#include "api/verbs.h"
#include "base/clock.h"
#include "base/jsonx.h"
#include "base/mem.h"

static int change(const struct api_request *req, json_t **obj, struct err *e)
{
	switch (req->patch) {
	case PATCH_MERGE:
		if (!json_is_object(req->body))
			return err_set(e, ERR_BAD_REQUEST, "a merge patch must be an object");
		patch_merge(*obj, req->body);
		return 0;
	case PATCH_JSON:
		return patch_json(obj, req->body, e);
	case PATCH_STRATEGIC:
		if (!json_is_object(req->body))
			return err_set(e, ERR_BAD_REQUEST, "a strategic merge patch must be an object");
		return patch_strategic(req->kind->message, *obj, req->body, e);
	default:
		return err_set(e, ERR_INTERNAL, "unexpected patch type");
	}
}

/* What the patch may change is copied; the rest stays the stored object's own, which everyone can see is untouched.  A
 * JSON patch may move anything anywhere. */
static json_t *copy_to_change(const struct api_request *req, json_t *typed)
{
	const char *key;
	json_t *v;
	void *tmp;

	if (!write_may_share(req->kind) || req->patch == PATCH_JSON)
		return jsonx_copy(typed);
	json_object_foreach_safe (typed, tmp, key, v)
		if (streq(key, "metadata") || json_object_get(req->body, key))
			json_object_set_new(typed, key, jsonx_copy(v));
	return json_incref(typed);
}

static int patch_existing(struct api *api, struct api_request *req, json_t *old, struct api_result *ret, struct err *e)
{
	json_auto_t *seen = object_for_version(req->kind, json_incref(old));
	json_auto_t *typed = object_with_type(req->kind, seen);
	json_t *obj = copy_to_change(req, typed);
	int r = change(req, &obj, e);

	if (r == 0)
		r = object_decode(req->kind, obj, req->fields, req->duplicates, &ret->warnings, e);
	if (r == 0)
		r = write_over(api, req, old, obj, false, ret, e);
	json_decref(obj);
	return r;
}

static int check_apply(const struct api_request *req, struct err *e)
{
	const char *name = jsonx_str(req->body, "metadata.name");

	if (!req->field_manager || !*req->field_manager)
		return err_cause(e, CAUSE_REQUIRED, "fieldManager", "Required value: is required for apply patch");
	if (!json_is_object(req->body))
		return err_set(e, ERR_BAD_REQUEST, "an apply patch must be an object");
	if (!jsonx_str(req->body, "kind") || !jsonx_str(req->body, "apiVersion"))
		return err_set(e, ERR_BAD_REQUEST, "an apply patch must name its apiVersion and kind");
	if (name && !streq(name, req->name))
		return err_set(e, ERR_BAD_REQUEST,
			       "the name of the object (%s) does not match the name on the URL (%s)", name, req->name);
	if (json_array_size(jsonx_at(req->body, "metadata.managedFields")))
		return err_set(e, ERR_BAD_REQUEST, "metadata.managedFields must be nil");
	return 0;
}

static int apply(struct api *api, struct api_request *req, json_t *old, struct api_result *ret, struct err *e)
{
	struct apply_request ar = {
		.kind = req->kind,
		.subresource = req->subresource,
		.manager = req->field_manager,
		.force = req->force,
		.now = clock_wall(),
	};
	json_auto_t *seen = old ? object_for_version(req->kind, json_incref(old)) : NULL;
	json_t *obj = NULL;
	int r;

	if (check_apply(req, e) < 0 ||
	    object_decode(req->kind, req->body, req->fields, req->duplicates, &ret->warnings, e) < 0)
		return -1;
	if (apply_merge(&ar, seen, req->body, &obj, e) < 0)
		return -1;
	r = old ? write_over(api, req, old, obj, true, ret, e) : write_new(api, req, obj, true, ret, e);
	json_decref(obj);
	return r;
}

int verb_patch(struct api *api, struct api_request *req, struct api_result *ret, struct err *e)
{
	json_auto_t *old = NULL;

	if (req->patch == PATCH_STRATEGIC && !req->kind->message)
		return err_set(
			e, ERR_UNSUPPORTED_MEDIA,
			"the body of the request was in an unknown format - accepted media types include: "
			"application/json-patch+json, application/merge-patch+json, application/apply-patch+yaml");
	if (verb_load(api, req->kind, req->ns, req->name, &old, e) < 0) {
		if (e->kind != ERR_NOT_FOUND || req->patch != PATCH_APPLY || req->subresource)
			return -1;
		err_clear(e);
	}
	if (req->patch == PATCH_APPLY)
		return apply(api, req, old, ret, e);
	return patch_existing(api, req, old, ret, e);
}
