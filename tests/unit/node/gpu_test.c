// SPDX-License-Identifier: Apache-2.0
/* Who has which card: simulated ones. */
#include <limits.h>

#include "gpu_tree.h"
#include "node/gpu_use.h"

static struct gpus *open_gpus(const char *name, const char *simulate)
{
	auto_free char *dir = xasprintf("%s/%s", test_dir(), name);
	const char *semicolon = strchr(simulate, ';'); /* behind it: which may be shared */
	auto_free char *cards = xstrndup(simulate, semicolon ? (size_t)(semicolon - simulate) : strlen(simulate));
	struct gpus_config config = { .dir = dir, .simulate = cards, .share = semicolon ? semicolon + 1 : NULL };
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
	struct gpus *g = open_gpus("gpus-sim", "3");
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
	g = open_gpus("gpus-sim", "0");
	CHECK_INT(gpus_count(g), 0);
	gpus_free(g);
}

TEST("no card is given twice, and too few is said in numbers")
{
	struct gpus *g = open_gpus("gpus-take", "4");
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
	struct gpus *g = open_gpus("gpus-crash", "4");
	struct err e = ERR_INIT;

	CHECK_INT(take(g, "a", "main", 1, &e), 0);
	CHECK_INT(take(g, "b", "main", 2, &e), 0);
	CHECK_INT(take(g, "b", "main", 2, &e), 0);
	gpus_free(g);
	g = open_gpus("gpus-crash", "4");
	check_of(g, "b", "1,2");
	CHECK_INT(take(g, "b", "main", 2, &e), 0);
	CHECK_INT(take(g, "b", "second", 1, &e), 0);
	check_of(g, "b", "1,2,3");
	CHECK_INT(take(g, "d", "main", 1, &e), -1);
	gpus_free(g);
}

TEST("after a restart the pods that are gone have none")
{
	struct gpus *g = open_gpus("gpus-gone", "2");
	json_auto_t *uids = json_pack("[s,s]", "b", "z");
	struct err e = ERR_INIT;

	CHECK_INT(take(g, "a", "main", 1, &e), 0);
	CHECK_INT(take(g, "b", "main", 1, &e), 0);
	gpus_free(g);
	g = open_gpus("gpus-gone", "2");
	gpus_keep_only(g, uids);
	check_of(g, "a", NULL);
	check_of(g, "b", "1");
	gpus_free(g);
	g = open_gpus("gpus-gone", "2");
	check_of(g, "a", NULL);
	gpus_free(g);
}

TEST("init containers share their cards with what follows, sidecars do not")
{
	struct gpus *g = open_gpus("gpus-init", "3");
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
	struct gpus *g = open_gpus("gpus-full", "1");
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
	struct gpus_config config = { .dir = dir, .simulate = "1" };
	struct err e = ERR_INIT;
	struct gpus *g = NULL;

	tree_file(dir, "/gpus.json", "{\"claims\":[{\"uid\":");
	CHECK_INT(gpus_open(&config, &g, &e), -1);
	CHECK_INT(e.kind, ERR_CORRUPT);
	CHECK(strstr(e.text, "gpus.json") && strstr(e.text, "remove it"));
}

TEST("a claim on a card that is gone stays until its pod is")
{
	struct gpus *g = open_gpus("gpus-less", "3");
	struct err e = ERR_INIT;

	CHECK_INT(take(g, "a", "main", 3, &e), 0);
	gpus_free(g);
	g = open_gpus("gpus-less", "1");
	check_of(g, "a", "0");
	CHECK_INT(take(g, "a", "main", 3, &e), -1);
	gpus_free(g);
	g = open_gpus("gpus-less", "3");
	check_of(g, "a", "0,1,2");
	CHECK_INT(take(g, "b", "main", 1, &e), -1);
	gpus_free(g);
}

