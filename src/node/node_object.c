// SPDX-License-Identifier: Apache-2.0
/* node_object.c - what the Node object says of this machine */
#include "node/node_object.h"

#include <stdio.h>
#include <sys/statvfs.h>
#include <sys/sysinfo.h>
#include <sys/utsname.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/jsonx.h"
#include "base/mem.h"
#include "kinds/condition.h"
#include "kinds/pbs_nodes.h"
#include "kinds/resource_list.h"

#define PODS_MAX         500
#define IMAGES_MAX       50
#define MEMORY_SHORT_KIB (100 * 1024) /* the kubelet's own threshold */
#define DISK_SHORT_PART  20
#define KEPT_MEMORY      (256ll << 20) /* for the system and the server, out of allocatable */
#define LINE_MAX_        4096
#define SLOTS_MAX        1000000
#define LABEL_MAX        63
#define ROOTLESS         "on the host's network, and without enforcing limits"

/* The first line of a file, or "". */
static char *first_line(const char *path)
{
	auto_sbuf struct sbuf text = SBUF(LINE_MAX_);
	struct err e = ERR_INIT;
	struct str rest;
	struct str line;

	file_read(path, LINE_MAX_, &text, &e);
	rest = sbuf_str(&text);
	return rest.n && str_split(&rest, '\n', &line) ? xstrndup(line.p, line.n) : xstrdup("");
}

static char *os_name(void)
{
	auto_sbuf struct sbuf text = SBUF(LINE_MAX_);
	struct err e = ERR_INIT;
	struct str rest;
	struct str line;

	file_read("/etc/os-release", LINE_MAX_, &text, &e);
	rest = sbuf_str(&text);
	while (rest.n && str_split(&rest, '\n', &line)) {
		static const char key[] = "PRETTY_NAME=\"";

		if (line.n > sizeof(key) && memcmp(line.p, key, sizeof(key) - 1) == 0)
			return xstrndup(line.p + sizeof(key) - 1, line.n - sizeof(key));
	}
	return xstrdup("Linux");
}

static const char *architecture(const char *machine)
{
	return streq(machine, "x86_64") ? "amd64" : streq(machine, "aarch64") ? "arm64" : machine;
}

/* PBS jobs ask for a host by its name as for any other property. */
static void add_name_property(json_t *labels, const char *name)
{
	auto_free char *property = xasprintf(PBS_PROPERTY_LABEL "%s", name);

	if (strlen(name) <= LABEL_MAX)
		json_object_set_new(labels, property, json_string(""));
}

json_t *node_metadata(const struct node_facts *f)
{
	json_t *labels = f->gpus ? gpus_labels(f->gpus) : json_object();
	struct utsname u;
	json_t *meta;

	uname(&u);
	json_object_set_new(labels, "kubernetes.io/hostname", json_string(f->name));
	json_object_set_new(labels, "kubernetes.io/os", json_string("linux"));
	add_name_property(labels, f->name);
	add_name_property(labels, f->host);
	json_object_set_new(labels, "kubernetes.io/arch", json_string(architecture(u.machine)));
	meta = json_pack("{s:s, s:o, s:o}", "name", f->name, "labels", labels, "annotations",
			 f->gpus ? gpus_annotations(f->gpus) : json_object());
	if (!streq(f->host, f->name))
		json_object_set_new(json_object_get(meta, "annotations"), PBS_HOST_ANNOTATION, jsonx_string(f->host));
	if (f->rootless)
		json_object_set_new(json_object_get(meta, "annotations"), "stoker.dev/rootless", json_string("true"));
	return meta;
}

int64_t node_slots(const json_t *node)
{
	const char *text =
		json_string_value(json_object_get(jsonx_at(node, "metadata.annotations"), PBS_NP_ANNOTATION));
	int64_t n;

	return text && str_int64(text, 1, SLOTS_MAX, &n) ? n : 0;
}

