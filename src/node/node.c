// SPDX-License-Identifier: Apache-2.0
/* node.c - this machine as a node
 *
 *	open the parts -> follow pods and services -> both known: adopt what an earlier server left -> work
 *
 * Nothing is started before adoption is complete: what is still there must be found before anything is judged missing.
 * Each pod bound to this node has a worker (pod.c); this file only hands news to the right one and keeps the Node
 *object true.  What the machine lacks makes the node NotReady, with the reason in its condition.
 */
#include "node/node.h"

#include <arpa/inet.h>
#include <dirent.h>
#include <errno.h>
#include <linux/magic.h>
#include <netinet/in.h>
#include <stdio.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/vfs.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/jsonx.h"
#include "base/log.h"
#include "base/map.h"
#include "base/mem.h"
#include "loop/crypto.h"
#include "node/claim_dirs.h"

#include "node/host_users.h"
#include "node/idle_watch.h"
#include "node/image_keep.h"
#include "node/node_lease.h"
#include "node/node_object.h"
#include "node/pbs_files.h"
#include "node/pod.h"

#define POD_CIDR      "10.244.0.0/16"
#define SERVICE_CIDR  "10.96.0.0/12"
#define DOMAIN        "cluster.local"
#define HEARTBEAT_MS  300000
#define RETRY_MS      2000
#define ADDRESS_PROBE "192.0.2.1" /* a documentation address: nothing is sent, only the route is looked up */

struct node {
	struct node_parts parts;
	struct kubelet *kubelet;
	struct claim_dirs *claim_dirs;
	struct image_keep *image_keep;
	struct idle_watch *idle;
	struct informer *informer, *self;
	struct map pods; /* uid -> struct pod * */
	struct process_pace pace;
	char *dir, *name, *host, *socket, *prefix, *ip, *problem;
	bool services_known, adopted;
	bool draining;
	void (*drained)(void *arg);
	void *drained_arg;
	struct loop_hook check;
	/* its object */
	json_t *status; /* as last read or written */
	int64_t slots;  /* that an admin has set */
	struct loop_hook tell;
	struct loop_timer again;
	bool telling, tell_again, freed;
	struct node_lease *lease;
};

/* ---- the Node object ---- */

static void tell(void *arg);

static void told(struct node *n, const struct err *e)
{
	n->telling = false;
	if (n->freed) {
		free(n);
		return;
	}
	if (e->kind != ERR_NONE)
		log_warn("write node %s: %s, trying again", n->name, e->text);
	if (n->tell_again)
		loop_schedule(n->parts.loop, &n->tell);
	n->tell_again = false;
	loop_timer_set(n->parts.loop, &n->again, e->kind == ERR_NONE ? HEARTBEAT_MS : RETRY_MS);
}

static void on_status_written(void *arg, const json_t *obj, const struct err *e)
{
	struct node *n = arg;

	if (e->kind == ERR_NONE && !n->freed) {
		json_decref(n->status);
		n->status = json_incref(json_object_get(obj, "status"));
		node_lease_belongs_to(n->lease, jsonx_str_or(obj, "metadata.uid", ""));
	}
	told(n, e);
}

static struct node_facts facts_of(const struct node *n)
{
	return (struct node_facts){
		.name = n->name,
		.host = n->host,
		.ip = n->ip,
		.runtime = n->parts.runtime ? n->parts.runtime->ops->name : NULL,
		.runtime_version = n->parts.runtime ? n->parts.runtime->version : NULL,
		.problem = n->problem,
		.rootless = n->parts.rootless,
		.dir = n->dir,
		.gpus = n->parts.gpus,
		.images = n->parts.images,
		.slots = n->slots,
		.old = n->status,
	};
}

static void write_status(struct node *n)
{
	struct ref ref = { .api_version = "v1", .plural = "nodes", .name = n->name, .subresource = "status" };
	struct node_facts f = facts_of(n);
	json_auto_t *patch = json_pack("{s:o}", "status", node_status(&f));

	n->parts.client->ops->patch(n->parts.client, &ref, "merge", patch, on_status_written, n);
}