TEST("simulated cards are numbered from 0 inside and bring no devices")
{
	struct gpus *g = open_gpus("gpus-env", "4");
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

/* ---- models and places ---- */

TEST("simulated cards have models, memory and places as asked for")
{
	struct gpus *g = open_gpus("gpus-models", "2xA100-80G,1xV100-16GB,1xT4:pairs");
	json_auto_t *list = gpus_list(g);
	static const struct {
		int gib, numa, link;
	} rows[] = { { 80, 0, 1 }, { 80, 0, 0 }, { 16, 1, 3 }, { 16, 1, 2 } };

	CHECK_STR(tree_joined(list, "name"), "Simulated A100-80G,Simulated A100-80G,Simulated V100-16GB,Simulated T4");
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		const json_t *card = json_array_get(list, i);

		CHECK_INT(jsonx_int_or(card, "memoryBytes", 0), (int64_t)rows[i].gib << 30);
		CHECK_INT(jsonx_int_or(card, "numa", -1), rows[i].numa);
		CHECK_INT(json_integer_value(json_array_get(json_object_get(card, "links"), 0)), rows[i].link);
		CHECK(!jsonx_bool_or(card, "shareable", true));
	}
	gpus_free(g);
}

TEST("what cannot be simulated or shared is said")
{
	static const struct {
		const char *simulate, *share, *option;
	} rows[] = {
		{ "many", NULL, "--gpus: \"many\"" },
		{ "", NULL, "--gpus" },
		{ "2:ring", NULL, "--gpus" },
		{ "2x", NULL, "--gpus" },
		{ "2yA100", NULL, "--gpus" },
		{ "1025", NULL, "--gpus" },
		{ "1000,25", NULL, "--gpus" },
		{ "-1", NULL, "--gpus" },
		{ "1x<A100>", NULL, "--gpus" },
		{ "2", "some", "--share-gpus: \"some\"" },
		{ "2", "0,-1", "--share-gpus: \"-1\"" },
		{ "2", "0,,1", "--share-gpus" },
	};
	struct err e = ERR_INIT;
	struct gpus *g = NULL;

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct gpus_config c = { .dir = test_dir(), .simulate = rows[i].simulate, .share = rows[i].share };

		err_clear(&e);
		CHECK_INT(gpus_open(&c, &g, &e), -1);
		CHECK_INT(e.kind, ERR_BAD_REQUEST);
		CHECK(str_starts(e.text, rows[i].option));
	}
}

/* ---- the scheduler's choice ---- */

/* Two containers that ask for so many each, after an init container that asks for both. */
static json_t *given_pod(const char *uid, const char *cards)
{
	json_t *p = pod(uid);

	jsonx_set_new(p, "metadata.annotations", json_pack("{s:s}", "stoker.dev/cards", cards));
	return p;
}

static int take_given(struct gpus *g, const char *uid, const char *cards, const char *container, int n, struct err *e)
{
	json_auto_t *p = given_pod(uid, cards);

	err_clear(e);
	return gpus_take(g, p, container, n, e);
}

TEST("a pod gets the cards that the scheduler chose, first container first")
{
	struct gpus *g = open_gpus("gpus-given", "6");
	struct err e = ERR_INIT;
	struct gpu_grant grant;

	CHECK_INT(take_given(g, "a", "1,3,5", "prepare", 3, &e), 0);
	CHECK_INT(take_given(g, "a", "1,3,5", "main", 2, &e), 0);
	CHECK_INT(take_given(g, "a", "1,3,5", "second", 1, &e), 0);
	check_of(g, "a", "1,3,5");
	gpus_grant(g, "a", "main", &grant);
	CHECK_STR(tree_joined(grant.env, NULL), "NVIDIA_VISIBLE_DEVICES=GPU-sim-1,GPU-sim-3,CUDA_VISIBLE_DEVICES=0,1");
	gpu_grant_done(&grant);
	gpus_free(g);
	g = open_gpus("gpus-given", "6");
	CHECK_INT(take_given(g, "a", "1,3,5", "main", 2, &e), 0);
	check_of(g, "a", "1,3,5");
	CHECK_INT(take(g, "b", "main", 2, &e), 0);
	check_of(g, "b", "0,2");
	gpus_free(g);
}

