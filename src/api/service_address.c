// SPDX-License-Identifier: Apache-2.0
/* service_address.c - which address and which node ports a Service gets
 *
 * There is no table of allocations: what is in use is what the stored Services say.  The set of it is read from the
 * store when it is first needed and follows every write in its own turn, so that two Services of one turn get two
 * addresses.  If the turn's commit fails the set is thrown away and read again.
 *
 * Picked addresses come from a random place, so that one that has just been given back is not handed to a stranger whom
 * clients of the old one would reach; and from behind the first few, which are left to those who ask for one by name.
 */
#include "api/service_address.h"

#include <arpa/inet.h>

#include "api/object.h"
#include "api/turn_guard.h"
#include "base/jsonx.h"
#include "base/map.h"
#include "base/mem.h"

#define NETWORK      0x0a600000u /* 10.96.0.0/12 */
#define NETWORK_TEXT "10.96.0.0/12"
#define NETWORK_SIZE (1u << 20)
#define OWN_ADDRESS  "10.96.0.1" /* default/kubernetes: this API itself */
#define KEY_MAX      24          /* an address or a port as text */

/* A range of numbers; the first `asked` are given out by themselves only when no others are left. */
struct range {
	unsigned first, count, asked;
};

static const struct range addresses = { NETWORK + 1, NETWORK_SIZE - 2, 256 }; /* without network and broadcast */
static const struct range ports = { 30000, 2768, 86 };

struct service_addresses {
	struct api *api;
	const struct kind *kind;
	struct map used; /* "10.96.3.7", "30080" -> how many Services have it */
	bool loaded;
	struct turn_guard guard;
};

static void on_lost(void *arg)
{
	struct service_addresses *a = arg;

	a->loaded = false;
}

struct service_addresses *service_addresses_new(struct api *api)
{
	struct service_addresses *a = xcalloc(1, sizeof(*a));

	a->api = api;
	a->kind = registry_find(api_registry(api), "", "v1", "services");
	map_init(&a->used, NULL);
	a->guard = (struct turn_guard){ .lost = on_lost, .arg = a };
	return a;
}

void service_addresses_free(struct service_addresses *a)
{
	if (!a)
		return;
	turn_guard_done(&a->guard);
	map_done(&a->used);
	free(a);
}

/* ---- the set ---- */

static void count(struct map *used, const char *key, int by)
{
	intptr_t n = (intptr_t)map_find(used, key) + by;

	if (n > 0)
		map_set(used, key, (void *)n);
	else
		map_remove(used, key);
}

static void count_port(struct map *used, int64_t port, int by)
{
	char key[KEY_MAX];

	if (port <= 0)
		return;
	snprintf(key, sizeof(key), "%lld", (long long)port);
	count(used, key, by);
}

static bool has_address(const char *s)
{
	return s && *s && !streq(s, "None");
}

/* Everything that one Service holds.  A node port counts once however many protocols share it. */
static void count_service(struct map *used, const json_t *service, int by)
{
	const json_t *spec = json_object_get(service, "spec");
	const json_t *list = json_object_get(spec, "ports");
	json_t *v;
	size_t i;

	json_array_foreach (json_object_get(spec, "clusterIPs"), i, v)
		if (has_address(json_string_value(v)))
			count(used, json_string_value(v), by);
	if (!json_array_size(json_object_get(spec, "clusterIPs")) && has_address(jsonx_str(spec, "clusterIP")))
		count(used, jsonx_str(spec, "clusterIP"), by);
	json_array_foreach (list, i, v) {
		int64_t port = jsonx_int_or(v, "nodePort", 0);
		bool again = false;

		for (size_t k = 0; k < i; k++)
			again |= jsonx_int_or(json_array_get(list, k), "nodePort", 0) == port;
		if (!again)
			count_port(used, port, by);
	}
	count_port(used, jsonx_int_or(spec, "healthCheckNodePort", 0), by);
}

