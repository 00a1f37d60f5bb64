// SPDX-License-Identifier: Apache-2.0
/* pod_security.c - Pod Security admission
 *
 * The labels of a pod's namespace say which level is enforced, audited and warned of; kinds/pod_security.c says what a
 * level means.  Pods are refused or not; objects with pod templates are never refused here, because their pods will be,
 * but whoever writes them is warned early.  What the audit level finds goes into the audit log's line of the request.
 */
#include "api/pod_security.h"

#include "api/object.h"
#include "api/stored.h"
#include "base/jsonx.h"
#include "base/limits.h"
#include "base/mem.h"
#include "kinds/pod_security.h"
#include "kinds/pod_templates.h"

#define PREFIX   "pod-security.kubernetes.io/"
#define MAX_PODS 500 /* looked at when a namespace gets a new level: a bounded part of one turn */
#define MAX_TEXT 4096

/* Subresources of a pod whose body is the pod's spec; all others leave it as it is. */
static bool writes_spec(const struct api_request *req)
{
	return !req->subresource || streq(req->subresource, "ephemeralcontainers");
}

static int policy_of(struct api *api, const char *ns, struct pod_security_policy *ret, struct err *e)
{
	const json_t *namespace = NULL;
	struct err labels = ERR_INIT;

	if (stored_namespace(api, ns, &namespace, e) < 0)
		return -1;
	/* What is wrong with the labels was told to whoever wrote them. */
	pod_security_read(jsonx_at(namespace, "metadata.labels"), ret, &labels);
	return 0;
}

int pod_security_admit_namespace(struct api *api, const struct api_request *req, json_t *obj, const json_t *old,
				 struct err *e)
{
	struct pod_security_policy policy;
	struct err before = ERR_INIT;

	(void)api;
	if (req->subresource || pod_security_read(jsonx_at(obj, "metadata.labels"), &policy, e) == 0)
		return 0;
	/* Labels that were wrong before, and in the same way, are no reason to refuse another change. */
	if (old && pod_security_read(jsonx_at(old, "metadata.labels"), &policy, &before) < 0 &&
	    before.ncauses == e->ncauses && before.pool_used == e->pool_used &&
	    memcmp(before.pool, e->pool, e->pool_used) == 0) {
		err_clear(e);
		return 0;
	}
	return -1;
}

int pod_security_admit(struct api *api, const struct api_request *req, json_t *obj, const json_t *old, struct err *e)
{
	const json_t *spec = json_object_get(obj, "spec");
	auto_sbuf struct sbuf broken = SBUF(MAX_TEXT);
	struct pod_security_policy policy;
	char level[POD_SECURITY_TEXT_LEN];

	if (!writes_spec(req) || (old && !pod_security_concerned(spec, json_object_get(old, "spec"))))
		return 0;
	if (policy_of(api, req->ns, &policy, e) < 0)
		return -1;
	if (!pod_security_check(policy.enforce, json_object_get(obj, "metadata"), spec, 0, &broken))
		return 0;
	return err_set(e, ERR_FORBIDDEN, "pods \"%.253s\" is forbidden: violates PodSecurity \"%s\": %s",
		       jsonx_str_or(obj, "metadata.name", ""), pod_security_text(policy.enforce, level), broken.p);
}

/* ---- warnings and notes ---- */

struct look {
	const struct pod_security_policy *policy;
	struct api_result *ret;
};

/* The sentence about one pod or template at one level, or NULL. */
static json_t *would_violate(struct pod_security p, const json_t *pod)
{
	auto_sbuf struct sbuf broken = SBUF(MAX_TEXT);
	char level[POD_SECURITY_TEXT_LEN];

	if (!pod_security_check(p, json_object_get(pod, "metadata"), json_object_get(pod, "spec"), 0, &broken))
		return NULL;
	return jsonx_stringf("would violate PodSecurity \"%s\": %s", pod_security_text(p, level), broken.p);
}

static bool said(const json_t *list, const json_t *text)
{
	json_t *v;
	size_t i;

	json_array_foreach ((json_t *)list, i, v)
		if (json_equal(v, text))
			return true;
	return false;
}

static void on_template(void *arg, const json_t *pod)
{
	const struct look *l = arg;
	json_t *warning = would_violate(l->policy->warn, pod);
	json_t *note = would_violate(l->policy->audit, pod);

	if (warning && !said(l->ret->warnings, warning))
		object_warn(&l->ret->warnings, json_incref(warning));
	json_decref(warning);
	if (note) {
		if (!l->ret->notes)
			l->ret->notes = json_object();
		json_object_set_new(l->ret->notes, PREFIX "audit-violations", note);
	}
}

