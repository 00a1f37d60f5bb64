// SPDX-License-Identifier: Apache-2.0
/* Real cards, as far as a fake driver tree can tell. */
#include "gpu_tree.h"
#include "node/gpu_use.h"

static struct gpus *open_tree(const char *root)
{
	struct gpus_config config = { .dir = root, .root = root };
	struct err e = ERR_INIT;
	struct gpus *g = NULL;

	CHECK_INT(gpus_open(&config, &g, &e), 0);
	CHECK_STR(e.text, "");
	return g;
}

static int take(struct gpus *g, const char *uid, int n)
{
	json_auto_t *pod = json_pack("{s:{s:s, s:s, s:s}}", "metadata", "uid", uid, "name", uid, "namespace", "lab");
	struct err e = ERR_INIT;

	return gpus_take(g, pod, "main", n, &e);
}

/* Whether the mount at `target` has this text as its source. */
static bool mounts_text(const struct gpu_grant *grant, const char *target, const char *want)
{
	auto_sbuf struct sbuf text = SBUF(4096);
	struct err e = ERR_INIT;

	return file_read(tree_mounted(grant->mounts, target), 4096, &text, &e) == 0 && streq(text.p, want);
}

TEST("cards are found in the kernel driver's files and counted by their place on the bus")
{
	auto_free char *root = tree_new("tree-find");
	struct gpus *g = open_tree(root);
	json_auto_t *list = gpus_list(g);
	json_auto_t *labels = gpus_labels(g);

	CHECK_INT(gpus_count(g), 3);
	CHECK_STR(tree_joined(list, "device"), "/dev/nvidia2,/dev/nvidia1,/dev/nvidia0");
	CHECK_STR(tree_joined(list, "uuid"), "GPU-fake-2,GPU-fake-1,GPU-fake-0");
	CHECK_STR(tree_joined(list, "name"), "Tesla T4 (fake),Tesla T4 (fake),Tesla T4 (fake)");
	CHECK_STR(json_string_value(json_object_get(labels, "nvidia.com/gpu.product")), "Tesla-T4-fake");
	CHECK(!json_object_get(labels, "nvidia.com/gpu.memory"));
	gpus_free(g);
}

TEST("a machine without the driver has no cards")
{
	auto_free char *root = xasprintf("%s/tree-none", test_dir());
	struct gpus *g;

	tree_file(root, "/proc/version", "Linux");
	g = open_tree(root);
	CHECK_INT(gpus_count(g), 0);
	gpus_free(g);
}

TEST("a container gets the nodes of its own cards and of no other")
{
	auto_free char *root = tree_new("tree-nodes");
	struct gpus *g = open_tree(root);
	struct gpu_grant grant;
	const json_t *own;

	CHECK_INT(take(g, "a", 1), 0);
	CHECK_INT(take(g, "b", 1), 0);
	gpus_grant(g, "b", "main", &grant);
	CHECK_STR(tree_joined(grant.devices, "path"),
		  "/dev/nvidiactl,/dev/nvidia-uvm,/dev/nvidia-uvm-tools,/dev/nvidia1");
	own = json_array_get(grant.devices, 3);
	CHECK_STR(jsonx_str(own, "type"), "c");
	CHECK_INT(jsonx_int_or(own, "major", 0), 195);
	CHECK_INT(jsonx_int_or(own, "minor", 0), 1);
	CHECK_INT(jsonx_int_or(own, "fileMode", 0), 0666);
	/* nobody has made this node, but the driver has its number */
	CHECK_INT(jsonx_int_or(json_array_get(grant.devices, 2), "major", 0), 510);
	CHECK_INT(jsonx_int_or(json_array_get(grant.devices, 2), "minor", 0), 1);
	CHECK_STR(tree_joined(grant.env, NULL), "NVIDIA_VISIBLE_DEVICES=GPU-fake-1,CUDA_VISIBLE_DEVICES=0");
	gpu_grant_done(&grant);
	gpus_grant(g, "nobody", "main", &grant);
	CHECK_INT(json_array_size(grant.devices), 0);
	CHECK_INT(json_array_size(grant.mounts), 0);
	CHECK_STR(tree_joined(grant.env, NULL), "NVIDIA_VISIBLE_DEVICES=void");
	gpu_grant_done(&grant);
	{
		auto_free char *indices = gpus_of(g, "b");
		json_auto_t *others = gpus_withheld(g, (const int[]){ 1 }, 1), *all = gpus_withheld(g, NULL, 0);

		CHECK_STR(indices, "1");
		CHECK_STR(tree_joined(others, "path"), "/dev/nvidia2,/dev/nvidia0");
		CHECK_STR(tree_joined(all, "path"), "/dev/nvidia2,/dev/nvidia1,/dev/nvidia0");
	}
	gpus_free(g);
}