/* ---- status ---- */

static void add_amounts(const struct node_facts *f, json_t *capacity, json_t *allocatable)
{
	struct sysinfo si = { 0 };
	struct statvfs fs = { 0 };
	auto_free char *pid_max = first_line("/proc/sys/kernel/pid_max");
	int64_t pids = 32768;
	int64_t memory;
	int64_t disk;

	sysinfo(&si);
	statvfs(f->dir, &fs);
	str_int64(pid_max, 1, INT64_MAX, &pids);
	memory = (int64_t)si.totalram * si.mem_unit;
	disk = (int64_t)fs.f_blocks * (int64_t)fs.f_frsize;
	const struct {
		const char *name;
		json_t *all, *free;
	} rows[] = {
		{ "cpu", jsonx_stringf("%ld", sysconf(_SC_NPROCESSORS_ONLN)),
		  jsonx_stringf("%lld", f->slots ? (long long)f->slots : (long long)sysconf(_SC_NPROCESSORS_ONLN)) },
		{ "memory", jsonx_stringf("%lldKi", (long long)memory / 1024),
		  jsonx_stringf("%lldKi",
				(long long)(memory > 4 * KEPT_MEMORY ? memory - KEPT_MEMORY : memory) / 1024) },
		{ "ephemeral-storage", jsonx_stringf("%lldKi", (long long)disk / 1024),
		  jsonx_stringf("%lldKi", (long long)disk / 1024 * 9 / 10) },
		{ "pods", jsonx_stringf("%d", PODS_MAX), jsonx_stringf("%d", PODS_MAX) },
		{ "stoker.dev/pids", jsonx_stringf("%lld", (long long)pids), jsonx_stringf("%lld", (long long)pids) },
		{ "nvidia.com/gpu", jsonx_stringf("%zu", f->gpus ? gpus_count(f->gpus) : 0),
		  jsonx_stringf("%zu", f->gpus ? gpus_count(f->gpus) : 0) },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		json_object_set_new(capacity, rows[i].name, rows[i].all);
		json_object_set_new(allocatable, rows[i].name, rows[i].free);
	}
}

json_t *node_allocatable(const char *dir)
{
	json_auto_t *capacity = json_object();
	json_t *allocatable = json_object();

	add_amounts(&(struct node_facts){ .dir = dir }, capacity, allocatable);
	return allocatable;
}

static void add_condition(json_t *list, const struct node_facts *f, const char *type, bool value, const char *reason,
			  const char *message)
{
	const json_t *was = condition_in(json_object_get(f->old, "conditions"), type);
	const char *status = value ? "True" : "False";
	char now[CLOCK_RFC3339_LEN];

	clock_rfc3339(clock_wall(), now);
	json_array_append_new(list, json_pack("{s:s, s:s, s:s, s:o, s:s, s:s}", "type", type, "status", status,
					      "lastHeartbeatTime", now, "lastTransitionTime",
					      was && str_same(jsonx_str(was, "status"), status)
						      ? jsonx_string(jsonx_str_or(was, "lastTransitionTime", now))
						      : json_string(now),
					      "reason", reason, "message", message));
}

/* What applications could have without swapping, in KiB; -1 if the kernel does not say. */
static int64_t memory_available(void)
{
	auto_sbuf struct sbuf text = SBUF(LINE_MAX_);
	struct err e = ERR_INIT;
	const char *at;

	file_read("/proc/meminfo", LINE_MAX_, &text, &e);
	at = text.p ? strstr(text.p, "MemAvailable:") : NULL;
	return at ? strtoll(at + strlen("MemAvailable:"), NULL, 10) : -1;
}

static bool disk_is_short(const char *dir)
{
	struct statvfs fs;

	return statvfs(dir, &fs) == 0 && fs.f_blocks && fs.f_bavail < fs.f_blocks / DISK_SHORT_PART;
}

