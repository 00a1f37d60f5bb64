// SPDX-License-Identifier: Apache-2.0
/* net_isolation.c - which pods may open connections to which; pure
 *
 * Between two pods: yes if either is in the group "" (everybody's), or both are in the same group; otherwise the sender
 * is told at once that it is prohibited.  A pod that is in no group at all is refused too: an address is in use before
 * its group is known only by mistake, and then nobody's door may be open.  Before the first sync there is no table and
 * everybody talks to everybody.
 *
 * A chain and a set a group, and one map from source address to chain: a packet costs three look-ups, however many
 * pods.  Their names are the group's in hexadecimal, so that a pod that comes or goes is an element more or less, and
 * nothing else is touched.
 */
#include "base/jsonx.h"
#include "base/map.h"
#include "base/mem.h"
#include "node/net_rules.h"

#define GROUP_MAX 100 /* bytes: nftables takes names of 255 */

static int check(const char *address, const json_t *group, char ip[NET_IP_LEN], struct err *e)
{
	const char *name = json_string_value(group);
	uint32_t n;

	if (!net_ip_parse(address, &n) || !name || strlen(name) > GROUP_MAX)
		return err_set(e, ERR_INVALID, "isolation: \"%s\": an address and a group are needed", address);
	net_ip_print(n, ip);
	return 0;
}

/* 'm' is the set of a group, 'g' its chain. */
static void add_name(char kind, const char *group, struct sbuf *out)
{
	sbuf_addc(out, kind);
	hex_encode(group, strlen(group), out);
}

static void add_where(const struct net_shape *s, const char *verb, struct sbuf *out)
{
	sbuf_addf(out, "%s inet stoker_%s_isolation ", verb, s->prefix);
}

static void add_group(const struct net_shape *s, const char *group, struct sbuf *out)
{
	add_where(s, "add set", out);
	add_name('m', group, out);
	sbuf_adds(out, " { type ipv4_addr; }\n");
	add_where(s, "add chain", out);
	add_name('g', group, out);
	sbuf_addc(out, '\n');
	add_where(s, "add rule", out);
	add_name('g', group, out);
	sbuf_adds(out, " ip daddr @");
	add_name('m', group, out);
	sbuf_adds(out, " accept\n");
	add_where(s, "add rule", out);
	add_name('g', group, out);
	sbuf_adds(out, " reject with icmp admin-prohibited\n");
}

static void add_member(const struct net_shape *s, const char *ip, const char *group, struct sbuf *out)
{
	add_where(s, "add element", out);
	if (!*group) {
		sbuf_addf(out, "open { %s }\n", ip);
		return;
	}
	add_name('m', group, out);
	sbuf_addf(out, " { %s }\n", ip);
	add_where(s, "add element", out);
	sbuf_addf(out, "groups { %s : goto ", ip);
	add_name('g', group, out);
	sbuf_adds(out, " }\n");
}

static void remove_member(const struct net_shape *s, const char *ip, const char *group, struct sbuf *out)
{
	add_where(s, "delete element", out);
	if (!*group) {
		sbuf_addf(out, "open { %s }\n", ip);
		return;
	}
	add_name('m', group, out);
	sbuf_addf(out, " { %s }\n", ip);
	add_where(s, "delete element", out);
	sbuf_addf(out, "groups { %s }\n", ip);
}

/* Makes the group unless it is there. */
static void need_group(const struct net_shape *s, const char *group, json_t *names, struct sbuf *out)
{
	if (!*group || json_object_get(names, group))
		return;
	add_group(s, group, out);
	json_object_set_new(names, group, json_true());
}

void isolation_none(const struct net_shape *s, struct sbuf *out)
{
	sbuf_addf(out, "table inet stoker_%s_isolation\ndelete table inet stoker_%s_isolation\n", s->prefix, s->prefix);
}

int isolation_rules(const struct net_shape *s, const json_t *groups, json_t *names, struct sbuf *out, struct err *e)
{
	const char *address;
	char ip[NET_IP_LEN];
	json_t *group;

	isolation_none(s, out);
	sbuf_addf(out, "table inet stoker_%s_isolation {\n", s->prefix);
	sbuf_adds(out, "set open { type ipv4_addr; }\nmap groups { type ipv4_addr : verdict; }\n"
		       "chain forward { type filter hook forward priority filter; policy accept;\n");
	sbuf_addf(out, "iifname != \"%s\" accept\noifname != \"%s\" accept\n", s->links, s->links);
	sbuf_adds(out, "ct state established,related accept\nip saddr @open accept\nip daddr @open accept\n"
		       "ip saddr vmap @groups\nreject with icmp admin-prohibited\n}\n}\n");
	json_object_foreach ((json_t *)groups, address, group) {
		if (check(address, group, ip, e) < 0)
			return -1;
		need_group(s, json_string_value(group), names, out);
		add_member(s, ip, json_string_value(group), out);
	}
	return 0;
}

int isolation_change(const struct net_shape *s, const json_t *groups, const json_t *changes, json_t *names,
		     struct sbuf *out, struct err *e)
{
	const char *address;
	char ip[NET_IP_LEN];
	json_t *group;

	json_object_foreach ((json_t *)changes, address, group) {
		const char *old = json_string_value(json_object_get(groups, address));
		const char *new = json_string_value(group);

		if (str_same(old, new))
			continue;
		if (new &&check(address, group, ip, e) < 0)
			return -1;
		if (old)
			remove_member(s, address, old, out);
		if (new) {
			need_group(s, new, names, out);
			add_member(s, ip, new, out);
		}
	}
	return 0;
}

/* --- without text --- */

static void put_member(struct elements *b, const char *table, const struct element_key *k, const char *group, bool add)
{
	auto_sbuf struct sbuf set = SBUF(256);
	auto_sbuf struct sbuf chain = SBUF(256);

	if (*group) {
		add_name('m', group, &set);
		add_name('g', group, &chain);
	} else {
		sbuf_adds(&set, "open");
	}
	if (add)
		elements_add(b, table, set.p, k, NULL);
	else
		elements_remove(b, table, set.p, k);
	if (*group && add)
		elements_add(b, table, "groups", k, chain.p);
	else if (*group)
		elements_remove(b, table, "groups", k);
}

bool isolation_elements(const struct net_shape *s, const json_t *groups, const json_t *changes, const json_t *names,
			struct elements *b)
{
	auto_free char *table = xasprintf("stoker_%s_isolation", s->prefix);
	const char *address;
	json_t *group;

	json_object_foreach ((json_t *)changes, address, group) {
		const char *old = json_string_value(json_object_get(groups, address));
		const char *new = json_string_value(group);
		struct element_key k = { 0 };
		uint32_t ip;

		if (!net_ip_parse(address, &ip) || (new &&*new && !json_object_get(names, new)))
			return false;
		if (str_same(old, new))
			continue;
		element_key_ip(&k, ip);
		if (old)
			put_member(b, table, &k, old, false);
		if (new)
			put_member(b, table, &k, new, true);
	}
	return true;
}
