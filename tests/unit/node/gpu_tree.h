// SPDX-License-Identifier: Apache-2.0
/* gpu_tree.h - a directory that looks like a machine with NVIDIA's driver */
#ifndef STOKER_TEST_GPU_TREE_H
#define STOKER_TEST_GPU_TREE_H

#include <stdlib.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "base/file.h"
#include "base/jsonx.h"
#include "base/mem.h"
#include "node/gpu_parts.h"
#include "node/tree.h"
#include "test.h"

#if defined(__x86_64__)
#define TREE_LIB "/usr/lib/x86_64-linux-gnu"
#else
#define TREE_LIB "/usr/lib/aarch64-linux-gnu"
#endif

static inline void tree_file(const char *root, const char *path, const char *text)
{
	auto_free char *full = xasprintf("%s%s", root, path);
	auto_free char *dir = xstrndup(full, (size_t)(strrchr(full, '/') - full));
	struct err e = ERR_INIT;

	CHECK_INT(file_make_dirs(dir, 0755, &e), 0);
	CHECK_INT(file_write(full, 0755, str_of(text), &e), 0);
}

static inline void tree_link(const char *root, const char *path, const char *target)
{
	auto_free char *full = xasprintf("%s%s", root, path);

	CHECK_INT(symlink(target, full), 0);
}

static inline void tree_node(const char *root, const char *path, unsigned major_number, unsigned minor_number)
{
	auto_free char *full = xasprintf("%s%s", root, path);

	CHECK_INT(mknod(full, S_IFCHR | 0666, makedev(major_number, minor_number)), 0);
	CHECK_INT(chmod(full, 0666), 0);
}

static inline void tree_card(const char *root, const char *bus, int minor_number)
{
	auto_free char *path = xasprintf("/proc/driver/nvidia/gpus/%s/information", bus);
	auto_free char *text = xasprintf("Model: \t\t Tesla T4 (fake)\nIRQ:   \t\t 36\nGPU UUID: \t GPU-fake-%d\n"
					 "Bus Location: \t %s\nDevice Minor: \t %d\nGPU Excluded:\t No\n",
					 minor_number, bus, minor_number);
	auto_free char *node = xasprintf("/dev/nvidia%d", minor_number);

	tree_file(root, path, text);
	tree_node(root, node, 195, (unsigned)minor_number);
}

/* Three cards whose minors run against the order of the bus, Debian's way of linking libraries, leftovers of an older
 * driver, and a library that is not the driver's.  The caller frees the path. */
static inline char *tree_new(const char *name)
{
	char *root = xasprintf("%s/%s", test_dir(), name);

	tree_file(root, "/dev/.keep", "");
	tree_node(root, "/dev/nvidiactl", 195, 255);
	tree_node(root, "/dev/nvidia-uvm", 510, 0);
	tree_card(root, "0000:07:00.0", 2);
	tree_card(root, "0000:0b:00.0", 1);
	tree_card(root, "0000:81:00.0", 0);
	tree_file(
		root, "/proc/driver/nvidia/version",
		"NVRM version: NVIDIA UNIX x86_64 Kernel Module  535.183.01  Sun May 12 19:39:15 UTC 2024\nGCC 12.2\n");
	tree_file(root, "/proc/devices", "Character devices:\n  1 mem\n195 nvidia\n510 nvidia-uvm\n");
	tree_file(root, TREE_LIB "/nvidia/current/libcuda.so.535.183.01", "cuda");
	tree_link(root, TREE_LIB "/nvidia/current/libcuda.so.1", "libcuda.so.535.183.01");
	tree_file(root, "/etc/alternatives/README", "");
	tree_link(root, "/etc/alternatives/libcuda.so.1", TREE_LIB "/nvidia/current/libcuda.so.1");
	tree_link(root, TREE_LIB "/libcuda.so.1", "/etc/alternatives/libcuda.so.1");
	tree_file(root, TREE_LIB "/libnvidia-ptxjitcompiler.so.535.183.01", "ptx");
	tree_file(root, TREE_LIB "/libnvidia-ptxjitcompiler.so.470.57.02", "old");
	tree_file(root, TREE_LIB "/libnvidia-egl-wayland.so.1.1.9", "egl");
	tree_file(root, TREE_LIB "/libnvidiaish.so.1", "no");
	tree_file(root, TREE_LIB "/libc.so.6", "no");
	tree_file(root, "/usr/bin/nvidia-smi", "#!/bin/sh\necho smi\n");
	tree_file(root, "/lib/firmware/nvidia/535.183.01/gsp_tu10x.bin", "fw");
	return root;
}

/* The source of a mount at `target`, "" if there is none. */
static inline const char *tree_mounted(const json_t *mounts, const char *target)
{
	json_t *m;
	size_t i;

	json_array_foreach ((json_t *)mounts, i, m)
		if (streq(jsonx_str_or(m, "destination", ""), target))
			return jsonx_str_or(m, "source", "");
	return "";
}

/* Values of one field, with commas between; a static buffer. */
static inline const char *tree_joined(const json_t *list, const char *field)
{
	static char text[4096];
	size_t used = 0;
	json_t *v;
	size_t i;

	text[0] = '\0';
	json_array_foreach ((json_t *)list, i, v)
		used += (size_t)snprintf(text + used, sizeof(text) - used, "%s%s", i ? "," : "",
					 field ? jsonx_str_or(v, field, "?") : json_string_value(v));
	return text;
}

#endif