struct loading {
	struct map *used;
	struct err *e;
};

static bool on_stored(void *arg, const struct record *r)
{
	struct loading *l = arg;
	json_auto_t *service = NULL;

	if (object_parse(r->body, &service, l->e) < 0)
		return false;
	count_service(l->used, service, 1);
	return true;
}

static int load(struct service_addresses *a, struct err *e)
{
	struct store_range all = { 0 };
	struct loading l = { &a->used, e };

	if (a->loaded)
		return 0;
	map_done(&a->used);
	if (api_store_kind(a->api, a->kind, &all.kind, e) < 0 ||
	    store_list(api_store(a->api), &all, on_stored, &l, e) < 0 || e->kind != ERR_NONE)
		return -1;
	a->loaded = true;
	turn_guard_watch_read(&a->guard, api_store(a->api));
	return 0;
}

void service_address_written(struct api *api, const json_t *obj, const json_t *old)
{
	struct service_addresses *a = api_addresses(api);

	if (!a->loaded)
		return;
	if (old)
		count_service(&a->used, old, -1);
	if (obj)
		count_service(&a->used, obj, 1);
	turn_guard_watch(&a->guard, api_store(api));
}

/* ---- what one Service needs ---- */

struct assign {
	const struct map *used;
	struct map had;   /* what it had before: its own to keep */
	struct map taken; /* what it names, and what was picked for it */
	struct err *e;
};

static void number_text(const struct range *r, unsigned n, char buf[KEY_MAX])
{
	struct in_addr in = { htonl(n) };

	if (r == &addresses)
		inet_ntop(AF_INET, &in, buf, KEY_MAX);
	else
		snprintf(buf, KEY_MAX, "%u", n);
}

/* From a random place to the end and round again. */
static bool pick_in(struct assign *s, const struct range *r, unsigned from, unsigned n, char buf[KEY_MAX])
{
	unsigned start;

	crypto_random(&start, sizeof(start));
	for (unsigned i = 0; i < n; i++) {
		number_text(r, r->first + from + (start % n + i) % n, buf);
		if (!map_find(s->used, buf) && !map_find(&s->taken, buf) && !streq(buf, OWN_ADDRESS)) {
			count(&s->taken, buf, 1);
			return true;
		}
	}
	return false;
}

static bool pick(struct assign *s, const struct range *r, char buf[KEY_MAX])
{
	return pick_in(s, r, r->asked, r->count - r->asked, buf) || pick_in(s, r, 0, r->asked, buf);
}

static bool is_free(const struct assign *s, const char *key)
{
	return !map_find(s->used, key) || map_find(&s->had, key);
}

/* An address that the Service names. */
static void check_address(struct assign *s, const json_t *obj, const char *ip)
{
	bool own = streq(jsonx_str_or(obj, "metadata.namespace", ""), "default") &&
		   streq(jsonx_str_or(obj, "metadata.name", ""), "kubernetes");
	struct in_addr in;

	if (inet_pton(AF_INET, ip, &in) != 1 || ntohl(in.s_addr) - addresses.first >= addresses.count)
		err_cause(s->e, CAUSE_INVALID, "spec.clusterIPs",
			  "Invalid value: [\"%s\"]: failed to allocate IP %s: the provided IP (%s) is not in the valid "
			  "range. The range of valid IPs is " NETWORK_TEXT,
			  ip, ip, ip);
	else if (!is_free(s, ip) || (streq(ip, OWN_ADDRESS) && !own))
		err_cause(s->e, CAUSE_INVALID, "spec.clusterIPs",
			  "Invalid value: [\"%s\"]: failed to allocate IP %s: provided IP is already allocated", ip,
			  ip);
}

