// SPDX-License-Identifier: Apache-2.0
/* dns_zone.c - names of services, their endpoints and pods
 *
 *	web.prod.svc.DOMAIN                 the ClusterIP; headless: all ready endpoints; ExternalName: a CNAME
 *	_http._tcp.web.prod.svc.DOMAIN      SRV to the above, or to each endpoint's own name
 *	worker-0.web.prod.svc.DOMAIN        an endpoint of a headless service by its hostname, else by its address:
 *	10-244-0-7.web.prod.svc.DOMAIN
 *	10-244-0-7.prod.pod.DOMAIN          a pod; computed, any address of the pod network
 *	7.0.244.10.in-addr.arpa             the way back, for ClusterIPs and endpoints of headless services
 *
 * All names are written out when the services change, so a question is one look-up.  A name with nothing but others
 * below it exists and is empty, as the search path of resolv.conf needs: NXDOMAIN for it would deny those below.
 */
#include "node/dns_zone.h"

#include <ctype.h>
#include <stdio.h>

#include "base/jsonx.h"
#include "base/map.h"
#include "base/mem.h"
#include "base/str.h"

#define REVERSE    "in-addr.arpa"
#define CHAIN_MAX  8  /* CNAMEs followed inside the zone */
#define EXTRA_MAX  64 /* addresses added to an SRV reply */
#define TARGET_MAX 254

struct node {
	struct dns_record *records;
	size_t n, cap;
};

struct dns_zone {
	char *domain;
	struct cidr pods, services;
	struct map nodes;
};

static void node_free(void *p)
{
	struct node *node = p;
	size_t i;

	for (i = 0; i < node->n; i++) {
		free((char *)node->records[i].name);
		free((char *)node->records[i].target);
	}
	free(node->records);
	free(node);
}

static struct node *node_make(struct dns_zone *z, const char *name)
{
	struct node *node = map_find(&z->nodes, name);
	const char *parent;

	if (node)
		return node;
	node = xcalloc(1, sizeof(*node));
	map_set(&z->nodes, name, node);
	parent = strchr(name, '.');
	if (parent && !streq(name, z->domain))
		node_make(z, parent + 1);
	return node;
}

static bool record_same(const struct dns_record *a, const struct dns_record *b)
{
	return a->type == b->type && a->ip == b->ip && a->port == b->port && str_same(a->target, b->target);
}

/* Copies the name and the target; the same record twice is one. */
static void zone_add(struct dns_zone *z, const char *name, struct dns_record r)
{
	struct node *node = node_make(z, name);
	size_t i;

	for (i = 0; i < node->n; i++)
		if (record_same(&node->records[i], &r))
			return;
	r.name = xstrdup(name);
	r.ttl = DNS_ZONE_TTL;
	r.target = r.target ? xstrdup(r.target) : NULL;
	ARRAY_PUSH(node->records, node->n, node->cap, r);
}

static void add_reverse(struct dns_zone *z, uint32_t ip, const char *target)
{
	auto_free char *name = xasprintf("%u.%u.%u.%u." REVERSE, ip & 255, ip >> 8 & 255, ip >> 16 & 255, ip >> 24);

	zone_add(z, name, (struct dns_record){ .type = DNS_PTR, .target = target });
}

static bool is_label(const char *s)
{
	size_t i;

	for (i = 0; s && s[i]; i++)
		if (i > 62 || !(islower((unsigned char)s[i]) || isdigit((unsigned char)s[i]) || s[i] == '-'))
			return false;
	return i > 0;
}

/* "_http._tcp.web.prod.svc.DOMAIN" */
static void add_srv(struct dns_zone *z, const json_t *port, const char *service, const char *target, int number)
{
	const char *port_name = jsonx_str_or(port, "name", "");
	const char *protocol = jsonx_str_or(port, "protocol", "TCP");
	auto_free char *name = NULL;
	char *c;

	if (!is_label(port_name))
		return;
	name = xasprintf("_%s._%s.%s", port_name, protocol, service);
	for (c = name; *c; c++)
		*c = (char)tolower((unsigned char)*c);
	zone_add(z, name, (struct dns_record){ .type = DNS_SRV, .port = (uint16_t)number, .target = target });
}

