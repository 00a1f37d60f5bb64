// SPDX-License-Identifier: Apache-2.0
/* podrules.c - what must hold between the parts of a PodSpec
 *
 * One container's or volume's own rules are with its message; here are those that need a second part to compare with:
 * names that must be unique, mounts that must name a volume, host ports that may be taken once.
 */
#include "base/jsonx.h"
#include "base/mem.h"
#include "kinds/core.h"
#include "kinds/names.h"
#include "kinds/rules.h"

#define DEADLINE_MAX 2147483647 /* activeDeadlineSeconds is kept in 31 bits */

static const struct {
	const char *list;
	enum container_place place;
} container_lists[] = {
	{ "containers", CONTAINER_MAIN },
	{ "initContainers", CONTAINER_INIT },
	{ "ephemeralContainers", CONTAINER_EPHEMERAL },
};

/* What is known of the pod while its containers are walked; the objects are used as sets. */
struct walk {
	json_t *names;
	json_t *host_ports;
	bool host_network;
};

static void host_ports_validate(const struct walk *w, const json_t *ports, const struct path *at, struct err *e)
{
	size_t i;
	json_t *port;

	json_array_foreach (ports, i, port) {
		int64_t host = jsonx_int_or(port, "hostPort", 0);
		json_auto_t *key = NULL;

		if (w->host_network && host != jsonx_int_or(port, "containerPort", host) && host)
			path_invalid(PATH_FIELD(PATH_INDEX(at, i), "containerPort"), e,
				     json_object_get(port, "containerPort"),
				     "must match `hostPort` when `hostNetwork` is true");
		if (!host)
			continue;
		key = jsonx_stringf("%s/%s/%lld", jsonx_str_or(port, "protocol", "TCP"),
				    jsonx_str_or(port, "hostIP", ""), (long long)host);
		if (json_object_get(w->host_ports, json_string_value(key)))
			path_duplicate(PATH_FIELD(PATH_INDEX(at, i), "hostPort"), e, key);
		json_object_set_new(w->host_ports, json_string_value(key), json_true());
	}
}

static void containers_validate(const struct walk *w, const json_t *list, enum container_place place,
				const struct path *at, struct err *e)
{
	size_t i;
	json_t *container;

	json_array_foreach (list, i, container) {
		const struct path *here = PATH_INDEX(at, i);
		const json_t *name = json_object_get(container, "name");

		if (json_string_length(name) && json_object_get(w->names, json_string_value(name)))
			path_duplicate(PATH_FIELD(here, "name"), e, name);
		if (json_string_length(name))
			json_object_set_new(w->names, json_string_value(name), json_true());
		container_validate_place(container, place, here, e);
		if (place == CONTAINER_MAIN)
			host_ports_validate(w, json_object_get(container, "ports"), PATH_FIELD(here, "ports"), e);
	}
}

