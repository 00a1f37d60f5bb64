// SPDX-License-Identifier: Apache-2.0
/* pod_start.c - a container from its spec to a process
 *
 *	image (pod_image.c) -> root file system -> user -> environment -> mounts -> OCI document -> runtime
 *
 * What is wrong with the spec or its objects, or lacking on the machine (room, processes), leaves the container
 *waiting, with a reason, and is tried again.  What the runtime refuses (no such program) is the end of this run, with
 *exit code 128.
 */
#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/jsonx.h"
#include "base/limits.h"
#include "base/mem.h"
#include "node/bundle.h"
#include "node/idmap.h"
#include "node/pod_parts.h"
#include "node/pod_pbs.h"
#include "node/rootfs.h"
#include "node/sandbox.h"

#define CONFIG_RETRY_MS 5000
#define START_ERROR     128
#define TTY_GID         5
#define AWAITED         "stoker.dev/await-attach"
#define ACCOUNTS_MAX    (4u * 1024 * 1024)

/* ---- looking into the root file system ---- */

/* A file of the container's own, found as it would find it; "" if there is none. */
static char *read_inside(const char *rootfs, const char *path)
{
	auto_sbuf struct sbuf text = SBUF(ACCOUNTS_MAX);
	struct err e = ERR_INIT;

	(void)rootfs_read(rootfs, path, ACCOUNTS_MAX, &text, &e);
	return sbuf_steal(&text);
}

/* Without root a server has few ids to give, and the runtime's own words on that are hard to understand.  Further
 * groups that are not there give no rights and are left out. */
static int check_ids(json_t *user, struct err *e)
{
	int64_t uid = jsonx_int_or(user, "uid", 0);
	int64_t gid = jsonx_int_or(user, "gid", 0);
	json_t *groups = json_object_get(user, "groups");

	for (size_t i = json_array_size(groups); i > 0; i--) {
		int64_t group = json_integer_value(json_array_get(groups, i - 1));

		if (group == gid || !idmap_has_gid((uint32_t)group))
			json_array_remove(groups, i - 1);
	}
	if (idmap_has_uid((uint32_t)uid) && idmap_has_gid((uint32_t)gid))
		return 0;
	return err_set(e, ERR_INVALID,
		       "the container is to run as user %lld and group %lld, and the server, which was not started by "
		       "root, may not use them: give its account ranges in /etc/subuid and /etc/subgid, or start "
		       "it as root",
		       (long long)uid, (long long)gid);
}

static int read_accounts(struct ctr *c, const char *dir, const json_t *image, struct ctr_accounts *a, struct err *e)
{
	auto_free char *rootfs = xasprintf("%s/rootfs", dir);

	a->passwd = read_inside(rootfs, "/etc/passwd");
	a->group = read_inside(rootfs, "/etc/group");
	if (user_resolve(c->pod->obj, c->spec, image, a->passwd, a->group, &a->user, e) < 0)
		return -1;
	return c->pod->parts->rootless ? check_ids(a->user, e) : 0;
}

static void accounts_done(struct ctr_accounts *a)
{
	free(a->passwd);
	free(a->group);
	json_decref(a->user);
}

/* ---- the document ---- */

static const char *ns_path(const struct pod *p, const char *kind, bool host, char *buf, size_t n)
{
	return host ? NULL : sandbox_ns(p->run_dir, kind, buf, n);
}

