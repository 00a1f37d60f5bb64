// SPDX-License-Identifier: Apache-2.0
#include "base/jsonx.h"
#include "base/mem.h"
#include "node/bundle.h"
#include "test.h"

/* The document of a container given as JSON, with a plain environment and user. */
static json_t *make(const char *container_text, const char *image_text, int uid)
{
	json_auto_t *container = json_loads(container_text, 0, NULL);
	json_auto_t *image = image_text ? json_loads(image_text, 0, NULL) : NULL;
	json_auto_t *env = json_pack("[s,s]", "PATH=/bin", "X=1");
	json_auto_t *user =
		json_pack("{s:i, s:i, s:[], s:s, s:s}", "uid", uid, "gid", uid, "groups", "name", "", "home", "/");
	json_auto_t *pod = json_pack("{s:{s:s}}", "metadata", "name", "p");
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
				   .shm_bytes = 1 << 20 };
	struct err e = ERR_INIT;
	json_t *doc = NULL;

	if (bundle_make(&in, &doc, &e) < 0)
		return json_pack("{s:s}", "error", e.text);
	return doc;
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
