// SPDX-License-Identifier: Apache-2.0
/* quota_name.c - what the names in a quota measure, and how much of it one object is
 *
 * Kubernetes grew these names over years, so there are several for some things: cpu is requests.cpu, and services is
 * count/services; but pods are those that have not ended, and count/pods all.
 */
#include "api/quota_parts.h"
#include "base/clock.h"
#include "base/jsonx.h"
#include "base/mem.h"
#include "kinds/rules.h"

#define CLASS_MARK ".storageclass.storage.k8s.io/"
#define OLD_CLASS  "volume.beta.kubernetes.io/storage-class"

/* Names as a whole; all others by what they begin with, in read_prefixed(). */
static const struct {
	const char *name;
	enum quota_measure measure;
	const char *what, *of;
} names[] = {
	{ "pods", QUOTA_PODS, NULL, NULL },
	{ "cpu", QUOTA_REQUEST, "cpu", NULL },
	{ "memory", QUOTA_REQUEST, "memory", NULL },
	{ "ephemeral-storage", QUOTA_REQUEST, "ephemeral-storage", NULL },
	{ "requests.storage", QUOTA_STORAGE, NULL, NULL },
	{ "services.nodeports", QUOTA_NODE_PORTS, NULL, NULL },
	{ "services.loadbalancers", QUOTA_BALANCERS, NULL, NULL },
	{ "services", QUOTA_COUNT, "services", "" },
	{ "persistentvolumeclaims", QUOTA_COUNT, "persistentvolumeclaims", "" },
	{ "configmaps", QUOTA_COUNT, "configmaps", "" },
	{ "secrets", QUOTA_COUNT, "secrets", "" },
	{ "replicationcontrollers", QUOTA_COUNT, "replicationcontrollers", "" },
	{ "resourcequotas", QUOTA_COUNT, "resourcequotas", "" },
};

static void set(struct quota_item *i, enum quota_measure measure, char *what, char *of)
{
	i->measure = measure;
	i->what = what;
	i->of = of;
}

static void read_prefixed(struct quota_item *i, const char *name)
{
	const char *mark = strstr(name, CLASS_MARK);

	if (str_starts(name, "count/")) {
		const char *plural = name + strlen("count/");
		size_t n = strcspn(plural, ".");

		set(i, QUOTA_COUNT, xstrndup(plural, n), xstrdup(plural[n] ? plural + n + 1 : ""));
	} else if (mark && streq(mark + strlen(CLASS_MARK), "requests.storage")) {
		set(i, QUOTA_STORAGE, NULL, xstrndup(name, (size_t)(mark - name)));
	} else if (mark && streq(mark + strlen(CLASS_MARK), "persistentvolumeclaims")) {
		set(i, QUOTA_CLAIMS, NULL, xstrndup(name, (size_t)(mark - name)));
	} else if (str_starts(name, "requests.")) {
		set(i, QUOTA_REQUEST, xstrdup(name + strlen("requests.")), NULL);
	} else if (str_starts(name, "limits.")) {
		set(i, QUOTA_LIMIT, xstrdup(name + strlen("limits.")), NULL);
	} else if (str_starts(name, "hugepages-")) {
		set(i, QUOTA_REQUEST, xstrdup(name), NULL);
	}
}

void quota_item_init(struct quota_item *i, const char *name)
{
	*i = (struct quota_item){ .name = xstrdup(name), .hard.format = 'd', .used.format = 'd' };
	for (size_t k = 0; k < ARRAY_SIZE(names); k++) {
		if (!streq(name, names[k].name))
			continue;
		set(i, names[k].measure, names[k].what ? xstrdup(names[k].what) : NULL,
		    names[k].of ? xstrdup(names[k].of) : NULL);
		return;
	}
	read_prefixed(i, name);
}

void quota_item_done(struct quota_item *i)
{
	free(i->name);
	free(i->what);
	free(i->of);
}

/* ---- one object ---- */

static bool is(const struct quota_subject *s, const char *plural)
{
	return !*s->kind->group && streq(s->kind->plural, plural);
}

int64_t quota_pod_deadline(const json_t *pod)
{
	const char *text = jsonx_str(pod, "metadata.deletionTimestamp");
	int64_t micros;

	if (!text || !clock_parse_rfc3339(text, &micros))
		return 0;
	return micros / 1000000 + jsonx_int_or(pod, "metadata.deletionGracePeriodSeconds", 0) + 1;
}

