// SPDX-License-Identifier: Apache-2.0
/* verb_delete.c - DELETE: at once, after a grace period, or when finalizers have let go
 *
 * An object that may not leave yet is marked (deletionTimestamp, grace, generation) and stays readable; the update
 * that removes its last finalizer removes it (write.c).  The propagation policies only leave their finalizer here:
 * the garbage collector (control/gc.c) does the work they ask for.
 */
#include "api/object.h"
#include "api/pbs.h"
#include "api/verbs.h"
#include "base/clock.h"
#include "base/jsonx.h"
#include "base/mem.h"

#define FINALIZER_FOREGROUND "foregroundDeletion"
#define FINALIZER_ORPHAN     "orphan"

static int check_preconditions(const struct api_request *req, const json_t *old, struct err *e)
{
	const char *uid = jsonx_str_or(old, "metadata.uid", "");
	const char *rv = jsonx_str_or(old, "metadata.resourceVersion", "");

	if (req->if_uid && *req->if_uid && !streq(req->if_uid, uid))
		return err_set(e, ERR_CONFLICT, "Precondition failed: UID in precondition: %s, UID in object meta: %s",
			       req->if_uid, uid);
	if (req->if_rv && *req->if_rv && !streq(req->if_rv, rv))
		return err_set(
			e, ERR_CONFLICT,
			"Precondition failed: ResourceVersion in precondition: %s, ResourceVersion in object meta: %s",
			req->if_rv, rv);
	return 0;
}

/* What the deletion would leave in metadata.finalizers, as a new array. */
static json_t *finalizers_after(const struct api_request *req, const json_t *old)
{
	json_t *list = json_array();
	enum propagation p = req->propagation;
	const char *wanted = NULL;
	json_t *f;
	size_t i;

	if (p == PROPAGATE_DEFAULT && (req->kind->flags & KIND_ORPHAN))
		p = PROPAGATE_ORPHAN;
	if (p == PROPAGATE_FOREGROUND)
		wanted = FINALIZER_FOREGROUND;
	if (p == PROPAGATE_ORPHAN)
		wanted = FINALIZER_ORPHAN;
	json_array_foreach (jsonx_at(old, "metadata.finalizers"), i, f) {
		const char *s = json_string_value(f);
		bool policy = s && (streq(s, FINALIZER_FOREGROUND) || streq(s, FINALIZER_ORPHAN));

		if (p == PROPAGATE_DEFAULT && policy) /* no policy given: an earlier one stands */
			wanted = streq(s, FINALIZER_ORPHAN) ? FINALIZER_ORPHAN : FINALIZER_FOREGROUND;
		if (!policy)
			json_array_append(list, f);
	}
	if (wanted)
		json_array_append_new(list, json_string(wanted));
	return list;
}

/* Seconds a pod may run after its first deletion; 0 for all else. */
static int64_t grace_of(const struct api_request *req, const json_t *old)
{
	const char *phase = jsonx_str_or(old, "status.phase", "");
	int64_t was = jsonx_int_or(old, "metadata.deletionGracePeriodSeconds", 0);
	int64_t grace = req->grace_seconds;

	if (!(req->kind->flags & KIND_GRACE))
		return 0;
	if (jsonx_at(old, "metadata.deletionTimestamp")) /* a later delete may only shorten it, by saying so */
		return grace >= 0 && grace < was ? grace : was;
	if (!*jsonx_str_or(old, "spec.nodeName", "") || streq(phase, "Succeeded") || streq(phase, "Failed"))
		return 0;
	if (grace < 0)
		grace = jsonx_int_or(old, "spec.terminationGracePeriodSeconds", 30);
	return grace;
}

/* When the object is to be gone.  A grace period counts from the first deletion, however often it is shortened. */
static int64_t deletion_time(const json_t *old, int64_t grace)
{
	const char *before = jsonx_str(old, "metadata.deletionTimestamp");
	int64_t micros;

	if (!before || !clock_parse_rfc3339(before, &micros))
		return clock_wall() + grace;
	return micros / 1000000 - jsonx_int_or(old, "metadata.deletionGracePeriodSeconds", 0) + grace;
}

/* The object as it looks while it waits to leave. */
static json_t *marked(const struct api_request *req, const json_t *old, json_t *finalizers, int64_t grace)
{
	json_t *obj = jsonx_copy(old);
	char stamp[CLOCK_RFC3339_LEN];
	bool first = !jsonx_at(old, "metadata.deletionTimestamp");

	if (json_array_size(finalizers))
		jsonx_set_new(obj, "metadata.finalizers", json_incref(finalizers));
	else
		jsonx_del(obj, "metadata.finalizers");
	if (first || grace != jsonx_int_or(old, "metadata.deletionGracePeriodSeconds", 0)) {
		clock_rfc3339(deletion_time(old, grace), stamp);
		jsonx_set_new(obj, "metadata.deletionTimestamp", json_string(stamp));
		jsonx_set_new(obj, "metadata.deletionGracePeriodSeconds", json_integer(grace));
	}
	if (first && jsonx_at(old, "metadata.generation"))
		jsonx_set_new(obj, "metadata.generation",
			      json_integer(jsonx_int_or(old, "metadata.generation", 0) + 1));
	if (req->evicting)
		pod_mark_evicted(obj);
	if (req->kind->flags & KIND_NAMESPACE)
		jsonx_set_new(obj, "status.phase", json_string("Terminating"));
	return obj;
}

static int remove_now(struct api *api, struct api_request *req, json_t *old, struct api_result *ret, struct err *e)
{
	if (write_remove(api, req, old, ret, e) < 0)
		return -1;
	if (req->kind->flags & KIND_GRACE) { /* pods always answer with the pod */
		json_decref(ret->object);
		ret->object = object_for_version(req->kind, json_incref(old));
		ret->kind = req->kind;
	}
	return 0;
}

static int delete_one(struct api *api, struct api_request *req, json_t *old, struct api_result *ret, struct err *e)
{
	json_auto_t *finalizers = finalizers_after(req, old);
	json_auto_t *last = json_incref(old);
	int64_t grace = grace_of(req, old);
	json_auto_t *obj = NULL;

	if (check_preconditions(req, old, e) < 0 || admit_delete(api, req, old, e) < 0 ||
	    pbs_mark_deleted(api, req, finalizers, &last, e) < 0)
		return -1;
	if (grace == 0 && !object_is_held(req->kind, old, finalizers))
		return remove_now(api, req, last, ret, e);
	obj = marked(req, last, finalizers, grace);
	if (jsonx_equal(obj, old)) {
		ret->code = 200;
		ret->kind = req->kind;
		ret->object = object_for_version(req->kind, json_incref(old));
		return 0;
	}
	return write_store(api, req, old, obj, 200, ret, e);
}

int verb_delete(struct api *api, struct api_request *req, struct api_result *ret, struct err *e)
{
	json_auto_t *old = NULL;

	if (verb_load(api, req->kind, req->ns, req->name, &old, e) < 0)
		return -1;
	return delete_one(api, req, old, ret, e);
}