TEST("the driver's libraries and programs are mounted, links as the files they lead to")
{
	auto_free char *root = tree_new("tree-libs");
	struct gpus *g = open_tree(root);
	struct gpu_grant grant;

	CHECK_INT(take(g, "a", 1), 0);
	gpus_grant(g, "a", "main", &grant);
	CHECK(mounts_text(&grant, TREE_LIB "/libcuda.so.1", "cuda"));
	CHECK(mounts_text(&grant, "/usr/lib64/libcuda.so.1", "cuda"));
	CHECK(mounts_text(&grant, TREE_LIB "/libnvidia-ptxjitcompiler.so.535.183.01", "ptx"));
	CHECK(mounts_text(&grant, TREE_LIB "/libnvidia-egl-wayland.so.1.1.9", "egl"));
	CHECK_STR(tree_mounted(grant.mounts, TREE_LIB "/libnvidia-ptxjitcompiler.so.470.57.02"), "");
	CHECK_STR(tree_mounted(grant.mounts, TREE_LIB "/libnvidiaish.so.1"), "");
	CHECK_STR(tree_mounted(grant.mounts, TREE_LIB "/libc.so.6"), "");
	CHECK(mounts_text(&grant, "/usr/bin/nvidia-smi", "#!/bin/sh\necho smi\n"));
	CHECK(*tree_mounted(grant.mounts, "/lib/firmware/nvidia/535.183.01"));
	CHECK_STR(tree_joined(json_object_get(json_array_get(grant.mounts, 0), "options"), NULL),
		  "rbind,ro,nosuid,nodev,rprivate");
	gpu_grant_done(&grant);
	gpus_free(g);
}

TEST("excluded cards and cards that have gone are not given")
{
	auto_free char *root = tree_new("tree-sick");
	auto_free char *gone = xasprintf("%s/proc/driver/nvidia/gpus/0000:07:00.0", root);
	json_auto_t *list = NULL;
	struct gpus *g;

	tree_file(root, "/proc/driver/nvidia/gpus/0000:0b:00.0/information",
		  "Model: T4\nGPU UUID: GPU-????????\nDevice Minor: 1\nGPU Excluded: Yes\n");
	g = open_tree(root);
	CHECK_INT(gpus_count(g), 2);
	CHECK_INT(take(g, "a", 3), -1);
	CHECK(tree_remove(gone, NULL));
	CHECK_INT(gpus_count(g), 1);
	CHECK_INT(take(g, "a", 2), -1);
	CHECK_INT(take(g, "a", 1), 0);
	list = gpus_list(g);
	CHECK(!jsonx_bool_or(json_array_get(list, 0), "healthy", true));
	CHECK(!jsonx_bool_or(json_array_get(list, 1), "healthy", true));
	CHECK_STR(tree_joined(list, "uuid"), "GPU-fake-2,,GPU-fake-0");
	CHECK_STR(tree_joined(list, "pod"), ",,a");
	gpus_free(g);
}

