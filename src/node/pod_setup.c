// SPDX-License-Identifier: Apache-2.0
/* pod_setup.c - what the containers of a pod share: directories, namespaces, address, cards, volumes
 *
 * Every step may be done again and finds what is there, so that a failed one is simply repeated and a new server picks
 * up where the old one stopped.  Giving back goes in the reverse order.
 */
#include <pwd.h>
#include <stdio.h>
#include <sys/stat.h>

#include "base/file.h"
#include "base/jsonx.h"
#include "base/limits.h"
#include "base/mem.h"
#include "kinds/quantity.h"
#include "node/pod_parts.h"
#include "node/pod_pbs.h"
#include "node/pod_text.h"
#include "node/sandbox.h"
#include "node/tree.h"

#define DOMAIN       "cluster.local"
#define SYSCTLS_MAX  64
#define OWNER_UID    "stoker.dev/uid"
#define SHARED_ROOTS "stoker.dev/host-roots"

/* ---- directories ---- */

static int make_dirs(struct pod *p, struct err *e)
{
	const char *dirs[] = { p->dir, p->run_dir };

	for (size_t i = 0; i < ARRAY_SIZE(dirs); i++)
		if (file_make_dirs(dirs[i], 0700, e) < 0)
			return -1;
	return 0;
}

/* ---- namespaces ---- */

static int make_sandbox(struct pod *p, struct err *e)
{
	const char *sysctls[SYSCTLS_MAX + 1] = { NULL };
	json_auto_t *texts = json_array();
	json_t *row;
	size_t i;
	int r;
	struct sandbox_config c = { .dir = p->run_dir,
				    .hostname = p->hostname,
				    .host_network = p->host_network,
				    .host_ipc = jsonx_bool_or(p->obj, "spec.hostIPC", false),
				    .sysctls = sysctls };
	char path[4096];

	json_array_foreach (jsonx_at(p->obj, "spec.securityContext.sysctls"), i, row) {
		json_t *text = jsonx_stringf("%s=%s", jsonx_str_or(row, "name", ""), jsonx_str_or(row, "value", ""));

		json_array_append_new(texts, text);
		if (i < SYSCTLS_MAX)
			sysctls[i] = json_string_value(text);
	}
	r = sandbox_make(&c, e);
	free(p->net_ns);
	p->net_ns = NULL;
	if (r == 0 && !p->host_network && sandbox_ns(p->run_dir, "net", path, sizeof(path)))
		p->net_ns = xstrdup(path);
	return r;
}

/* ---- address ---- */

static json_t *host_ports(const struct pod *p)
{
	json_t *list = json_array();

	for (size_t i = 0; i < p->n; i++) {
		json_t *port;
		size_t k;

		json_array_foreach (json_object_get(p->ctrs[i].spec, "ports"), k, port)
			if (jsonx_int_or(port, "hostPort", 0))
				json_array_append(list, port);
	}
	return list;
}

static int make_network(struct pod *p, struct err *e)
{
	json_auto_t *ports = host_ports(p);
	char ip[64];

	if (p->host_network) {
		free(p->ip);
		p->ip = p->parts->host_ip ? xstrdup(p->parts->host_ip) : NULL;
		return 0;
	}
	if (net_attach(p->parts->net, p->uid, p->net_ns, ip, sizeof(ip), e) < 0)
		return err_prefix(e, "failed to set up the network of pod %s/%s", p->ns, p->name);
	free(p->ip);
	p->ip = xstrdup(ip);
	if (json_array_size(ports) && net_publish(p->parts->net, p->uid, p->ip, ports, e) < 0)
		return -1;
	return services_add_pod(p->parts->services, p->obj, p->ip, e);
}

/* ---- volumes and small files ---- */

/* The PBS server's directories, as far as the API has said that the pod's volumes are there. */
static void add_shared_roots(const struct pod *p, json_t *roots)
{
	const json_t *note = json_object_get(jsonx_at(p->obj, "metadata.annotations"), SHARED_ROOTS);
	struct str rest = str_of(json_is_string(note) ? json_string_value(note) : ""), one;

	while (rest.n && str_split(&rest, ',', &one))
		if (one.n)
			json_array_append_new(roots, jsonx_stringn(one.p, one.n));
}

