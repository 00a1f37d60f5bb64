// SPDX-License-Identifier: Apache-2.0
/* proxy_target.c - from [scheme:]name[:port] to a socket
 *
 * A pod is reached through its node, as port-forward does.  A service leads to one of its endpoints; those that are
 * pods of the namespace are reached the same way.  Other addresses are the user's own words, and the connection would
 * come from this server: so neither this machine's loopback nor another namespace's pods can be named.
 */
#include <arpa/inet.h>

#include "api/proxy.h"
#include "api/verbs.h"
#include "base/jsonx.h"
#include "base/mem.h"
#include "loop/crypto.h"
#include "loop/sock.h"

#define PORT_HTTP  80
#define PORT_HTTPS 443

bool proxy_name_cut(char *buf, struct proxy_name *ret)
{
	char *parts[3] = { buf };
	size_t n = 0;

	for (char *p = buf; p; n++) {
		char *colon = strchr(p, ':');

		if (n == ARRAY_SIZE(parts))
			return false;
		parts[n] = p;
		if (colon)
			*colon = '\0';
		p = colon ? colon + 1 : NULL;
	}
	*ret = n == 3 ? (struct proxy_name){ parts[0], parts[1], parts[2] }
		      : (struct proxy_name){ "", parts[0], n == 2 ? parts[1] : "" };
	return *ret->name && (!*ret->scheme || streq(ret->scheme, "http") || streq(ret->scheme, "https"));
}

/* ---- pods ---- */

static int named_port(const json_t *pod, const char *name)
{
	json_t *c;
	json_t *p;
	size_t i;
	size_t k;

	json_array_foreach (jsonx_at(pod, "spec.containers"), i, c)
		json_array_foreach (json_object_get(c, "ports"), k, p)
			if (!*name || str_same(jsonx_str(p, "name"), name))
				return (int)jsonx_int_or(p, "containerPort", 0);
	return 0;
}

static int pod_port(const json_t *pod, const struct proxy_name *name, int *ret, struct err *e)
{
	int64_t number;

	if (str_int64(name->port, 1, 65535, &number)) {
		*ret = (int)number;
		return 0;
	}
	*ret = named_port(pod, name->port);
	if (!*ret && *name->port)
		return err_set(e, ERR_BAD_REQUEST, "pod \"%s\" has no port \"%s\"", name->name, name->port);
	if (!*ret)
		*ret = streq(name->scheme, "https") ? PORT_HTTPS : PORT_HTTP;
	return 0;
}

static int dial_pod(const struct exchange *x, const json_t *pod, int port, struct err *e)
{
	struct kubelet *k = x->rest->kubelet;
	const struct kubelet_target of = {
		.ns = x->req.ns,
		.pod = jsonx_str_or(pod, "metadata.name", ""),
		.uid = jsonx_str_or(pod, "metadata.uid", ""),
		.container = jsonx_str_or(json_array_get(jsonx_at(pod, "spec.containers"), 0), "name", ""),
	};

	if (!k)
		return err_set(e, ERR_UNAVAILABLE, "this server runs no pods");
	if (!streq(jsonx_str_or(pod, "status.phase", ""), "Running"))
		return err_set(e, ERR_UNAVAILABLE, "error trying to reach service: pod \"%s\" is not running", of.pod);
	return k->ops->dial(k, &of, port, e);
}

static const struct kind *core_kind(const struct exchange *x, const char *plural)
{
	return registry_find(api_registry(x->rest->api), "", "v1", plural);
}

static int to_pod(struct exchange *x, const struct proxy_name *name, struct proxy_target *ret, struct err *e)
{
	json_auto_t *pod = NULL;
	int port;

	if (verb_load(x->rest->api, x->req.kind, x->req.ns, name->name, &pod, e) < 0 ||
	    pod_port(pod, name, &port, e) < 0)
		return -1;
	ret->fd = dial_pod(x, pod, port, e);
	if (ret->fd < 0)
		return -1;
	ret->host = xasprintf("%s:%d", jsonx_str_or(pod, "status.podIP", "127.0.0.1"), port);
	return 0;
}

/* ---- services ---- */

static const json_t *service_port(const json_t *service, const char *wanted)
{
	json_t *p;
	size_t i;

	json_array_foreach (jsonx_at(service, "spec.ports"), i, p) {
		auto_free char *number = xasprintf("%lld", (long long)jsonx_int_or(p, "port", 0));

		if (!*wanted || streq(wanted, number) || str_same(jsonx_str(p, "name"), wanted))
			return p;
	}
	return NULL;
}

struct endpoint {
	const json_t *address;
	int port;
};

/* One of the ready addresses that serve this port, each with the same chance. */
static bool pick_endpoint(const json_t *endpoints, const char *port_name, struct endpoint *ret)
{
	uint32_t seen = 0;
	json_t *subset;
	json_t *port;
	json_t *address;
	size_t i;
	size_t k;
	size_t j;

	json_array_foreach (json_object_get(endpoints, "subsets"), i, subset)
		json_array_foreach (json_object_get(subset, "ports"), k, port) {
			if (!streq(jsonx_str_or(port, "name", ""), port_name))
				continue;
			json_array_foreach (json_object_get(subset, "addresses"), j, address) {
				uint32_t chance;

				crypto_random_public(&chance, sizeof(chance));
				if (chance % ++seen == 0)
					*ret = (struct endpoint){ address, (int)jsonx_int_or(port, "port", 0) };
			}
		}
	return seen > 0;
}