static void add_cluster_ip(struct dns_zone *z, const json_t *service, const char *name, uint32_t ip)
{
	const json_t *port;
	size_t i;

	zone_add(z, name, (struct dns_record){ .type = DNS_A, .ip = ip });
	add_reverse(z, ip, name);
	json_array_foreach (json_object_get(service, "ports"), i, port)
		add_srv(z, port, name, name, (int)jsonx_int_or(port, "port", 0));
}

static void add_endpoint(struct dns_zone *z, const json_t *service, const json_t *endpoint, const char *name)
{
	const char *hostname = jsonx_str_or(endpoint, "hostname", "");
	auto_free char *own = NULL;
	const json_t *port;
	uint32_t ip;
	size_t i;

	if (!net_ip_parse(jsonx_str(endpoint, "ip"), &ip))
		return;
	if (is_label(hostname))
		own = xasprintf("%s.%s", hostname, name);
	else
		own = xasprintf("%u-%u-%u-%u.%s", ip >> 24, ip >> 16 & 255, ip >> 8 & 255, ip & 255, name);
	zone_add(z, name, (struct dns_record){ .type = DNS_A, .ip = ip });
	zone_add(z, own, (struct dns_record){ .type = DNS_A, .ip = ip });
	add_reverse(z, ip, own);
	json_array_foreach (json_object_get(service, "ports"), i, port) {
		const char *port_name = jsonx_str_or(port, "name", "");
		const json_t *number = json_object_get(json_object_get(endpoint, "ports"), port_name);

		add_srv(z, port, name, own, (int)(number ? json_integer_value(number) : jsonx_int_or(port, "port", 0)));
	}
}

static void add_service(struct dns_zone *z, const json_t *service)
{
	const char *namespace = jsonx_str_or(service, "namespace", "");
	const char *label = jsonx_str_or(service, "name", "");
	const char *external = jsonx_str_or(service, "externalName", "");
	bool all = jsonx_bool_or(service, "publishNotReadyAddresses", false);
	auto_free char *name = NULL;
	const json_t *endpoint;
	size_t len = strlen(external);
	uint32_t ip;
	size_t i;

	if (!is_label(label) || !is_label(namespace))
		return;
	name = xasprintf("%s.%s.svc.%s", label, namespace, z->domain);
	node_make(z, name);
	if (streq(jsonx_str_or(service, "type", ""), "ExternalName")) {
		auto_free char *target = xstrndup(external, len && external[len - 1] == '.' ? len - 1 : len);

		if (*target && strlen(target) < TARGET_MAX)
			zone_add(z, name, (struct dns_record){ .type = DNS_CNAME, .target = target });
		return;
	}
	if (net_ip_parse(jsonx_str(service, "clusterIP"), &ip)) {
		add_cluster_ip(z, service, name, ip);
		return;
	}
	json_array_foreach (json_object_get(service, "endpoints"), i, endpoint) {
		if (all || jsonx_bool_or(endpoint, "ready", true))
			add_endpoint(z, service, endpoint, name);
	}
}

struct dns_zone *dns_zone_new(const struct dns_zone_config *config)
{
	struct dns_zone *z = xcalloc(1, sizeof(*z));
	auto_free char *pods = NULL;
	auto_free char *services = NULL;
	const json_t *service;
	size_t i;

	z->domain = xstrdup(config->domain);
	z->pods = config->pods;
	z->services = config->services;
	map_init(&z->nodes, node_free);
	node_make(z, z->domain);
	pods = xasprintf("pod.%s", z->domain);
	services = xasprintf("svc.%s", z->domain);
	node_make(z, pods);
	node_make(z, services);
	json_array_foreach (config->list, i, service)
		add_service(z, service);
	return z;
}

void dns_zone_free(struct dns_zone *z)
{
	if (!z)
		return;
	map_done(&z->nodes);
	free(z->domain);
	free(z);
}

/* --- questions --- */

static bool below(const char *name, const char *domain)
{
	size_t n = strlen(name);
	size_t d = strlen(domain);

	return n >= d && streq(name + n - d, domain) && (n == d || name[n - d - 1] == '.');
}

