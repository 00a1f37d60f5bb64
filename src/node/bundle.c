// SPDX-License-Identifier: Apache-2.0
/* bundle.c - the OCI document of one container
 *
 * Built from tables: what every container gets (mounts, masked paths, devices), then what its spec asks for.  The order
 * of rights: a privileged container has everything; others start from Docker's default capabilities, add and drop
 * theirs, and keep the masks.  no_new_privs is set unless allowPrivilegeEscalation is left open.
 *
 * In a user namespace of an ordinary user some file systems cannot be mounted, because they show more than is that
 * namespace's: then the host's own is bound instead.  There are no cgroups, so no limits; and no nodes of devices, so
 * those are bound too.
 */
#include "node/bundle.h"

#include <linux/capability.h>
#include <sys/statvfs.h>
#include <sys/sysinfo.h>

#include "base/jsonx.h"
#include "base/limits.h"
#include "base/mem.h"
#include "kinds/quantity.h"

/* ---- rights ---- */

static const char *const default_caps[] = { "AUDIT_WRITE", "CHOWN",   "DAC_OVERRIDE",     "FOWNER",    "FSETID",
					    "KILL",        "MKNOD",   "NET_BIND_SERVICE", "NET_RAW",   "SETFCAP",
					    "SETGID",      "SETPCAP", "SETUID",           "SYS_CHROOT" };

static const struct {
	const char *name;
	int number;
} all_caps[] = {
	{ "AUDIT_CONTROL", CAP_AUDIT_CONTROL },
	{ "AUDIT_READ", CAP_AUDIT_READ },
	{ "AUDIT_WRITE", CAP_AUDIT_WRITE },
	{ "BLOCK_SUSPEND", CAP_BLOCK_SUSPEND },
	{ "BPF", CAP_BPF },
	{ "CHECKPOINT_RESTORE", CAP_CHECKPOINT_RESTORE },
	{ "CHOWN", CAP_CHOWN },
	{ "DAC_OVERRIDE", CAP_DAC_OVERRIDE },
	{ "DAC_READ_SEARCH", CAP_DAC_READ_SEARCH },
	{ "FOWNER", CAP_FOWNER },
	{ "FSETID", CAP_FSETID },
	{ "IPC_LOCK", CAP_IPC_LOCK },
	{ "IPC_OWNER", CAP_IPC_OWNER },
	{ "KILL", CAP_KILL },
	{ "LEASE", CAP_LEASE },
	{ "LINUX_IMMUTABLE", CAP_LINUX_IMMUTABLE },
	{ "MAC_ADMIN", CAP_MAC_ADMIN },
	{ "MAC_OVERRIDE", CAP_MAC_OVERRIDE },
	{ "MKNOD", CAP_MKNOD },
	{ "NET_ADMIN", CAP_NET_ADMIN },
	{ "NET_BIND_SERVICE", CAP_NET_BIND_SERVICE },
	{ "NET_BROADCAST", CAP_NET_BROADCAST },
	{ "NET_RAW", CAP_NET_RAW },
	{ "PERFMON", CAP_PERFMON },
	{ "SETFCAP", CAP_SETFCAP },
	{ "SETGID", CAP_SETGID },
	{ "SETPCAP", CAP_SETPCAP },
	{ "SETUID", CAP_SETUID },
	{ "SYSLOG", CAP_SYSLOG },
	{ "SYS_ADMIN", CAP_SYS_ADMIN },
	{ "SYS_BOOT", CAP_SYS_BOOT },
	{ "SYS_CHROOT", CAP_SYS_CHROOT },
	{ "SYS_MODULE", CAP_SYS_MODULE },
	{ "SYS_NICE", CAP_SYS_NICE },
	{ "SYS_PACCT", CAP_SYS_PACCT },
	{ "SYS_PTRACE", CAP_SYS_PTRACE },
	{ "SYS_RAWIO", CAP_SYS_RAWIO },
	{ "SYS_RESOURCE", CAP_SYS_RESOURCE },
	{ "SYS_TIME", CAP_SYS_TIME },
	{ "SYS_TTY_CONFIG", CAP_SYS_TTY_CONFIG },
	{ "WAKE_ALARM", CAP_WAKE_ALARM },
};

static const char *cap_name(const char *name)
{
	return str_starts(name, "CAP_") ? name + 4 : name;
}