static const char cdi[] =
	"cdiVersion: 0.5.0\n"
	"kind: nvidia.com/gpu\n"
	"devices:\n"
	"- name: \"7\"\n" /* another name than its minor */
	"  containerEdits:\n"
	"    deviceNodes:\n"
	"    - path: /dev/nvidia2\n"
	"    - {path: /dev/dri/card1, hostPath: /dev/nvidia0, major: 226, minor: 1, type: c}\n"
	"- name: all\n"
	"  containerEdits:\n"
	"    deviceNodes: [{path: /dev/nvidia2}, {path: /dev/nvidia1}]\n"
	"containerEdits:\n"
	"  env: [NVIDIA_VISIBLE_DEVICES=void, NVIDIA_CTK_LIBCUDA_DIR=/usr/lib64]\n"
	"  deviceNodes: [{path: /dev/nvidiactl}]\n"
	"  mounts:\n"
	"  - {hostPath: /usr/bin/nvidia-smi, containerPath: /opt/bin/nvidia-smi, options: [ro, nosuid]}\n"
	"  - {hostPath: " TREE_LIB "/libcuda.so.1, containerPath: /opt/lib/libcuda.so.535.183.01}\n"
	"  hooks:\n"
	"  - hookName: createContainer\n"
	"    path: /usr/bin/nvidia-ctk\n"
	"    args: [nvidia-ctk, hook, create-symlinks, --link, \"libcuda.so.1::/opt/lib/libcuda.so\", --link,\n"
	"           \"libcuda.so.535.183.01::/opt/lib/libcuda.so.1\"]\n";

TEST("a CDI file is preferred, and cards are recognised by their nodes")
{
	auto_free char *root = tree_new("tree-cdi");
	struct gpus *g = open_tree(root);
	struct gpu_grant grant;

	tree_file(root, "/etc/cdi/nvidia.yaml", cdi);
	CHECK_INT(take(g, "a", 1), 0); /* the first on the bus: /dev/nvidia2 */
	CHECK_INT(take(g, "b", 1), 0);
	gpus_grant(g, "a", "main", &grant);
	CHECK_STR(tree_joined(grant.devices, "path"), "/dev/nvidiactl,/dev/nvidia2,/dev/dri/card1");
	CHECK_INT(jsonx_int_or(json_array_get(grant.devices, 2), "major", 0), 226);
	CHECK(mounts_text(&grant, "/opt/bin/nvidia-smi", "#!/bin/sh\necho smi\n"));
	CHECK(mounts_text(&grant, "/opt/lib/libcuda.so", "cuda"));
	CHECK(mounts_text(&grant, "/opt/lib/libcuda.so.1", "cuda"));
	CHECK(mounts_text(&grant, TREE_LIB "/libcuda.so.1", "cuda"));
	CHECK_STR(tree_joined(grant.env, NULL), "NVIDIA_VISIBLE_DEVICES=GPU-fake-2,CUDA_VISIBLE_DEVICES=0,"
						"NVIDIA_CTK_LIBCUDA_DIR=/usr/lib64");
	gpu_grant_done(&grant);
	/* a card the file does not know is found by ourselves */
	gpus_grant(g, "b", "main", &grant);
	CHECK_STR(tree_joined(grant.devices, "path"),
		  "/dev/nvidiactl,/dev/nvidia-uvm,/dev/nvidia-uvm-tools,/dev/nvidia1");
	gpu_grant_done(&grant);
	gpus_free(g);
}

TEST("a CDI file that names what is gone is ignored as a whole")
{
	auto_free char *root = tree_new("tree-stale");
	auto_free char *smi = xasprintf("%s/usr/bin/nvidia-smi", root);
	struct gpus *g = open_tree(root);
	struct gpu_grant grant;

	tree_file(root, "/var/run/cdi/a.txt", "not yaml: [");
	tree_file(root, "/var/run/cdi/b.json", "{\"kind\": \"nvidia.com/gpu\"");
	tree_file(root, "/var/run/cdi/nvidia.yaml", cdi);
	CHECK_INT(unlink(smi), 0);
	CHECK_INT(take(g, "a", 1), 0);
	gpus_grant(g, "a", "main", &grant);
	CHECK_STR(tree_joined(grant.devices, "path"),
		  "/dev/nvidiactl,/dev/nvidia-uvm,/dev/nvidia-uvm-tools,/dev/nvidia2");
	CHECK_STR(tree_mounted(grant.mounts, "/opt/lib/libcuda.so"), "");
	gpu_grant_done(&grant);
	gpus_free(g);
}