static void on_metadata_written(void *arg, const json_t *obj, const struct err *e)
{
	struct node *n = arg;

	if (e->kind != ERR_NONE || n->freed) {
		told(n, e);
		return;
	}
	if (!n->status)
		n->status = json_incref(json_object_get(obj, "status"));
	n->slots = node_slots(obj);
	write_status(n);
}

static void on_patched(void *arg, const json_t *obj, const struct err *e)
{
	struct node *n = arg;
	struct ref ref = { .api_version = "v1", .plural = "nodes" };
	struct node_facts f;

	if (e->kind != ERR_NOT_FOUND || n->freed) {
		on_metadata_written(n, obj, e);
		return;
	}
	f = facts_of(n);
	json_auto_t *doc = json_pack("{s:s, s:s, s:o, s:{}}", "kind", "Node", "apiVersion", "v1", "metadata",
				     node_metadata(&f), "spec");
	n->parts.client->ops->create(n->parts.client, &ref, doc, on_metadata_written, n);
}

/* Metadata first: the object may not exist yet. */
static void tell(void *arg)
{
	struct node *n = arg;
	struct ref ref = { .api_version = "v1", .plural = "nodes", .name = n->name };
	struct node_facts f = facts_of(n);

	if (n->telling) {
		n->tell_again = true;
		return;
	}
	n->telling = true;
	json_auto_t *patch = json_pack("{s:o}", "metadata", node_metadata(&f));
	n->parts.client->ops->patch(n->parts.client, &ref, "merge", patch, on_patched, n);
}

static void on_lease_lost(void *arg)
{
	struct node *n = arg;

	loop_schedule(n->parts.loop, &n->tell);
}

static void on_swept(void *arg)
{
	struct node *n = arg;

	if (n->draining)
		loop_schedule(n->parts.loop, &n->check);
}

static void on_cards_changed(void *arg)
{
	struct node *n = arg;
	const char *uid;
	void *p;
	size_t pos = 0;

	loop_schedule(n->parts.loop, &n->tell);
	idle_watch_touch(n->idle);
	while (map_next(&n->pods, &pos, &uid, &p))
		pod_cards_changed(p);
}

/* Somebody, perhaps an admin, has changed the object. */
static void on_self(void *arg, const json_t *obj, const json_t *old)
{
	struct node *n = arg;

	(void)old;
	if (obj && node_slots(obj) != n->slots)
		loop_schedule(n->parts.loop, &n->tell);
}

static void follow_self(struct node *n)
{
	auto_free char *field = xasprintf("metadata.name=%s", n->name);

	n->self = informer_new(n->parts.client, &(struct ref){ .api_version = "v1", .plural = "nodes" },
			       &(struct list_options){ .fields = field },
			       &(struct informer_handlers){ .change = on_self, .arg = n });
}

/* ---- pods ---- */

struct pod *node_find_pod(struct node *n, const char *uid)
{
	return map_find(&n->pods, uid);
}

static void free_pod(void *p)
{
	pod_free(p);
}

static void on_gone(void *arg, struct pod *p)
{
	struct node *n = arg;
	auto_free char *uid = xstrdup(pod_uid(p));

	map_remove(&n->pods, uid);
}

static struct pod *add_pod(struct node *n, const json_t *obj)
{
	struct pod *p = pod_new(&n->parts, obj);

	map_set(&n->pods, pod_uid(p), p);
	return p;
}

static void on_pod(void *arg, const json_t *obj, const json_t *old)
{
	struct node *n = arg;
	const char *uid = jsonx_str_or(obj ? obj : old, "metadata.uid", "");
	const char *old_uid = jsonx_str_or(old, "metadata.uid", "");
	struct pod *p;

	if (!n->adopted)
		return;
	/* A new pod of the old name: the informer shows it as a change. */
	if (obj && old && !streq(uid, old_uid)) {
		p = map_find(&n->pods, old_uid);
		if (p)
			pod_changed(p, NULL);
	}
	p = map_find(&n->pods, uid);
	if (p)
		pod_changed(p, obj);
	else if (obj && n->parts.runtime && !n->draining)
		pod_begin(add_pod(n, obj));
}

