// SPDX-License-Identifier: Apache-2.0
/* pbs_queue.c - see pbs_parts.h: the checks of a queue, in Torque's order
 *
 * A Route queue has no limits of its own but who may use it; the first of its destinations that takes the job has it,
 * with that queue's defaults.  The host is what the client says: an ACL of hosts keeps out who is honest.
 */
#include <strings.h>

#include "api/accounts.h"
#include "api/pbs_parts.h"
#include "base/jsonx.h"
#include "base/limits.h"
#include "base/mem.h"

#define LONGEST_ROUTE 8 /* queues that pass jobs on to each other; more than that is a circle */
#define INFEASIBLE                                                                                                     \
	"cannot locate feasible nodes (nodes file is empty, all systems are busy, or no nodes have the requested "     \
	"feature)"

int pbs_queue_wanted(struct api *api, const char *ns, const json_t *obj, char out[64], struct err *e)
{
	const char *named = jsonx_str_or(obj, "spec.queue", "");
	const json_t *settings;

	named = *named ? named : queue_label(obj);
	snprintf(out, 64, "%.*s", (int)strcspn(named, "@"), named);
	if (*out)
		return 0;
	if (queue_of_namespace(api, ns, out, e) < 0 || pbs_server_settings(api, &settings, e) < 0)
		return -1;
	if (!*out)
		snprintf(out, 64, "%s", jsonx_str_or(settings, "defaultQueue", ""));
	return 0;
}

void pbs_entry_done(struct pbs_entry *n)
{
	json_decref(n->resources);
	sbuf_done(&n->defaults);
}

static int refuse(const struct pbs_entry *n, const struct queue_known *q, enum pbs_error number, const char *why,
		  struct err *e)
{
	return pbs_error_set(e, ERR_FORBIDDEN, number, "%s: user %.60s@%.120s, queue %s", why, n->owner, n->host,
			     q->name);
}

/* ---- what sort of job ---- */

static bool is_interactive(const json_t *spec)
{
	return jsonx_bool_or(spec, "interactive", false);
}

static bool is_batch(const json_t *spec)
{
	return !is_interactive(spec);
}

static bool is_rerunable(const json_t *spec)
{
	return jsonx_bool_or(spec, "rerunnable", true);
}

static bool is_nonrerunable(const json_t *spec)
{
	return !is_rerunable(spec);
}

static bool is_tolerant(const json_t *spec)
{
	return strchr("tTyY1", *jsonx_str_or(spec, "attributes.fault_tolerant", "F")) != NULL;
}

static bool is_intolerant(const json_t *spec)
{
	return !is_tolerant(spec);
}

static bool is_array(const json_t *spec)
{
	return json_object_get(spec, "array") != NULL;
}

static const struct {
	const char *word;
	bool (*is)(const json_t *spec);
	enum pbs_error number;
	const char *why;
} sorts[] = {
	{ "interactive", is_interactive, PBSE_NOINTERACTIVE, "interactive job is not allowed for queue" },
	{ "batch", is_batch, PBSE_NOBATCH, "batch job is not allowed for queue" },
	{ "rerunable", is_rerunable, PBSE_NORERUNABLE, "rerunable job is not allowed for queue" },
	{ "nonrerunable", is_nonrerunable, PBSE_NONONRERUNABLE, "nonrerunable job is not allowed for queue" },
	{ "fault_tolerant", is_tolerant, PBSE_NOFAULTTOLERANT, "fault tolerant job is not allowed for queue" },
	{ "fault_intolerant", is_intolerant, PBSE_NOFAULTINTOLERANT, "fault intolerant job is not allowed for queue" },
	{ "job_array", is_array, PBSE_NO_ARRAYS, "job array is not allowed for queue" },
};

static int check_sort(const struct pbs_entry *n, const struct queue_known *q, struct err *e)
{
	json_t *v;
	size_t i;

	json_array_foreach (json_object_get(q->spec, "disallowedTypes"), i, v)
		for (size_t k = 0; k < ARRAY_SIZE(sorts); k++)
			if (streq(sorts[k].word, json_string_value(v)) && sorts[k].is(n->spec))
				return refuse(n, q, sorts[k].number, sorts[k].why, e);
	return 0;
}

