// SPDX-License-Identifier: Apache-2.0
/* Who has which card: simulated ones. */
#include <limits.h>

#include "gpu_tree.h"

static struct gpus *open_gpus(const char *name, int simulate)
{
	auto_free char *dir = xasprintf("%s/%s", test_dir(), name);
	struct gpus_config config = { .dir = dir, .simulate = simulate };
	struct err e = ERR_INIT;
	struct gpus *g = NULL;

	mkdir(dir, 0700);
	CHECK_INT(gpus_open(&config, &g, &e), 0);
	CHECK_STR(e.text, "");
	return g;
}

static json_t *pod(const char *uid)
{
	return json_pack("{s:{s:s, s:s, s:s}, s:{s:[{s:s}, {s:s, s:s}]}}", "metadata", "uid", uid, "name", uid,
			 "namespace", "lab", "spec", "initContainers", "name", "prepare", "name", "sidecar",
			 "restartPolicy", "Always");
}

static int take(struct gpus *g, const char *uid, const char *container, int n, struct err *e)
{
	json_auto_t *p = pod(uid);

	err_clear(e);
	return gpus_take(g, p, container, n, e);
}

static void check_of(const struct gpus *g, const char *uid, const char *want)
{
	auto_free char *got = gpus_of(g, uid);

	CHECK_STR(got, want);
}

TEST("a container's GPUs are asked for by either name, in limits or requests")
{
	static const struct {
		const char *container;
		int want;
	} rows[] = {
		{ "{}", 0 },
		{ "{\"resources\":{\"limits\":{\"cpu\":\"4\"}}}", 0 },
		{ "{\"resources\":{\"limits\":{\"nvidia.com/gpu\":\"2\"}}}", 2 },
		{ "{\"resources\":{\"limits\":{\"nvidia.com/gpu\":3}}}", 3 },
		{ "{\"resources\":{\"requests\":{\"nvidia.com/gpu\":\"1\"}}}", 1 },
		{ "{\"resources\":{\"limits\":{\"alpha.kubernetes.io/nvidia-gpu\":\"2\"}}}", 2 },
		{ "{\"resources\":{\"limits\":{\"nvidia.com/gpu\":\"2\",\"alpha.kubernetes.io/nvidia-gpu\":\"2\"}}}",
		  2 },
		{ "{\"resources\":{\"limits\":{\"nvidia.com/gpu\":\"1\",\"alpha.kubernetes.io/nvidia-gpu\":\"2\"}}}",
		  2 },
		{ "{\"resources\":{\"limits\":{\"nvidia.com/gpu\":\"1k\"}}}", 1000 },
		{ "{\"resources\":{\"limits\":{\"nvidia.com/gpu\":\"9E\"}}}", INT_MAX },
		{ "{\"resources\":{\"limits\":{\"nvidia.com/gpu\":\"-1\"}}}", 0 },
		{ "{\"resources\":{\"limits\":{\"nvidia.com/gpu\":\"many\"}}}", 0 },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		json_auto_t *c = json_loads(rows[i].container, 0, NULL);

		CHECK_INT(gpus_wanted(c), rows[i].want);
	}
}

TEST("simulated cards have stable names and are labelled")
{
	struct gpus *g = open_gpus("gpus-sim", 3);
	json_auto_t *list = gpus_list(g);
	json_auto_t *labels = gpus_labels(g);

	CHECK_INT(gpus_count(g), 3);
	CHECK_STR(tree_joined(list, "uuid"), "GPU-sim-0,GPU-sim-1,GPU-sim-2");
	CHECK_STR(tree_joined(list, "pod"), ",,");
	CHECK_INT(jsonx_int_or(json_array_get(list, 2), "index", -1), 2);
	CHECK(jsonx_bool_or(json_array_get(list, 0), "healthy", false));
	CHECK_STR(json_string_value(json_object_get(labels, "nvidia.com/gpu.product")), "Simulated-GPU");
	CHECK_STR(json_string_value(json_object_get(labels, "nvidia.com/gpu.memory")), "16384");
	CHECK_STR(json_string_value(json_object_get(labels, "nvidia.com/gpu.count")), "3");
	gpus_free(g);
	g = open_gpus("gpus-sim", 0);
	CHECK_INT(gpus_count(g), 0);
	gpus_free(g);
}

TEST("no card is given twice, and too few is said in numbers")
{
	struct gpus *g = open_gpus("gpus-take", 4);
	struct err e = ERR_INIT;

	CHECK_INT(take(g, "a", "main", 1, &e), 0);
	CHECK_INT(take(g, "b", "main", 2, &e), 0);
	CHECK_INT(take(g, "c", "main", 2, &e), -1);
	CHECK_INT(e.kind, ERR_UNAVAILABLE);
	CHECK_STR(e.text, "needs 2 GPUs, but 1 of 4 is free");
	check_of(g, "a", "0");
	check_of(g, "b", "1,2");
	check_of(g, "c", NULL);
	gpus_release(g, "a");
	CHECK_INT(take(g, "c", "main", 2, &e), 0);
	check_of(g, "c", "0,3");
	gpus_free(g);
}

