// SPDX-License-Identifier: Apache-2.0
/* subresource_pod.c - binding and eviction: a pod gets its node, and may have to leave it
 *
 * An eviction that a budget allows is counted in the budget in the same turn.  The budget's controller counts again
 * when it sees the pod go; until then two evictions that come quickly must not both see the same allowance.
 */
#include "api/object.h"
#include "api/pbs.h"
#include "api/pod_owner.h"
#include "api/status.h"
#include "api/verbs.h"
#include "base/clock.h"
#include "base/jsonx.h"
#include "base/limits.h"
#include "base/mem.h"
#include "kinds/budget.h"

static int check_name(const struct api_request *req, const char *kind, struct err *e)
{
	const char *name = jsonx_str_or(req->body, "metadata.name", "");

	if (*name && req->name && !streq(name, req->name))
		return err_set(e, ERR_BAD_REQUEST, "name in URL does not match name in %s object", kind);
	return 0;
}

/* A condition is there once, and keeps its time as long as its status stays. */
static void set_condition(json_t *pod, json_t *condition)
{
	char now[CLOCK_RFC3339_LEN];
	json_t *list;
	const json_t *old;
	const char *since = NULL;
	size_t i = 0;

	if (!jsonx_at(pod, "status.conditions"))
		jsonx_set_new(pod, "status.conditions", json_array());
	list = jsonx_at(pod, "status.conditions");
	clock_rfc3339(clock_wall(), now);
	while ((old = json_array_get(list, i)) && !str_same(jsonx_str(old, "type"), jsonx_str(condition, "type")))
		i++;
	if (old && str_same(jsonx_str(old, "status"), jsonx_str(condition, "status")))
		since = jsonx_str(old, "lastTransitionTime");
	json_object_set_new(condition, "lastTransitionTime", json_string(since ? since : now));
	if (old)
		json_array_set_new(list, i, condition);
	else
		json_array_append_new(list, condition);
}

/* ---- binding ---- */

