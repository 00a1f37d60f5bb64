// SPDX-License-Identifier: Apache-2.0
/* net_services.c - from the services document to nftables text; pure
 *
 * Two maps lead to a chain for each port of a service: "clusterips" by address, protocol and port for what comes from
 * pods and this machine, "nodeports" by protocol and port for what comes to any address of this machine.  The chain
 * picks an endpoint at random.  With session affinity there is a chain and a set of clients for each endpoint as well;
 * the sets are the one thing that must outlive a change elsewhere, so a change is applied as the difference between two
 * states and touches nothing else.
 *
 * A service without endpoints is in no map; net_rules.c rejects what goes to ClusterIPs that nobody translated.
 */
#include <ctype.h>

#include "base/jsonx.h"
#include "base/map.h"
#include "base/mem.h"
#include "node/net_rules.h"

#define AFFINITY_SECONDS 10800 /* Kubernetes' default */
#define AFFINITY_CLIENTS 65536 /* remembered for one endpoint */

struct service_rules {
	struct map chains;   /* name -> its rules, a line each */
	struct map sets;     /* name -> its definition */
	struct map elements; /* "clusterips KEY" -> verdict, or "outside KEY" -> "" */
};

/* One port of a service with the endpoints that serve it now. */
struct port_view {
	const char *namespace, *name, *protocol;
	uint32_t cluster_ip;
	int port, node_port;
	int affinity_seconds; /* 0: none */
	struct endpoint {
		uint32_t ip;
		int port;
	} * endpoints;
	size_t n, cap;
};

static bool is_label(const char *s)
{
	size_t i;

	for (i = 0; s && s[i]; i++)
		if (i > 62 || !(islower((unsigned char)s[i]) || isdigit((unsigned char)s[i]) || s[i] == '-'))
			return false;
	return i > 0;
}

json_t *services_complete(const struct net_shape *s, const json_t *services)
{
	json_t *all = json_array();
	json_t *api = NULL;
	const json_t *service;
	char ip[NET_IP_LEN];
	size_t i;

	json_array_foreach (services, i, service) {
		if (streq(jsonx_str_or(service, "name", ""), "kubernetes") &&
		    streq(jsonx_str_or(service, "namespace", ""), "default"))
			api = json_copy((json_t *)service);
		else
			json_array_append(all, (json_t *)service);
	}
	if (!api)
		api = json_pack("{s:s, s:s, s:s, s:s, s:[{s:s, s:i, s:s}]}", "name", "kubernetes", "namespace",
				"default", "type", "ClusterIP", "clusterIP", net_ip_print(s->services.addr + 1, ip),
				"ports", "name", "https", "port", 443, "protocol", "TCP");
	if (s->api_ip) {
		json_t *ports = json_object();

		json_array_foreach (json_object_get(api, "ports"), i, service)
			json_object_set_new(ports, jsonx_str_or(service, "name", ""), json_integer(s->api_port));
		json_object_set_new(
			api, "endpoints",
			json_pack("[{s:s, s:b, s:o}]", "ip", net_ip_print(s->api_ip, ip), "ready", 1, "ports", ports));
	}
	json_array_append_new(all, api);
	return all;
}

static void take_endpoints(struct port_view *v, const json_t *service, const char *port_name)
{
	bool all = jsonx_bool_or(service, "publishNotReadyAddresses", false);
	const json_t *endpoint;
	size_t i;

	json_array_foreach (json_object_get(service, "endpoints"), i, endpoint) {
		struct endpoint ep = { 0 };
		const json_t *port = json_object_get(json_object_get(endpoint, "ports"), port_name);

		ep.port = (int)json_integer_value(port);
		if (!net_ip_parse(jsonx_str(endpoint, "ip"), &ep.ip) || ep.port < 1 || ep.port > 65535)
			continue;
		if (all || jsonx_bool_or(endpoint, "ready", true))
			ARRAY_PUSH(v->endpoints, v->n, v->cap, ep);
	}
}

static void chain_name(const struct port_view *v, struct sbuf *out)
{
	sbuf_addf(out, "svc/%s/%s/%s/%d", v->namespace, v->name, v->protocol, v->port);
}

/* Names of the chain ("ep") or the set ("aff") of one endpoint.  The set's also holds its time-out, so that a new one
 * means a new set. */
static void endpoint_name(const struct port_view *v, const char *kind, const struct endpoint *ep, struct sbuf *out)
{
	char ip[NET_IP_LEN];

	sbuf_addf(out, "%s/%s/%s/%s/%d/%s/%d/%d", kind, v->namespace, v->name, v->protocol, v->port,
		  net_ip_print(ep->ip, ip), ep->port, v->affinity_seconds);
}