static void on_exited(void *arg, const char *id, const struct exit_info *exit)
{
	struct node *n = arg;
	const char *end = strchr(id, '_');
	struct pod *p = end ? map_find_n(&n->pods, id, (size_t)(end - id)) : NULL;

	if (p)
		pod_exited(p, id, exit);
}

/* ---- the end ---- */

static size_t count_holding(const struct node *n)
{
	size_t count = 0;
	const char *uid;
	void *p;
	size_t pos = 0;

	while (map_next(&n->pods, &pos, &uid, &p))
		count += pod_holds(p);
	return count;
}

/* Before adoption nobody knows what is still there, unless there is no container at all. */
bool node_is_idle(const struct node *n)
{
	auto_free char *path = xasprintf("%s/run/containers", n->dir);

	return n->adopted ? !count_holding(n) : rmdir(path) == 0 || errno == ENOENT;
}

static void on_check(void *arg)
{
	struct node *n = arg;

	if (n->drained && (n->adopted || !n->parts.runtime) && !count_holding(n)) {
		void (*done)(void *) = n->drained;

		n->drained = NULL;
		done(n->drained_arg);
	}
}

static void drain_pods(struct node *n)
{
	const char *uid;
	void *p;
	size_t pos = 0;

	while (map_next(&n->pods, &pos, &uid, &p))
		pod_fail(p, "Terminated", "Pod was terminated in response to imminent node shutdown.");
}

/* ---- adoption ---- */

static void on_found(void *arg, const struct found *f)
{
	struct node *n = arg;
	const char *end = strchr(f->id, '_');
	struct pod *p = end ? map_find_n(&n->pods, f->id, (size_t)(end - f->id)) : NULL;

	if (p)
		pod_found(p, f);
	else
		n->parts.runtime->ops->remove(n->parts.runtime, f->id);
}

/* Directories of pods that are not in the API any more. */
static void sweep(struct node *n)
{
	auto_free char *path = xasprintf("%s/pods", n->dir);
	json_auto_t *gone = json_array();
	DIR *d = opendir(path);
	struct dirent *entry;
	json_t *uid;
	size_t i;

	while (d && (entry = readdir(d)))
		if (entry->d_name[0] != '.' && !map_find(&n->pods, entry->d_name))
			json_array_append_new(gone, jsonx_string(entry->d_name));
	if (d)
		closedir(d);
	json_array_foreach (gone, i, uid)
		pod_sweep(&n->parts, json_string_value(uid));
}

/* Files of PBS jobs that are not running any more. */
static void sweep_jobs(struct node *n)
{
	json_auto_t *kept = json_array();
	auto_free char *dir = pbs_files_dir(n->parts.rootless ? n->dir : NULL, n->prefix);
	size_t pos = 0;
	void *p;

	while (map_next(&n->pods, &pos, NULL, &p))
		if (pod_pbs_node_file(p))
			json_array_append_new(kept, jsonx_string(pod_pbs_node_file(p)));
	if (!n->parts.fake)
		pbs_files_sweep(dir, kept);
}

static json_t *uids_of(const struct node *n)
{
	json_t *uids = json_array();
	const char *uid;
	void *p;
	size_t pos = 0;

	while (map_next(&n->pods, &pos, &uid, &p))
		if (pod_holds(p))
			json_array_append_new(uids, json_string(uid));
	return uids;
}

static bool lives(void *arg, const char *uid)
{
	struct node *n = arg;

	return map_find(&n->pods, uid) != NULL;
}

static void adopt(struct node *n)
{
	json_auto_t *uids = NULL;
	struct err e = ERR_INIT;
	const json_t *obj;
	const char *uid;
	void *p;
	size_t pos = 0;

	if (n->adopted || !n->services_known || !informer_synced(n->informer) || !n->parts.runtime)
		return;
	n->adopted = true;
	while (informer_next(n->informer, &pos, &obj))
		add_pod(n, obj);
	if (n->parts.runtime->ops->adopt(n->parts.runtime, on_found, n, &e) < 0)
		log_error("look for containers of an earlier server: %s, ignoring", e.text);
	sweep(n);
	sweep_jobs(n);
	uids = uids_of(n);
	if (n->parts.net)
		net_keep_only(n->parts.net, uids);
	gpus_keep_only(n->parts.gpus, uids);
	logs_settle(n->parts.logs, lives, n);
	pos = 0;
	while (map_next(&n->pods, &pos, &uid, &p))
		pod_begin(p);
	idle_watch_touch(n->idle);
	if (n->draining) {
		drain_pods(n);
		loop_schedule(n->parts.loop, &n->check);
	}
	loop_schedule(n->parts.loop, &n->tell);
}

