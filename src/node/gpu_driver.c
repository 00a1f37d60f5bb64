// SPDX-License-Identifier: Apache-2.0
/* gpu_driver.c - what the driver's installation brought along that programs in a container need
 *
 * Libraries must fit the kernel module to the digit, so an image cannot bring its own.  Which belong to the driver is a
 * table of names; where they are, the loader's cache and a list of directories tell.  Links (libcuda.so.1) become
 * mounts of the file they lead to.  Everything is looked up anew for each container, because a driver may be upgraded
 * while the server runs.
 *
 * /proc/driver/nvidia is not touched: runtimes refuse mounts below /proc.  A process may therefore read the names of
 * other cards there, but the control group keeps it from opening them, even if it makes device nodes for itself.
 */
#include <stdio.h>
#include <sys/stat.h>

#include "base/file.h"
#include "base/jsonx.h"
#include "base/mem.h"
#include "node/gpu_parts.h"

#define CACHE_MAX     (64u << 20)
#define NVIDIA_MAJOR  195
#define MINOR_CONTROL 255

/* ---- libraries ---- */

/* Names up to ".so". */
static const char *const libraries[] = {
	"libEGL_nvidia",
	"libGLESv1_CM_nvidia",
	"libGLESv2_nvidia",
	"libGLX_nvidia",
	"libcuda",
	"libcudadebugger",
	"libnvcuvid",
	"libnvidia-allocator",
	"libnvidia-api",
	"libnvidia-cfg",
	"libnvidia-compiler",
	"libnvidia-egl-gbm",
	"libnvidia-egl-wayland",
	"libnvidia-eglcore",
	"libnvidia-encode",
	"libnvidia-fatbinaryloader",
	"libnvidia-fbc",
	"libnvidia-glcore",
	"libnvidia-glsi",
	"libnvidia-glvkspirv",
	"libnvidia-gpucomp",
	"libnvidia-ifr",
	"libnvidia-ml",
	"libnvidia-ngx",
	"libnvidia-nscq",
	"libnvidia-nvvm",
	"libnvidia-nvvm70",
	"libnvidia-opencl",
	"libnvidia-opticalflow",
	"libnvidia-pkcs11",
	"libnvidia-pkcs11-openssl3",
	"libnvidia-ptxjitcompiler",
	"libnvidia-rtcore",
	"libnvidia-sandboxutils",
	"libnvidia-tls",
	"libnvoptix",
	"libvdpau_nvidia",
};

static const char *const library_dirs[] = {
#if defined(__x86_64__)
	"/usr/lib/x86_64-linux-gnu",
	"/usr/lib/x86_64-linux-gnu/nvidia/current",
#elif defined(__aarch64__)
	"/usr/lib/aarch64-linux-gnu",
	"/usr/lib/aarch64-linux-gnu/nvidia/current",
#endif
	"/usr/lib64",
	"/usr/lib64/nvidia",
	"/usr/lib",
	"/usr/lib/nvidia",
	"/opt/nvidia/lib64",
};

static bool is_driver_library(const char *name)
{
	const char *so = strstr(name, ".so");

	for (size_t i = 0; so && i < ARRAY_SIZE(libraries); i++)
		if (strlen(libraries[i]) == (size_t)(so - name) && str_starts(name, libraries[i]))
			return true;
	return false;
}

static void add_once(json_t *list, const char *text, size_t n)
{
	json_t *v;
	size_t i;

	json_array_foreach (list, i, v)
		if (strlen(json_string_value(v)) == n && memcmp(json_string_value(v), text, n) == 0)
			return;
	json_array_append_new(list, jsonx_stringn(text, n));
}

static void on_cached(void *arg, const char *name, const char *path)
{
	const char *slash = strrchr(path, '/');

	/* libcuda decides: other libraries of the driver lie beside it. */
	if (slash && slash != path && (streq(name, "libcuda.so.1") || streq(name, "libnvidia-ml.so.1")))
		add_once(arg, path, (size_t)(slash - path));
}

json_t *gpu_driver_dirs(const char *root)
{
	auto_free char *cache = gpu_path_real(root, "/etc/ld.so.cache");
	auto_sbuf struct sbuf bytes = SBUF(CACHE_MAX);
	json_auto_t *cached = json_array();
	json_t *dirs = json_array();
	struct err e = ERR_INIT;
	json_t *dir;
	size_t i;

	if (cache && file_read(cache, CACHE_MAX, &bytes, &e) == 0 && bytes.n)
		gpu_ldcache_walk(bytes.p, bytes.n, on_cached, cached);
	for (i = 0; i < ARRAY_SIZE(library_dirs); i++)
		add_once(dirs, library_dirs[i], strlen(library_dirs[i]));
	json_array_foreach (cached, i, dir)
		add_once(dirs, json_string_value(dir), json_string_length(dir));
	return dirs;
}

/* "535.183.01", from "NVRM version: NVIDIA UNIX x86_64 Kernel Module  535.183.01  Sun May ...", or "". */
static char *driver_version(const char *root)
{
	auto_free char *text = gpu_path_text(root, "/proc/driver/nvidia/version");
	struct str rest = str_of(text ? text : "");
	struct str line = { "", 0 };
	struct str word;

	(void)!str_split(&rest, '\n', &line);
	while (line.n && str_split(&line, ' ', &word)) {
		size_t digits = 0;

		while (digits < word.n && strchr("0123456789.", word.p[digits]))
			digits++;
		if (digits && digits == word.n && memchr(word.p, '.', word.n))
			return xstrndup(word.p, word.n);
	}
	return xstrdup("");
}