TEST("asking again gives the same cards, also after a crash")
{
	struct gpus *g = open_gpus("gpus-crash", 4);
	struct err e = ERR_INIT;

	CHECK_INT(take(g, "a", "main", 1, &e), 0);
	CHECK_INT(take(g, "b", "main", 2, &e), 0);
	CHECK_INT(take(g, "b", "main", 2, &e), 0);
	gpus_free(g);
	g = open_gpus("gpus-crash", 4);
	check_of(g, "b", "1,2");
	CHECK_INT(take(g, "b", "main", 2, &e), 0);
	CHECK_INT(take(g, "b", "second", 1, &e), 0);
	check_of(g, "b", "1,2,3");
	CHECK_INT(take(g, "d", "main", 1, &e), -1);
	gpus_free(g);
}

TEST("after a restart the pods that are gone have none")
{
	struct gpus *g = open_gpus("gpus-gone", 2);
	json_auto_t *uids = json_pack("[s,s]", "b", "z");
	struct err e = ERR_INIT;

	CHECK_INT(take(g, "a", "main", 1, &e), 0);
	CHECK_INT(take(g, "b", "main", 1, &e), 0);
	gpus_free(g);
	g = open_gpus("gpus-gone", 2);
	gpus_keep_only(g, uids);
	check_of(g, "a", NULL);
	check_of(g, "b", "1");
	gpus_free(g);
	g = open_gpus("gpus-gone", 2);
	check_of(g, "a", NULL);
	gpus_free(g);
}

TEST("init containers share their cards with what follows, sidecars do not")
{
	struct gpus *g = open_gpus("gpus-init", 3);
	json_auto_t *list = NULL;
	json_auto_t *notes = NULL;
	struct err e = ERR_INIT;

	CHECK_INT(take(g, "x", "main", 1, &e), 0);
	CHECK_INT(take(g, "a", "prepare", 2, &e), 0);
	check_of(g, "a", "1,2");
	CHECK_INT(take(g, "a", "sidecar", 1, &e), 0);
	CHECK_INT(take(g, "a", "main", 1, &e), 0);
	check_of(g, "a", "1,2");
	CHECK_INT(take(g, "a", "more", 1, &e), -1);
	CHECK_INT(take(g, "a", "prepare", 2, &e), 0);
	notes = gpus_annotations(g);
	CHECK_STR(json_string_value(json_object_get(notes, "stoker.dev/gpu-1")), "lab/a (sidecar)");
	list = gpus_list(g);
	CHECK_STR(tree_joined(list, "container"), "main,sidecar,main");
	CHECK_STR(tree_joined(list, "pod"), "x,a,a");
	CHECK_STR(tree_joined(list, "namespace"), "lab,lab,lab");
	gpus_release(g, "a");
	CHECK_INT(take(g, "y", "main", 2, &e), 0);
	gpus_free(g);
}

TEST("what cannot be written down is not given")
{
	struct gpus *g = open_gpus("gpus-full", 1);
	auto_free char *dir = xasprintf("%s/gpus-full", test_dir());
	struct err e = ERR_INIT;

	CHECK(tree_remove(dir, NULL));
	CHECK_INT(take(g, "a", "main", 1, &e), -1);
	check_of(g, "a", NULL);
	mkdir(dir, 0700);
	CHECK_INT(take(g, "a", "main", 1, &e), 0);
	CHECK(tree_remove(dir, NULL));
	gpus_release(g, "a");
	check_of(g, "a", "0");
	mkdir(dir, 0700);
	gpus_release(g, "a");
	check_of(g, "a", NULL);
	gpus_free(g);
}

TEST("a damaged table is not guessed at")
{
	auto_free char *dir = xasprintf("%s/gpus-bad", test_dir());
	struct gpus_config config = { .dir = dir, .simulate = 1 };
	struct err e = ERR_INIT;
	struct gpus *g = NULL;

	tree_file(dir, "/gpus.json", "{\"claims\":[{\"uid\":");
	CHECK_INT(gpus_open(&config, &g, &e), -1);
	CHECK_INT(e.kind, ERR_CORRUPT);
	CHECK(strstr(e.text, "gpus.json") && strstr(e.text, "remove it"));
}

TEST("a claim on a card that is gone stays until its pod is")
{
	struct gpus *g = open_gpus("gpus-less", 3);
	struct err e = ERR_INIT;

	CHECK_INT(take(g, "a", "main", 3, &e), 0);
	gpus_free(g);
	g = open_gpus("gpus-less", 1);
	check_of(g, "a", "0");
	CHECK_INT(take(g, "a", "main", 3, &e), -1);
	gpus_free(g);
	g = open_gpus("gpus-less", 3);
	check_of(g, "a", "0,1,2");
	CHECK_INT(take(g, "b", "main", 1, &e), -1);
	gpus_free(g);
}

TEST("simulated cards are numbered from 0 inside and bring no devices")
{
	struct gpus *g = open_gpus("gpus-env", 4);
	struct gpu_grant grant;
	struct err e = ERR_INIT;

	CHECK_INT(take(g, "a", "main", 2, &e), 0);
	CHECK_INT(take(g, "b", "main", 2, &e), 0);
	gpus_grant(g, "b", "main", &grant);
	CHECK_STR(tree_joined(grant.env, NULL), "NVIDIA_VISIBLE_DEVICES=GPU-sim-2,GPU-sim-3,CUDA_VISIBLE_DEVICES=0,1");
	CHECK_INT(json_array_size(grant.devices), 0);
	CHECK_INT(json_array_size(grant.mounts), 0);
	gpu_grant_done(&grant);
	gpus_grant(g, "b", "other", &grant);
	CHECK_STR(tree_joined(grant.env, NULL), "NVIDIA_VISIBLE_DEVICES=void");
	gpu_grant_done(&grant);
	gpus_free(g);
}