static void on_pods_synced(void *arg)
{
	adopt(arg);
}

static void on_services_synced(void *arg)
{
	struct node *n = arg;

	n->services_known = true;
	adopt(n);
}

void node_drain(struct node *n, void (*done)(void *arg), void *arg)
{
	n->drained = done;
	n->drained_arg = arg;
	n->draining = true;
	free(n->problem);
	n->problem = xstrdup("the node is being shut down");
	loop_schedule(n->parts.loop, &n->tell);
	loop_schedule(n->parts.loop, &n->check);
	drain_pods(n);
	/* Without a network nobody tells of services; an earlier server that had one may have left containers. */
	if (!n->parts.net)
		on_services_synced(n);
}

/* ---- opening ---- */

/* The address other machines would see. */
static char *own_address(void)
{
	struct sockaddr_in to = { .sin_family = AF_INET, .sin_port = htons(9) };
	struct sockaddr_in own = { 0 };
	socklen_t len = sizeof(own);
	auto_close int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	char text[INET_ADDRSTRLEN] = "127.0.0.1";

	inet_pton(AF_INET, ADDRESS_PROBE, &to.sin_addr);
	if (fd >= 0 && connect(fd, (struct sockaddr *)&to, sizeof(to)) == 0 &&
	    getsockname(fd, (struct sockaddr *)&own, &len) == 0)
		inet_ntop(AF_INET, &own.sin_addr, text, sizeof(text));
	return xstrdup(text);
}

static char *own_host(void)
{
	char host[256] = "";

	gethostname(host, sizeof(host) - 1);
	host[strcspn(host, ".")] = '\0';
	return xstrdup(*host ? host : "localhost");
}

/* As Kubernetes takes it. */
static char *name_of_host(const char *host)
{
	char *name = xstrdup(host);

	for (char *c = name; *c; c++)
		*c = (char)(*c >= 'A' && *c <= 'Z' ? *c + 32 : *c == '_' ? '-' : *c);
	return name;
}

static void cannot(struct node *n, const char *what, struct err *e)
{
	log_error("%s: %s; no pods will run", what, e->text);
	if (!n->problem)
		n->problem = xasprintf("%s: %s", what, e->text);
	err_clear(e);
}

static void open_network(struct node *n, const struct node_config *config)
{
	struct net_config c = { .prefix = n->prefix,
				.pod_cidr = POD_CIDR,
				.service_cidr = SERVICE_CIDR,
				.dir = n->dir,
				.domain = DOMAIN,
				.api_host = config->api_host,
				.api_port = config->api_port };
	struct err e = ERR_INIT;

	if (net_open(n->parts.loop, &c, &n->parts.net, &e) < 0) {
		cannot(n, "pod network", &e);
		return;
	}
	n->parts.services = services_new(n->parts.client, n->parts.net, on_services_synced, n);
	services_publish_api(n->parts.services, n->ip, config->api_port);
}

static void open_runtime(struct node *n, const struct node_config *config)
{
	struct runtime_config c = {
		.dir = n->dir, .name = config->runtime, .prefix = n->prefix, .rootless = config->rootless
	};
	struct runtime_events events = { .exited = on_exited, .arg = n };
	struct err e = ERR_INIT;

	if (runtime_open(n->parts.loop, &c, &events, &n->parts.runtime, &e) < 0)
		cannot(n, "container runtime", &e);
}

/* Is something mounted exactly here? */
static bool is_mount(const char *path)
{
	auto_free char *parent = xasprintf("%s/..", path);
	struct stat here;
	struct stat above;

	return stat(path, &here) == 0 && stat(parent, &above) == 0 && here.st_dev != above.st_dev;
}