/* What the scheduler saw when it decided: it may be another pod by now. */
static int check_seen(const char *name, const json_t *body, const json_t *pod, struct err *e)
{
	static const struct {
		const char *path, *word;
	} rows[] = {
		{ "metadata.uid", "UID" },
		{ "metadata.resourceVersion", "ResourceVersion" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		const char *seen = jsonx_str_or(body, rows[i].path, "");
		const char *now = jsonx_str_or(pod, rows[i].path, "");

		if (*seen && !streq(seen, now))
			return err_set(
				e, ERR_CONFLICT,
				"Operation cannot be fulfilled on pods/binding \"%s\": Precondition failed: %s in "
				"precondition: %s, %s in object meta: %s",
				name, rows[i].word, seen, rows[i].word, now);
	}
	return 0;
}

static int check_unbound(const char *name, const json_t *pod, struct err *e)
{
	if (jsonx_at(pod, "metadata.deletionTimestamp"))
		return err_set(e, ERR_CONFLICT,
			       "Operation cannot be fulfilled on pods/binding \"%s\": pod %s is being deleted, cannot "
			       "be assigned to a host",
			       name, name);
	if (*jsonx_str_or(pod, "spec.nodeName", ""))
		return err_set(e, ERR_CONFLICT,
			       "Operation cannot be fulfilled on pods/binding \"%s\": pod %s is already assigned to "
			       "node \"%s\"",
			       name, name, jsonx_str(pod, "spec.nodeName"));
	return 0;
}

/* What the scheduler has to say to the node goes with the binding: no moment has one without the other. */
static int merge_annotations(const struct api_request *req, json_t *pod, const json_t *old, struct err *e)
{
	json_t *given = jsonx_at(req->body, "metadata.annotations");

	if (!json_object_size(given))
		return 0;
	if (!json_is_object(jsonx_at(pod, "metadata.annotations")))
		jsonx_set_new(pod, "metadata.annotations", json_object());
	json_object_update(jsonx_at(pod, "metadata.annotations"), given);
	pod_owner_keep_notes(req->caller, pod, old);
	if (pbs_check_pod_notes(req->caller, pod, old, e) < 0)
		return -1;
	return message_validate(&meta_object, json_object_get(pod, "metadata"), PATH_FIELD(NULL, "metadata"), e);
}

static json_t *own(json_t *parent, const char *key)
{
	json_t *copy = json_copy(json_object_get(parent, key));

	if (copy)
		json_object_set_new(parent, key, copy);
	return copy;
}

/* The pod with only those parts copied that a binding changes: most of it is shared with what is stored. */
static json_t *unbound_copy(const json_t *old)
{
	json_t *pod = json_copy((json_t *)old);

	own(own(pod, "metadata"), "annotations");
	own(pod, "spec");
	own(own(pod, "status"), "conditions");
	return pod;
}

int bind_pod(struct api *api, struct api_request *req, struct api_result *ret, struct err *e)
{
	struct status_subject about = { req->kind, req->name };
	auto_sbuf struct sbuf managers = SBUF(LIMIT_OBJECT);
	json_auto_t *old = NULL;
	json_auto_t *obj = NULL;
	const char *node;

	if (subresource_body(api, req, &ret->warnings, e) < 0 || check_name(req, "Binding", e) < 0)
		return -1;
	node = jsonx_str_or(req->body, "target.name", "");
	if (!*node)
		return err_cause(e, CAUSE_REQUIRED, "target.name", "Required value");
	if (verb_load_seen(api, req, &old, &managers, e) < 0 || check_seen(req->name, req->body, old, e) < 0 ||
	    check_unbound(req->name, old, e) < 0)
		return -1;
	req->managers = sbuf_str(&managers);
	obj = unbound_copy(old);
	if (merge_annotations(req, obj, old, e) < 0)
		return -1;
	jsonx_set_new(obj, "spec.nodeName", jsonx_string(node));
	set_condition(obj, json_pack("{s:s, s:s, s:n}", "type", "PodScheduled", "status", "True", "lastProbeTime"));
	if (write_store(api, req, old, obj, 201, ret, e) < 0)
		return -1;
	req->managers = (struct str){ "", 0 };
	json_decref(ret->object);
	ret->object = status_success(&about, NULL);
	ret->text_of = NULL;
	ret->kind = NULL;
	return 0;
}

/* ---- eviction ---- */

#define MAX_DISRUPTED      2000 /* Kubernetes' number: more than this and nobody is counting */
#define PROCESSING_SECONDS 10

struct budget_search {
	const json_t *labels;
	json_t *found; /* owned; the first that protects the pod */
	int count;
};

static bool on_budget(void *arg, const struct api_item *item)
{
	struct budget_search *b = arg;
	struct selector *s = NULL;
	struct err e = ERR_INIT;

	if (selector_from_json(jsonx_at(item->object, "spec.selector"), &s, &e) == 0 &&
	    selector_match_labels(s, b->labels)) {
		b->count++;
		if (!b->found)
			b->found = json_incref(item->object);
	}
	selector_free(s);
	return true;
}

/* A client that is told when to come back does so in silence, so only one that need not wait long is: kubectl drain
 * tells its user of a budget that is used up, and asks again by itself. */
static int too_many(int retry_after, struct err *e)
{
	e->retry_after = retry_after;
	return err_reword(e, ERR_TOO_MANY, "Cannot evict pod as it would violate the pod's disruption budget.");
}

static int check_budget(const json_t *budget, struct err *e)
{
	const char *name = jsonx_str_or(budget, "metadata.name", "");
	int64_t allowed = jsonx_int_or(budget, "status.disruptionsAllowed", 0);
	const json_t *observed = jsonx_at(budget, "status.observedGeneration");

	if (json_is_integer(observed) &&
	    json_integer_value(observed) < jsonx_int_or(budget, "metadata.generation", 0)) {
		err_cause(e, CAUSE_BUDGET, "", "The disruption budget %s is still being processed by the server.",
			  name);
		return too_many(PROCESSING_SECONDS, e);
	}
	if (json_object_size(jsonx_at(budget, "status.disruptedPods")) > MAX_DISRUPTED)
		return err_set(e, ERR_FORBIDDEN,
			       "poddisruptionbudgets.policy \"%s\" is forbidden: DisruptedPods map too big - too many "
			       "evictions not confirmed by PDB controller",
			       name);
	if (allowed <= 0) {
		err_cause(e, CAUSE_BUDGET, "",
			  "The disruption budget %s needs %lld healthy pods and has %lld currently", name,
			  (long long)jsonx_int_or(budget, "status.desiredHealthy", 0),
			  (long long)jsonx_int_or(budget, "status.currentHealthy", 0));
		return too_many(0, e);
	}
	return 0;
}

/* The budget's status with the pod counted. */
static int count_eviction(struct api *api, const struct kind *k, json_t *old, const char *pod, struct err *e)
{
	const json_t *meta = json_object_get(old, "metadata");
	struct api_request req = { .caller = &caller_system,
				   .verb = VERB_UPDATE,
				   .kind = k,
				   .subresource = "status",
				   .ns = jsonx_str_or(meta, "namespace", ""),
				   .name = jsonx_str_or(meta, "name", "") };
	json_auto_t *obj = jsonx_copy(old);
	struct api_result written = { 0 };
	char now[CLOCK_RFC3339_LEN];
	int r;

	clock_rfc3339(clock_wall(), now);
	if (!jsonx_at(obj, "status.disruptedPods"))
		jsonx_set_new(obj, "status.disruptedPods", json_object());
	json_object_set_new(jsonx_at(obj, "status.disruptedPods"), pod, json_string(now));
	jsonx_set_new(obj, "status.disruptionsAllowed",
		      json_integer(jsonx_int_or(old, "status.disruptionsAllowed", 0) - 1));
	r = write_store(api, &req, old, obj, 200, &written, e);
	api_result_done(&written);
	return r;
}

/* The budget that must count this eviction, a new reference, or NULL if none has to. */
static int find_budget(struct api *api, const struct kind *k, const char *ns, const json_t *pod, json_t **ret,
		       struct err *e)
{
	struct api_request list = { .caller = &caller_system, .verb = VERB_LIST, .kind = k, .ns = ns };
	struct budget_search search = { .labels = jsonx_at(pod, "metadata.labels") };
	auto_free char *cont = NULL;
	json_auto_t *budget = NULL;
	int64_t rv;
	int64_t remaining;
	int r;

	if (!budget_is_needed(pod))
		return 0;
	r = api_list(api, &list, true, on_budget, &search, &rv, &cont, &remaining, e);
	budget = search.found;
	if (r < 0)
		return -1;
	if (search.count > 1)
		return err_set(e, ERR_INTERNAL,
			       "This pod has more than one PodDisruptionBudget, which the eviction subresource does "
			       "not support.");
	if (!budget || !budget_counts(budget, pod))
		return 0;
	if (check_budget(budget, e) < 0)
		return -1;
	*ret = json_incref(budget);
	return 0;
}

void pod_mark_evicted(json_t *pod)
{
	const char *phase = jsonx_str_or(pod, "status.phase", "");

	if (streq(phase, "Succeeded") || streq(phase, "Failed"))
		return;
	set_condition(pod, json_pack("{s:s, s:s, s:n, s:s, s:s}", "type", "DisruptionTarget", "status", "True",
				     "lastProbeTime", "reason", "EvictionByEvictionAPI", "message",
				     "Eviction API: evicting"));
}

int evict_pod(struct api *api, struct api_request *req, struct api_result *ret, struct err *e)
{
	const struct kind *budgets = registry_preferred(api_registry(api), "policy", "poddisruptionbudgets");
	struct api_request del = *req;
	struct api_result gone = { 0 };
	json_auto_t *budget = NULL;
	json_auto_t *pod = NULL;
	int r;

	if (subresource_body(api, req, &ret->warnings, e) < 0 || check_name(req, "Eviction", e) < 0 ||
	    verb_load(api, req->kind, req->ns, req->name, &pod, e) < 0 ||
	    find_budget(api, budgets, req->ns, pod, &budget, e) < 0)
		return -1;
	del.verb = VERB_DELETE;
	del.subresource = NULL;
	del.evicting = true;
	del.grace_seconds = jsonx_int_or(req->body, "deleteOptions.gracePeriodSeconds", -1);
	del.if_uid = jsonx_str(req->body, "deleteOptions.preconditions.uid");
	del.if_rv = jsonx_str(req->body, "deleteOptions.preconditions.resourceVersion");
	del.dry_run = req->dry_run || json_array_size(jsonx_at(req->body, "deleteOptions.dryRun"));
	r = verb_delete(api, &del, &gone, e);
	api_result_done(&gone);
	if (r < 0 || (budget && !del.dry_run && count_eviction(api, budgets, budget, req->name, e) < 0))
		return -1;
	ret->code = 201;
	ret->object = status_success(&(struct status_subject){ 0 }, NULL);
	return 0;
}
