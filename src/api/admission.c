// SPDX-License-Identifier: Apache-2.0
/* admission.c - rules that look beyond the object: its namespace, the caller's rights, other objects
 *
 * One row a rule.  A rule applies to the kinds it names (or to all) and runs on create, update or both; `assigners` put
 * in what the server chooses, `budgets` say whether it can be had, `advisers` warn, `followers` hear of what was
 * written.
 *
 * On an update, members that the request left alone are those of the stored object, which never changes: a rule that
 * has to change one puts a copy in its place.
 */
#include "api/authn.h"
#include "api/authz.h"
#include "api/bootstrap.h"
#include "api/crd.h"
#include "api/default_class.h"
#include "api/limit_range.h"
#include "api/owner_cycle.h"
#include "api/pbs.h"
#include "api/pod_account.h"
#include "api/pod_owner.h"
#include "api/pod_security.h"
#include "api/priority.h"
#include "api/queue_rules.h"
#include "api/quota.h"
#include "api/reservation_check.h"
#include "api/service_address.h"
#include "api/stored.h"
#include "api/verbs.h"
#include "base/jsonx.h"
#include "base/mem.h"
#include "base/time_zone.h"
#include "kinds/pod_templates.h"
#include "kinds/work_rules.h"
#include "kinds/workloads.h"

typedef int admit_fn(struct api *api, const struct api_request *req, json_t *obj, const json_t *old, struct err *e);

/* Objects are made only in a namespace that exists and stays. */
static int admit_namespace(struct api *api, const struct api_request *req, json_t *obj, const json_t *old,
			   struct err *e)
{
	const json_t *namespace;

	(void)obj;
	if (old || !req->kind->namespaced)
		return 0;
	if (stored_namespace(api, req->ns, &namespace, e) < 0) {
		if (e->kind != ERR_NOT_FOUND)
			return -1;
		return err_set(e, ERR_NOT_FOUND, "namespaces \"%s\" not found", req->ns);
	}
	if (jsonx_at(namespace, "metadata.deletionTimestamp")) {
		char resource[320];

		kind_resource_name(req->kind, resource, sizeof(resource));
		err_cause(e, CAUSE_TERMINATING, "metadata.namespace", "namespace %s is being terminated", req->ns);
		return err_reword(e, ERR_FORBIDDEN,
				  "%.200s \"%.250s\" is forbidden: unable to create new content in namespace %.250s "
				  "because it is being terminated",
				  resource, jsonx_str_or(obj, "metadata.name", ""), req->ns);
	}
	return 0;
}

static int admit_crd(struct api *api, const struct api_request *req, json_t *obj, const json_t *old, struct err *e)
{
	if (req->subresource)
		return 0;
	return crd_admit(api, obj, old, e);
}

static int admit_rbac(struct api *api, const struct api_request *req, json_t *obj, const json_t *old, struct err *e)
{
	return authz_check_escalation(api_authz(api), req->caller, req->kind, obj, old, e);
}

static int admit_token(struct api *api, const struct api_request *req, json_t *obj, const json_t *old, struct err *e)
{
	(void)old;
	return authn_check_token_write(api_authn(api), req->caller, obj, e);
}

/* Whoever approves a request goes by who asked: that is the server's word, not the client's. */
static int admit_certificate(struct api *api, const struct api_request *req, json_t *obj, const json_t *old,
			     struct err *e)
{
	json_t *spec = json_object_get(obj, "spec");
	json_t *groups;

	(void)api;
	(void)e;
	if (old || !spec)
		return 0;
	groups = json_array();
	for (const char *const *g = req->caller->groups; g && *g; g++)
		json_array_append_new(groups, jsonx_string(*g));
	json_object_set_new(spec, "username", jsonx_string(req->caller->user));
	json_object_set_new(spec, "groups", groups);
	json_object_del(spec, "uid");
	json_object_del(spec, "extra");
	if (req->caller->uid && *req->caller->uid)
		json_object_set_new(spec, "uid", jsonx_string(req->caller->uid));
	if (req->caller->extra)
		json_object_set_new(spec, "extra", jsonx_copy(req->caller->extra));
	return 0;
}

/* A zone that was known once stays, even if this machine's database has lost it since. */
static int admit_time_zone(struct api *api, const struct api_request *req, json_t *obj, const json_t *old,
			   struct err *e)
{
	const char *zone = jsonx_str(obj, "spec.timeZone");

	(void)api;
	(void)req;
	if (!zone || str_same(zone, jsonx_str(old, "spec.timeZone")) || time_zone_known(zone))
		return 0;
	return path_invalid(PATH_FIELD(NULL, "spec.timeZone"), e, jsonx_at(obj, "spec.timeZone"),
			    "unknown time zone %s", zone);
}

static void check_template_rules(void *arg, const json_t *tpl)
{
	work_rules_check(tpl, NULL, PATH_FIELD(NULL, "template"), arg);
}

/* When work may start: annotations that nobody understands would let it start at once, or never. */
static int admit_work_rules(struct api *api, const struct api_request *req, json_t *obj, const json_t *old,
			    struct err *e)
{
	(void)api;
	if (req->subresource || (!is_workload(req->kind) && !pod_templates_lead(req->kind)))
		return 0;
	work_rules_check(obj, old, NULL, e);
	if (!old)
		pod_templates_each(req->kind, obj, check_template_rules, e);
	return e->kind == ERR_NONE ? 0 : -1;
}

struct admit_rule {
	const char *group, *plural; /* NULL: every kind */
	admit_fn *fn;
};

