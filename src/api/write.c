// SPDX-License-Identifier: Apache-2.0
/* write.c - create and update: from a decoded body to a row in this turn's transaction
 *
 * The order is the same for every kind: stamp metadata -> the kind's own preparation -> defaults -> admission ->
 * validation -> field managers -> addresses -> store.  A dry run does all of it but the last step.  Patches and apply
 * join in at write_new() and write_over() with the object they made.
 */
#include "api/authz.h"
#include "api/object.h"
#include "api/patch.h"
#include "api/pbs.h"
#include "api/status.h"
#include "api/verbs.h"
#include "base/clock.h"
#include "base/jsonx.h"
#include "base/limits.h"
#include "base/mem.h"

#define NAME_TRIES 8 /* of 27^5 suffixes: more collisions than this are no accident */

const char *write_manager(const struct api_request *req, char *buf, size_t n)
{
	const char *agent = req->user_agent ? req->user_agent : "unknown";

	if (req->field_manager && *req->field_manager)
		return req->field_manager;
	snprintf(buf, n, "%.*s", (int)strcspn(agent, "/"), agent);
	return buf;
}

static void track_managers(const struct api_request *req, const json_t *old, json_t *obj)
{
	char buf[128];
	struct apply_request track = {
		.kind = req->kind,
		.subresource = req->subresource,
		.manager = write_manager(req, buf, sizeof(buf)),
		.now = clock_wall(),
	};

	apply_track_update(&track, old, obj);
}

/* The answer is the object in the version the caller speaks. */
static void fill_result(const struct kind *k, json_t *stored, int code, struct api_result *ret)
{
	ret->code = code;
	ret->kind = k;
	ret->object = object_for_version(k, json_incref(stored));
}

static int check_size(const json_t *obj, struct err *e)
{
	size_t n = json_dumpb(obj, NULL, 0, JSON_COMPACT);

	if (n > LIMIT_OBJECT)
		return err_set(e, ERR_TOO_LARGE, "the object has %zu bytes; at most %u are allowed", n, LIMIT_OBJECT);
	return 0;
}

int write_store(struct api *api, struct api_request *req, json_t *old, json_t *obj, int code, struct api_result *ret,
		struct err *e)
{
	const json_t *meta = json_object_get(obj, "metadata");
	json_auto_t *rest = object_at_rest(obj);
	struct str text = { NULL, 0 };
	int64_t rv;
	int kind;

	if (req->body_bytes > LIMIT_OBJECT / 2 && check_size(rest, e) < 0)
		return -1;
	if (!req->dry_run) {
		if (api_store_kind(api, req->kind, &kind, e) < 0)
			return -1;
		if (store_put_lean(api_store(api), kind, jsonx_str_or(meta, "namespace", ""),
				   jsonx_str_or(meta, "name", ""), rest, old, req->managers, &rv, e) < 0)
			return -1;
		text = store_last_text(api_store(api));
		free(ret->text);
		ret->text = req->kind->from_storage ? NULL : xstrndup(text.p, text.n);
		ret->text_len = text.n;
		admit_written(api, req->kind, rest, old);
	}
	fill_result(req->kind, rest, code, ret);
	ret->text_of = ret->object;
	return 0;
}

int write_remove(struct api *api, struct api_request *req, json_t *old, struct api_result *ret, struct err *e)
{
	const json_t *meta = json_object_get(old, "metadata");
	struct status_subject about = { req->kind, jsonx_str_or(meta, "name", "") };
	int64_t rv;
	int kind;

	if (!req->dry_run) {
		if (api_store_kind(api, req->kind, &kind, e) < 0)
			return -1;
		if (store_delete(api_store(api), kind, jsonx_str_or(meta, "namespace", ""), about.name, old, &rv, e) <
		    0)
			return -1;
		admit_written(api, req->kind, NULL, old);
	}
	ret->code = 200;
	ret->kind = NULL;
	ret->object = status_success(&about, jsonx_str(meta, "uid"));
	return 0;
}

static int settle_name(struct api *api, const struct api_request *req, json_t *obj, bool generated, struct err *e)
{
	int kind;

	if (api_store_kind(api, req->kind, &kind, e) < 0)
		return -1;
	for (int i = 0; i < NAME_TRIES; i++) {
		const char *name = jsonx_str_or(obj, "metadata.name", "");

		if (!store_exists(api_store(api), kind, req->ns, name))
			return 0;
		if (!generated)
			return err_set(e, ERR_EXISTS, "%s", "");
		object_regenerate_name(obj);
	}
	return err_set(e, ERR_EXISTS, "no free name was found for generateName \"%s\"; try again",
		       jsonx_str(obj, "metadata.generateName"));
}

/* An apply or update of what is not there is a create, and takes the right to create as well. */
static int may_create(struct api *api, const struct api_request *req, struct err *e)
{
	struct api_request create = *req;

	create.verb = VERB_CREATE;
	return req->verb == VERB_CREATE ? 0 : verb_authorize(api, &create, e);
}

int write_new(struct api *api, struct api_request *req, json_t *obj, bool applied, struct api_result *ret,
	      struct err *e)
{
	const struct kind *k = req->kind;
	bool generated;