static int make_document(struct ctr *c, const json_t *pod, const json_t *image, const struct ctr_accounts *a,
			 const json_t *env, const json_t *mounts, const struct ctr_rights *rights, json_t **ret,
			 struct err *e)
{
	struct pod *p = c->pod;
	auto_free char *shm = NULL;
	char net[4096];
	char ipc[4096];
	char uts[4096];
	auto_free char *pids = xasprintf("%s/pid", p->run_dir);
	struct bundle_input in = {
		.pod = pod,
		.container = c->spec,
		.image_config = image,
		.env = env,
		.mounts = mounts,
		.devices = rights->devices,
		.seccomp = rights->seccomp,
		.caps = rights->caps,
		.cgroup = c->cgroup,
		.net_ns = ns_path(p, "net", p->host_network, net, sizeof(net)),
		.ipc_ns = ns_path(p, "ipc", jsonx_bool_or(pod, "spec.hostIPC", false), ipc, sizeof(ipc)),
		.uts_ns = ns_path(p, "uts", p->host_network, uts, sizeof(uts)),
		.pid_ns = jsonx_bool_or(pod, "spec.hostPID", false) ? NULL
			  : pod_shares_pids(p)                      ? pids
								    : "",
		.hostname = p->hostname,
		.passwd = a->user,
		.shm_bytes = pod_shm_bytes(p),
		.cgroup_ns = p->parts->runtime->groups.v2 && !p->parts->rootless,
		.rootless = p->parts->rootless,
		.tty_group = idmap_has_gid(TTY_GID),
	};

	if (pod_shm_share(p, &shm, e) < 0)
		return -1;
	in.shm = shm;
	if (pod_shares_pids(p) && pod_pids_make(p, e) < 0)
		return -1;
	return bundle_make(&in, ret, e);
}

/* Where the image is mounted in parts, a read-only root is one of its mounts only: the others are named. */
static void close_parts(const struct ctr *c, const char *rootfs, json_t *doc)
{
	DIR *d = json_is_true(jsonx_at(doc, "root.readonly")) && c->pod->parts->rootless ? opendir(rootfs) : NULL;
	json_t *paths = json_array();
	struct dirent *entry;
	struct stat root, st;

	while (d && fstat(dirfd(d), &root) == 0 && (entry = readdir(d)))
		if (!streq(entry->d_name, ".") && !streq(entry->d_name, "..") &&
		    fstatat(dirfd(d), entry->d_name, &st, AT_SYMLINK_NOFOLLOW) == 0 && st.st_dev != root.st_dev)
			json_array_append_new(paths, jsonx_stringf("/%s", entry->d_name));
	if (d)
		closedir(d);
	if (json_array_size(paths)) {
		json_array_extend(paths, jsonx_at(doc, "linux.readonlyPaths"));
		json_object_set(json_object_get(doc, "linux"), "readonlyPaths", paths);
	}
	json_decref(paths);
}

/* The fake runtime reads its script from annotations; nothing else of the pod is real. */
static json_t *fake_document(const struct ctr *c)
{
	json_t *doc = json_pack("{s:{s:[s]}, s:{}}", "process", "args", "fake", "annotations");
	const char *key;
	json_t *v;

	json_object_foreach (jsonx_at(c->pod->obj, "metadata.annotations"), key, v)
		if (str_starts(key, "stoker.dev/fake-"))
			json_object_set(json_object_get(doc, "annotations"), key, v);
	return doc;
}

/* Everything between the image and the runtime. */
static int prepare(struct ctr *c, const char *dir, const struct image_info *info, json_t **ret, struct err *e)
{
	struct pod *p = c->pod;
	json_auto_t *objects = pod_objects(p);
	json_auto_t *pod = pod_as_seen(p);
	json_auto_t *services = NULL;
	json_auto_t *env = NULL;
	json_auto_t *mounts = NULL;
	struct ctr_accounts accounts = { 0 };
	struct ctr_rights rights = { 0 };
	struct gpu_grant grant = { 0 };
	auto_free char *rootfs = xasprintf("%s/rootfs", dir);
	const char *holder = c->name, *uid = pod_inside_cards(p, &holder);
	int cards[PBS_CARDS_MOST];
	size_t ncards;
	int r = -1;

	if (p->parts->services)
		services = services_for_env(p->parts->services, p->ns);
	else
		services = json_incref(p->parts->api_service);
	ncards = pod_pbs_cards(p, cards, PBS_CARDS_MOST);
	if (ncards)
		gpus_grant_these(p->parts->gpus, cards, ncards, &grant);
	else
		gpus_grant(p->parts->gpus, uid, holder, &grant);
	if (ctr_rootfs_make(c, e) == 0 && read_accounts(c, dir, info->config, &accounts, e) == 0 &&
	    env_resolve(pod, c->spec, info->config, services, objects, &env, e) == 0) {
		json_array_extend(env, grant.env);
		if (ctr_mounts(c, &accounts, env, grant.mounts, &mounts, e) == 0 &&
		    ctr_rights(c, grant.devices, &rights, e) == 0)
			r = make_document(c, pod, info->config, &accounts, env, mounts, &rights, ret, e);
	}
	if (r == 0)
		r = rootfs_check(rootfs, *ret, e);
	if (r == 0)
		rootfs_make_dir(rootfs, jsonx_str_or(*ret, "process.cwd", "/"));
	if (r == 0)
		close_parts(c, rootfs, *ret);
	ctr_rights_done(&rights);
	gpu_grant_done(&grant);
	accounts_done(&accounts);
	return r;
}

