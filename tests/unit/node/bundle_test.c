// SPDX-License-Identifier: Apache-2.0
#include <linux/capability.h>
#include <sys/statvfs.h>

#include "base/jsonx.h"
#include "base/mem.h"
#include "node/bundle.h"
#include "test.h"

/* The document of a container given as JSON, with a plain environment and user. */
static json_t *make_with(const char *container_text, const char *image_text, int uid, uint64_t caps_there,
			 bool host_ipc)
{
	json_auto_t *container = json_loads(container_text, 0, NULL);
	json_auto_t *image = image_text ? json_loads(image_text, 0, NULL) : NULL;
	json_auto_t *env = json_pack("[s,s]", "PATH=/bin", "X=1");
	json_auto_t *user =
		json_pack("{s:i, s:i, s:[], s:s, s:s}", "uid", uid, "gid", uid, "groups", "name", "", "home", "/");
	json_auto_t *pod = json_pack("{s:{s:s}, s:{s:b}}", "metadata", "name", "p", "spec", "hostIPC", host_ipc);
	json_auto_t *profile = json_pack("{s:s}", "defaultAction", "SCMP_ACT_LOG");
	struct bundle_input in = { .pod = pod,
				   .container = container,
				   .image_config = image,
				   .env = env,
				   .passwd = user,
				   .cgroup = "/stoker-x/pod1/c",
				   .net_ns = "/run/net",
				   .ipc_ns = "",
				   .uts_ns = "",
				   .pid_ns = "",
				   .hostname = "p",
				   .seccomp = profile,
				   .caps = caps_there,
				   .shm_bytes = 1 << 20 };
	struct err e = ERR_INIT;
	json_t *doc = NULL;

	if (bundle_make(&in, &doc, &e) < 0)
		return json_pack("{s:s}", "error", e.text);
	return doc;
}

static json_t *make(const char *container_text, const char *image_text, int uid)
{
	return make_with(container_text, image_text, uid, 0, false);
}

static void check_args(const json_t *doc, const char *want)
{
	auto_sbuf struct sbuf text = SBUF(1024);

	jsonx_dump(jsonx_at(doc, "process.args"), &text);
	CHECK_STR(text.p, want);
}

static bool has(const json_t *list, const char *s)
{
	json_t *v;
	size_t i;

	json_array_foreach (list, i, v)
		if (str_same(json_string_value(v), s))
			return true;
	return false;
}