static void add_endpoint_chain(struct service_rules *r, const struct port_view *v, const struct endpoint *ep,
			       struct sbuf *service_chain)
{
	auto_sbuf struct sbuf chain = SBUF(1024);
	auto_sbuf struct sbuf set = SBUF(1024);
	char ip[NET_IP_LEN];

	endpoint_name(v, "ep", ep, &chain);
	endpoint_name(v, "aff", ep, &set);
	sbuf_addf(service_chain, "ip saddr @%s goto %s\n", set.p, chain.p);
	map_set(&r->sets, set.p,
		xasprintf("{ type ipv4_addr; size %d; flags dynamic,timeout; timeout %ds; }", AFFINITY_CLIENTS,
			  v->affinity_seconds));
	map_set(&r->chains, chain.p,
		xasprintf("update @%s { ip saddr } meta l4proto %s dnat ip to %s:%d\n", set.p, v->protocol,
			  net_ip_print(ep->ip, ip), ep->port));
}

/* The rule that picks one: by chain if the choice is to be remembered. */
static void add_choice(const struct port_view *v, struct sbuf *out)
{
	char ip[NET_IP_LEN];
	size_t i;

	if (v->n == 1 && v->affinity_seconds) {
		sbuf_adds(out, "goto ");
		endpoint_name(v, "ep", &v->endpoints[0], out);
	} else if (v->n == 1) {
		sbuf_addf(out, "meta l4proto %s dnat ip to %s:%d", v->protocol, net_ip_print(v->endpoints[0].ip, ip),
			  v->endpoints[0].port);
	} else if (v->affinity_seconds) {
		sbuf_addf(out, "numgen random mod %zu vmap {", v->n);
	} else {
		sbuf_addf(out, "meta l4proto %s dnat ip to numgen random mod %zu map {", v->protocol, v->n);
	}
	for (i = 0; v->n > 1 && i < v->n; i++) {
		sbuf_addf(out, "%s %zu : ", i ? "," : "", i);
		if (v->affinity_seconds) {
			sbuf_adds(out, "goto ");
			endpoint_name(v, "ep", &v->endpoints[i], out);
		} else {
			sbuf_addf(out, "%s . %d", net_ip_print(v->endpoints[i].ip, ip), v->endpoints[i].port);
		}
	}
	sbuf_adds(out, v->n > 1 ? " }\n" : "\n");
}

/* Endpoints that are neither pods nor this machine's loopback answer the client directly unless it is masked. */
static void add_outside(const struct net_shape *s, struct service_rules *r, const struct port_view *v)
{
	char ip[NET_IP_LEN];
	size_t i;

	for (i = 0; i < v->n; i++) {
		const struct endpoint *ep = &v->endpoints[i];
		auto_free char *key = NULL;

		if (cidr_has(s->pods, ep->ip) || ep->ip >> 24 == 127)
			continue;
		key = xasprintf("outside %s . %s . %d", net_ip_print(ep->ip, ip), v->protocol, ep->port);
		map_set(&r->elements, key, xstrdup(""));
	}
}

static void add_port(const struct net_shape *s, struct service_rules *r, const struct port_view *v)
{
	auto_sbuf struct sbuf name = SBUF(1024);
	auto_sbuf struct sbuf rules = SBUF(NET_RULES_MAX);
	auto_sbuf struct sbuf key = SBUF(256);
	char ip[NET_IP_LEN];
	size_t i;

	chain_name(v, &name);
	for (i = 0; v->affinity_seconds && i < v->n; i++)
		add_endpoint_chain(r, v, &v->endpoints[i], &rules);
	add_choice(v, &rules);
	map_set(&r->chains, name.p, sbuf_steal(&rules));
	add_outside(s, r, v);
	sbuf_addf(&key, "clusterips %s . %s . %d", net_ip_print(v->cluster_ip, ip), v->protocol, v->port);
	map_set(&r->elements, key.p, xasprintf("goto %s", name.p));
	sbuf_reset(&key);
	if (v->node_port) {
		sbuf_addf(&key, "nodeports %s . %d", v->protocol, v->node_port);
		map_set(&r->elements, key.p, xasprintf("goto %s", name.p));
	}
}