/* Where this pod's hostPath volumes may be: as configured, else below its owner's home. */
static const json_t *roots_of(struct pod *p, int64_t uid)
{
	const struct passwd *pw;

	if (uid < 0)
		return p->parts->host_roots;
	if (!p->roots) {
		pw = p->parts->host_roots ? NULL : getpwuid((uid_t)uid);
		p->roots = p->parts->host_roots ? jsonx_copy(p->parts->host_roots) : json_array();
		if (pw && pw->pw_dir && pw->pw_dir[0] == '/' && pw->pw_dir[1])
			json_array_append_new(p->roots, jsonx_string(pw->pw_dir));
		add_shared_roots(p, p->roots);
	}
	return p->roots;
}

void pod_volume_context(struct pod *p, const json_t *objects, struct volume_context *ret)
{
	const json_t *group = jsonx_at(p->obj, "spec.securityContext.fsGroup");
	const json_t *owner = json_object_get(jsonx_at(p->obj, "metadata.annotations"), OWNER_UID);
	int64_t uid = -1;

	if (json_is_string(owner) && !str_int64(json_string_value(owner), 0, UINT32_MAX - 1, &uid))
		uid = UINT32_MAX - 2; /* a value that is no number gives nobody's rights, not everybody's */
	*ret = (struct volume_context){
		.pod = p->obj,
		.objects = objects,
		.memory = p->memory_dir,
		.fs_group = json_is_integer(group) ? (gid_t)json_integer_value(group) : (gid_t)-1,
		.owner = (uid_t)uid,
		.host_roots = roots_of(p, uid),
		.job_files = p->pbs ? pod_pbs_volume : NULL,
		.arg = p,
	};
}

static char *read_host_file(const char *path)
{
	auto_sbuf struct sbuf text = SBUF(LIMIT_BODY);
	struct err e = ERR_INIT;

	if (file_read(path, 65536, &text, &e) < 0)
		return NULL;
	return sbuf_steal(&text);
}

static int write_file(const struct pod *p, const char *name, const struct sbuf *text, struct err *e)
{
	auto_free char *path = xasprintf("%s/%s", p->dir, name);

	return file_place(path, 0644, sbuf_str(text), e);
}

static int write_texts(struct pod *p, struct err *e)
{
	auto_free char *hosts = p->host_network ? read_host_file("/etc/hosts") : NULL;
	auto_free char *resolv = read_host_file("/etc/resolv.conf");
	struct pod_names names = { .hostname = p->hostname,
				   .ip = p->host_network ? NULL : p->ip,
				   .domain = DOMAIN,
				   .dns = p->parts->net ? net_dns_address(p->parts->net) : NULL,
				   .host_hosts = hosts,
				   .host_resolv = resolv };
	auto_sbuf struct sbuf text = SBUF(LIMIT_BODY);

	pod_hosts_text(p->obj, &names, &text);
	if (write_file(p, "hosts", &text, e) < 0)
		return -1;
	sbuf_reset(&text);
	pod_resolv_text(p->obj, &names, &text);
	if (write_file(p, "resolv.conf", &text, e) < 0)
		return -1;
	sbuf_reset(&text);
	sbuf_addf(&text, "%s\n", p->hostname);
	return write_file(p, "hostname", &text, e);
}

int pod_refresh(struct pod *p, struct err *e)
{
	json_auto_t *objects = pod_objects(p);
	json_auto_t *pod = pod_as_seen(p);
	auto_free char *dir = xasprintf("%s/volumes", p->dir);
	struct volume_context c;

	if (p->parts->fake || p->process)
		return 0;
	pod_volume_context(p, objects, &c);
	c.pod = pod;
	c.dir = dir;
	return volumes_prepare(&c, e);
}

/* ---- there and back ---- */