TEST("command and args replace the image's as Kubernetes says")
{
	static const char image[] = "{\"config\":{\"Entrypoint\":[\"/e\"],\"Cmd\":[\"c\"]}}";
	static const struct {
		const char *container, *want;
	} rows[] = {
		{ "{}", "[\"/e\",\"c\"]" },
		{ "{\"args\":[\"a\"]}", "[\"/e\",\"a\"]" },
		{ "{\"command\":[\"bin/sh\"]}", "[\"bin/sh\"]" },
		{ "{\"command\":[\"sh\"],\"args\":[\"-c\",\"echo $(X) $$(X)\"]}", "[\"sh\",\"-c\",\"echo 1 $(X)\"]" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		json_auto_t *doc = make(rows[i].container, image, 0);

		check_args(doc, rows[i].want);
	}
	json_auto_t *none = make("{}", NULL, 0);
	CHECK_STR(jsonx_str(none, "error"), "no command specified");
}

TEST("rights: default, dropped, added, privileged, and none for an ordinary user")
{
	json_auto_t *plain = make("{\"command\":[\"a\"]}", NULL, 0);
	json_auto_t *drop = make("{\"command\":[\"a\"],\"securityContext\":{\"capabilities\":{\"drop\":[\"ALL\"],"
				 "\"add\":[\"NET_BIND_SERVICE\"]}}}",
				 NULL, 0);
	json_auto_t *priv = make("{\"command\":[\"a\"],\"securityContext\":{\"privileged\":true}}", NULL, 0);
	json_auto_t *user =
		make("{\"command\":[\"a\"],\"securityContext\":{\"allowPrivilegeEscalation\":false}}", NULL, 1000);

	CHECK(has(jsonx_at(plain, "process.capabilities.effective"), "CAP_CHOWN"));
	CHECK(!has(jsonx_at(plain, "process.capabilities.bounding"), "CAP_SYS_ADMIN"));
	CHECK_INT(json_array_size(jsonx_at(drop, "process.capabilities.bounding")), 1);
	CHECK(has(jsonx_at(priv, "process.capabilities.effective"), "CAP_SYS_ADMIN"));
	CHECK(!jsonx_at(priv, "linux.maskedPaths"));
	CHECK(has(jsonx_at(plain, "linux.maskedPaths"), "/proc/kcore"));
	CHECK_INT(json_array_size(jsonx_at(user, "process.capabilities.effective")), 0);
	CHECK(jsonx_bool_or(user, "process.noNewPrivileges", false));
	CHECK(!jsonx_bool_or(plain, "process.noNewPrivileges", true));
}

TEST("limits become the control group's, and no device is allowed by itself")
{
	json_auto_t *doc = make("{\"command\":[\"a\"],\"resources\":{\"limits\":{\"cpu\":\"500m\",\"memory\":\"64Mi\"},"
				"\"requests\":{\"cpu\":\"250m\"}}}",
				NULL, 0);
	const json_t *res = jsonx_at(doc, "linux.resources");

	CHECK_INT(jsonx_int_or(res, "memory.limit", 0), 64 << 20);
	CHECK_INT(jsonx_int_or(res, "cpu.quota", 0), 50000);
	CHECK_INT(jsonx_int_or(res, "cpu.shares", 0), 256);
	CHECK(!jsonx_bool_or(json_array_get(json_object_get(res, "devices"), 0), "allow", true));
	CHECK_STR(jsonx_str(doc, "linux.cgroupsPath"), "/stoker-x/pod1/c");
}

TEST("the pod's namespaces are joined by their files, the others are new")
{
	json_auto_t *doc = make(
		"{\"command\":[\"a\"],\"workingDir\":\"/w\",\"securityContext\":{\"readOnlyRootFilesystem\":true}}",
		NULL, 0);
	json_t *ns;
	size_t i;
	int joined = 0;

	json_array_foreach (jsonx_at(doc, "linux.namespaces"), i, ns)
		joined += str_same(jsonx_str(ns, "path"), "/run/net");
	CHECK_INT(joined, 1);
	CHECK_STR(jsonx_str(doc, "process.cwd"), "/w");
	CHECK(jsonx_bool_or(doc, "root.readonly", false));
	CHECK(has(jsonx_at(doc, "process.env"), "HOME=/"));
	CHECK(has(jsonx_at(doc, "process.env"), "USER=user0"));
}

static bool has_cgroup_namespace(bool wanted, const char *container_text)
{
	json_auto_t *container = json_loads(container_text, 0, NULL);
	json_auto_t *pod = json_pack("{s:{s:s}, s:{}}", "metadata", "name", "p", "spec");
	json_auto_t *user = json_pack("{s:i, s:i, s:[], s:s}", "uid", 0, "gid", 0, "groups", "home", "/");
	json_auto_t *env = json_array();
	json_auto_t *doc = NULL;
	struct bundle_input in = { .pod = pod,
				   .container = container,
				   .env = env,
				   .passwd = user,
				   .cgroup = "/stoker-x/pod1/c",
				   .net_ns = "",
				   .ipc_ns = "",
				   .uts_ns = "",
				   .pid_ns = "",
				   .hostname = "p",
				   .cgroup_ns = wanted,
				   .shm_bytes = 1 << 20 };
	struct err e = ERR_INIT;
	bool found = false;
	json_t *ns;
	size_t i;

	CHECK_INT(bundle_make(&in, &doc, &e), 0);
	json_array_foreach (jsonx_at(doc, "linux.namespaces"), i, ns)
		found = found || (str_same(jsonx_str(ns, "type"), "cgroup") && !jsonx_str(ns, "path"));
	return found;
}

TEST("a container on v2 sees its own groups alone, a privileged one sees the host's")
{
	CHECK(has_cgroup_namespace(true, "{\"command\":[\"a\"]}"));
	CHECK(!has_cgroup_namespace(true, "{\"command\":[\"a\"],\"securityContext\":{\"privileged\":true}}"));
	CHECK(!has_cgroup_namespace(false, "{\"command\":[\"a\"]}"));
}

TEST("all rights are those there are, others are asked for by name")
{
	uint64_t there = 1ull << CAP_CHOWN | 1ull << CAP_SYS_ADMIN;
	json_auto_t *mighty =
		make_with("{\"command\":[\"x\"],\"securityContext\":{\"privileged\":true}}", NULL, 0, there, false);
	json_auto_t *all = make_with("{\"command\":[\"x\"],\"securityContext\":{\"capabilities\":{\"add\":[\"ALL\"]}}}",
				     NULL, 0, there, false);
	json_auto_t *named =
		make_with("{\"command\":[\"x\"],\"securityContext\":{\"capabilities\":{\"add\":[\"SYS_TIME\"]}}}", NULL,
			  0, there, false);

	CHECK_INT(json_array_size(jsonx_at(mighty, "process.capabilities.bounding")), 2);
	CHECK_INT(json_array_size(jsonx_at(all, "process.capabilities.effective")), 2);
	CHECK(has(jsonx_at(named, "process.capabilities.effective"), "CAP_SYS_TIME"));
}

TEST("a seccomp profile is ours, the administrator's, or none")
{
	static const struct {
		const char *container, *action;
	} rows[] = {
		{ "{\"command\":[\"x\"]}", NULL },
		{ "{\"command\":[\"x\"],\"securityContext\":{\"seccompProfile\":{\"type\":\"Unconfined\"}}}", NULL },
		{ "{\"command\":[\"x\"],\"securityContext\":{\"seccompProfile\":{\"type\":\"RuntimeDefault\"}}}",
		  "SCMP_ACT_ALLOW" },
		{ "{\"command\":[\"x\"],\"securityContext\":{\"seccompProfile\":{\"type\":\"Localhost\"}}}",
		  "SCMP_ACT_LOG" },
		{ "{\"command\":[\"x\"],\"securityContext\":{\"privileged\":true,"
		  "\"seccompProfile\":{\"type\":\"RuntimeDefault\"}}}",
		  NULL },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		json_auto_t *doc = make(rows[i].container, NULL, 0);

		CHECK_STR(jsonx_str_or(doc, "linux.seccomp.defaultAction", ""), rows[i].action ? rows[i].action : "");
	}
}

TEST("shared memory is the pod's own, or the host's")
{
	for (int host = 0; host < 2; host++) {
		json_auto_t *doc = make_with("{\"command\":[\"x\"]}", NULL, 0, 0, host);
		const char *type = NULL;
		json_t *m;
		size_t i;

		json_array_foreach (json_object_get(doc, "mounts"), i, m)
			if (str_same(jsonx_str(m, "destination"), "/dev/shm"))
				type = jsonx_str(m, "type");
		CHECK_STR(type, host ? "bind" : "tmpfs");
	}
}

/* The document of a container of a server without root. */
static json_t *make_rootless(const char *pid_ns, const char *ipc_ns, bool tty_group, const char *qos)
{
	json_auto_t *container =
		json_pack("{s:[s], s:{s:{s:s}}}", "command", "sh", "resources", "limits", "memory", "1Gi");
	json_auto_t *env = json_pack("[s]", "PATH=/bin");
	json_auto_t *user =
		json_pack("{s:i, s:i, s:[], s:s, s:s}", "uid", 0, "gid", 0, "groups", "name", "", "home", "/");
	json_auto_t *pod = json_pack("{s:{s:s}, s:{s:s}}", "metadata", "name", "p", "status", "qosClass", qos);
	json_auto_t *devices =
		json_pack("[{s:s, s:s, s:i, s:i}]", "path", "/dev/nvidia0", "type", "c", "major", 195, "minor", 0);
	struct bundle_input in = { .pod = pod,
				   .container = container,
				   .env = env,
				   .passwd = user,
				   .cgroup = "",
				   .devices = devices,
				   .pid_ns = pid_ns,
				   .ipc_ns = ipc_ns,
				   .shm_bytes = 1 << 20,
				   .rootless = true,
				   .tty_group = tty_group };
	struct err e = ERR_INIT;
	json_t *doc = NULL;

	CHECK_INT(bundle_make(&in, &doc, &e), 0);
	return doc;
}

static const json_t *mount_at(const json_t *doc, const char *target)
{
	json_t *m;
	size_t i;

	json_array_foreach (json_object_get(doc, "mounts"), i, m)
		if (str_same(jsonx_str(m, "destination"), target))
			return m;
	return NULL;
}

static bool has_option(const json_t *m, const char *option)
{
	json_t *v;
	size_t i;

	json_array_foreach (json_object_get(m, "options"), i, v)
		if (str_same(json_string_value(v), option))
			return true;
	return false;
}

TEST("without root a container has no cgroup and no limits, and borrows what cannot be mounted")
{
	json_auto_t *doc = make_rootless("", "", false, "BestEffort");
	struct statvfs fs;

	CHECK(!jsonx_at(doc, "linux.cgroupsPath"));
	CHECK(!jsonx_at(doc, "linux.resources"));
	CHECK(!jsonx_at(doc, "linux.devices"));
	CHECK(!mount_at(doc, "/sys/fs/cgroup"));
	CHECK_STR(jsonx_str(mount_at(doc, "/sys"), "type"), "bind");
	CHECK(has_option(mount_at(doc, "/sys"), "ro"));
	/* What the host forbids there stays so. */
	CHECK_INT(statvfs("/sys", &fs), 0);
	CHECK_INT(has_option(mount_at(doc, "/sys"), "nosuid"), (fs.f_flag & ST_NOSUID) != 0);
	CHECK_INT(has_option(mount_at(doc, "/sys"), "noexec"), (fs.f_flag & ST_NOEXEC) != 0);
	CHECK_STR(jsonx_str(mount_at(doc, "/proc"), "type"), "proc");
	CHECK_STR(jsonx_str(mount_at(doc, "/dev/mqueue"), "type"), "mqueue");
	CHECK_STR(jsonx_str(mount_at(doc, "/dev/nvidia0"), "source"), "/dev/nvidia0");
	CHECK_INT(json_integer_value(jsonx_at(doc, "process.oomScoreAdj")), 1000);
}

TEST("without root the host's processes are seen by binding them, and its queues are not")
{
	json_auto_t *doc = make_rootless(NULL, NULL, false, "BestEffort");

	CHECK_STR(jsonx_str(mount_at(doc, "/proc"), "type"), "bind");
	CHECK(!mount_at(doc, "/dev/mqueue"));
}

TEST("without root terminals have their group only if it exists, and nobody is spared from the OOM killer")
{
	json_auto_t *one = make_rootless("", "", false, "Guaranteed");
	json_auto_t *many = make_rootless("", "", true, "Guaranteed");

	CHECK(!has_option(mount_at(one, "/dev/pts"), "gid=5"));
	CHECK(has_option(mount_at(one, "/dev/pts"), "newinstance"));
	CHECK(has_option(mount_at(many, "/dev/pts"), "gid=5"));
	CHECK(!jsonx_at(one, "process.oomScoreAdj"));
}