/* What lives only as long as the machine is up is kept in memory: small files that come and go with each container cost
 * the disk's file system more than all else.  Without root it stays on disk: a mount could be
 * seen from inside the user namespace only, and the way there is in this directory. */
static void mount_run(struct node *n)
{
	auto_free char *path = xasprintf("%s/run", n->dir);
	struct statfs fs;
	struct err e = ERR_INIT;

	if (n->parts.fake || n->parts.rootless || file_make_dirs(path, 0700, &e) < 0)
		return;
	n->parts.run_in_memory = (statfs(path, &fs) == 0 && fs.f_type == TMPFS_MAGIC && is_mount(path)) ||
				 mount("stoker", path, "tmpfs", MS_NOSUID | MS_NODEV, "mode=0700") == 0;
	if (!n->parts.run_in_memory)
		log_debug("keep %s on disk: %s", path, strerror(errno));
}

/* Each pod is a small hierarchy of its own, as a home directory is. */
static void spread_out(const struct node *n)
{
	static const char *const names[] = { "pods", "logs" };

	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		auto_free char *path = xasprintf("%s/%s", n->dir, names[i]);
		struct err ignored = ERR_INIT;

		if (file_make_dirs(path, 0700, &ignored) == 0)
			file_spread(path);
	}
}

static void unmount_run(const struct node *n)
{
	auto_free char *path = xasprintf("%s/run", n->dir);

	/* A monitor in its last moments may still be there: with it goes what is left. */
	if (!n->parts.fake && is_mount(path))
		umount2(path, MNT_DETACH | UMOUNT_NOFOLLOW);
}

static int open_parts(struct node *n, const struct node_config *config, struct err *e)
{
	struct images_config images = { .dir = n->dir, .prefix = n->prefix };
	struct gpus_config gpus = { .dir = n->dir, .simulate = config->gpus, .share = config->share_gpus };
	struct logs_config logs = { .dir = n->dir,
				    .keep_seconds = config->log_keep_seconds,
				    .max_bytes = config->log_max_bytes };

	if (images_open(n->parts.loop, &images, &n->parts.images, e) < 0 || gpus_open(&gpus, &n->parts.gpus, e) < 0 ||
	    logs_open(n->parts.loop, &logs, &n->parts.logs, e) < 0)
		return -1;
	n->parts.users = host_users_new();
	n->parts.trash = trash_new(n->parts.loop, n->dir);
	n->claim_dirs = claim_dirs_new(n->parts.client, n->dir, n->parts.trash);
	n->image_keep = image_keep_new(n->parts.loop, n->parts.images, &(struct image_keep_config){ 0 });
	if (config->problem)
		n->problem = xstrdup(config->problem);
	else
		open_runtime(n, config);
	/* Without root there is no network but the host's, and nobody to wait for. */
	if (n->parts.rootless)
		n->parts.api_service =
			json_pack("[{s:{s:s}, s:{s:s, s:[{s:s, s:i}]}}]", "metadata", "name", "kubernetes", "spec",
				  "clusterIP", config->api_host, "ports", "name", "https", "port", config->api_port);
	if (n->parts.fake || n->parts.rootless || config->problem)
		n->services_known = true;
	else
		open_network(n, config);
	return 0;
}

static void tell_root_ca(struct node *n, const char *ns)
{
	size_t pos = 0;
	void *p;

	while (map_next(&n->pods, &pos, NULL, &p))
		pod_root_ca_changed(p, ns);
}

static void on_root_ca(void *arg, const json_t *obj, const json_t *old)
{
	tell_root_ca(arg, jsonx_str_or(obj ? obj : old, "metadata.namespace", ""));
}

static void on_root_cas_synced(void *arg)
{
	tell_root_ca(arg, NULL);
}

static void follow_root_cas(struct node *n)
{
	n->parts.root_cas = informer_new(n->parts.client, &(struct ref){ .api_version = "v1", .plural = "configmaps" },
					 &(struct list_options){ .fields = "metadata.name=" ROOT_CA },
					 &(struct informer_handlers){ on_root_ca, on_root_cas_synced, n });
}