/* The pod of this namespace that has the address, if the endpoint says so and it is true; a new reference. */
static json_t *pod_of(const struct exchange *x, const json_t *address)
{
	const char *name = jsonx_str(address, "targetRef.name");
	struct err e = ERR_INIT;
	json_t *pod = NULL;

	if (!name || !streq(jsonx_str_or(address, "targetRef.kind", ""), "Pod") ||
	    verb_load(x->rest->api, core_kind(x, "pods"), x->req.ns, name, &pod, &e) < 0)
		return NULL;
	if (str_same(jsonx_str(pod, "status.podIP"), jsonx_str(address, "ip")))
		return pod;
	json_decref(pod);
	return NULL;
}

static bool is_special(const char *ip)
{
	struct in_addr v4;
	struct in6_addr v6;

	if (inet_pton(AF_INET, ip, &v4) == 1) {
		uint32_t a = ntohl(v4.s_addr);

		return a >> 24 == 0 || a >> 24 == 127 || a >> 16 == 0xa9fe || a >> 28 >= 0xe;
	}
	return inet_pton(AF_INET6, ip, &v6) != 1 || IN6_IS_ADDR_LOOPBACK(&v6) || IN6_IS_ADDR_UNSPECIFIED(&v6) ||
	       IN6_IS_ADDR_LINKLOCAL(&v6) || IN6_IS_ADDR_MULTICAST(&v6) || IN6_IS_ADDR_V4MAPPED(&v6);
}

struct owner_search {
	const char *ip, *ns;
	bool foreign;
};

static bool on_pod(void *arg, const struct api_item *item)
{
	struct owner_search *s = arg;

	s->foreign = str_same(jsonx_str(item->object, "status.podIP"), s->ip) &&
		     !jsonx_bool_or(item->object, "spec.hostNetwork", false) &&
		     !str_same(jsonx_str(item->object, "metadata.namespace"), s->ns);
	return !s->foreign;
}

/* Another namespace's pod has it. */
static bool is_foreign(const struct exchange *x, const char *ip)
{
	struct api_request req = {
		.caller = &caller_system, .verb = VERB_LIST, .kind = core_kind(x, "pods"), .ns = ""
	};
	struct owner_search s = { .ip = ip, .ns = x->req.ns };
	auto_free char *cont = NULL;
	int64_t remaining;
	int64_t rv;
	struct err e = ERR_INIT;

	return api_list(x->rest->api, &req, true, on_pod, &s, &rv, &cont, &remaining, &e) < 0 || s.foreign;
}

static int dial_endpoint(const struct exchange *x, const struct endpoint *ep, struct err *e)
{
	const char *ip = jsonx_str_or(ep->address, "ip", "");
	json_auto_t *pod = pod_of(x, ep->address);

	if (pod)
		return dial_pod(x, pod, ep->port, e);
	if (is_special(ip) || is_foreign(x, ip))
		return err_set(e, ERR_FORBIDDEN, "address not allowed");
	return sock_dial(ip, ep->port, e);
}

static int to_service(struct exchange *x, const struct proxy_name *name, struct proxy_target *ret, struct err *e)
{
	struct api *api = x->rest->api;
	json_auto_t *service = NULL;
	json_auto_t *endpoints = NULL;
	const json_t *port;
	struct endpoint ep = { 0 };
	struct err none = ERR_INIT;
	const char *ip;

	if (verb_load(api, x->req.kind, x->req.ns, name->name, &service, e) < 0)
		return -1;
	port = service_port(service, name->port);
	if (!port)
		return err_set(e, ERR_UNAVAILABLE, "no service port \"%s\" found for service \"%s\"", name->port,
			       name->name);
	if (verb_load(api, core_kind(x, "endpoints"), x->req.ns, name->name, &endpoints, &none) < 0 ||
	    !pick_endpoint(endpoints, jsonx_str_or(port, "name", ""), &ep))
		return err_set(e, ERR_UNAVAILABLE, "no endpoints available for service \"%s\"", name->name);
	ret->fd = dial_endpoint(x, &ep, e);
	if (ret->fd < 0)
		return -1;
	ip = jsonx_str_or(ep.address, "ip", "");
	ret->host = xasprintf(strchr(ip, ':') ? "[%s]:%d" : "%s:%d", ip, ep.port);
	return 0;
}

int proxy_dial(struct exchange *x, struct proxy_target *ret, struct err *e)
{
	auto_free char *buf = xstrdup(x->req.name);
	struct proxy_name name;

	if (!proxy_name_cut(buf, &name))
		return err_set(e, ERR_BAD_REQUEST, "invalid %s request \"%s\"", x->req.kind->singular, x->req.name);
	ret->tls = streq(name.scheme, "https");
	return streq(x->req.kind->plural, "pods") ? to_pod(x, &name, ret, e) : to_service(x, &name, ret, e);
}