static void names_validate(const json_t *spec, const struct path *at, struct err *e)
{
	static const struct {
		const char *field;
		const char *(*check)(const char *);
	} rows[] = {
		{ "nodeName", name_check_subdomain },
		{ "serviceAccountName", name_check_subdomain },
		{ "hostname", name_check_label },
		{ "subdomain", name_check_label },
		{ "priorityClassName", name_check_subdomain },
		{ "runtimeClassName", name_check_subdomain },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		rule_text(json_object_get(spec, rows[i].field), PATH_FIELD(at, rows[i].field), e, rows[i].check);
	rule_labels(json_object_get(spec, "nodeSelector"), PATH_FIELD(at, "nodeSelector"), e);
}

static void gates_validate(const json_t *spec, const struct path *at, struct err *e)
{
	const json_t *gates = json_object_get(spec, "schedulingGates");
	const struct path *here = PATH_FIELD(at, "schedulingGates");
	size_t i;
	json_t *gate;

	json_array_foreach (gates, i, gate)
		rule_text(json_object_get(gate, "name"), PATH_FIELD(PATH_INDEX(here, i), "name"), e,
			  name_check_qualified);
	rule_unique(gates, "name", here, e);
	if (json_array_size(gates) && *jsonx_str_or(spec, "nodeName", ""))
		path_forbidden(PATH_FIELD(at, "nodeName"), e,
			       "cannot be set until all schedulingGates have been cleared");
	json_array_foreach (json_object_get(spec, "readinessGates"), i, gate)
		rule_text(json_object_get(gate, "conditionType"),
			  PATH_FIELD(PATH_INDEX(PATH_FIELD(at, "readinessGates"), i), "conditionType"), e,
			  name_check_qualified);
}

static void dns_validate(const json_t *spec, const struct path *at, struct err *e)
{
	if (streq(jsonx_str_or(spec, "dnsPolicy", ""), "None") &&
	    !json_array_size(jsonx_at(spec, "dnsConfig.nameservers")))
		path_required(PATH_FIELD(PATH_FIELD(at, "dnsConfig"), "nameservers"), e,
			      "must provide at least one DNS nameserver when `dnsPolicy` is None");
}

/* The names of volumes, and of templates of claims that become volumes. */
static json_t *names_of(const json_t *volumes, const json_t *claims)
{
	json_t *set = json_object(), *item;
	size_t i;

	json_array_foreach (volumes, i, item)
		json_object_set_new(set, jsonx_str_or(item, "name", ""), json_true());
	json_array_foreach (claims, i, item)
		json_object_set_new(set, jsonx_str_or(item, "metadata.name", ""), json_true());
	return set;
}

static void mounts_exist(const json_t *volumes, const json_t *mounts, const struct path *at, struct err *e)
{
	size_t i;
	json_t *mount;

	json_array_foreach (mounts, i, mount) {
		const char *name = jsonx_str_or(mount, "name", "");

		if (*name && !json_object_get(volumes, name))
			rule_not_found(PATH_FIELD(PATH_INDEX(at, i), "name"), e, name);
	}
}

static void mounts_validate(const json_t *spec, const struct path *at, struct err *e)
{
	/* Beside the template: only a StatefulSet has them. */
	const json_t *claims = at && at->up ? json_object_get(at->up->in, "volumeClaimTemplates") : NULL;
	json_auto_t *volumes = names_of(json_object_get(spec, "volumes"), claims);
	json_t *c;
	size_t n;

	for (size_t i = 0; i < ARRAY_SIZE(container_lists); i++)
		json_array_foreach (json_object_get(spec, container_lists[i].list), n, c) {
			const struct path *here = PATH_INDEX(PATH_FIELD(at, container_lists[i].list), n);

			mounts_exist(volumes, json_object_get(c, "volumeMounts"), PATH_FIELD(here, "volumeMounts"), e);
			mounts_exist(volumes, json_object_get(c, "volumeDevices"), PATH_FIELD(here, "volumeDevices"),
				     e);
		}
}

void pod_spec_validate(const json_t *spec, const struct path *at, struct err *e)
{
	const json_t *volumes = json_object_get(spec, "volumes");
	json_auto_t *names = json_object(), *ports = json_object();
	struct walk w = { names, ports, jsonx_bool_or(spec, "hostNetwork", false) };

	rule_unique(volumes, "name", PATH_FIELD(at, "volumes"), e);
	for (size_t i = 0; i < ARRAY_SIZE(container_lists); i++)
		containers_validate(&w, json_object_get(spec, container_lists[i].list), container_lists[i].place,
				    PATH_FIELD(at, container_lists[i].list), e);
	rule_range(json_object_get(spec, "activeDeadlineSeconds"), 1, DEADLINE_MAX,
		   PATH_FIELD(at, "activeDeadlineSeconds"), e);
	names_validate(spec, at, e);
	gates_validate(spec, at, e);
	dns_validate(spec, at, e);
	mounts_validate(spec, at, e);
}
