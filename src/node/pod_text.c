// SPDX-License-Identifier: Apache-2.0
/* pod_text.c - hostname, /etc/hosts and /etc/resolv.conf of a pod
 *
 * The name server's file depends on dnsPolicy: ClusterFirst asks the pod network's own server, Default what this
 * machine asks, None only what dnsConfig says.  dnsConfig adds to any of them.
 */
#include "node/pod_text.h"

#include "base/jsonx.h"
#include "base/mem.h"

#define HOSTNAME_MAX    63
#define NAMESERVERS_MAX 3 /* the resolver of glibc reads no more */

void pod_fqdn(const json_t *pod, const char *domain, struct sbuf *out)
{
	const char *subdomain = jsonx_str(pod, "spec.subdomain");
	const char *hostname = jsonx_str(pod, "spec.hostname");

	if (!subdomain || !*subdomain)
		return;
	if (!hostname || !*hostname)
		hostname = jsonx_str_or(pod, "metadata.name", "");
	sbuf_addf(out, "%s.%s.%s.svc.%s", hostname, subdomain, jsonx_str_or(pod, "metadata.namespace", ""), domain);
}

void pod_hostname(const json_t *pod, struct sbuf *out)
{
	const char *name = jsonx_str(pod, "spec.hostname");
	size_t n;

	if (jsonx_bool_or(pod, "spec.setHostnameAsFQDN", false)) {
		pod_fqdn(pod, "cluster.local", out);
		if (out->n)
			return;
	}
	if (!name || !*name)
		name = jsonx_str_or(pod, "metadata.name", "");
	n = strlen(name);
	if (n > HOSTNAME_MAX)
		n = HOSTNAME_MAX;
	/* A name may not end in a separator after the cut. */
	while (n && (name[n - 1] == '-' || name[n - 1] == '.'))
		n--;
	sbuf_add(out, name, n);
}

static void add_aliases(const json_t *pod, struct sbuf *out)
{
	json_t *alias;
	json_t *name;
	size_t i;
	size_t k;

	if (json_array_size(jsonx_at(pod, "spec.hostAliases")))
		sbuf_adds(out, "\n# Entries added by HostAliases.\n");
	json_array_foreach (jsonx_at(pod, "spec.hostAliases"), i, alias) {
		sbuf_adds(out, jsonx_str_or(alias, "ip", ""));
		json_array_foreach (json_object_get(alias, "hostnames"), k, name)
			sbuf_addf(out, "\t%s", json_string_value(name));
		sbuf_addc(out, '\n');
	}
}

void pod_hosts_text(const json_t *pod, const struct pod_names *n, struct sbuf *out)
{
	auto_sbuf struct sbuf fqdn = SBUF(512);

	if (!n->ip) {
		sbuf_adds(out, n->host_hosts ? n->host_hosts : "127.0.0.1\tlocalhost\n");
		add_aliases(pod, out);
		return;
	}
	sbuf_adds(out, "# Kubernetes-managed hosts file.\n127.0.0.1\tlocalhost\n::1\tlocalhost ip6-localhost "
		       "ip6-loopback\nfe00::0\tip6-localnet\nfe00::0\tip6-mcastprefix\nfe00::1\tip6-allnodes\n"
		       "fe00::2\tip6-allrouters\n");
	pod_fqdn(pod, n->domain, &fqdn);
	sbuf_addf(out, "%s\t%s%s%s\n", n->ip, fqdn.n ? fqdn.p : "", fqdn.n ? "\t" : "", n->hostname);
	add_aliases(pod, out);
}

/* ---- resolv.conf ---- */

struct resolver {
	json_t *servers, *searches, *options;
};

static bool has(const json_t *list, const char *text)
{
	json_t *v;
	size_t i;

	json_array_foreach ((json_t *)list, i, v)
		if (str_same(json_string_value(v), text))
			return true;
	return false;
}