/* ---- who ---- */

bool pbs_is_host(const char *pattern, const char *host)
{
	size_t n = strlen(pattern), m = strlen(host);

	if (*pattern == '*')
		return m + 1 >= n && strcasecmp(host + m - (n - 1), pattern + 1) == 0;
	return strcasecmp(pattern, host) == 0 ||
	       (!strchr(pattern, '.') && strcspn(host, ".") == n && strncasecmp(pattern, host, n) == 0);
}

static bool on_host(void *arg, const char *pattern)
{
	return pbs_is_host(pattern, ((const struct pbs_entry *)arg)->host);
}

/* Any group of this machine, or that the caller came with. */
static bool in_some_group(void *arg, const char *group)
{
	const struct pbs_entry *n = arg;
	struct err e = ERR_INIT;
	const struct account *acc = accounts_find(api_accounts(n->api), n->owner, &e);

	return (acc && account_in_group_named(acc, group)) ||
	       (streq(n->owner, n->req->caller->user) && caller_in_group(n->req->caller, group));
}

/* The group it runs in; who has none on this machine has those that he came with. */
static bool in_group(void *arg, const char *group)
{
	const struct pbs_entry *n = arg;
	struct err e = ERR_INIT;
	const struct account *acc = accounts_find(api_accounts(n->api), n->owner, &e);
	const char *chosen = json_string_value(json_array_get(json_object_get(n->spec, "groupList"), 0));
	struct str own = str_of(chosen ? chosen : acc ? acc->group : "");

	if (!own.n)
		return in_some_group(arg, group);
	own.n = chosen ? strcspn(chosen, "@") : own.n;
	return str_eq(own, group);
}

/* Whether the list of that name, if there is one, lets the owner in. */
static bool lets_in(struct pbs_entry *n, const struct queue_known *q, const char *list)
{
	bool sloppy = jsonx_bool_or(q->spec, "acl.groupSloppy", false);
	struct queue_visitor visitor = {
		.user = n->owner, .in_group = sloppy ? in_some_group : in_group, .on_host = on_host, .arg = n
	};
	json_t *names = json_object_get(json_object_get(q->spec, "acl"), list);
	json_auto_t *acl = json_pack("{s:O*}", list, names);
	auto_sbuf struct sbuf why = SBUF(LIMIT_STATUS_TEXT);

	return queue_acl_allows(acl, &visitor, &why);
}

static bool has_list(const struct queue_known *q, const char *list)
{
	return json_array_size(json_object_get(json_object_get(q->spec, "acl"), list)) > 0;
}

/* With "anyOf" it is enough to be in one of the lists: then the last of them has the word. */
static bool enough(const struct queue_known *q)
{
	return jsonx_bool_or(q->spec, "acl.anyOf", false) && has_list(q, "users") && has_list(q, "groups");
}

static int check_groups(struct pbs_entry *n, const struct queue_known *q, struct err *e)
{
	if (enough(q) || lets_in(n, q, "groups"))
		return 0;
	return refuse(n, q, PBSE_PERM, "group ACL is not satisfied", e);
}

static int check_users(struct pbs_entry *n, const struct queue_known *q, struct err *e)
{
	if (lets_in(n, q, "users") || (enough(q) && lets_in(n, q, "groups")))
		return 0;
	return refuse(n, q, PBSE_PERM, "user ACL rejected the submitting user", e);
}

static int check_hosts(struct pbs_entry *n, const struct queue_known *q, struct err *e)
{
	bool listed = !has_list(q, "hosts");
	json_t *v;
	size_t i;

	json_array_foreach (json_object_get(json_object_get(q->spec, "acl"), "hosts"), i, v) {
		const char *s = json_string_value(v);

		if (!pbs_is_host(s + (*s == '-' || *s == '+'), n->host))
			continue;
		listed = *s != '-';
		break;
	}
	return listed ? 0 : refuse(n, q, PBSE_BADHOST, "host ACL rejected the submitting host", e);
}