static const struct admit_rule rules[] = {
	{ NULL, NULL, admit_namespace },
	{ "apiextensions.k8s.io", "customresourcedefinitions", admit_crd },
	{ "rbac.authorization.k8s.io", NULL, admit_rbac },
	{ "stoker.dev", "tokens", admit_token },
	{ "", "persistentvolumeclaims", default_class_admit },
	{ "certificates.k8s.io", "certificatesigningrequests", admit_certificate },
	{ "scheduling.k8s.io", "priorityclasses", priority_admit_class },
	{ "", "namespaces", pod_owner_admit_namespace },
	{ "", "namespaces", pod_security_admit_namespace },
	{ NULL, NULL, pod_owner_mark },
	{ "", "pods", pod_owner_admit }, /* first: it fills in what the levels ask for */
	{ "", "pods", pbs_admit_pod },
	{ "", "pods", pod_security_admit },
	{ "", "pods", limit_range_default },
	{ "stoker.dev", "pbsjobs", pbs_admit }, /* after pod_owner_mark: a job stays its owner's */
	{ "stoker.dev", "pbsservers", pbs_admit_server },
	{ "", "nodes", pbs_admit_node },
	{ "stoker.dev", "queues", pbs_admit_queue },
	{ "stoker.dev", "reservations", reservation_admit },
	{ NULL, NULL, owner_cycle_admit },
	{ NULL, NULL, admit_work_rules },
};

static const struct admit_rule assigners[] = {
	{ "", "services", service_address_assign }, { "", "pods", priority_assign }, { "", "pods", pod_account_assign },
	{ "stoker.dev", "pbsjobs", pbs_assign },    { NULL, NULL, queue_assign },
};

/* Whether this machine can do what an object asks for that is otherwise as it should be; the last word. */
static const struct admit_rule budgets[] = {
	{ "batch", "cronjobs", admit_time_zone },
	{ "", "pods", limit_range_admit },
	{ "", "persistentvolumeclaims", limit_range_admit },
	{ NULL, NULL, quota_admit },
};

static bool applies(const struct kind *k, const char *group, const char *plural)
{
	return (!group || streq(group, k->group)) && (!plural || streq(plural, k->plural));
}

static int run(const struct admit_rule *r, size_t n, struct api *api, const struct api_request *req, json_t *obj,
	       const json_t *old, struct err *e)
{
	for (; n; r++, n--)
		if (applies(req->kind, r->group, r->plural) && r->fn(api, req, obj, old, e) < 0)
			return -1;
	return 0;
}

int admit_write(struct api *api, const struct api_request *req, json_t *obj, const json_t *old, struct err *e)
{
	return run(rules, ARRAY_SIZE(rules), api, req, obj, old, e);
}

int admit_assign(struct api *api, const struct api_request *req, json_t *obj, const json_t *old, struct err *e)
{
	if (run(assigners, ARRAY_SIZE(assigners), api, req, obj, old, e) < 0)
		return -1;
	return run(budgets, ARRAY_SIZE(budgets), api, req, obj, old, e);
}

static void warn_crd(struct api *api, const struct api_request *req, const json_t *obj, const json_t *old,
		     struct api_result *ret)
{
	(void)api;
	(void)old;
	if (!req->subresource)
		crd_warn(obj, &ret->warnings);
}

static const struct {
	const char *group, *plural;
	void (*fn)(struct api *api, const struct api_request *req, const json_t *obj, const json_t *old,
		   struct api_result *ret);
} advisers[] = {
	{ "apiextensions.k8s.io", "customresourcedefinitions", warn_crd },
	{ "", "namespaces", pod_security_warn_namespace },
	{ "stoker.dev", "queues", queue_warn },
	{ NULL, NULL, pod_security_warn },
};

void admit_warn(struct api *api, const struct api_request *req, const json_t *obj, const json_t *old,
		struct api_result *ret)
{
	for (size_t i = 0; i < ARRAY_SIZE(advisers); i++)
		if (applies(req->kind, advisers[i].group, advisers[i].plural))
			advisers[i].fn(api, req, obj, old, ret);
}

/* Namespaces the server itself lives in. */
static const char *const kept_namespaces[] = { "default", "kube-system", "kube-public" };

int admit_delete(struct api *api, const struct api_request *req, const json_t *old, struct err *e)
{
	const char *name = jsonx_str_or(old, "metadata.name", "");

	if (queue_admit_delete(req, old, e) < 0 || pbs_admit_delete(api, req, old, e) < 0)
		return -1;
	if (!(req->kind->flags & KIND_NAMESPACE))
		return 0;
	for (size_t i = 0; i < ARRAY_SIZE(kept_namespaces); i++)
		if (streq(name, kept_namespaces[i]))
			return err_set(e, ERR_FORBIDDEN,
				       "namespaces \"%s\" is forbidden: this namespace may not be deleted", name);
	return 0;
}

static void crd_was_written(struct api *api, const json_t *obj, const json_t *old)
{
	if (obj)
		crd_written(api_crds(api), obj, old);
}

static const struct {
	const char *group, *plural;
	void (*fn)(struct api *api, const json_t *obj, const json_t *old);
} followers[] = {
	{ "apiextensions.k8s.io", "customresourcedefinitions", crd_was_written },
	{ "", "services", service_address_written },
	{ "", "limitranges", limit_range_written },
	{ "", "services", bootstrap_written }, /* after its address is free again */
	{ "stoker.dev", "pbsservers", pbs_server_written },
	{ "", "nodes", pbs_node_written },
};

void admit_written(struct api *api, const struct kind *k, const json_t *obj, const json_t *old)
{
	for (size_t i = 0; i < ARRAY_SIZE(followers); i++)
		if (applies(k, followers[i].group, followers[i].plural))
			followers[i].fn(api, obj, old);
	quota_written(api, k, obj, old);
	queue_written(api, k, obj, old);
}