TEST("chosen cards that another pod has are waited for, others are refused")
{
	static const struct {
		const char *cards;
		int n;
		int kind;
		const char *text;
	} rows[] = {
		{ "0", 1, ERR_UNAVAILABLE, "waits for GPU 0, which pod lab/x still has" },
		{ "0,1", 2, ERR_UNAVAILABLE, "waits for GPU 0, which pod lab/x still has" },
		{ "7", 1, ERR_INVALID, "the scheduler chose GPU 7, and there are only 3" },
		{ "1,7", 2, ERR_INVALID, "the scheduler chose GPU 1,7, and there are only 3" },
		{ "a", 1, ERR_INVALID, "the scheduler chose GPU a, and there are only 3" },
		{ "1", 2, ERR_INVALID, "needs 2 GPUs, but the scheduler chose 1 for the whole pod" },
	};
	struct gpus *g = open_gpus("gpus-held", "3");
	struct err e = ERR_INIT;

	CHECK_INT(take(g, "x", "main", 1, &e), 0);
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		CHECK_INT(take_given(g, "y", rows[i].cards, "main", rows[i].n, &e), -1);
		CHECK_INT(e.kind, rows[i].kind);
		CHECK_STR(e.text, rows[i].text);
		check_of(g, "y", NULL);
	}
	g->cards[1].broken = true;
	CHECK_INT(take_given(g, "y", "1,2", "main", 2, &e), -1);
	CHECK_INT(e.kind, ERR_INVALID);
	CHECK_STR(e.text, "GPU 1, which the scheduler chose, is broken");
	gpus_release(g, "x");
	CHECK_INT(take_given(g, "y", "0,2", "main", 2, &e), 0);
	check_of(g, "y", "0,2");
	gpus_free(g);
}

/* ---- sharing ---- */

/* A pod of containers "main" and "second" that may have so much each; `cards` may be NULL. */
static json_t *sharing_pod(const char *uid, const char *cards, const char *main_, const char *second)
{
	json_t *p = cards ? given_pod(uid, cards) : pod(uid);

	jsonx_set_new(p, "spec.containers",
		      json_pack("[{s:s, s:{s:{s:s}}}, {s:s, s:{s:{s:s}}}]", "name", "main", "resources", "limits",
				"stoker.dev/gpu-memory", main_, "name", "second", "resources", "limits",
				"stoker.dev/gpu-memory", second));
	return p;
}

static int share(struct gpus *g, const char *uid, const char *cards, const char *amount, struct err *e)
{
	json_auto_t *p = sharing_pod(uid, cards, amount, "0");
	int64_t mib = gpus_wanted_mib(json_array_get(jsonx_at(p, "spec.containers"), 0));

	err_clear(e);
	return gpus_share(g, p, "main", mib, e);
}

TEST("pods share a card as far as its memory goes, the fullest first")
{
	struct gpus *g = open_gpus("gpus-share", "3;0,2");
	struct err e = ERR_INIT;
	struct gpu_grant grant;
	json_auto_t *notes = NULL;
	json_auto_t *list = NULL;

	CHECK_INT(gpus_shared_mib(g), 2 * 16384);
	CHECK_INT(share(g, "a", NULL, "10Gi", &e), 0);
	CHECK_INT(share(g, "b", NULL, "8Gi", &e), 0);
	CHECK_INT(share(g, "c", NULL, "4096", &e), 0);
	check_of(g, "a", "0");
	check_of(g, "b", "2");
	check_of(g, "c", "0");
	CHECK_INT(share(g, "d", NULL, "9Gi", &e), -1);
	CHECK_INT(e.kind, ERR_UNAVAILABLE);
	CHECK_STR(e.text, "needs 9216 MiB of a GPU that may be shared, and none has so much left");
	gpus_grant(g, "c", "main", &grant);
	CHECK_STR(tree_joined(grant.env, NULL),
		  "NVIDIA_VISIBLE_DEVICES=GPU-sim-0,CUDA_VISIBLE_DEVICES=0,STOKER_GPU_MEMORY_MIB=4096");
	gpu_grant_done(&grant);
	notes = gpus_annotations(g);
	CHECK_STR(json_string_value(json_object_get(notes, "stoker.dev/gpu-0")),
		  "shared: lab/a 10240MiB, lab/c 4096MiB");
	list = gpus_list(g);
	CHECK_STR(tree_joined(list, "pod"), ",,");
	CHECK_STR(tree_joined(json_object_get(json_array_get(list, 2), "shares"), "pod"), "b");
	CHECK(jsonx_bool_or(json_array_get(list, 2), "shareable", false));
	CHECK(!jsonx_bool_or(json_array_get(list, 1), "shareable", true));
	gpus_free(g);
}