/* What an upgrade or another package left behind has the number of another driver: "libcuda.so.470.57.02".  Numbers
 * like those of libnvidia-egl-wayland.so.1.1.9 count differently and begin with 1. */
static bool is_other_version(const char *real, const char *version)
{
	const char *number = strstr(real, ".so.");

	if (!*version || !number)
		return false;
	number += strlen(".so.");
	return strchr(number, '.') && !str_starts(number, "1.") && !streq(number, version);
}

/* The first directory that has a name wins: 32-bit libraries lie in the later ones. */
static void add_libraries(const char *root, const char *dir, const char *version, json_t *seen, json_t *mounts)
{
	json_auto_t *names = gpu_path_names(root, dir, "lib");
	json_t *v;
	size_t i;

	json_array_foreach (names, i, v) {
		const char *name = json_string_value(v);
		auto_free char *path = xasprintf("%s/%s", dir, name);
		auto_free char *real = NULL;

		if (!is_driver_library(name) || json_object_get(seen, name))
			continue;
		real = gpu_path_real(root, path);
		if (!real || is_other_version(strrchr(real, '/'), version))
			continue;
		json_object_set_new(seen, name, json_true());
		gpu_grant_mount(mounts, path, real);
	}
}

/* ---- other files ---- */

static const char *const files[] = {
	"/usr/bin/nvidia-smi",
	"/usr/bin/nvidia-debugdump",
	"/usr/bin/nvidia-persistenced",
	"/usr/bin/nvidia-cuda-mps-control",
	"/usr/bin/nvidia-cuda-mps-server",
	"/run/nvidia-persistenced/socket",
	"/run/nvidia-fabricmanager/socket",
	"/etc/OpenCL/vendors/nvidia.icd",
	"/etc/vulkan/icd.d/nvidia_icd.json",
	"/usr/share/vulkan/icd.d/nvidia_icd.json",
	"/usr/share/glvnd/egl_vendor.d/10_nvidia.json",
	"/usr/share/egl/egl_external_platform.d/10_nvidia_wayland.json",
	"/usr/share/egl/egl_external_platform.d/15_nvidia_gbm.json",
	"/usr/share/nvidia/nvoptix.bin",
};

void gpu_driver_mounts(const char *root, json_t *mounts)
{
	auto_free char *version = driver_version(root);
	auto_free char *firmware = xasprintf("/lib/firmware/nvidia/%s", version);
	auto_free char *firmware_real = *version ? gpu_path_real(root, firmware) : NULL;
	json_auto_t *dirs = gpu_driver_dirs(root);
	json_auto_t *seen = json_object();
	json_t *dir;
	size_t i;

	json_array_foreach (dirs, i, dir)
		add_libraries(root, json_string_value(dir), version, seen, mounts);
	for (i = 0; i < ARRAY_SIZE(files); i++) {
		auto_free char *real = gpu_path_real(root, files[i]);

		if (real)
			gpu_grant_mount(mounts, files[i], real);
	}
	if (firmware_real)
		gpu_grant_mount(mounts, firmware, firmware_real);
}

/* ---- device nodes ---- */

static const struct {
	const char *path;
	const char *driver; /* its line in /proc/devices, for a node nobody has made yet; NULL: only if it is there */
	int minor;
} shared_nodes[] = {
	{ "/dev/nvidiactl", "nvidia", MINOR_CONTROL },
	{ "/dev/nvidia-modeset", NULL, 0 },
	{ "/dev/nvidia-uvm", "nvidia-uvm", 0 },
	{ "/dev/nvidia-uvm-tools", "nvidia-uvm", 1 },
};

/* The number of a driver in /proc/devices ("510 nvidia-uvm"), or `fallback`. */
static int64_t major_of(const char *root, const char *driver, int64_t fallback)
{
	auto_free char *text = gpu_path_text(root, "/proc/devices");
	struct str rest = str_of(text ? text : "");
	struct str line;

	while (str_split(&rest, '\n', &line)) {
		struct str words = str_trim(line);
		struct str number;
		int64_t major;

		if (!str_split(&words, ' ', &number) || !str_eq(words, driver))
			continue;
		auto_free char *digits = xstrndup(number.p, number.n);

		if (str_int64(digits, 1, 4095, &major))
			return major;
	}
	return fallback;
}

/* The node as it is on the machine; else as nvidia-modprobe would make it. */
static void add_node(const char *root, const char *path, const char *driver, int64_t minor, json_t *devices)
{
	int64_t major;

	if (gpu_grant_node(root, path, path, devices) || !driver)
		return;
	major = major_of(root, driver, streq(driver, "nvidia") ? NVIDIA_MAJOR : -1);
	if (major >= 0)
		gpu_grant_node_numbers(devices, path, "c", major, minor, 0666, 0, 0);
}

void gpu_driver_shared_nodes(const char *root, json_t *devices)
{
	for (size_t i = 0; i < ARRAY_SIZE(shared_nodes); i++)
		add_node(root, shared_nodes[i].path, shared_nodes[i].driver, shared_nodes[i].minor, devices);
}

void gpu_driver_card_nodes(const char *root, const struct gpu_card *c, json_t *devices)
{
	auto_free char *path = xasprintf("/dev/nvidia%d", c->minor);
	auto_free char *drm = xasprintf("/sys/bus/pci/devices/%s/drm", c->key);
	json_auto_t *names = gpu_path_names(root, drm, "");
	json_t *name;
	size_t i;

	add_node(root, path, "nvidia", c->minor, devices);
	json_array_foreach (names, i, name) {
		auto_free char *node = xasprintf("/dev/dri/%s", json_string_value(name));

		(void)gpu_grant_node(root, node, node, devices);
	}
}