static void assign_address(struct assign *s, const json_t *obj, json_t *spec)
{
	char ip[KEY_MAX];
	json_t *v;
	size_t i;

	if (*jsonx_str_or(spec, "clusterIP", "")) {
		json_array_foreach (json_object_get(spec, "clusterIPs"), i, v)
			if (has_address(json_string_value(v)) && !map_find(&s->had, json_string_value(v)))
				check_address(s, obj, json_string_value(v));
		return;
	}
	if (!pick(s, &addresses, ip)) {
		err_set(s->e, ERR_UNAVAILABLE, "every address of " NETWORK_TEXT " is in use");
		return;
	}
	json_object_set_new(spec, "clusterIP", json_string(ip));
	json_object_set_new(spec, "clusterIPs", json_pack("[s]", ip));
}

/* The node port of the same port in another protocol; 0 if there is none. */
static int64_t shared_port(const json_t *list, int64_t port)
{
	json_t *other;
	size_t i;

	json_array_foreach ((json_t *)list, i, other)
		if (jsonx_int_or(other, "port", 0) == port && jsonx_int_or(other, "nodePort", 0))
			return jsonx_int_or(other, "nodePort", 0);
	return 0;
}

/* Member `name` of obj: checked if it is there, else picked. */
static void assign_port(struct assign *s, json_t *obj, const char *name, const char *where)
{
	int64_t asked = jsonx_int_or(obj, name, 0);
	char port[KEY_MAX];

	if (asked) {
		snprintf(port, sizeof(port), "%lld", (long long)asked);
		if (!is_free(s, port))
			err_cause(s->e, CAUSE_INVALID, where, "Invalid value: %s: provided port is already allocated",
				  port);
		return;
	}
	if (pick(s, &ports, port))
		json_object_set_new(obj, name, json_integer(strtol(port, NULL, 10)));
	else
		err_set(s->e, ERR_UNAVAILABLE, "every node port from %u to %u is in use", ports.first,
			ports.first + ports.count - 1);
}

static bool is_type(const json_t *spec, const char *type)
{
	return streq(jsonx_str_or(spec, "type", "ClusterIP"), type);
}

static void assign_ports(struct assign *s, json_t *spec)
{
	bool all = is_type(spec, "NodePort") || jsonx_bool_or(spec, "allocateLoadBalancerNodePorts", true);
	json_t *list = json_object_get(spec, "ports");
	char where[64];
	json_t *port;
	size_t i;

	json_array_foreach (list, i, port) {
		int64_t shared = shared_port(list, jsonx_int_or(port, "port", 0));

		if (!all && !jsonx_int_or(port, "nodePort", 0))
			continue;
		if (shared && !jsonx_int_or(port, "nodePort", 0))
			json_object_set_new(port, "nodePort", json_integer(shared));
		snprintf(where, sizeof(where), "spec.ports[%zu].nodePort", i);
		assign_port(s, port, "nodePort", where);
	}
	if (is_type(spec, "LoadBalancer") && streq(jsonx_str_or(spec, "externalTrafficPolicy", ""), "Local"))
		assign_port(s, spec, "healthCheckNodePort", "spec.healthCheckNodePort");
}

int service_address_assign(struct api *api, const struct api_request *req, json_t *obj, const json_t *old,
			   struct err *e)
{
	struct service_addresses *a = api_addresses(api);
	struct assign s = { .used = &a->used, .e = e };
	json_t *spec = json_object_get(obj, "spec");

	if (req->subresource || is_type(spec, "ExternalName"))
		return 0;
	if (load(a, e) < 0)
		return -1;
	map_init(&s.had, NULL);
	map_init(&s.taken, NULL);
	count_service(&s.had, old, 1);
	count_service(&s.taken, obj, 1);
	assign_address(&s, obj, spec);
	if (is_type(spec, "NodePort") || is_type(spec, "LoadBalancer"))
		assign_ports(&s, spec);
	map_done(&s.had);
	map_done(&s.taken);
	return e->kind == ERR_NONE ? 0 : -1;
}