/* ---- starting ---- */

static void cannot_prepare(struct ctr *c, const struct err *e)
{
	bool config = e->kind == ERR_NOT_FOUND || e->kind == ERR_INVALID || e->kind == ERR_FORBIDDEN;
	const char *reason = config ? "CreateContainerConfigError" : "CreateContainerError";

	if (c->pod->pbs && pod_pbs_fault(c->pod, e)) {
		c->state = CTR_WAITING;
		return;
	}
	ctr_event(c, "Warning", "Failed", "Error: %s", e->text);
	ctr_wait(c, reason, e->text);
	c->state = CTR_WAITING;
	c->not_before_ms = clock_mono_ms() + CONFIG_RETRY_MS;
	pod_kick(c->pod);
}

static void cannot_start(struct ctr *c, const struct err *e)
{
	struct exit_info exit = { .code = START_ERROR, .finished_us = clock_wall_micros() };

	ctr_event(c, "Warning", "Failed", "Error: %s", e->text);
	c->started_us = 0;
	free(c->stop_reason);
	c->stop_reason = xstrdup("StartError");
	ctr_ended(c, &exit);
	c->end.message = xasprintf("failed to start container \"%s\": %s", c->name, e->text);
}

static void on_started(void *arg, pid_t pid, const struct err *e)
{
	struct ctr *c = ticket_use(arg);

	if (!c || c->state != CTR_STARTING)
		return;
	if (pid <= 0) {
		if (c->pod->pbs)
			pod_pbs_fault(c->pod, e);
		if (e->kind == ERR_INVALID)
			cannot_start(c, e);
		else
			cannot_prepare(c, e);
		return;
	}
	c->state = CTR_RUNNING;
	c->started_us = clock_wall_micros();
	c->pid = pid;
	ctr_wait(c, NULL, NULL);
	/* Jobs come by the thousand, and an event is as much to write as a pod. */
	c->start_new = !c->pod->process;
	if (c->pod->pbs)
		pod_start_clock(c->pod);
	if (!c->init)
		logs_measure(c->pod->parts->logs, c->pod->obj, c->log_path);
	ctr_hook_start(c);
	pod_kick(c->pod);
}

static int number_of_signal(const json_t *image)
{
	static const struct {
		const char *name;
		int number;
	} rows[] = { { "TERM", SIGTERM }, { "INT", SIGINT },   { "QUIT", SIGQUIT }, { "KILL", SIGKILL },
		     { "HUP", SIGHUP },   { "USR1", SIGUSR1 }, { "USR2", SIGUSR2 }, { "WINCH", SIGWINCH } };
	const char *text = jsonx_str_or(image, "config.StopSignal", "SIGTERM");
	int64_t n;

	if (str_int64(text, 1, 64, &n))
		return (int)n;
	if (str_starts(text, "SIG"))
		text += 3;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		if (streq(rows[i].name, text))
			return rows[i].number;
	return str_starts(text, "RTMIN+") && str_int64(text + 6, 0, 30, &n) ? SIGRTMIN + (int)n : SIGTERM;
}

/* The number of this run, and with it the names of its container and its log. */
static int number_run(struct ctr *c, struct err *e)
{
	if (c->id)
		c->pod->parts->runtime->ops->remove(c->pod->parts->runtime, c->id);
	free(c->id);
	c->id = xasprintf("%s_%s_%d", c->pod->uid, c->name, c->attempt);
	free(c->log_path);
	c->log_path = NULL;
	return logs_path(c->pod->parts->logs, c->pod->obj, c->name, c->attempt, &c->log_path, e);
}

