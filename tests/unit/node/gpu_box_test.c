// SPDX-License-Identifier: Apache-2.0
/* What a container can open: real runtimes, a fake driver tree.  Nobody drives major 195 here, so a node that may be
 * opened says "no such device", and one that may not says "not permitted". */
#include "box.h"
#include "gpu_tree.h"
#include "node/bundle.h"

static const char script[] = "echo $CUDA_VISIBLE_DEVICES $NVIDIA_VISIBLE_DEVICES; cd /dev; echo nvidia*; "
			     "for i in 0 1; do [ -e nvidia$i ] || mknod nvidia$i c 195 $i; done; "
			     "for i in 0 1; do head -c1 nvidia$i; done 2>&1; "
			     "cat " TREE_LIB "/libcuda.so.1; echo; /usr/bin/nvidia-smi; "
			     "echo x 2>/dev/null >/usr/bin/nvidia-smi || echo read-only";

static json_t *document(const struct bench *b, const struct trial *t, const struct gpu_grant *grant)
{
	json_auto_t *pod = json_pack("{s:{s:s}}", "metadata", "name", "p");
	json_auto_t *container = json_pack("{s:s, s:[s,s,s]}", "name", "c", "command", "/bin/sh", "-c", script);
	json_auto_t *user = json_pack("{s:i, s:i, s:[]}", "uid", 0, "gid", 0, "groups");
	json_auto_t *env = json_pack("[s]", "PATH=/bin");
	auto_free char *root = xasprintf("%s/rootfs", b->dir);
	struct bundle_input in = { .pod = pod,
				   .container = container,
				   .env = env,
				   .mounts = grant->mounts,
				   .devices = grant->devices,
				   .passwd = user,
				   .cgroup = t->cgroup,
				   .ipc_ns = "",
				   .uts_ns = "",
				   .pid_ns = "",
				   .shm_bytes = 1 << 20 };
	struct err e = ERR_INIT;
	json_t *doc = NULL;

	json_array_extend(env, grant->env);
	CHECK_INT(bundle_make(&in, &doc, &e), 0);
	jsonx_set_new(doc, "root.path", json_string(root));
	return doc;
}

static void check_container(struct bench *b, struct gpus *g, const char *uid, const char *want)
{
	struct trial *t = trial_new(b);
	struct gpu_grant grant;
	auto_free char *log = NULL;

	gpus_grant(g, uid, "c", &grant);
	trial_write(t, document(b, t, &grant));
	gpu_grant_done(&grant);
	trial_start(b, t);
	if (bench_wait(b, &t->exits, 1, 30)) {
		log = trial_log(t);
		CHECK_STR(log, want);
	}
}

TEST("a container opens its own cards and no other, and runs the driver's programs")
{
	static const char *const both[] = { "crun", "runc" };

	for (size_t i = 0; i < ARRAY_SIZE(both); i++) {
		auto_free char *name = xasprintf("tree-box-%s", both[i]);
		auto_free char *root = tree_new(name);
		struct gpus_config config = { .dir = root, .root = root };
		json_auto_t *pods = json_pack("[{s:{s:s}}, {s:{s:s}}]", "metadata", "uid", "a", "metadata", "uid", "b");
		struct err e = ERR_INIT;
		struct gpus *g = NULL;
		struct bench b;

		CHECK_INT(gpus_open(&config, &g, &e), 0);
		CHECK_INT(gpus_take(g, json_array_get(pods, 0), "c", 1, &e), 0);
		CHECK_INT(gpus_take(g, json_array_get(pods, 1), "c", 1, &e), 0);
		if (bench_open(&b, both[i])) {
			check_container(&b, g, "b",
					"0 GPU-fake-1\nnvidia-uvm nvidia-uvm-tools nvidia1 nvidiactl\n"
					"head: nvidia0: Operation not permitted\n"
					"head: nvidia1: No such device or address\ncuda\nsmi\nread-only\n");
			check_container(&b, g, "nobody",
					"void\nnvidia*\nhead: nvidia0: Operation not permitted\n"
					"head: nvidia1: Operation not permitted\n\n");
			bench_close(&b);
		}
		gpus_free(g);
	}
}
