// SPDX-License-Identifier: Apache-2.0
/* gpu_grant.c - what a container needs to use its cards, and only its cards
 *
 * The driver's library counts the cards whose device nodes it can open.  A container has the nodes of its own cards,
 * under the machine's names, and no right to others; so the first of them is card 0 inside, whatever it is outside, and
 * CUDA_VISIBLE_DEVICES is 0,1,...  NVIDIA_VISIBLE_DEVICES names the same cards by their uuids, as the NVIDIA container
 * toolkit would be asked for them, and STOKER_GPU_MEMORY_MIB says how much of a shared one is its own.
 */
#include <stdio.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include "base/jsonx.h"
#include "base/mem.h"
#include "node/gpu_parts.h"

#define ENV_MAX 65536

/* ---- pieces ---- */

static bool listed(const json_t *list, const char *key, const char *value)
{
	json_t *v;
	size_t i;

	json_array_foreach ((json_t *)list, i, v)
		if (streq(jsonx_str_or(v, key, ""), value))
			return true;
	return false;
}

void gpu_grant_mount(json_t *mounts, const char *target, const char *source)
{
	if (!listed(mounts, "destination", target))
		json_array_append_new(mounts,
				      json_pack("{s:o, s:s, s:o, s:[s,s,s,s,s]}", "destination", jsonx_string(target),
						"type", "bind", "source", jsonx_string(source), "options", "rbind",
						"ro", "nosuid", "nodev", "rprivate"));
}

void gpu_grant_node_numbers(json_t *devices, const char *path, const char *type, int64_t major, int64_t minor,
			    int64_t mode, int64_t uid, int64_t gid)
{
	if (!listed(devices, "path", path))
		json_array_append_new(
			devices, json_pack("{s:o, s:s, s:I, s:I, s:I, s:I, s:I}", "path", jsonx_string(path), "type",
					   type, "major", (json_int_t)major, "minor", (json_int_t)minor, "fileMode",
					   (json_int_t)(mode & 0777), "uid", (json_int_t)uid, "gid", (json_int_t)gid));
}

bool gpu_grant_node(const char *root, const char *host_path, const char *path, json_t *devices)
{
	auto_free char *real = gpu_path_real(root, host_path);
	struct stat st;

	if (!real || stat(real, &st) < 0 || !S_ISCHR(st.st_mode))
		return false;
	gpu_grant_node_numbers(devices, path, "c", major(st.st_rdev), minor(st.st_rdev), st.st_mode, st.st_uid,
			       st.st_gid);
	return true;
}

/* Where loaders look without being told: Debian's directory and everyone else's.  The toolkit has the image's ldconfig
 * run instead. */
static const char *const loader_dirs[] = {
#if defined(__x86_64__)
	"/usr/lib/x86_64-linux-gnu",
#elif defined(__aarch64__)
	"/usr/lib/aarch64-linux-gnu",
#endif
	"/usr/lib64",
};

/* "/usr/lib64/libcuda.so.1" but not "/usr/lib64/gbm/nvidia-drm_gbm.so": programs look those up by their path. */
static const char *library_name(const char *path)
{
	const char *name = strrchr(path, '/');

	return name && str_starts(name, "/lib") && strstr(name, ".so") ? name + 1 : NULL;
}

void gpu_grant_spread(json_t *mounts)
{
	size_t n = json_array_size(mounts);

	for (size_t i = 0; i < n; i++) {
		const json_t *m = json_array_get(mounts, i);
		const char *name = library_name(jsonx_str_or(m, "destination", ""));

		for (size_t d = 0; name && d < ARRAY_SIZE(loader_dirs); d++) {
			auto_free char *target = xasprintf("%s/%s", loader_dirs[d], name);

			gpu_grant_mount(mounts, target, jsonx_str_or(m, "source", ""));
		}
	}
}

/* ---- the whole ---- */