	if (may_create(api, req, e) < 0 || pbs_name(api, req, obj, e) < 0)
		return -1;
	generated = !req->name && !*jsonx_str_or(obj, "metadata.name", "");
	if (object_stamp_new(k, obj, req->ns, req->name, e) < 0)
		return -1;
	if (k->flags & KIND_STATUS)
		json_object_del(obj, "status");
	if (k->prepare_create)
		k->prepare_create(obj);
	kind_default(k, obj);
	if (admit_write(api, req, obj, NULL, e) < 0 || kind_validate(k, obj, e) < 0 ||
	    settle_name(api, req, obj, generated, e) < 0)
		return -1;
	if (!applied)
		track_managers(req, NULL, obj);
	if (admit_assign(api, req, obj, NULL, e) < 0)
		return -1;
	admit_warn(api, req, obj, NULL, ret);
	if (k->to_storage)
		k->to_storage(obj, NULL);
	return write_store(api, req, NULL, obj, 201, ret, e);
}

int verb_create(struct api *api, struct api_request *req, struct api_result *ret, struct err *e)
{
	if (object_decode(req->kind, req->body, req->fields, req->duplicates, &ret->warnings, e) < 0)
		return -1;
	return write_new(api, req, req->body, false, ret, e);
}

int write_check_version(const struct api_request *req, const json_t *obj, const json_t *old, struct err *e)
{
	const char *seen = jsonx_str(obj, "metadata.resourceVersion");

	if (seen && *seen && !streq(seen, "0") && !streq(seen, jsonx_str_or(old, "metadata.resourceVersion", "")))
		return err_set(e, ERR_CONFLICT, "%s", "");
	if ((!seen || !*seen) && (req->kind->flags & KIND_NEEDS_RV) && req->verb == VERB_UPDATE)
		return err_cause(e, CAUSE_INVALID, "metadata.resourceVersion",
				 "Invalid value: 0: must be specified for an update");
	return 0;
}

bool write_may_share(const struct kind *k)
{
	return k->message && !k->from_storage && !k->to_storage;
}

/* The main endpoint leaves status alone, the status endpoint everything else.  What defaults may still change is
 * copied. */
static void keep_other_part(const struct api_request *req, json_t *obj, const json_t *old)
{
	const char *part = req->subresource ? subresource_part(req->subresource) : NULL;
	const char *key;
	json_t *v;
	void *tmp;

	if (!part) {
		if (!(req->kind->flags & KIND_STATUS))
			return;
		if ((v = json_object_get(old, "status")))
			json_object_set_new(obj, "status", jsonx_copy(v));
		else
			json_object_del(obj, "status");
		return;
	}
	json_object_foreach_safe (obj, tmp, key, v)
		if (!streq(key, part) && !streq(key, "metadata") && !json_object_get(old, key))
			json_object_del(obj, key);
	json_object_foreach ((json_t *)old, key, v) {
		json_t *managers = json_object_get(json_object_get(obj, "metadata"), "managedFields");

		if (streq(key, part))
			continue;
		if (streq(key, "metadata")) {
			json_t *meta = jsonx_copy(v);

			if (managers)
				json_object_set(meta, "managedFields", managers);
			json_object_set_new(obj, "metadata", meta);
		} else {
			json_object_set_new(obj, key, write_may_share(req->kind) ? json_incref(v) : jsonx_copy(v));
		}
	}
}

/* Whether all but metadata is the stored object's own, as after a patch of metadata. */
static bool is_rest_untouched(const json_t *obj, const json_t *before)
{
	const char *key;
	json_t *v;

	json_object_foreach ((json_t *)before, key, v)
		if (!streq(key, "metadata") && json_object_get(obj, key) != v)
			return false;
	json_object_foreach ((json_t *)obj, key, v)
		if (!streq(key, "kind") && !streq(key, "apiVersion") && !json_object_get(before, key))
			return false;
	return true;
}

/* From here on every member is this object's own. */
static void unshare(json_t *obj, const json_t *before)
{
	const char *key;
	json_t *v;
	void *tmp;

	json_object_foreach_safe (obj, tmp, key, v)
		if (v == json_object_get(before, key))
			json_object_set_new(obj, key, jsonx_copy(v));
}

/* Fills in what is absent, but not within what is the stored object's own: that was filled in when it was stored. */
static void fill_in(const struct api_request *req, json_t *obj, const json_t *before)
{
	const struct kind *k = req->kind;
	const char *part = req->subresource ? subresource_part(req->subresource) : NULL;
	bool untouched = write_may_share(k) && is_rest_untouched(obj, before);

	if (part && write_may_share(k)) {
		kind_default_part(k, obj, part);
		return;
	}
	if (!untouched)
		unshare(obj, before);
	if (k->prepare_update && !req->subresource)
		k->prepare_update(obj, before);
	if (untouched)
		kind_default_top(k, obj);
	else
		kind_default(k, obj);
}