/* ---- how many ---- */

static int check_counts(struct pbs_entry *n, struct queue_known *q, struct err *e)
{
	const struct account *acc = accounts_find(api_accounts(n->api), n->owner, e);
	struct limit_hit hit;
	int full;

	if (!acc)
		return -1;
	full = queues_full(n->api, q, n->owner, acc->group, n->elements, &hit, e);
	if (full <= 0)
		return full;
	if (hit.scope == LIMIT_PER_USER)
		return refuse(n, q, PBSE_MAXUSERQUED, "total number of current user's jobs exceeds the queue limit", e);
	return refuse(n, q, PBSE_MAXQUED, "total number of jobs in queue exceeds the queue limit", e);
}

/* ---- what ---- */

static int read_nodes(const struct pbs_entry *n, struct pbs_nodes *ret, struct err *e)
{
	struct err why = ERR_INIT;

	if (pbs_nodes_of(n->resources, ret, &why) == 0)
		return 0;
	return pbs_error_set(e, ERR_INVALID, PBSE_BADATVAL, "Resource_List.%s", why.text);
}

static int check_nodes(struct pbs_entry *n, const struct queue_known *q, const struct pbs_nodes *nodes, struct err *e)
{
	struct amount_of_limits asks = { .v[LIMIT_RUNNING] = 1 };
	json_auto_t *properties = queue_properties(q->spec);
	auto_sbuf struct sbuf why = SBUF(LIMIT_STATUS_TEXT);
	const struct pbs_machine *machines;
	struct limit_hit hit;
	size_t nmachines;

	if (pbs_resources_limits(n->resources, nodes, q->spec, n->settings, e) < 0 ||
	    pbs_machines(n->api, &machines, &nmachines, e) < 0)
		return -1;
	/* Without any node, nobody can tell what will come. */
	if (nmachines && !pbs_fits(nodes, properties, machines, nmachines)) {
		pbs_misfit(nodes, properties, machines, nmachines, &why);
		return pbs_error_set(e, ERR_FORBIDDEN, PBSE_EXCQRESC, INFEASIBLE ": %s", why.p);
	}
	for (size_t i = 0; i < nodes->n; i++) {
		asks.v[LIMIT_GPUS] += (int64_t)nodes->reqs[i].count * nodes->reqs[i].gpus;
		asks.v[LIMIT_CPUS] += (int64_t)nodes->reqs[i].count * nodes->reqs[i].cpus * 1000;
	}
	if (!limits_impossible(&q->limits, &asks, &hit))
		return 0;
	limit_most_text(&hit, q->name, &why);
	return pbs_error_set(e, ERR_FORBIDDEN, PBSE_EXCQRESC, "%s", why.p);
}

/* With this queue's defaults. */
static int settle_resources(struct pbs_entry *n, const struct queue_known *q, const json_t *resources,
			    struct pbs_nodes *ret, struct err *e)
{
	char count[16];

	json_decref(n->resources);
	n->resources = resources ? jsonx_copy(resources) : json_object();
	sbuf_reset(&n->defaults);
	json_object_del(n->resources, "nodect"); /* follows from the others */
	pbs_resources_default(n->resources, q->spec, n->settings, &n->defaults);
	if (pbs_resources_normal(n->resources, e) < 0 || read_nodes(n, ret, e) < 0)
		return -1;
	if (json_object_get(n->resources, "nodes") || json_object_get(n->resources, "select")) {
		snprintf(count, sizeof(count), "%d", ret->count);
		json_object_set_new(n->resources, "nodect", json_string(count));
	}
	return 0;
}

/* By which way a queue was come by. */
struct way {
	const char *name;
	int depth;
	const char *from; /* the Route that leads there, or NULL */
};

static int check_all(struct pbs_entry *n, struct queue_known *q, const struct way *way, const json_t *resources,
		     struct err *e)
{
	struct pbs_nodes nodes = { 0 };
	int r = settle_resources(n, q, resources, &nodes, e);