static void add_env(json_t *env, const struct gpu_card *const *cards, size_t n)
{
	auto_sbuf struct sbuf numbers = SBUF(ENV_MAX);
	auto_sbuf struct sbuf uuids = SBUF(ENV_MAX);

	for (size_t i = 0; i < n; i++) {
		const char *comma = i ? "," : "";

		sbuf_addf(&numbers, "%s%zu", comma, i);
		if (*cards[i]->uuid)
			sbuf_addf(&uuids, "%s%s", comma, cards[i]->uuid);
		else
			sbuf_addf(&uuids, "%s%d", comma, cards[i]->index);
	}
	json_array_append_new(env, jsonx_stringf("NVIDIA_VISIBLE_DEVICES=%s", uuids.p));
	json_array_append_new(env, jsonx_stringf("CUDA_VISIBLE_DEVICES=%s", numbers.p));
}

static void add_devices(const char *root, const struct gpu_card *const *cards, size_t n, struct gpu_grant *grant)
{
	if (!gpu_cdi_grant(root, cards, n, grant)) {
		gpu_driver_shared_nodes(root, grant->devices);
		for (size_t i = 0; i < n; i++)
			gpu_driver_card_nodes(root, cards[i], grant->devices);
		gpu_driver_mounts(root, grant->mounts);
	}
	gpu_grant_spread(grant->mounts);
}

/* In the order of the bus, for that is how the driver will count them. */
static void grant(struct gpus *g, const struct gpu_card *const *cards, size_t n, int64_t mib, struct gpu_grant *ret)
{
	*ret = (struct gpu_grant){ json_array(), json_array(), json_array() };
	if (n == 0)
		json_array_append_new(ret->env, json_string("NVIDIA_VISIBLE_DEVICES=void"));
	else
		add_env(ret->env, cards, n);
	if (n && mib)
		json_array_append_new(ret->env, jsonx_stringf("STOKER_GPU_MEMORY_MIB=%lld", (long long)mib));
	if (n && cards[0]->minor >= 0)
		add_devices(g->root, cards, n, ret);
}

void gpus_grant(struct gpus *g, const char *uid, const char *container, struct gpu_grant *ret)
{
	const json_t *claim = gpu_table_find(g, uid, container);
	auto_free const struct gpu_card **cards = xcalloc(g->n + 1, sizeof(struct gpu_card *));
	size_t n = 0;

	for (size_t i = 0; i < g->n; i++) {
		json_t *key;
		size_t k;

		json_array_foreach (json_object_get(claim, "cards"), k, key)
			if (streq(json_string_value(key), g->cards[i].key))
				cards[n++] = &g->cards[i];
	}
	grant(g, cards, n, jsonx_int_or(claim, "mib", 0), ret);
}

void gpus_grant_these(struct gpus *g, const int *indices, size_t count, struct gpu_grant *ret)
{
	auto_free const struct gpu_card **cards = xcalloc(g->n + 1, sizeof(struct gpu_card *));
	size_t n = 0;

	for (size_t i = 0; i < g->n; i++)
		for (size_t k = 0; k < count; k++)
			if (indices[k] == g->cards[i].index) {
				cards[n++] = &g->cards[i];
				break;
			}
	grant(g, cards, n, 0, ret);
}

json_t *gpus_withheld(const struct gpus *g, const int *own, size_t n)
{
	json_t *devices = json_array();

	for (size_t i = 0; i < g->n; i++) {
		size_t k = 0;

		while (k < n && own[k] != g->cards[i].index)
			k++;
		if (k == n && g->cards[i].minor >= 0)
			gpu_driver_card_nodes(g->root, &g->cards[i], devices);
	}
	return devices;
}

void gpu_grant_done(struct gpu_grant *grant)
{
	json_decref(grant->devices);
	json_decref(grant->mounts);
	json_decref(grant->env);
	*grant = (struct gpu_grant){ 0 };
}