static const char fake_nvml[] =
	"#include <string.h>\n"
	"struct pci { char l[16]; unsigned d, b, v, i, s; char id[32]; };\n"
	"int nvmlInit_v2(void) { return 0; }\n"
	"int nvmlDeviceGetCount_v2(unsigned *n) { *n = 3; return 0; }\n"
	"int nvmlDeviceGetHandleByIndex_v2(unsigned i, void **h) { *h = (void *)(long)(i + 1); return 0; }\n"
	"int nvmlDeviceGetUUID(void *h, char *o, unsigned n) { if ((long)h == 2) return 15;\n"
	"  memset(o, 0, n); memcpy(o, \"GPU-nvml-\", 9); o[9] = (char)('0' + (long)h - 1); return 0; }\n"
	"int nvmlDeviceGetName(void *h, char *o, unsigned n) { (void)h; memset(o, 0, n); memcpy(o, \"NVIDIA A100\", "
	"11);\n"
	"  return 0; }\n"
	"int nvmlDeviceGetMemoryInfo(void *h, unsigned long long *m) { (void)h; m[0] = 40ull << 30; return 0; }\n"
	"int nvmlDeviceGetMinorNumber(void *h, unsigned *m) { *m = 3 - (unsigned)(long)h; return 0; }\n"
	"static const char *const ids[] = { \"00000000:07:00.0\", \"00000000:0B:00.0\", \"00000000:81:00.0\" };\n"
	"int nvmlDeviceGetPciInfo_v3(void *h, struct pci *p) { strcpy(p->id, ids[(long)h - 1]); return 0; }\n"
	"int nvmlDeviceGetUtilizationRates(void *h, unsigned *u) { u[0] = (long)h == 1 ? 0 : 77; return (long)h == 2 ? "
	"3 : 0; "
	"}\n"
	"int nvmlDeviceGetP2PStatus(void *a, void *b, int what, int *r) { *r = what == 2 ? 0 : 5; return 0; }\n";

TEST("NVML tells memory, and which card does not answer")
{
	auto_free char *root = tree_new("tree-nvml");
	auto_free char *command =
		xasprintf("cd '%s' && cc -w -shared -fPIC -o .%s/libnvidia-ml.so.1 nvml.c", root, TREE_LIB);
	json_auto_t *list = NULL;
	json_auto_t *labels = NULL;
	struct gpus *g;

	tree_file(root, "/nvml.c", fake_nvml);
	tree_file(root, "/sys/bus/pci/devices/0000:07:00.0/numa_node", "1\n");
	tree_file(root, "/sys/bus/pci/devices/0000:0b:00.0/numa_node", "-1\n");
	CHECK_INT(system(command), 0);
	g = open_tree(root);
	list = gpus_list(g);
	labels = gpus_labels(g);
	CHECK_STR(tree_joined(list, "uuid"), "GPU-nvml-0,,GPU-nvml-2");
	CHECK_STR(tree_joined(list, "device"), "/dev/nvidia2,/dev/nvidia1,/dev/nvidia0");
	CHECK_INT(jsonx_int_or(json_array_get(list, 0), "memoryBytes", 0), 40ll << 30);
	CHECK_STR(json_string_value(json_object_get(labels, "nvidia.com/gpu.product")), "NVIDIA-A100");
	CHECK_STR(json_string_value(json_object_get(labels, "nvidia.com/gpu.memory")), "40960");
	CHECK_INT(gpus_count(g), 2);
	for (size_t i = 0; i < 3; i++) {
		static const char *const want[] = { "[2]", "[]", "[0]" }; /* one of the three does not answer */
		static const int numa[] = { 1, -1, -1 };
		auto_free char *links = json_dumps(json_object_get(json_array_get(list, i), "links"), JSON_COMPACT);

		CHECK_STR(links, want[i]);
		CHECK_INT(jsonx_int_or(json_array_get(list, i), "numa", 9), numa[i]);
	}
	gpus_free(g);
}

