// SPDX-License-Identifier: Apache-2.0
/* priority.c - see priority.h
 *
 * A pod names a class; its number is the class's, and stays what it was when the class is gone.  A number that a pod
 * brings along is only a check.  Without a class the default one counts, if there is any, else 0.
 */
#include "api/priority.h"

#include "api/object.h"
#include "api/stored.h"
#include "base/jsonx.h"
#include "base/mem.h"

#define USUAL_POLICY "PreemptLowerPriority"

static const struct stored_kind classes_kind = { .group = "scheduling.k8s.io",
						 .version = "v1",
						 .plural = "priorityclasses" };

/* ---- the default class ---- */

struct search {
	const char *but; /* a name to overlook, or NULL */
	json_t *found;
};

/* Of several, which an older server may have let in, the lowest counts, as in Kubernetes. */
static bool on_class(void *arg, const struct record *r)
{
	static const char mark[] = "\"globalDefault\":true";
	struct search *s = arg;
	json_auto_t *class = NULL;
	struct err e = ERR_INIT;

	if (!memmem(r->body.p, r->body.n, mark, sizeof(mark) - 1) || str_same(r->name, s->but) ||
	    object_parse(r->body, &class, &e) < 0 || !jsonx_bool_or(class, "globalDefault", false))
		return true;
	if (!s->found || jsonx_int_or(class, "value", 0) < jsonx_int_or(s->found, "value", 0)) {
		json_decref(s->found);
		s->found = json_incref(class);
	}
	return true;
}

/* *ret (owned) is NULL if there is none. */
static int find_default(struct api *api, const char *but, json_t **ret, struct err *e)
{
	struct stored_kind classes = classes_kind;
	struct search s = { .but = but };

	if (stored_resolve(api, &classes, e) < 0 ||
	    store_list(api_store(api), &(struct store_range){ .kind = classes.number }, on_class, &s, e) < 0) {
		json_decref(s.found);
		return -1;
	}
	*ret = s.found;
	return 0;
}

int priority_admit_class(struct api *api, const struct api_request *req, json_t *obj, const json_t *old, struct err *e)
{
	const char *name = jsonx_str_or(obj, "metadata.name", "");
	json_auto_t *other = NULL;

	(void)old;
	if (req->subresource || !jsonx_bool_or(obj, "globalDefault", false))
		return 0;
	if (find_default(api, name, &other, e) < 0)
		return -1;
	if (!other)
		return 0;
	return err_set(e, ERR_FORBIDDEN,
		       "priorityclasses.scheduling.k8s.io \"%.253s\" is forbidden: PriorityClass %.253s is already "
		       "marked as default. Only one default can exist",
		       name, jsonx_str_or(other, "metadata.name", ""));
}

/* ---- pods ---- */

/* Forbids in Kubernetes' words. */
#define refuse(e_, pod_, fmt_, ...)                                                                                    \
	err_set(e_, ERR_FORBIDDEN, "pods \"%.253s\" is forbidden: " fmt_, object_asked_name(pod_), __VA_ARGS__)

static int class_of(struct api *api, const json_t *pod, json_t **ret, struct err *e)
{
	struct stored_kind classes = classes_kind;
	const char *name = jsonx_str_or(pod, "spec.priorityClassName", "");

	if (!*name)
		return find_default(api, NULL, ret, e);
	if (stored_get(api, &classes, "", name, ret, e) == 0)
		return 0;
	if (e->kind != ERR_NOT_FOUND)
		return -1;
	return refuse(e, pod, "no PriorityClass with name %.253s was found", name);
}

static int check_given(const json_t *pod, int64_t value, const char *policy, struct err *e)
{
	const json_t *given = jsonx_at(pod, "spec.priority");
	const char *asked = jsonx_str_or(pod, "spec.preemptionPolicy", policy);

	if (json_is_integer(given) && json_integer_value(given) != value)
		return refuse(e, pod,
			      "the integer value of priority (%lld) must not be provided in pod spec; priority "
			      "admission controller computed %lld from the given PriorityClass name",
			      (long long)json_integer_value(given), (long long)value);
	if (!streq(asked, policy))
		return refuse(e, pod,
			      "the string value of PreemptionPolicy (%s) must not be provided in pod spec; priority "
			      "admission controller computed %s from the given PriorityClass name",
			      asked, policy);
	return 0;
}

int priority_assign(struct api *api, const struct api_request *req, json_t *obj, const json_t *old, struct err *e)
{
	json_t *spec = json_object_get(obj, "spec");
	json_auto_t *class = NULL;
	const char *policy;
	int64_t value;

	if (old || req->subresource)
		return 0;
	if (class_of(api, obj, &class, e) < 0)
		return -1;
	value = jsonx_int_or(class, "value", 0);
	policy = jsonx_str_or(class, "preemptionPolicy", USUAL_POLICY);
	if (check_given(obj, value, policy, e) < 0)
		return -1;
	if (class)
		json_object_set(spec, "priorityClassName", jsonx_at(class, "metadata.name"));
	json_object_set_new(spec, "priority", json_integer(value));
	json_object_set_new(spec, "preemptionPolicy", jsonx_string(policy));
	return 0;
}