void pod_security_warn(struct api *api, const struct api_request *req, const json_t *obj, const json_t *old,
		       struct api_result *ret)
{
	bool pod = streq(req->kind->group, "") && streq(req->kind->plural, "pods");
	struct pod_security_policy policy;
	struct look look = { &policy, ret };
	struct err e = ERR_INIT;

	if (!pod && (req->subresource || !pod_templates_lead(req->kind)))
		return;
	if (pod && (!writes_spec(req) ||
		    (old && !pod_security_concerned(json_object_get(obj, "spec"), json_object_get(old, "spec")))))
		return;
	if (policy_of(api, req->ns, &policy, &e) < 0)
		return;
	if (policy.warn.level == POD_SECURITY_PRIVILEGED && policy.audit.level == POD_SECURITY_PRIVILEGED)
		return;
	if (pod)
		on_template(&look, obj);
	else
		pod_templates_each(req->kind, obj, on_template, &look);
}

/* ---- pods that were there before ---- */

struct census {
	struct pod_security level;
	json_t *found; /* what is broken -> array of names */
	int64_t looked;
};

static bool on_pod(void *arg, const struct api_item *item)
{
	struct census *c = arg;
	auto_sbuf struct sbuf broken = SBUF(MAX_TEXT);
	json_t *names;

	c->looked++;
	if (!pod_security_check(c->level, json_object_get(item->object, "metadata"),
				json_object_get(item->object, "spec"), POD_SECURITY_BRIEF, &broken))
		return true;
	names = json_object_get(c->found, broken.p);
	if (!names) {
		names = json_array();
		json_object_set_new(c->found, broken.p, names);
	}
	json_array_append_new(names, jsonx_string(jsonx_str_or(item->object, "metadata.name", "")));
	return true;
}

static void tell_census(const struct census *c, const char *ns, int64_t remaining, json_t **warnings)
{
	char level[POD_SECURITY_TEXT_LEN];
	const char *broken;
	json_t *names;

	if (remaining > 0)
		object_warn(warnings,
			    jsonx_stringf("new PodSecurity enforce level only checked against the first %lld of %lld "
					  "existing pods",
					  (long long)c->looked, (long long)(c->looked + remaining)));
	if (json_object_size(c->found))
		object_warn(warnings,
			    jsonx_stringf("existing pods in namespace \"%s\" violate the new PodSecurity enforce level "
					  "\"%s\"",
					  ns, pod_security_text(c->level, level)));
	json_object_foreach (c->found, broken, names) {
		const char *first = json_string_value(json_array_get(names, 0));
		size_t others = json_array_size(names) - 1;

		if (others)
			object_warn(warnings, jsonx_stringf("%s (and %zu other pod%s): %s", first, others,
							    others > 1 ? "s" : "", broken));
		else
			object_warn(warnings, jsonx_stringf("%s: %s", first, broken));
	}
}

void pod_security_warn_namespace(struct api *api, const struct api_request *req, const json_t *obj, const json_t *old,
				 struct api_result *ret)
{
	const char *ns = jsonx_str_or(obj, "metadata.name", "");
	struct api_request list = { .caller = &caller_system, .verb = VERB_LIST, .ns = ns, .limit = MAX_PODS };
	struct pod_security_policy now;
	struct pod_security_policy was;
	struct census census = { 0 };
	struct err e = ERR_INIT;
	auto_free char *cont = NULL;
	int64_t remaining = 0;
	int64_t rv;

	if (req->subresource || !old)
		return;
	pod_security_read(jsonx_at(obj, "metadata.labels"), &now, &e);
	pod_security_read(jsonx_at(old, "metadata.labels"), &was, &e);
	err_clear(&e);
	if (now.enforce.level == POD_SECURITY_PRIVILEGED ||
	    (now.enforce.minor == was.enforce.minor && now.enforce.level <= was.enforce.level))
		return;
	list.kind = registry_find(api_registry(api), "", "v1", "pods");
	census.level = now.enforce;
	census.found = json_object();
	if (api_list(api, &list, true, on_pod, &census, &rv, &cont, &remaining, &e) < 0)
		object_warn(&ret->warnings,
			    json_string("failed to list pods while checking new PodSecurity enforce level"));
	else
		tell_census(&census, ns, remaining, &ret->warnings);
	json_decref(census.found);
}