static void add(json_t *list, const char *text)
{
	if (*text && !has(list, text))
		json_array_append_new(list, jsonx_string(text));
}

/* The words of a line after its keyword. */
static void add_words(json_t *list, struct str words)
{
	struct str word;

	while (str_split(&words, ' ', &word)) {
		auto_free char *text = xstrndup(word.p, word.n);

		add(list, text);
	}
}

static void read_host(const char *text, bool with_servers, struct resolver *r)
{
	auto_free char *copy = xstrdup(text ? text : "");
	struct str rest = str_of(copy);
	struct str line;

	for (char *p = copy; *p; p++)
		if (*p == '\t')
			*p = ' ';
	while (str_split(&rest, '\n', &line)) {
		struct str words = str_trim(line);
		struct str key;

		if (!str_split(&words, ' ', &key))
			continue;
		if (str_eq(key, "nameserver") && with_servers)
			add_words(r->servers, words);
		else if (str_eq(key, "search") || str_eq(key, "domain"))
			add_words(r->searches, words);
		else if (str_eq(key, "options") && with_servers)
			add_words(r->options, words);
	}
}

static void add_cluster(const json_t *pod, const struct pod_names *n, struct resolver *r)
{
	const char *ns = jsonx_str_or(pod, "metadata.namespace", "");
	auto_free char *own = xasprintf("%s.svc.%s", ns, n->domain);
	auto_free char *svc = xasprintf("svc.%s", n->domain);

	add(r->servers, n->dns);
	add(r->searches, own);
	add(r->searches, svc);
	add(r->searches, n->domain);
	read_host(n->host_resolv, false, r);
	add(r->options, "ndots:5");
}

static void add_config(const json_t *config, struct resolver *r)
{
	json_t *v;
	size_t i;

	json_array_foreach (json_object_get(config, "nameservers"), i, v)
		add(r->servers, json_string_value(v));
	json_array_foreach (json_object_get(config, "searches"), i, v)
		add(r->searches, json_string_value(v));
	json_array_foreach (json_object_get(config, "options"), i, v) {
		const char *name = jsonx_str_or(v, "name", "");
		const char *value = jsonx_str(v, "value");
		auto_free char *text = value ? xasprintf("%s:%s", name, value) : xstrdup(name);
		size_t k;
		json_t *old;

		/* The same option again replaces the first. */
		json_array_foreach (r->options, k, old)
			if (str_starts(json_string_value(old), name) &&
			    strchr(":", json_string_value(old)[strlen(name)])) {
				json_array_remove(r->options, k);
				break;
			}
		add(r->options, text);
	}
}

static void print_line(const char *key, const json_t *words, struct sbuf *out)
{
	json_t *w;
	size_t i;

	if (!json_array_size(words))
		return;
	sbuf_adds(out, key);
	json_array_foreach ((json_t *)words, i, w)
		sbuf_addf(out, " %s", json_string_value(w));
	sbuf_addc(out, '\n');
}

void pod_resolv_text(const json_t *pod, const struct pod_names *n, struct sbuf *out)
{
	const char *policy = jsonx_str_or(pod, "spec.dnsPolicy", "ClusterFirst");
	struct resolver r = { json_array(), json_array(), json_array() };
	json_t *server;
	size_t i;

	if (streq(policy, "ClusterFirst") && !n->ip)
		policy = "Default";
	if (streq(policy, "Default") || (!streq(policy, "None") && !n->dns))
		read_host(n->host_resolv, true, &r);
	else if (!streq(policy, "None"))
		add_cluster(pod, n, &r);
	add_config(jsonx_at(pod, "spec.dnsConfig"), &r);
	json_array_foreach (r.servers, i, server)
		if (i < NAMESERVERS_MAX)
			sbuf_addf(out, "nameserver %s\n", json_string_value(server));
	print_line("search", r.searches, out);
	print_line("options", r.options, out);
	json_decref(r.servers);
	json_decref(r.searches);
	json_decref(r.options);
}