static json_t *conditions(const struct node_facts *f)
{
	json_t *list = json_array();
	int64_t available = memory_available();
	bool memory = available >= 0 && available < MEMORY_SHORT_KIB;
	bool disk = disk_is_short(f->dir);

	add_condition(list, f, "MemoryPressure", memory,
		      memory ? "KubeletHasInsufficientMemory" : "KubeletHasSufficientMemory",
		      memory ? "less than 100Mi of memory are available" : "kubelet has sufficient memory available");
	add_condition(list, f, "DiskPressure", disk, disk ? "KubeletHasDiskPressure" : "KubeletHasNoDiskPressure",
		      disk ? "less than 5% of the data directory's disk are free" : "kubelet has no disk pressure");
	add_condition(list, f, "PIDPressure", false, "KubeletHasSufficientPID", "kubelet has sufficient PID available");
	add_condition(list, f, "Ready", !f->problem, f->problem ? "KubeletNotReady" : "KubeletReady",
		      f->problem    ? f->problem
		      : f->rootless ? "stoker is running pods, as an ordinary user: " ROOTLESS
				    : "stoker is running pods");
	return list;
}

static json_t *node_info(const struct node_facts *f)
{
	auto_free char *machine = first_line("/etc/machine-id");
	auto_free char *boot = first_line("/proc/sys/kernel/random/boot_id");
	auto_free char *uuid = first_line("/sys/class/dmi/id/product_uuid");
	auto_free char *os = os_name();
	struct utsname u;

	uname(&u);
	return json_pack("{s:s, s:s, s:s, s:s, s:s, s:o, s:s, s:s, s:s, s:s}", "machineID", machine, "systemUUID",
			 *uuid ? uuid : machine, "bootID", boot, "kernelVersion", u.release, "osImage", os,
			 "containerRuntimeVersion",
			 jsonx_stringf("%s://%s", f->runtime ? f->runtime : "none",
				       f->runtime_version ? f->runtime_version : ""),
			 "kubeletVersion", "v1.32.0-stoker", "kubeProxyVersion", "v1.32.0-stoker", "operatingSystem",
			 "linux", "architecture", architecture(u.machine));
}

static json_t *image_rows(const struct node_facts *f)
{
	json_auto_t *all = f->images ? images_list(f->images) : json_array();
	json_t *list = json_array();
	json_t *row;
	size_t i;

	json_array_foreach (all, i, row)
		if (json_array_size(list) < IMAGES_MAX && json_array_size(json_object_get(row, "names")))
			json_array_append_new(list, json_pack("{s:O, s:I}", "names", json_object_get(row, "names"),
							      "sizeBytes", (json_int_t)jsonx_int_or(row, "bytes", 0)));
	return list;
}

/* Only where there is some: in a merge patch null takes away what an earlier server said. */
static json_t *shared_memory(const struct gpus *gpus)
{
	int64_t mib = gpus ? gpus_shared_mib(gpus) : 0;

	return mib ? jsonx_stringf("%lldMi", (long long)mib) : json_null();
}

json_t *node_status(const struct node_facts *f)
{
	json_t *capacity = json_object();
	json_t *allocatable = json_object();

	add_amounts(f, capacity, allocatable);
	json_object_set_new(capacity, RESOURCE_NAME_GPU_MEMORY, shared_memory(f->gpus));
	json_object_set_new(allocatable, RESOURCE_NAME_GPU_MEMORY, shared_memory(f->gpus));
	return json_pack("{s:o, s:o, s:o, s:[{s:s, s:s}, {s:s, s:s}], s:o, s:o, s:{s:{s:i}}}", "capacity", capacity,
			 "allocatable", allocatable, "conditions", conditions(f), "addresses", "type", "InternalIP",
			 "address", f->ip, "type", "Hostname", "address", f->name, "nodeInfo", node_info(f), "images",
			 image_rows(f), "daemonEndpoints", "kubeletEndpoint", "Port", 0);
}