TEST("whole and shared are never mixed on one card, also after a crash")
{
	struct gpus *g = open_gpus("gpus-mixed", "2;all");
	struct err e = ERR_INIT;

	CHECK_INT(take(g, "whole", "main", 1, &e), 0);
	CHECK_INT(share(g, "part", NULL, "1Gi", &e), 0);
	check_of(g, "whole", "0");
	check_of(g, "part", "1");
	for (int i = 0; i < 2; i++) {
		CHECK_INT(take(g, "x", "main", 1, &e), -1);
		CHECK_STR(e.text, "needs 1 GPU, but 0 of 2 are free");
		CHECK_INT(take_given(g, "x", "1", "main", 1, &e), -1);
		CHECK_STR(e.text, "waits for GPU 1, which pod lab/part still has");
		CHECK_INT(share(g, "y", "0", "1Gi", &e), -1);
		CHECK_STR(e.text, "waits for GPU 0, which pod lab/whole still has");
		CHECK_INT(take(g, "part", "prepare", 1, &e), -1); /* nor within a pod */
		gpus_free(g);
		g = open_gpus("gpus-mixed", "2;all");
	}
	gpus_release(g, "part");
	CHECK_INT(take(g, "x", "main", 1, &e), 0);
	gpus_free(g);
}

TEST("a card that may no longer be shared stays with those who have it")
{
	struct gpus *g = open_gpus("gpus-unshared", "2;1");
	struct err e = ERR_INIT;

	CHECK_INT(share(g, "a", "1", "4Gi", &e), 0);
	gpus_free(g);
	g = open_gpus("gpus-unshared", "2");
	CHECK_INT(gpus_shared_mib(g), 0);
	CHECK_INT(share(g, "a", "1", "4Gi", &e), 0);
	check_of(g, "a", "1");
	CHECK_INT(share(g, "b", "1", "4Gi", &e), -1);
	CHECK_INT(e.kind, ERR_INVALID);
	CHECK_STR(e.text, "the scheduler chose GPU 1, which may not be shared");
	CHECK_INT(take(g, "c", "main", 2, &e), -1);
	gpus_release(g, "a");
	CHECK_INT(take(g, "c", "main", 2, &e), 0);
	gpus_free(g);
}

TEST("the containers of a pod share one card, which has room for all of them")
{
	struct gpus *g = open_gpus("gpus-several", "2;all");
	json_auto_t *p = sharing_pod("b", NULL, "6Gi", "6Gi");
	json_auto_t *list = NULL;
	struct err e = ERR_INIT;

	CHECK_INT(share(g, "a", NULL, "8Gi", &e), 0);
	CHECK_INT(gpus_share(g, p, "main", 6144, &e), 0);
	CHECK_INT(gpus_share(g, p, "second", 6144, &e), 0);
	check_of(g, "b", "1");
	list = gpus_list(g);
	CHECK_INT(jsonx_int_or(json_array_get(json_object_get(json_array_get(list, 1), "shares"), 0), "memoryMib", 0),
		  12288);
	CHECK_INT(share(g, "c", "1", "4Gi", &e), 0);
	CHECK_INT(share(g, "d", "1", "1", &e), -1);
	gpus_free(g);
}

TEST("how much a simulated card is used is what a file says")
{
	static const struct {
		const char *text;
		int first, second;
	} rows[] = {
		{ "", -1, -1 },
		{ "0 90\n1 0\n", 90, 0 },
		{ "all 3", 3, 3 },
		{ "all 0\n 1  50 \n", 0, 50 },
		{ "1 100", -1, 100 },
		{ "1 101\n0 -1\nx 4\n0\n", -1, -1 },
		{ "all 7\n1 ?\n", 7, -1 },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		CHECK_INT(gpu_use_read(str_of(rows[i].text), 0), rows[i].first);
		CHECK_INT(gpu_use_read(str_of(rows[i].text), 1), rows[i].second);
	}
}