static bool listed(const json_t *list, const char *cap)
{
	json_t *v;
	size_t i;

	json_array_foreach ((json_t *)list, i, v)
		if (json_is_string(v) &&
		    (streq(json_string_value(v), "ALL") || streq(cap_name(json_string_value(v)), cap)))
			return true;
	return false;
}

static bool is_default_cap(const char *cap)
{
	for (size_t i = 0; i < ARRAY_SIZE(default_caps); i++)
		if (streq(default_caps[i], cap))
			return true;
	return false;
}

static const json_t *security_of(const json_t *container, const char *field)
{
	return json_object_get(json_object_get(container, "securityContext"), field);
}

static bool is_privileged(const json_t *container)
{
	return json_is_true(security_of(container, "privileged"));
}

static bool may_have(const json_t *caps, const char *cap, bool everything)
{
	const json_t *add = json_object_get(caps, "add");

	return everything || (is_default_cap(cap) && !listed(json_object_get(caps, "drop"), cap)) || listed(add, cap);
}

/* "Everything" is what the server has itself; what is asked for by name is tried, so that its absence is seen. */
static json_t *capabilities(const json_t *container, bool root, uint64_t available)
{
	const json_t *caps = security_of(container, "capabilities");
	bool everything = is_privileged(container) || listed(json_object_get(caps, "add"), "ALL");
	json_t *set = json_array();
	json_t *empty = json_array();
	json_t *doc;

	for (size_t i = 0; i < ARRAY_SIZE(all_caps); i++) {
		bool there = !everything || !available || (available >> all_caps[i].number & 1);

		if (there && may_have(caps, all_caps[i].name, everything))
			json_array_append_new(set, jsonx_stringf("CAP_%s", all_caps[i].name));
	}
	/* An ordinary user's process starts without them; the bounding set is what setuid programs could get. */
	doc = json_pack("{s:O, s:O, s:O, s:O}", "bounding", set, "effective", root ? set : empty, "permitted",
			root ? set : empty, "inheritable", empty);
	json_decref(set);
	json_decref(empty);
	return doc;
}

/* RuntimeDefault: system calls no training job needs and kernel exploits like. */
static const char *const denied_calls[] = {
	"acct",
	"add_key",
	"bpf",
	"delete_module",
	"finit_module",
	"fsconfig",
	"fsmount",
	"fsopen",
	"fspick",
	"init_module",
	"ioperm",
	"iopl",
	"kcmp",
	"kexec_file_load",
	"kexec_load",
	"keyctl",
	"lookup_dcookie",
	"mount_setattr",
	"move_mount",
	"name_to_handle_at",
	"nfsservctl",
	"open_by_handle_at",
	"open_tree",
	"perf_event_open",
	"pivot_root",
	"quotactl",
	"reboot",
	"request_key",
	"settimeofday",
	"clock_settime",
	"swapoff",
	"swapon",
	"sysfs",
	"_sysctl",
	"umount2",
	"uselib",
	"userfaultfd",
	"ustat",
	"vhangup",
};

const json_t *bundle_seccomp_profile(const json_t *pod, const json_t *container)
{
	const json_t *profile = security_of(container, "seccompProfile");

	if (is_privileged(container))
		return NULL;
	return profile ? profile : jsonx_at(pod, "spec.securityContext.seccompProfile");
}

static json_t *seccomp(const struct bundle_input *in)
{
	const char *type = jsonx_str_or(bundle_seccomp_profile(in->pod, in->container), "type", "Unconfined");
	json_t *names;

	if (streq(type, "Localhost"))
		return json_incref((json_t *)in->seccomp);
	if (!streq(type, "RuntimeDefault"))
		return NULL;
	names = json_array();
	for (size_t i = 0; i < ARRAY_SIZE(denied_calls); i++)
		json_array_append_new(names, json_string(denied_calls[i]));
	return json_pack("{s:s, s:[{s:o, s:s, s:i}]}", "defaultAction", "SCMP_ACT_ALLOW", "syscalls", "names", names,
			 "action", "SCMP_ACT_ERRNO", "errnoRet", 1);
}

/* ---- process ---- */

static bool amount(const json_t *container, const char *kind, const char *resource, struct quantity *ret)
{
	const json_t *v = json_object_get(json_object_get(json_object_get(container, "resources"), kind), resource);

	return json_is_string(v) && quantity_parse(json_string_value(v), ret);
}

