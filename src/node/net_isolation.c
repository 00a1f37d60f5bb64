// SPDX-License-Identifier: Apache-2.0
/* net_isolation.c - which pods may open connections to which; pure
 *
 * Between two pods: yes if either is in the group "" (everybody's), or both are in the same group; otherwise the sender
 * is told at once that it is prohibited.  A pod that is in no group at all is refused too: an address is in use before
 * its group is known only by mistake, and then nobody's door may be open.  Before the first sync there is no table and
 * everybody talks to everybody.
 *
 * A chain and a set a group, and one map from source address to chain: a packet costs three look-ups, however many
 * pods.
 */
#include "base/jsonx.h"
#include "base/map.h"
#include "base/mem.h"
#include "node/net_rules.h"

static void free_members(void *p)
{
	struct sbuf *b = p;

	sbuf_done(b);
	free(b);
}

/* group -> "10.0.0.1, 10.0.0.2" */
static int collect(const json_t *groups, struct map *members, struct err *e)
{
	const char *address;
	json_t *group;

	json_object_foreach ((json_t *)groups, address, group) {
		const char *name = json_string_value(group);
		struct sbuf *list;
		char text[NET_IP_LEN];
		uint32_t ip;

		if (!net_ip_parse(address, &ip) || !name)
			return err_set(e, ERR_INVALID, "isolation: \"%s\": an address and a group are needed", address);
		list = map_find(members, name);
		if (!list) {
			list = xcalloc(1, sizeof(*list));
			sbuf_init(list, NET_RULES_MAX);
			map_set(members, name, list);
		}
		sbuf_addf(list, "%s%s", list->n ? ", " : "", net_ip_print(ip, text));
	}
	return 0;
}

static void group_sets(const struct map *members, struct sbuf *out)
{
	size_t pos = 0;
	unsigned i = 0;
	const char *name;
	void *list;

	while (map_next(members, &pos, &name, &list))
		if (*name)
			sbuf_addf(out, "set m%u { type ipv4_addr; elements = { %s }; }\n", i++,
				  ((struct sbuf *)list)->p);
}

static void group_chains(const struct map *members, struct sbuf *out)
{
	size_t pos = 0;
	unsigned i = 0;
	const char *name;
	void *list;

	while (map_next(members, &pos, &name, &list))
		if (*name) {
			sbuf_addf(out, "chain g%u {\nip daddr @m%u accept\n", i, i);
			sbuf_adds(out, "reject with icmp admin-prohibited\n}\n");
			i++;
		}
}

static void group_map(const struct map *members, struct sbuf *out)
{
	size_t pos = 0;
	unsigned i = 0;
	const char *name;
	void *list;

	sbuf_adds(out, "map groups { type ipv4_addr : verdict;\n");
	while (map_next(members, &pos, &name, &list)) {
		struct str rest = sbuf_str(list);
		struct str ip;

		if (!*name)
			continue;
		sbuf_adds(out, i ? "" : "elements = { ");
		while (str_split(&rest, ',', &ip))
			sbuf_addf(out, "%.*s : goto g%u, ", STR_FMT(str_trim(ip)), i);
		i++;
	}
	sbuf_adds(out, i ? "};\n}\n" : "}\n");
}

int isolation_rules(const struct net_shape *s, const json_t *groups, struct sbuf *out, struct err *e)
{
	struct map members;
	const struct sbuf *open;
	int r;

	map_init(&members, free_members);
	r = collect(groups, &members, e);
	if (r == 0) {
		open = map_find(&members, "");
		sbuf_addf(out, "table inet stoker_%s_isolation\ndelete table inet stoker_%s_isolation\n", s->prefix,
			  s->prefix);
		sbuf_addf(out, "table inet stoker_%s_isolation {\n", s->prefix);
		if (open)
			sbuf_addf(out, "set open { type ipv4_addr; elements = { %s }; }\n", open->p);
		group_sets(&members, out);
		group_chains(&members, out);
		group_map(&members, out);
		sbuf_adds(out, "chain forward { type filter hook forward priority filter; policy accept;\n");
		sbuf_addf(out, "iifname != \"%s\" accept\noifname != \"%s\" accept\n", s->links, s->links);
		sbuf_adds(out, "ct state established,related accept\n");
		if (open)
			sbuf_adds(out, "ip saddr @open accept\nip daddr @open accept\n");
		sbuf_adds(out, "ip saddr vmap @groups\nreject with icmp admin-prohibited\n}\n}\n");
	}
	map_done(&members);
	return r;
}