static int make_bundle(struct ctr *c, const struct image_info *info, struct err *e)
{
	auto_free char *dir = ctr_dir(c);
	auto_free char *config = xasprintf("%s/config.json", dir);
	auto_sbuf struct sbuf text = SBUF(LIMIT_BODY);
	json_auto_t *doc = NULL;

	if (file_make_dirs(dir, 0700, e) < 0 || number_run(c, e) < 0)
		return -1;
	if (c->pod->parts->fake)
		doc = fake_document(c);
	else if (prepare(c, dir, info, &doc, e) < 0)
		return -1;
	jsonx_dump(doc, &text);
	if (file_place(config, 0600, sbuf_str(&text), e) < 0)
		return -1;
	json_decref(c->process);
	c->process = json_incref(json_object_get(doc, "process"));
	c->stop_signal = number_of_signal(info->config);
	free(c->image_id);
	c->image_id = info->id ? xstrdup(*info->digest ? info->digest : info->id) : NULL;
	return 0;
}

char *ctr_id_text(const struct ctr *c)
{
	if (c->pod->process)
		return c->pid ? xasprintf("process://%d", (int)c->pid) : NULL;
	return c->id ? xasprintf("stoker://%s", c->id) : NULL;
}

/* Somebody has said that he will attach, and wants to see everything: startdocker, qsub -I. */
static bool is_awaited(const struct ctr *c)
{
	const json_t *note = json_object_get(jsonx_at(c->pod->obj, "metadata.annotations"), AWAITED);

	return !c->init && str_same(json_string_value(note), "true");
}

static void launch(struct ctr *c)
{
	struct runtime *runtime = c->pod->parts->runtime;
	auto_free char *dir = ctr_dir(c);
	json_auto_t *files = NULL;
	struct err e = ERR_INIT;
	struct container_start start = {
		.id = c->id,
		.bundle = dir,
		.log_path = c->log_path,
		.tty = jsonx_bool_or(c->spec, "tty", false),
		.stdin_open = jsonx_bool_or(c->spec, "stdin", false),
		.stdin_once = jsonx_bool_or(c->spec, "stdinOnce", false),
		.await = is_awaited(c),
		.cgroup = c->cgroup,
		.process = c->pod->process ? c->process : NULL,
		.joins = c->joins,
	};

	c->prepared = false;
	if (c->pod->pbs && !c->pod->process && ctr_pbs_files(c, &files, &e) < 0) {
		cannot_prepare(c, &e);
		return;
	}
	start.files = files;
	c->pid = 0;
	if (!c->pod->process)
		ctr_event(c, "Normal", "Created", "Created container: %s", c->name);
	runtime->ops->start(runtime, &start, on_started, ctr_ticket(c));
}

/* The run before becomes history. */
static void turn_page(struct ctr *c)
{
	free(c->last.reason);
	free(c->last.message);
	free(c->last.id);
	c->last = c->end;
	c->end = (struct ctr_end){ 0 };
	free(c->last_log_path);
	c->last_log_path = TAKE(c->log_path);
	c->attempt++;
}

bool ctr_prepare(struct ctr *c)
{
	struct image_info info = { 0 };
	struct err e = ERR_INIT;

	if (c->prepared)
		return true;
	if (!c->pod->parts->fake && !c->pod->process && ctr_image(c, &info) != 0)
		return false;
	if (c->pod->process)
		c->prepared = number_run(c, &e) == 0 && ctr_pbs_prepare(c, &e) == 0;
	else
		c->prepared = make_bundle(c, &info, &e) == 0;
	if (!c->prepared)
		cannot_prepare(c, &e);
	else if (c->state == CTR_WAITING)
		ctr_wait(c, NULL, NULL);
	image_info_done(&info);
	return c->prepared;
}

void ctr_start(struct ctr *c)
{
	if (c->state == CTR_EXITED)
		turn_page(c);
	c->state = CTR_STARTING;
	c->termed = c->killed = false;
	c->kill_ms = 0;
	if (ctr_prepare(c))
		launch(c);
}