#define OOM_SCORE_MAX 1000

static void expand_into(json_t *list, const json_t *words, const json_t *vars)
{
	json_t *w;
	size_t i;

	json_array_foreach ((json_t *)words, i, w) {
		auto_sbuf struct sbuf text = SBUF(LIMIT_OBJECT);

		env_expand(json_string_value(w) ? json_string_value(w) : "", vars, &text);
		json_array_append_new(list, jsonx_string(text.p ? text.p : ""));
	}
}

/* command replaces the image's Entrypoint and, unless args are given, its Cmd too. */
static json_t *make_args(const json_t *container, const json_t *image, const json_t *vars)
{
	const json_t *command = json_object_get(container, "command");
	const json_t *args = json_object_get(container, "args");
	json_t *list = json_array();

	if (json_array_size(command))
		expand_into(list, command, vars);
	else
		json_array_extend(list, jsonx_at(image, "config.Entrypoint"));
	if (json_array_size(args))
		expand_into(list, args, vars);
	else if (!json_array_size(command))
		json_array_extend(list, jsonx_at(image, "config.Cmd"));
	return list;
}

/* HOME, USER, LOGNAME and HOSTNAME, unless someone set them. */
static json_t *complete_env(const struct bundle_input *in, const json_t *vars)
{
	json_t *env = json_copy((json_t *)in->env);
	auto_free char *made = xasprintf("user%lld", (long long)jsonx_int_or(in->passwd, "uid", 0));
	const char *name = jsonx_str_or(in->passwd, "name", "");
	const struct {
		const char *key, *value;
	} rows[] = {
		{ "HOME", jsonx_str_or(in->passwd, "home", "/") },
		{ "USER", *name ? name : made },
		{ "LOGNAME", *name ? name : made },
		{ "HOSTNAME", in->hostname ? in->hostname : "" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		if (!json_object_get(vars, rows[i].key))
			json_array_append_new(env, jsonx_stringf("%s=%s", rows[i].key, rows[i].value));
	if (jsonx_bool_or(in->container, "tty", false) && !json_object_get(vars, "TERM"))
		json_array_append_new(env, json_string("TERM=xterm"));
	return env;
}

/* Whom the kernel kills first when the machine runs out of memory, as the kubelet sets it.  Lowering the score takes a
 * right that not every server has, so a Guaranteed pod stays at 0. */
static int oom_score(const struct bundle_input *in)
{
	const char *qos = jsonx_str_or(in->pod, "status.qosClass", "BestEffort");
	struct quantity q;
	struct sysinfo si;
	int64_t total;
	int64_t score;

	if (streq(qos, "Guaranteed"))
		return 0;
	if (streq(qos, "BestEffort") || !amount(in->container, "requests", "memory", &q) || sysinfo(&si) < 0)
		return OOM_SCORE_MAX;
	total = (int64_t)si.totalram * si.mem_unit;
	score = OOM_SCORE_MAX - (int64_t)((double)quantity_value(&q) * OOM_SCORE_MAX / (double)total);
	return score < 3 ? 3 : score >= OOM_SCORE_MAX ? OOM_SCORE_MAX - 1 : (int)score;
}

static int make_process(const struct bundle_input *in, json_t **ret, struct err *e)
{
	json_auto_t *vars = env_object(in->env);
	json_auto_t *args = make_args(in->container, in->image_config, vars);
	const char *cwd = jsonx_str(in->container, "workingDir");
	json_int_t uid = jsonx_int_or(in->passwd, "uid", 0);
	bool escalate = !json_is_false(security_of(in->container, "allowPrivilegeEscalation"));
	int score = oom_score(in);
	json_t *p;

	if (!json_array_size(args))
		return err_set(e, ERR_BAD_REQUEST, "no command specified");
	if (!cwd || !*cwd)
		cwd = jsonx_str_or(in->image_config, "config.WorkingDir", "/");
	p = json_pack("{s:b, s:{s:I, s:I, s:O}, s:O, s:o, s:s, s:o, s:b}", "terminal",
		      jsonx_bool_or(in->container, "tty", false), "user", "uid", uid, "gid",
		      (json_int_t)jsonx_int_or(in->passwd, "gid", 0), "additionalGids", jsonx_at(in->passwd, "groups"),
		      "args", args, "env", complete_env(in, vars), "cwd", *cwd ? cwd : "/", "capabilities",
		      capabilities(in->container, uid == 0, in->caps), "noNewPrivileges", !escalate);
	/* An ordinary user may only raise it, and does not know from where. */
	if (!in->rootless || score == OOM_SCORE_MAX)
		json_object_set_new(p, "oomScoreAdj", json_integer(score));
	*ret = p;
	return 0;
}

/* ---- mounts ---- */

#define TTY_GROUP "gid=5" /* by convention; not every user namespace has it */

static const struct {
	const char *target, *type, *source, *options;
} system_mounts[] = {
	{ "/proc", "proc", "proc", "nosuid,noexec,nodev" },
	{ "/dev", "tmpfs", "tmpfs", "nosuid,strictatime,mode=755,size=65536k" },
	{ "/dev/pts", "devpts", "devpts", "nosuid,noexec,newinstance,ptmxmode=0666,mode=0620," TTY_GROUP },
	{ "/dev/mqueue", "mqueue", "mqueue", "nosuid,noexec,nodev" },
	{ "/sys", "sysfs", "sysfs", "nosuid,noexec,nodev,ro" },
	{ "/sys/fs/cgroup", "cgroup", "cgroup", "nosuid,noexec,nodev,relatime,ro" },
};

static json_t *options_list(const char *text)
{
	json_t *list = json_array();
	struct str rest = str_of(text);
	struct str part;

	while (str_split(&rest, ',', &part))
		json_array_append_new(list, json_stringn(part.p, part.n));
	return list;
}

static bool mounted_by_pod(const json_t *mounts, const char *target)
{
	json_t *m;
	size_t i;

	json_array_foreach ((json_t *)mounts, i, m)
		if (str_same(jsonx_str(m, "destination"), target))
			return true;
	return false;
}

static void add_shm(const struct bundle_input *in, json_t *list)
{
	const char *shared = jsonx_bool_or(in->pod, "spec.hostIPC", false) ? "/dev/shm" : in->shm;

	if (mounted_by_pod(in->mounts, "/dev/shm"))
		return;
	json_array_append_new(list, json_pack("{s:s, s:s, s:s, s:[s,s,s,s,o*]}", "destination", "/dev/shm", "type",
					      shared ? "bind" : "tmpfs", "source", shared ? shared : "shm", "options",
					      "nosuid", "noexec", "nodev", shared ? "rbind" : "mode=1777",
					      shared ? NULL : jsonx_stringf("size=%lld", (long long)in->shm_bytes)));
}

static json_t *bind_mount(const char *path, bool read_only)
{
	return json_pack("{s:s, s:s, s:s, s:[s,s]}", "destination", path, "type", "bind", "source", path, "options",
			 "rbind", read_only ? "ro" : "rw");
}

/* What stands for a system mount in a user namespace; NULL: nothing does. */
static json_t *rootless_mount(const struct bundle_input *in, const char *target, const char *type, json_t *options)
{
	size_t i;
	json_t *v;

	if (streq(type, "cgroup") || (streq(type, "mqueue") && !in->ipc_ns))
		return NULL;
	if (streq(type, "sysfs"))
		return bind_mount(target, true);
	if (streq(type, "proc") && !in->pid_ns)
		return bind_mount(target, false);
	json_array_foreach (options, i, v)
		if (streq(type, "devpts") && streq(json_string_value(v), TTY_GROUP) && !in->tty_group) {
			json_array_remove(options, i);
			break;
		}
	return json_pack("{s:s, s:s, s:s, s:O}", "destination", target, "type", type, "source", type, "options",
			 options);
}

static bool has_option(const json_t *options, const char *name)
{
	json_t *v;
	size_t i;

	json_array_foreach ((json_t *)options, i, v)
		if (str_same(json_string_value(v), name))
			return true;
	return false;
}

/* Who makes a mount read-only in a user namespace must keep what the host forbids on it: systemd mounts /sys so that
 * nothing there is executed.  crun sees to that itself, runc 1.1 does not and is refused. */
static void keep_forbidden(json_t *mounts)
{
	static const struct {
		unsigned long flag;
		const char *option;
	} rows[] = { { ST_NOSUID, "nosuid" }, { ST_NODEV, "nodev" }, { ST_NOEXEC, "noexec" } };
	struct statvfs fs;
	json_t *m;
	size_t i;

	json_array_foreach (mounts, i, m) {
		json_t *options = json_object_get(m, "options");
		const char *source = jsonx_str(m, "source");

		if (!has_option(options, "ro") || !source || source[0] != '/' || statvfs(source, &fs) < 0)
			continue;
		for (size_t k = 0; k < ARRAY_SIZE(rows); k++)
			if ((fs.f_flag & rows[k].flag) && !has_option(options, rows[k].option))
				json_array_append_new(options, json_string(rows[k].option));
	}
}

static json_t *make_mounts(const struct bundle_input *in)
{
	json_t *list = json_array();
	bool privileged = is_privileged(in->container);

	for (size_t i = 0; i < ARRAY_SIZE(system_mounts); i++) {
		bool sys = str_starts(system_mounts[i].target, "/sys");
		json_auto_t *options = options_list(system_mounts[i].options);

		if (in->rootless) {
			json_t *m = rootless_mount(in, system_mounts[i].target, system_mounts[i].type, options);

			if (m)
				json_array_append_new(list, m);
			continue;
		}
		if (sys && privileged) /* a privileged container may write to /sys */
			json_array_remove(options, json_array_size(options) - 1);
		json_array_append_new(list, json_pack("{s:s, s:s, s:s, s:O}", "destination", system_mounts[i].target,
						      "type", system_mounts[i].type, "source", system_mounts[i].source,
						      "options", options));
	}
	add_shm(in, list);
	if (in->mounts) {
		json_auto_t *own = in->rootless ? json_deep_copy(in->mounts) : json_incref((json_t *)in->mounts);

		json_array_extend(list, own);
	}
	for (size_t i = 0; in->rootless && i < json_array_size(in->devices); i++) {
		const char *path = jsonx_str(json_array_get(in->devices, i), "path");

		if (path)
			json_array_append_new(list, bind_mount(path, false));
	}
	if (in->rootless)
		keep_forbidden(list);
	return list;
}

/* ---- limits ---- */

#define PIDS_MIN       2048
#define PIDS_PER_CPU   256
#define CPU_PERIOD_US  100000
#define CPU_SHARES_MIN 2

/* Processes and threads of a container that names no limit: far above any training job, far below what hurts the
 * machine. */
static int64_t usual_pids(void)
{
	int64_t n = PIDS_PER_CPU * sysconf(_SC_NPROCESSORS_ONLN);

	return n < PIDS_MIN ? PIDS_MIN : n;
}

static json_t *make_resources(const struct bundle_input *in)
{
	json_t *res = json_object();
	struct quantity q;
	json_t *devices = json_array();
	json_t *d;
	size_t i;

	if (amount(in->container, "limits", "memory", &q))
		json_object_set_new(res, "memory",
				    json_pack("{s:I, s:I}", "limit", (json_int_t)quantity_value(&q), "swap",
					      (json_int_t)quantity_value(&q)));
	if (amount(in->container, "requests", "cpu", &q)) {
		int64_t shares = quantity_milli(&q) * 1024 / 1000;

		jsonx_set_new(res, "cpu.shares", json_integer(shares < CPU_SHARES_MIN ? CPU_SHARES_MIN : shares));
	} else {
		jsonx_set_new(res, "cpu.shares", json_integer(CPU_SHARES_MIN));
	}
	if (amount(in->container, "limits", "cpu", &q)) {
		int64_t quota = quantity_milli(&q) * CPU_PERIOD_US / 1000;

		jsonx_set_new(res, "cpu.quota", json_integer(quota < 1000 ? 1000 : quota));
		jsonx_set_new(res, "cpu.period", json_integer(CPU_PERIOD_US));
	}
	json_object_set_new(
		res, "pids",
		json_pack("{s:I}", "limit",
			  (json_int_t)(amount(in->container, "limits", "stoker.dev/pids", &q) ? quantity_value(&q)
											      : usual_pids())));
	if (is_privileged(in->container)) {
		json_array_append_new(devices, json_pack("{s:b, s:s}", "allow", 1, "access", "rwm"));
	} else {
		json_array_append_new(devices, json_pack("{s:b, s:s}", "allow", 0, "access", "rwm"));
		json_array_foreach ((json_t *)in->devices, i, d)
			json_array_append_new(devices, json_pack("{s:b, s:O*, s:O*, s:O*, s:s}", "allow", 1, "type",
								 json_object_get(d, "type"), "major",
								 json_object_get(d, "major"), "minor",
								 json_object_get(d, "minor"), "access", "rwm"));
	}
	json_object_set_new(res, "devices", devices);
	return res;
}

/* ---- namespaces ---- */

static void add_namespace(json_t *list, const char *type, const char *path)
{
	json_t *ns;

	if (!path)
		return; /* the host's */
	ns = json_pack("{s:s}", "type", type);
	if (*path)
		json_object_set_new(ns, "path", json_string(path));
	json_array_append_new(list, ns);
}

static json_t *make_linux(const struct bundle_input *in)
{
	static const char *const masked[] = { "/proc/acpi",        "/proc/kcore",
					      "/proc/keys",        "/proc/latency_stats",
					      "/proc/timer_list",  "/proc/timer_stats",
					      "/proc/sched_debug", "/proc/scsi",
					      "/sys/firmware",     "/sys/devices/virtual/powercap" };
	static const char *const read_only[] = { "/proc/asound", "/proc/bus", "/proc/fs",
						 "/proc/irq",    "/proc/sys", "/proc/sysrq-trigger" };
	json_t *namespaces = json_array();
	json_t *linux_doc;
	json_t *profile = seccomp(in);

	add_namespace(namespaces, "mount", "");
	add_namespace(namespaces, "pid", in->pid_ns);
	add_namespace(namespaces, "network", in->net_ns);
	add_namespace(namespaces, "ipc", in->ipc_ns);
	add_namespace(namespaces, "uts", in->uts_ns);
	add_namespace(namespaces, "cgroup", in->cgroup_ns && !is_privileged(in->container) ? "" : NULL);
	linux_doc = json_pack("{s:o}", "namespaces", namespaces);
	if (!in->rootless) {
		json_object_set_new(linux_doc, "cgroupsPath", json_string(in->cgroup));
		json_object_set_new(linux_doc, "resources", make_resources(in));
	}
	if (json_array_size(in->devices) && !in->rootless)
		json_object_set(linux_doc, "devices", (json_t *)in->devices);
	if (profile)
		json_object_set_new(linux_doc, "seccomp", profile);
	if (!is_privileged(in->container)) {
		json_t *m = json_array();
		json_t *r = json_array();

		for (size_t i = 0; i < ARRAY_SIZE(masked); i++)
			json_array_append_new(m, json_string(masked[i]));
		for (size_t i = 0; i < ARRAY_SIZE(read_only); i++)
			json_array_append_new(r, json_string(read_only[i]));
		json_object_set_new(linux_doc, "maskedPaths", m);
		json_object_set_new(linux_doc, "readonlyPaths", r);
	}
	return linux_doc;
}

/* Rules that mean nothing on Windows are waived for pods that ask for it (kinds/pod_security.c). */
static int check_os(const json_t *pod, struct err *e)
{
	const char *os = jsonx_str_or(pod, "spec.os.name", "linux");

	if (streq(os, "linux"))
		return 0;
	return err_set(e, ERR_INVALID, "the pod is for %.50s, and this node is not", os);
}

int bundle_make(const struct bundle_input *in, json_t **ret, struct err *e)
{
	bool read_only = json_is_true(security_of(in->container, "readOnlyRootFilesystem"));
	json_t *process = NULL;
	json_t *doc;

	if (check_os(in->pod, e) < 0 || make_process(in, &process, e) < 0)
		return -1;
	doc = json_pack("{s:s, s:o, s:{s:s, s:b}, s:o, s:o, s:{s:s, s:s, s:s, s:s}}", "ociVersion", "1.0.2", "process",
			process, "root", "path", "rootfs", "readonly", read_only, "mounts", make_mounts(in), "linux",
			make_linux(in), "annotations", "stoker.dev/pod", jsonx_str_or(in->pod, "metadata.name", ""),
			"stoker.dev/namespace", jsonx_str_or(in->pod, "metadata.namespace", ""), "stoker.dev/uid",
			jsonx_str_or(in->pod, "metadata.uid", ""), "stoker.dev/container",
			jsonx_str_or(in->container, "name", ""));
	if (in->hostname && in->uts_ns && !*in->uts_ns)
		json_object_set_new(doc, "hostname", jsonx_string(in->hostname));
	*ret = doc;
	return 0;
}