static int affinity_of(const json_t *service)
{
	int64_t seconds = jsonx_int_or(service, "sessionAffinityConfig.clientIP.timeoutSeconds", AFFINITY_SECONDS);

	seconds = jsonx_int_or(service, "sessionAffinityTimeout", seconds);
	if (!streq(jsonx_str_or(service, "sessionAffinity", "None"), "ClientIP"))
		return 0;
	return seconds > 0 && seconds <= 86400 ? (int)seconds : AFFINITY_SECONDS;
}

static int add_service(const struct net_shape *s, struct service_rules *r, const json_t *service, struct err *e)
{
	struct port_view v = { .name = jsonx_str(service, "name"), .namespace = jsonx_str(service, "namespace") };
	const json_t *port;
	size_t i;

	if (!is_label(v.name) || !is_label(v.namespace))
		return err_set(e, ERR_INVALID, "a service needs a name and a namespace");
	/* Headless ("None") and ExternalName ones are the DNS server's business alone. */
	if (!net_ip_parse(jsonx_str(service, "clusterIP"), &v.cluster_ip))
		return 0;
	v.affinity_seconds = affinity_of(service);
	json_array_foreach (json_object_get(service, "ports"), i, port) {
		v.port = (int)jsonx_int_or(port, "port", 0);
		v.node_port = (int)jsonx_int_or(port, "nodePort", 0);
		v.protocol = rules_protocol(jsonx_str(port, "protocol"));
		v.n = 0;
		if (!v.protocol || v.port < 1 || v.port > 65535 || v.node_port < 0 || v.node_port > 65535) {
			free(v.endpoints);
			return err_set(e, ERR_INVALID, "service %s/%s: ports[%zu] is no port", v.namespace, v.name, i);
		}
		take_endpoints(&v, service, jsonx_str_or(port, "name", ""));
		if (v.n > 0)
			add_port(s, r, &v);
	}
	free(v.endpoints);
	return 0;
}

int service_rules_make(const struct net_shape *s, const json_t *services, struct service_rules **ret, struct err *e)
{
	struct service_rules *r = xcalloc(1, sizeof(*r));
	const json_t *service;
	size_t i;

	map_init(&r->chains, free);
	map_init(&r->sets, free);
	map_init(&r->elements, free);
	json_array_foreach (services, i, service) {
		if (add_service(s, r, service, e) < 0) {
			service_rules_free(r);
			return -1;
		}
	}
	*ret = r;
	return 0;
}

void service_rules_free(struct service_rules *r)
{
	if (!r)
		return;
	map_done(&r->chains);
	map_done(&r->sets);
	map_done(&r->elements);
	free(r);
}

/* --- the difference --- */

static void table_skeleton(const struct net_shape *s, struct sbuf *out)
{
	sbuf_addf(out, "table inet stoker_%s_services\ndelete table inet stoker_%s_services\n", s->prefix, s->prefix);
	sbuf_addf(out, "table inet stoker_%s_services {\n", s->prefix);
	sbuf_adds(out, "map clusterips { type ipv4_addr . inet_proto . inet_service : verdict; }\n"
		       "map nodeports { type inet_proto . inet_service : verdict; }\n"
		       "set outside { type ipv4_addr . inet_proto . inet_service; }\n"
		       "chain prerouting { type nat hook prerouting priority dstnat; policy accept;\n");
	/* Another server's pods have services of their own at the same addresses. */
	sbuf_addf(out, "iifname \"%s\" ip daddr . meta l4proto . th dport vmap @clusterips\n", s->links);
	sbuf_adds(out, "meta nfproto ipv4 fib daddr type local meta l4proto . th dport vmap @nodeports\n}\n"
		       "chain output { type nat hook output priority -100; policy accept;\n"
		       "ip daddr . meta l4proto . th dport vmap @clusterips\n"
		       "meta nfproto ipv4 fib daddr type local meta l4proto . th dport vmap @nodeports\n}\n"
		       "chain postrouting { type nat hook postrouting priority srcnat; policy accept;\n");
	sbuf_addf(out, "oifname \"%s\" accept\noifname \"lo\" accept\n", s->links);
	sbuf_adds(out, "ct status dnat ip daddr . meta l4proto . th dport @outside masquerade\n}\n}\n");
}

enum change { CHANGE_ADDED, CHANGE_REMOVED, CHANGE_CHANGED };

/* Calls fn for each key that differs in this way. */
static void each_change(const struct map *old, const struct map *new, enum change kind,
			void (*fn)(const struct net_shape *s, const char *key, const char *value, struct sbuf *out),
			const struct net_shape *s, struct sbuf *out)
{
	const struct map *walk = kind == CHANGE_REMOVED ? old : new;
	const struct map *other = kind == CHANGE_REMOVED ? new : old;
	size_t pos = 0;
	const char *key;
	void *value;

	while (walk && map_next(walk, &pos, &key, &value)) {
		const char *there = other ? map_find(other, key) : NULL;
		bool hit = kind == CHANGE_CHANGED ? there && !streq(there, value) : !there;

		if (hit)
			fn(s, key, value, out);
	}
}

