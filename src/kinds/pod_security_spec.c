// SPDX-License-Identifier: Apache-2.0
/* pod_security_spec.c - rules of the Pod Security Standards about the pod as a whole: its reach into the host */
#include "base/jsonx.h"
#include "base/mem.h"
#include "kinds/pod_security_rules.h"
#include "kinds/rules.h"

/* ---- the pod as a whole ---- */

size_t security_host_namespaces(const struct security_rule *r, const struct security_subject *s, struct sbuf *out)
{
	static const char *const names[] = { "hostNetwork", "hostPID", "hostIPC" };
	size_t n = 0;

	(void)r;
	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		if (jsonx_bool_or(s->spec, names[i], false))
			sbuf_addf(out, "%s%s=true", n++ ? ", " : "", names[i]);
	return n;
}

#define SAFE_SYSCTLS                                                                                                   \
	"kernel.shm_rmid_forced|net.ipv4.ip_local_port_range|net.ipv4.tcp_syncookies|net.ipv4.ping_group_range|"       \
	"net.ipv4.ip_unprivileged_port_start"

static const struct {
	int since;
	const char *names;
} safe_sysctls[] = {
	{ 0, SAFE_SYSCTLS },
	{ 27, "net.ipv4.ip_local_reserved_ports" },
	{ 29, "net.ipv4.tcp_keepalive_time|net.ipv4.tcp_fin_timeout|net.ipv4.tcp_keepalive_intvl|"
	      "net.ipv4.tcp_keepalive_probes" },
	{ 32, "net.ipv4.tcp_rmem|net.ipv4.tcp_wmem" },
};

static bool is_safe_sysctl(const char *name, int minor)
{
	for (size_t i = 0; i < ARRAY_SIZE(safe_sysctls); i++)
		if ((minor == POD_SECURITY_LATEST || minor >= safe_sysctls[i].since) &&
		    rule_one_of(name, safe_sysctls[i].names))
			return true;
	return false;
}

size_t security_sysctls(const struct security_rule *r, const struct security_subject *s, struct sbuf *out)
{
	size_t n = 0;
	size_t i;
	json_t *v;

	(void)r;
	json_array_foreach (security_context_field(s->spec, "sysctls"), i, v) {
		const char *name = jsonx_str_or(v, "name", "");

		if (!is_safe_sysctl(name, s->minor))
			sbuf_addf(out, "%s%s", n++ ? ", " : "", name);
	}
	return n;
}

/* ---- ports, probes and volumes ---- */

size_t security_host_ports(const struct security_rule *r, const struct security_subject *s, struct sbuf *out)
{
	auto_finding struct finding f = finding_new();
	struct security_walk w = { 0 };
	const json_t *c;

	(void)r;
	while ((c = security_next_container(s->spec, &w))) {
		bool bad = false;
		json_t *port;
		size_t i;

		json_array_foreach (json_object_get(c, "ports"), i, port) {
			char text[24];
			int64_t n = jsonx_int_or(port, "hostPort", 0);

			snprintf(text, sizeof(text), "%lld", (long long)n);
			if (n)
				finding_value(&f, text);
			bad |= n != 0;
		}
		if (bad)
			finding_container(&f, c);
	}
	if (!finding_any(&f))
		return 0;
	finding_say_containers(&f, out);
	sbuf_addf(out, " %s %s ", finding_plural("uses", "use", json_array_size(f.containers)),
		  finding_plural("hostPort", "hostPorts", json_object_size(f.values)));
	finding_say_set(f.values, "", out);
	return 1;
}

/* Where the server itself would be sent to ask. */
size_t security_probe_hosts(const struct security_rule *r, const struct security_subject *s, struct sbuf *out)
{
	static const char *const hosts[] = {
		"livenessProbe.httpGet.host",         "livenessProbe.tcpSocket.host",
		"readinessProbe.httpGet.host",        "readinessProbe.tcpSocket.host",
		"startupProbe.httpGet.host",          "startupProbe.tcpSocket.host",
		"lifecycle.postStart.httpGet.host",   "lifecycle.preStop.httpGet.host",
		"lifecycle.postStart.tcpSocket.host", "lifecycle.preStop.tcpSocket.host",
	};
	auto_finding struct finding f = finding_new();
	auto_finding struct finding names = finding_new();
	struct security_walk w = { 0 };
	const json_t *c;

	(void)r;
	while ((c = security_next_container(s->spec, &w)))
		for (size_t i = 0; i < ARRAY_SIZE(hosts); i++) {
			const char *host = jsonx_str_or(c, hosts[i], "");

			if (!*host)
				continue;
			finding_value(&f, host);
			finding_value(&names, jsonx_str_or(c, "name", ""));
		}
	if (!json_object_size(f.values))
		return 0;
	sbuf_addf(out, "%s ", finding_plural("container", "containers", json_object_size(names.values)));
	finding_say_set(names.values, "\"", out);
	sbuf_addf(out, " %s %s ", finding_plural("uses", "use", json_object_size(names.values)),
		  finding_plural("probe or lifecycle host", "probe or lifecycle hosts", json_object_size(f.values)));
	finding_say_set(f.values, "\"", out);
	return 1;
}

size_t security_host_paths(const struct security_rule *r, const struct security_subject *s, struct sbuf *out)
{
	json_auto_t *names = json_array();
	json_t *v;
	size_t i;

	(void)r;
	json_array_foreach (json_object_get(s->spec, "volumes"), i, v)
		if (json_object_get(v, "hostPath"))
			json_array_append_new(names, jsonx_string(jsonx_str_or(v, "name", "")));
	if (!json_array_size(names))
		return 0;
	sbuf_addf(out, "%s ", finding_plural("volume", "volumes", json_array_size(names)));
	finding_say_names(names, out);
	return 1;
}

/* The type of a volume if the restricted level forbids it, else NULL. */
static const char *restricted_type(const json_t *volume)
{
	static const char allowed[] = "configMap|csi|downwardAPI|emptyDir|ephemeral|image|persistentVolumeClaim|"
				      "projected|secret";
	static const char known[] = "hostPath|gcePersistentDisk|awsElasticBlockStore|gitRepo|nfs|iscsi|glusterfs|rbd|"
				    "flexVolume|cinder|cephfs|flocker|fc|azureFile|vsphereVolume|quobyte|azureDisk|"
				    "photonPersistentDisk|portworxVolume|scaleIO|storageos";
	const char *type = "unknown";
	const char *key;
	json_t *v;

	json_object_foreach ((json_t *)volume, key, v) {
		if (rule_one_of(key, allowed))
			return NULL;
		if (rule_one_of(key, known))
			type = key;
	}
	return type;
}

size_t security_volumes(const struct security_rule *r, const struct security_subject *s, struct sbuf *out)
{
	auto_finding struct finding f = finding_new();
	size_t n;
	size_t i;
	json_t *v;

	(void)r;
	json_array_foreach (json_object_get(s->spec, "volumes"), i, v) {
		const char *type = restricted_type(v);

		if (!type)
			continue;
		finding_container(&f, v);
		finding_value(&f, type);
	}
	n = json_array_size(f.containers);
	if (!n)
		return 0;
	sbuf_addf(out, "%s ", finding_plural("volume", "volumes", n));
	finding_say_names(f.containers, out);
	sbuf_addf(out, " %s %s ", finding_plural("uses", "use", n),
		  finding_plural("restricted volume type", "restricted volume types", json_object_size(f.values)));
	finding_say_set(f.values, "\"", out);
	return 1;
}
