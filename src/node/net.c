// SPDX-License-Identifier: Apache-2.0
/* net.c - the pod network of one server: a bridge, its tables, its names
 *
 * What is in the kernel follows from three things that are kept: the leases (files), the services and the isolation
 * document (given again by the caller after a restart).  A start makes what is missing and leaves the rest, so that
 * running pods notice nothing.
 *
 *	pod eth0 10.244.0.7/32 <--veth--> sPPPPPPPP7, to which the host has a route for 10.244.0.7 alone
 *	stkPPPPPPPP 10.244.0.1/16          a bridge without ports: the gateway's address, and the block's claim
 *
 * net_rules.c tells why each pod has a link of its own and what is guarded.
 */
#include "node/net.h"

#include "base/jsonx.h"
#include "base/log.h"
#include "base/mem.h"
#include "node/net_parts.h"

int net_open(struct loop *loop, const struct net_config *config, struct net **ret, struct err *e)
{
	struct net *n = xcalloc(1, sizeof(*n));

	n->loop = loop;
	if (net_open_parts(n, config, e) < 0) {
		/* What pods of an earlier server use stays. */
		net_free(n, n->made_bridge);
		return err_prefix(e, "pod network");
	}
	*ret = n;
	return 0;
}

void net_free(struct net *n, bool remove)
{
	if (!n)
		return;
	loop_timer_done(&n->reap);
	dns_free(n->dns);
	if (remove)
		net_take_down(n);
	leases_free(n->leases);
	netlink_close(n->nl);
	nft_close(n->nft);
	elements_close(n->elements);
	free(n->forget);
	service_rules_free(n->rules);
	json_decref(n->services);
	json_decref(n->groups);
	json_decref(n->group_names);
	free(n->dir);
	free(n->domain);
	free(n);
}

int net_apply_base(struct net *n, struct err *e)
{
	auto_sbuf struct sbuf text = SBUF(NET_RULES_MAX);
	size_t count = leases_count(n->leases);
	auto_free struct net_member *members = xcalloc(count + 1, sizeof(*members));
	size_t i;
	int r;

	for (i = 0; i < count; i++) {
		const struct lease *lease = leases_at(n->leases, i);

		members[i] = (struct net_member){ .link = net_link_name(n, lease),
						  .ip = n->shape.pods.addr + lease->index,
						  .ports = lease->ports };
	}
	rules_base(&n->shape, members, count, &text);
	r = nft_run(n->nft, text.p, e);
	for (i = 0; i < count; i++)
		free((char *)members[i].link);
	return r;
}

int net_repair(struct net *n, struct err *e)
{
	json_auto_t *services = TAKE(n->services);
	json_auto_t *groups = TAKE(n->groups);

	service_rules_free(n->rules);
	n->rules = NULL;
	n->isolation_known = false;
	if (net_apply_base(n, e) < 0 || (services && net_sync_services(n, services, e) < 0) ||
	    (groups && net_sync_isolation(n, groups, e) < 0))
		return -1;
	log_warn("packet filter tables were gone and have been made again, prefix=%s", n->shape.prefix);
	return 0;
}

/* --- what the API says --- */

int net_sync_services(struct net *n, const json_t *services, struct err *e)
{
	json_auto_t *all = services_complete(&n->shape, services);
	auto_sbuf struct sbuf text = SBUF(NET_RULES_MAX);
	struct service_rules *rules = NULL;
	int r = 0;

	if (n->services && json_equal(n->services, all))
		return 0;
	if (service_rules_make(&n->shape, all, &rules, e) < 0)
		return err_prefix(e, "services");
	service_rules_diff(&n->shape, n->rules, rules, &text);
	if (text.over)
		r = err_set(e, ERR_TOO_LARGE, "too many endpoints");
	else if (text.n)
		r = nft_run(n->nft, text.p, e);
	if (r < 0 && n->rules && !text.over) {
		/* The table is not as we left it: make it anew. */
		sbuf_reset(&text);
		service_rules_diff(&n->shape, NULL, rules, &text);
		r = nft_run(n->nft, text.p, e);
	}
	if (r < 0) {
		service_rules_free(rules);
		return err_prefix(e, "services");
	}
	service_rules_free(n->rules);
	n->rules = rules;
	json_decref(n->services);
	n->services = json_incref(all);
	dns_set_zone(n->dns, dns_zone_new(&(struct dns_zone_config){ .domain = n->domain,
								     .pods = n->shape.pods,
								     .services = n->shape.services,
								     .list = n->services }));
	return 0;
}

int net_sync_isolation(struct net *n, const json_t *groups, struct err *e)
{
	auto_sbuf struct sbuf text = SBUF(NET_RULES_MAX);
	json_auto_t *names = json_object();

	if (n->isolation_known && (groups ? n->groups && json_equal(n->groups, groups) : !n->groups))
		return 0;
	if (!groups)
		isolation_none(&n->shape, &text);
	else if (isolation_rules(&n->shape, groups, names, &text, e) < 0)
		return -1;
	if (nft_run(n->nft, text.p, e) < 0)
		return err_prefix(e, "isolation");
	n->isolation_known = true;
	json_decref(n->groups);
	n->groups = jsonx_copy(groups);
	json_decref(n->group_names);
	n->group_names = json_incref(names);
	return 0;
}

static void merge_changes(json_t *groups, const json_t *changes)
{
	const char *ip;
	json_t *group;

	json_object_foreach ((json_t *)changes, ip, group) {
		if (json_is_string(group))
			json_object_set_new(groups, ip, json_string(json_string_value(group)));
		else
			json_object_del(groups, ip);
	}
}

int net_change_isolation(struct net *n, const json_t *changes, struct err *e)
{
	auto_sbuf struct sbuf text = SBUF(NET_RULES_MAX);
	json_auto_t *names = NULL;
	json_auto_t *whole = NULL;

	if (!n->groups)
		return 0;
	if (isolation_elements(&n->shape, n->groups, changes, n->group_names, n->elements)) {
		if (elements_commit(n->elements, e) == 0) {
			merge_changes(n->groups, changes);
			return 0;
		}
		err_clear(e);
	}
	elements_reset(n->elements);
	names = json_copy(n->group_names);
	if (isolation_change(&n->shape, n->groups, changes, names, &text, e) < 0)
		return -1;
	if (text.n == 0)
		return 0;
	if (nft_run(n->nft, text.p, e) < 0) {
		/* The table is not as we left it: make it anew. */
		err_clear(e);
		whole = json_copy(n->groups);
		merge_changes(whole, changes);
		return net_sync_isolation(n, whole, e);
	}
	merge_changes(n->groups, changes);
	json_decref(n->group_names);
	n->group_names = json_incref(names);
	return 0;
}

const char *net_dns_address(const struct net *n)
{
	return n->gateway;
}

const char *net_gateway(const struct net *n)
{
	return n->gateway;
}