/* "7.0.244.10.in-addr.arpa", also with fewer numbers: is it within one of our blocks? */
static bool reverse_is_ours(const struct dns_zone *z, const char *name)
{
	unsigned part[4];
	struct cidr block = { 0, 0 };
	int read = 0;
	int n;

	n = sscanf(name, "%3u.%3u.%3u.%3u." REVERSE "%n", &part[0], &part[1], &part[2], &part[3], &read);
	if (n != 4 || !read || name[read])
		return false;
	block.addr = (part[3] & 255) << 24 | (part[2] & 255) << 16 | (part[1] & 255) << 8 | (part[0] & 255);
	block.bits = 32;
	return cidr_overlap(block, z->pods) || cidr_overlap(block, z->services);
}

/* "10-244-0-7.prod.pod.DOMAIN": the address, if it is a name of this form and one of the pod network's. */
static bool pod_ip(const struct dns_zone *z, const char *name, uint32_t *ret)
{
	auto_free char *suffix = xasprintf("pod.%s", z->domain);
	const char *namespace = strchr(name, '.');
	char text[NET_IP_LEN];
	const char *rest;
	size_t i;

	if (!namespace || (size_t)(namespace - name) >= sizeof(text))
		return false;
	rest = strchr(namespace + 1, '.');
	if (!rest || rest == namespace + 1 || !streq(rest + 1, suffix))
		return false;
	for (i = 0; name[i] != '.'; i++)
		text[i] = name[i] == '-' ? '.' : name[i];
	text[i] = '\0';
	return net_ip_parse(text, ret) && cidr_has(z->pods, *ret);
}

static const struct dns_record *cname_of(const struct node *node)
{
	return node && node->n == 1 && node->records[0].type == DNS_CNAME ? &node->records[0] : NULL;
}

static void take_extra(const struct dns_zone *z, const struct dns_record *srv, struct dns_answer *a)
{
	const struct node *node = srv->type == DNS_SRV ? map_find(&z->nodes, srv->target) : NULL;
	size_t i;

	for (i = 0; node && i < node->n && a->nextra < EXTRA_MAX; i++)
		if (node->records[i].type == DNS_A)
			ARRAY_PUSH(a->extra, a->nextra, a->extra_cap, &node->records[i]);
}

static void take_records(const struct dns_zone *z, const struct node *node, uint16_t type, unsigned seed,
			 struct dns_answer *a)
{
	size_t i;

	for (i = 0; i < node->n; i++) {
		const struct dns_record *r = &node->records[(i + seed) % node->n];

		if (type != r->type && type != DNS_ANY)
			continue;
		ARRAY_PUSH(a->records, a->n, a->cap, r);
		take_extra(z, r, a);
	}
}

bool dns_zone_find(const struct dns_zone *z, const char *name, uint16_t type, unsigned seed, struct dns_answer *ret)
{
	const struct node *node = map_find(&z->nodes, name);
	const struct dns_record *cname;
	struct dns_answer a = { 0 };
	int hops;

	if (!node && !below(name, z->domain) && !reverse_is_ours(z, name))
		return false;
	/* The empty parents of reverse names are others' to speak for. */
	if (node && node->n == 0 && !below(name, z->domain))
		return false;
	a.soa = (struct dns_record){ .type = DNS_SOA, .ttl = DNS_ZONE_TTL, .target = z->domain, .name = z->domain };
	a.rcode = node ? DNS_NOERROR : DNS_NXDOMAIN;
	for (hops = 0; type != DNS_CNAME && (cname = cname_of(node)) && hops < CHAIN_MAX; hops++) {
		ARRAY_PUSH(a.records, a.n, a.cap, cname);
		node = map_find(&z->nodes, cname->target);
		if (!node && !below(cname->target, z->domain))
			a.outside = cname->target;
	}
	if (node)
		take_records(z, node, type, seed, &a);
	*ret = a;
	if (a.rcode == DNS_NXDOMAIN && pod_ip(z, name, &ret->made.ip)) {
		ret->rcode = DNS_NOERROR;
		ret->made.name = name;
		ret->made.type = DNS_A;
		ret->made.ttl = DNS_ZONE_TTL;
		if (type == DNS_A || type == DNS_ANY)
			ARRAY_PUSH(ret->records, ret->n, ret->cap, &ret->made);
	}
	return true;
}

void dns_answer_done(struct dns_answer *a)
{
	free(a->records);
	free(a->extra);
}