static void choose_hostname(struct pod *p)
{
	auto_sbuf struct sbuf name = SBUF(256);

	if (jsonx_bool_or(p->obj, "spec.hostNetwork", false) || !p->parts->net) {
		char host[256] = "";

		gethostname(host, sizeof(host) - 1);
		sbuf_adds(&name, host);
	} else {
		pod_hostname(p->obj, &name);
	}
	free(p->hostname);
	p->hostname = sbuf_steal(&name);
}

/* Each once, in this order. */
static const struct step {
	bool real; /* not with the fake runtime */
	bool host; /* for a process of the host too */
	size_t flag;
	int (*fn)(struct pod *p, struct err *e);
	const char *reason; /* of the event if it fails */
} steps[] = {
	{ false, false, offsetof(struct pod, dirs), make_dirs, "FailedCreatePodSandBox" },
	{ true, false, offsetof(struct pod, sandbox), make_sandbox, "FailedCreatePodSandBox" },
	{ true, false, offsetof(struct pod, network), make_network, "FailedCreatePodSandBox" },
	{ false, true, offsetof(struct pod, cards), pod_cards_take, "FailedGPU" },
	{ true, false, offsetof(struct pod, texts), write_texts, "FailedMount" },
	{ false, false, offsetof(struct pod, volumes), pod_refresh, "FailedMount" },
};

int pod_setup(struct pod *p, struct err *e)
{
	if (pod_inside_ready(p, e) != 0) {
		p->setup_reason = "FailedCreatePodSandBox";
		return -1;
	}
	if ((p->pbs && !pod_pbs_ready(p)) || (!p->process && !pod_objects_ready(p)))
		return 1;
	if (!p->hostname)
		choose_hostname(p);
	for (size_t i = 0; i < ARRAY_SIZE(steps); i++) {
		bool *done = (bool *)((char *)p + steps[i].flag);

		if (*done || (steps[i].real && p->parts->fake) || (p->process && !steps[i].host)) {
			*done = true;
			continue;
		}
		if (steps[i].fn(p, e) < 0) {
			p->setup_reason = p->failed ? p->reason : steps[i].reason;
			return -1;
		}
		*done = true;
	}
	p->setup_failures = 0;
	return 0;
}

/* The same for a pod whose worker is there and for one that only left its directory. */
static bool give_back(const struct node_parts *parts, const char *uid, const char *dir, const char *run_dir)
{
	auto_free char *volumes = xasprintf("%s/volumes", dir);
	bool cards;

	if (!parts->fake) {
		if (parts->net)
			net_detach(parts->net, uid);
		pod_shm_remove(run_dir);
		pod_pids_remove(run_dir);
		sandbox_remove(run_dir);
		volumes_remove(volumes);
	}
	cards = gpus_release(parts->gpus, uid);
	tree_remove(run_dir, NULL); /* a few small files, and in memory */
	trash_put(parts->trash, dir);
	return cards;
}

void pod_teardown(struct pod *p)
{
	bool cards;

	for (size_t i = 0; i < p->n; i++) {
		struct ctr *c = &p->ctrs[i];

		if (c->id)
			p->parts->runtime->ops->remove(p->parts->runtime, c->id);
		if (!p->process)
			ctr_rootfs_remove(c);
	}
	pod_objects_stop(p);
	if (p->process) {
		pod_pbs_forget(p);
		cards = gpus_release(p->parts->gpus, p->uid);
	} else {
		cards = give_back(p->parts, p->uid, p->dir, p->run_dir);
	}
	if (cards)
		p->parts->cards_changed(p->parts->arg);
	logs_pod_ended(p->parts->logs, p->ns, p->name, p->uid);
}

void pod_sweep(const struct node_parts *parts, const char *uid)
{
	auto_free char *dir = xasprintf("%s/pods/%s", parts->dir, uid);
	auto_free char *run_dir = xasprintf("%s/run/pods/%s", parts->dir, uid);

	pod_rootfs_sweep(dir, run_dir);
	give_back(parts, uid, dir, run_dir);
}