void quota_subject_init(struct quota_subject *s, const struct kind *k, const json_t *obj, int64_t as_of)
{
	*s = (struct quota_subject){ .kind = kind_storage(k), .obj = obj };
	s->pod = is(s, "pods");
	if (s->pod) {
		int64_t deadline = quota_pod_deadline(obj);

		s->live = !rule_one_of(jsonx_str_or(obj, "status.phase", ""), "Succeeded|Failed") &&
			  (!deadline || deadline > as_of);
	}
}

void quota_subject_done(struct quota_subject *s)
{
	resource_list_done(&s->requests);
	resource_list_done(&s->limits);
}

static struct quantity number(int64_t n)
{
	return (struct quantity){ .nano = (__int128)n * 1000000000, .format = 'd' };
}

static struct quantity pod_amount(struct quota_subject *s, const struct quota_item *i)
{
	const struct resource_list *list = i->measure == QUOTA_REQUEST ? &s->requests : &s->limits;
	const struct quantity *found;

	if (!s->pod || !s->live)
		return number(0);
	if (i->measure == QUOTA_PODS)
		return number(1);
	if (!s->summed) {
		pod_resources(json_object_get(s->obj, "spec"), "requests", true, &s->requests);
		pod_resources(json_object_get(s->obj, "spec"), "limits", true, &s->limits);
		s->summed = true;
	}
	found = resource_list_find(list, i->what);
	return found ? *found : number(0);
}

static struct quantity count_amount(struct quota_subject *s, const struct quota_item *i)
{
	return number(streq(s->kind->plural, i->what) && streq(s->kind->group, i->of));
}

static const char *claim_class(const json_t *claim)
{
	const char *old = json_string_value(json_object_get(jsonx_at(claim, "metadata.annotations"), OLD_CLASS));

	return old ? old : jsonx_str_or(claim, "spec.storageClassName", "");
}

/* A claim that has grown once keeps what it was given. */
static struct quantity claim_size(const json_t *claim)
{
	const json_t *given = jsonx_at(claim, "status.allocatedResources.storage");
	struct quantity size, most;

	if (!rule_quantity_parse(jsonx_at(claim, "spec.resources.requests.storage"), &size))
		size = number(0);
	if (given && rule_quantity_parse(given, &most) && quantity_cmp(&most, &size) > 0)
		return most;
	return size;
}

static struct quantity claim_amount(struct quota_subject *s, const struct quota_item *i)
{
	if (!is(s, "persistentvolumeclaims") || (i->of && !streq(claim_class(s->obj), i->of)))
		return number(0);
	return i->measure == QUOTA_CLAIMS ? number(1) : claim_size(s->obj);
}

/* Ports that have, or will be given, a port on the node. */
static int64_t node_ports(const json_t *spec, bool balancer)
{
	const json_t *list = json_object_get(spec, "ports");
	int64_t n = 0;
	json_t *port;
	size_t i;

	if (!balancer || jsonx_bool_or(spec, "allocateLoadBalancerNodePorts", true))
		return (int64_t)json_array_size(list);
	json_array_foreach (list, i, port)
		n += jsonx_int_or(port, "nodePort", 0) != 0;
	return n;
}

static struct quantity service_amount(struct quota_subject *s, const struct quota_item *i)
{
	const json_t *spec = json_object_get(s->obj, "spec");
	const char *type = jsonx_str_or(spec, "type", "");
	bool balancer = streq(type, "LoadBalancer");

	if (!is(s, "services"))
		return number(0);
	if (i->measure == QUOTA_BALANCERS)
		return number(balancer);
	return number(balancer || streq(type, "NodePort") ? node_ports(spec, balancer) : 0);
}

static struct quantity no_amount(struct quota_subject *s, const struct quota_item *i)
{
	(void)s;
	(void)i;
	return number(0);
}

struct quantity quota_measure(struct quota_subject *s, const struct quota_item *i)
{
	static struct quantity (*const measures[QUOTA_MEASURE__COUNT])(struct quota_subject *,
								       const struct quota_item *) = {
		[QUOTA_NOTHING] = no_amount,    [QUOTA_COUNT] = count_amount,        [QUOTA_PODS] = pod_amount,
		[QUOTA_REQUEST] = pod_amount,   [QUOTA_LIMIT] = pod_amount,          [QUOTA_CLAIMS] = claim_amount,
		[QUOTA_STORAGE] = claim_amount, [QUOTA_NODE_PORTS] = service_amount, [QUOTA_BALANCERS] = service_amount,
	};

	return measures[i->measure](s, i);
}