	if (r == 0)
		r = check_sort(n, q, e);
	if (r == 0)
		r = check_groups(n, q, e);
	if (r == 0 && !jsonx_bool_or(q->spec, "enabled", true))
		r = refuse(n, q, PBSE_QUNOENB, "queue is disabled", e);
	if (r == 0)
		r = check_counts(n, q, e);
	if (r == 0 && way->depth == 0 && jsonx_bool_or(q->spec, "fromRouteOnly", false))
		r = refuse(n, q, PBSE_QACESS, "queue accepts only routed jobs, no direct submission", e);
	if (r == 0)
		r = check_hosts(n, q, e);
	if (r == 0)
		r = check_users(n, q, e);
	if (r == 0)
		r = check_nodes(n, q, &nodes, e);
	pbs_nodes_done(&nodes);
	return r;
}

/* ---- where ---- */

static int enter(struct pbs_entry *n, const struct way *way, const json_t *resources, struct err *e);

static int check_route(struct pbs_entry *n, const struct queue_known *q, struct err *e)
{
	if (check_sort(n, q, e) < 0 || check_groups(n, q, e) < 0)
		return -1;
	if (!jsonx_bool_or(q->spec, "enabled", true))
		return refuse(n, q, PBSE_QUNOENB, "queue is disabled", e);
	return check_hosts(n, q, e) < 0 ? -1 : check_users(n, q, e);
}

/* The first that takes it; the last one's word if none does. */
static int follow(struct pbs_entry *n, const struct queue_known *q, int depth, const json_t *resources, struct err *e)
{
	json_auto_t *destinations = json_incref(json_object_get(q->spec, "destinations"));
	json_t *v;
	size_t i;

	pbs_error_set(e, ERR_FORBIDDEN, PBSE_UNKQUE, "queue %s leads nowhere", q->name);
	json_array_foreach (destinations, i, v) {
		const char *text = json_string_value(v);
		auto_free char *name = xstrndup(text, strcspn(text, "@"));

		if (depth == LONGEST_ROUTE)
			break;
		err_clear(e);
		if (enter(n, &(struct way){ name, depth + 1, q->name }, resources, e) == 0)
			return 0;
	}
	return -1;
}

static int enter(struct pbs_entry *n, const struct way *way, const json_t *resources, struct err *e)
{
	struct queue_known *q = NULL;

	if (queues_find(n->api, way->name, &q, e) < 0)
		return -1;
	if (!q && way->from)
		return pbs_error_set(e, ERR_FORBIDDEN, PBSE_UNKQUE, "queue %s leads to queue %s, which does not exist",
				     way->from, way->name);
	if (!q)
		return pbs_error_set(e, ERR_FORBIDDEN, PBSE_UNKQUE, "requested queue not found");
	if (streq(jsonx_str_or(q->spec, "type", ""), "Route"))
		return check_route(n, q, e) < 0 ? -1 : follow(n, q, way->depth, resources, e);
	if (check_all(n, q, way, resources, e) < 0)
		return -1;
	n->queue = q;
	return 0;
}

int pbs_queue_enter(struct pbs_entry *n, const char *name, const json_t *resources, struct err *e)
{
	return enter(n, &(struct way){ name, 0, NULL }, resources, e);
}

int pbs_queue_stay(struct pbs_entry *n, const char *name, const json_t *resources, struct err *e)
{
	struct pbs_nodes nodes = { 0 };
	struct queue_known *q = NULL;
	int r;

	if (queues_find(n->api, name, &q, e) < 0)
		return -1;
	if (!q)
		return pbs_error_set(e, ERR_FORBIDDEN, PBSE_UNKQUE, "requested queue not found");
	r = settle_resources(n, q, resources, &nodes, e);
	if (r == 0 && !n->operator)
		r = check_nodes(n, q, &nodes, e);
	pbs_nodes_done(&nodes);
	n->queue = q;
	return r;
}