int node_new(struct client *c, const struct node_config *config, struct node **ret, struct err *e)
{
	struct node *n = xcalloc(1, sizeof(*n));
	unsigned char hash[32];
	auto_sbuf struct sbuf hex = SBUF(128);
	auto_free char *real = realpath(config->dir, NULL);
	auto_free char *field = NULL;
	struct informer_handlers h = { .change = on_pod, .synced = on_pods_synced, .arg = n };
	struct ref ref = { .api_version = "v1", .plural = "pods" };

	n->dir = xstrdup(real ? real : config->dir);
	n->host = config->name ? xstrdup(config->name) : own_host();
	n->name = name_of_host(n->host);
	n->socket = config->socket ? xstrdup(config->socket) : NULL;
	crypto_sha256(n->dir, strlen(n->dir), hash);
	hex_encode(hash, 4, &hex);
	n->prefix = sbuf_steal(&hex);
	n->ip = own_address();
	map_init(&n->pods, free_pod);
	n->parts = (struct node_parts){ .loop = c->loop,
					.client = c,
					.dir = n->dir,
					.name = n->name,
					.host = n->host,
					.socket = n->socket,
					.prefix = n->prefix,
					.host_ip = n->ip,
					.host_roots = config->host_roots,
					.rootless = config->rootless,
					.fake = config->runtime && streq(config->runtime, "fake"),
					.pods = &n->pods,
					.pace = &n->pace,
					.cards_changed = on_cards_changed,
					.swept = on_swept,
					.gone = on_gone,
					.arg = n };
	n->parts.events = events_new(c, "kubelet", n->name);
	n->tell = (struct loop_hook){ .run = tell, .arg = n, .phase = LOOP_WORK };
	n->again = (struct loop_timer){ .fire = tell, .arg = n };
	n->check = (struct loop_hook){ .run = on_check, .arg = n, .phase = LOOP_WORK };
	mount_run(n);
	spread_out(n);
	if (open_parts(n, config, e) < 0) {
		node_free(n);
		return -1;
	}
	follow_root_cas(n);
	n->idle = idle_watch_new(&n->parts);
	follow_self(n);
	field = xasprintf("spec.nodeName=%s", n->name);
	n->informer = informer_new(c, &ref, &(struct list_options){ .fields = field }, &h);
	n->kubelet = node_kubelet_new(n, &n->parts);
	n->lease = node_lease_new(c, n->name, on_lease_lost, n);
	loop_schedule(c->loop, &n->tell);
	*ret = n;
	return 0;
}

void node_free(struct node *n)
{
	bool last;

	if (!n)
		return;
	node_kubelet_free(n->kubelet);
	node_lease_free(n->lease);
	informer_free(n->informer);
	informer_free(n->self);
	loop_unschedule(n->parts.loop, &n->tell);
	loop_unschedule(n->parts.loop, &n->check);
	loop_timer_done(&n->again);
	idle_watch_free(n->idle);
	/* Before adoption nobody knows what is still there. */
	last = n->adopted && !count_holding(n);
	map_done(&n->pods);
	informer_free(n->parts.root_cas);
	claim_dirs_free(n->claim_dirs);
	services_free(n->parts.services);
	runtime_free(n->parts.runtime);
	if (n->parts.net)
		net_free(n->parts.net, last);
	image_keep_free(n->image_keep);
	images_free(n->parts.images);
	gpus_free(n->parts.gpus);
	logs_free(n->parts.logs);
	trash_free(n->parts.trash);
	events_free(n->parts.events);
	host_users_free(n->parts.users);
	if (last && !n->parts.fake) {
		auto_free char *dir = pbs_files_dir(n->parts.rootless ? n->dir : NULL, n->prefix);

		pbs_files_sweep(dir, NULL);
	}
	if (last)
		unmount_run(n);
	json_decref(n->status);
	json_decref(n->parts.api_service);
	free(n->dir);
	free(n->name);
	free(n->host);
	free(n->socket);
	free(n->prefix);
	free(n->ip);
	free(n->problem);
	/* A write of ours may still be answered. */
	if (n->telling)
		n->freed = true;
	else
		free(n);
}

struct kubelet *node_kubelet(struct node *n)
{
	return n->kubelet;
}