static void delete_element(const struct net_shape *s, const char *key, const char *value, struct sbuf *out)
{
	const char *rest = strchr(key, ' ');

	(void)value;
	sbuf_addf(out, "delete element inet stoker_%s_services %.*s {%s }\n", s->prefix, (int)(rest - key), key, rest);
}

static void add_set(const struct net_shape *s, const char *key, const char *value, struct sbuf *out)
{
	sbuf_addf(out, "add set inet stoker_%s_services %s %s\n", s->prefix, key, value);
}

static void delete_set(const struct net_shape *s, const char *key, const char *value, struct sbuf *out)
{
	(void)value;
	sbuf_addf(out, "delete set inet stoker_%s_services %s\n", s->prefix, key);
}

static void add_chain(const struct net_shape *s, const char *key, const char *value, struct sbuf *out)
{
	(void)value;
	sbuf_addf(out, "add chain inet stoker_%s_services %s\n", s->prefix, key);
}

static void flush_chain(const struct net_shape *s, const char *key, const char *value, struct sbuf *out)
{
	(void)value;
	sbuf_addf(out, "flush chain inet stoker_%s_services %s\n", s->prefix, key);
}

static void fill_chain(const struct net_shape *s, const char *key, const char *value, struct sbuf *out)
{
	struct str rest = str_of(value);
	struct str rule;

	while (str_split(&rest, '\n', &rule))
		if (rule.n > 0)
			sbuf_addf(out, "add rule inet stoker_%s_services %s %.*s\n", s->prefix, key, STR_FMT(rule));
}

static void delete_chain(const struct net_shape *s, const char *key, const char *value, struct sbuf *out)
{
	(void)value;
	sbuf_addf(out, "delete chain inet stoker_%s_services %s\n", s->prefix, key);
}

/* One command for all new elements of a map: a command each would be most of the work. */
static void add_elements(const struct net_shape *s, const struct map *old, const struct map *new, const char *container,
			 struct sbuf *out)
{
	size_t start = strlen(container);
	bool any = false;
	size_t pos = 0;
	const char *key;
	void *value;

	while (map_next(new, &pos, &key, &value)) {
		const char *there = old ? map_find(old, key) : NULL;

		if (strncmp(key, container, start) != 0 || key[start] != ' ' || (there && streq(there, value)))
			continue;
		if (!any)
			sbuf_addf(out, "add element inet stoker_%s_services %s {", s->prefix, container);
		sbuf_addf(out, "%s%s", any ? "," : "", key + start);
		if (*(const char *)value)
			sbuf_addf(out, " : %s", (const char *)value);
		any = true;
	}
	if (any)
		sbuf_adds(out, " }\n");
}

void service_rules_diff(const struct net_shape *s, const struct service_rules *old, const struct service_rules *new,
			struct sbuf *out)
{
	const struct map *elements = old ? &old->elements : NULL;
	const struct map *chains = old ? &old->chains : NULL;
	const struct map *sets = old ? &old->sets : NULL;

	if (!old)
		table_skeleton(s, out);
	/* Nothing may be deleted while something leads to it, nor named before it is there. */
	each_change(elements, &new->elements, CHANGE_REMOVED, delete_element, s, out);
	each_change(elements, &new->elements, CHANGE_CHANGED, delete_element, s, out);
	each_change(sets, &new->sets, CHANGE_ADDED, add_set, s, out);
	each_change(chains, &new->chains, CHANGE_ADDED, add_chain, s, out);
	each_change(chains, &new->chains, CHANGE_REMOVED, flush_chain, s, out);
	each_change(chains, &new->chains, CHANGE_CHANGED, flush_chain, s, out);
	each_change(chains, &new->chains, CHANGE_ADDED, fill_chain, s, out);
	each_change(chains, &new->chains, CHANGE_CHANGED, fill_chain, s, out);
	each_change(chains, &new->chains, CHANGE_REMOVED, delete_chain, s, out);
	each_change(sets, &new->sets, CHANGE_REMOVED, delete_set, s, out);
	add_elements(s, elements, &new->elements, "clusterips", out);
	add_elements(s, elements, &new->elements, "nodeports", out);
	add_elements(s, elements, &new->elements, "outside", out);
}