static bool has_string(const json_t *list, const char *s)
{
	json_t *v;
	size_t i;

	json_array_foreach ((json_t *)list, i, v)
		if (str_same(json_string_value(v), s))
			return true;
	return false;
}

/* Once an object is going away its finalizers may only become fewer. */
static int check_finalizers(const json_t *obj, const json_t *old, struct err *e)
{
	const json_t *was = jsonx_at(old, "metadata.finalizers");
	json_t *v;
	size_t i;

	if (!jsonx_at(old, "metadata.deletionTimestamp"))
		return 0;
	json_array_foreach (jsonx_at(obj, "metadata.finalizers"), i, v)
		if (!has_string(was, json_string_value(v)))
			return err_cause(e, CAUSE_FORBIDDEN, "metadata.finalizers",
					 "Forbidden: no new finalizers can be added if the object is being deleted, "
					 "found new finalizers []string{\"%s\"}",
					 json_string_value(v));
	return 0;
}

/* A deleted object leaves with its last finalizer, unless a grace period still runs. */
static bool may_leave(const struct kind *k, const json_t *obj)
{
	return jsonx_at(obj, "metadata.deletionTimestamp") &&
	       !object_is_held(k, obj, jsonx_at(obj, "metadata.finalizers")) &&
	       jsonx_int_or(obj, "metadata.deletionGracePeriodSeconds", 0) == 0;
}

/* The update that took the last finalizer off is also the deletion; its answer is the object. */
static int leave(struct api *api, struct api_request *req, const json_t *obj, struct api_result *ret, struct err *e)
{
	json_auto_t *last = object_at_rest(obj);
	struct api_result gone = { 0 };
	int r = write_remove(api, req, last, &gone, e);

	api_result_done(&gone);
	if (r == 0)
		fill_result(req->kind, last, 200, ret);
	return r;
}

static int finish_over(struct api *api, struct api_request *req, json_t *old, json_t *obj, struct api_result *ret,
		       struct err *e)
{
	const struct kind *k = req->kind;

	if ((k->flags & KIND_GENERATION) && object_spec_changed(obj, old))
		jsonx_set_new(obj, "metadata.generation",
			      json_integer(jsonx_int_or(old, "metadata.generation", 0) + 1));
	if (jsonx_equal(obj, old)) { /* nothing changed: no new revision */
		fill_result(k, old, 200, ret);
		return 0;
	}
	if (may_leave(k, obj))
		return leave(api, req, obj, ret, e);
	return write_store(api, req, old, obj, 200, ret, e);
}

/* In a patch it is a field like others, one that may not change; in a whole object it says which is meant. */
static int check_patched_uid(const struct api_request *req, const json_t *obj, const json_t *old, struct err *e)
{
	const char *uid = jsonx_str_or(obj, "metadata.uid", "");

	if (req->verb != VERB_PATCH || req->patch == PATCH_APPLY || !*uid ||
	    str_same(uid, jsonx_str(old, "metadata.uid")))
		return 0;
	return err_cause(e, CAUSE_INVALID, "metadata.uid", "Invalid value: \"%.80s\": field is immutable", uid);
}

int write_over(struct api *api, struct api_request *req, json_t *old, json_t *obj, bool applied, struct api_result *ret,
	       struct err *e)
{
	const struct kind *k = req->kind;
	json_auto_t *before = object_for_version(k, json_incref(old));

	if (write_check_version(req, obj, old, e) < 0 || check_patched_uid(req, obj, before, e) < 0 ||
	    object_stamp_old(k, obj, before, req->ns, req->name, e) < 0)
		return -1;
	keep_other_part(req, obj, before);
	if (!json_object_get(json_object_get(obj, "metadata"), "managedFields") &&
	    jsonx_at(before, "metadata.managedFields"))
		jsonx_set_new(obj, "metadata.managedFields", jsonx_copy(jsonx_at(before, "metadata.managedFields")));
	fill_in(req, obj, before);
	if (admit_write(api, req, obj, before, e) < 0 || check_finalizers(obj, before, e) < 0 ||
	    kind_validate(k, obj, e) < 0 || kind_validate_update(k, obj, before, e) < 0)
		return -1;
	if (!applied)
		track_managers(req, before, obj);
	if (admit_assign(api, req, obj, before, e) < 0)
		return -1;
	admit_warn(api, req, obj, before, ret);
	if (k->to_storage)
		k->to_storage(obj, old);
	return finish_over(api, req, old, obj, ret, e);
}

int verb_update(struct api *api, struct api_request *req, struct api_result *ret, struct err *e)
{
	json_auto_t *old = NULL;

	if (object_decode(req->kind, req->body, req->fields, req->duplicates, &ret->warnings, e) < 0)
		return -1;
	if (verb_load(api, req->kind, req->ns, req->name, &old, e) < 0) {
		if (e->kind != ERR_NOT_FOUND || !(req->kind->flags & KIND_CREATE_ON_UPDATE) || req->subresource)
			return -1;
		err_clear(e);
		jsonx_del(req->body, "metadata.resourceVersion");
		return write_new(api, req, req->body, false, ret, e);
	}
	return write_over(api, req, old, req->body, false, ret, e);
}