TEST("NVML tells how much cards are used, of those that answer")
{
	auto_free char *root = tree_new("tree-use");
	auto_free char *command =
		xasprintf("cd '%s' && cc -w -shared -fPIC -o .%s/libnvidia-ml.so.1 nvml.c", root, TREE_LIB);
	struct loop *loop = loop_new();
	struct gpu_load load = { 0 };
	struct gpu_use *use;
	struct gpus *g;

	tree_file(root, "/nvml.c", fake_nvml);
	CHECK_INT(system(command), 0);
	g = open_tree(root);
	CHECK_INT(take(g, "a", 1), 0);
	CHECK_INT(take(g, "b", 1), 0);
	use = gpu_use_new(loop, g);
	CHECK_INT(gpu_use_of(use, "none").cards, 0);
	gpu_use_next(use);
	CHECK(gpu_use_of(use, "a").unknown);
	for (int i = 0; i < 100 && gpu_use_of(use, "a").unknown; i++)
		loop_turn(loop, false);
	load = gpu_use_of(use, "a");
	CHECK_INT(load.cards, 1);
	CHECK_INT(load.unknown, false);
	CHECK_INT(load.most, 0);
	CHECK_INT(gpu_use_of(use, "b").most, 77);
	gpu_use_stop(use);
	CHECK(gpu_use_of(use, "a").unknown);
	gpu_use_free(use);
	gpus_free(g);
	loop_free(loop);
}

TEST("places on the bus are written as the kernel writes them")
{
	static const char *const rows[][2] = {
		{ "00000000:07:00.0", "0000:07:00.0" },
		{ "0001:0B:00.0", "0001:0b:00.0" },
		{ "00010000:01:00.0", "10000:01:00.0" },
		{ "nonsense", "nonsense" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		auto_free char *got = gpu_bus_name(rows[i][0]);

		CHECK_STR(got, rows[i][1]);
	}
}

static void note(void *arg, const char *name, const char *path)
{
	sbuf_addf(arg, "%s=%s ", name, path);
}

TEST("the loader's cache leads to libraries in unusual places")
{
	static const char strings[] = "libcuda.so.1\0/opt/drv/libcuda.so.1";
	auto_free char *root = tree_new("tree-cache");
	auto_free char *path = xasprintf("%s/etc/ld.so.cache", root);
	auto_sbuf struct sbuf cache = SBUF(4096);
	auto_sbuf struct sbuf seen = SBUF(4096);
	uint32_t entry[6] = { 0x303, 72, 72 + sizeof("libcuda.so.1"), 0, 0, 0 };
	uint32_t header[7] = { 1, sizeof(strings), 0, 0, 0, 0, 0 };
	json_auto_t *dirs = NULL;
	struct err e = ERR_INIT;

	sbuf_adds(&cache, "glibc-ld.so.cache1.1");
	sbuf_add(&cache, header, sizeof(header));
	sbuf_add(&cache, entry, sizeof(entry));
	sbuf_add(&cache, strings, sizeof(strings));
	gpu_ldcache_walk(cache.p, cache.n, note, &seen);
	CHECK_STR(seen.p, "libcuda.so.1=/opt/drv/libcuda.so.1 ");
	CHECK_INT(file_write(path, 0644, sbuf_str(&cache), &e), 0);
	dirs = gpu_driver_dirs(root);
	CHECK(strstr(tree_joined(dirs, NULL), ",/opt/drv"));
	sbuf_reset(&seen);
	for (size_t n = 0; n < cache.n; n++) { /* cut short anywhere: nothing, and no harm */
		auto_free char *part = xmemdup(cache.p, n);

		gpu_ldcache_walk(part, n, note, &seen);
	}
	CHECK_INT(seen.n, 0);
}
