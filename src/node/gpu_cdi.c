// SPDX-License-Identifier: Apache-2.0
/* gpu_cdi.c - a Container Device Interface file of this machine, when it has one
 *
 * `nvidia-ctk cdi generate` writes what a container needs for each card; whoever runs it knows his machine better than
 * our tables.  A card is recognised by its device node, not by the name it has in the file, which may be an index from
 * before a card was added.  Devices with nodes of several cards ("all") are nobody's.
 *
 * Of its hooks only the links matter here: they become mounts.  The loader's cache is not made anew inside, because
 * that would mean running a program of ours over files of theirs; gpu_grant_spread() puts libraries where loaders look.
 * A file that names something that is gone (a driver was upgraded) is ignored as a whole.
 */
#include <stdio.h>
#include <sys/stat.h>

#include "base/jsonx.h"
#include "base/mem.h"
#include "base/yamlx.h"
#include "node/gpu_parts.h"

/* In this order; later files complete, never replace. */
static const char *const dirs[] = { "/etc/cdi", "/var/run/cdi", "/run/cdi" };

static const char *host_path(const json_t *v, const char *inside)
{
	return jsonx_str_or(v, "hostPath", jsonx_str_or(v, inside, ""));
}

/* N of "/dev/nvidiaN", or -1. */
static int64_t card_minor(const char *path)
{
	int64_t minor = -1;

	if (str_starts(path, "/dev/nvidia"))
		(void)!str_int64(path + strlen("/dev/nvidia"), 0, 255, &minor);
	return minor;
}

/* The one card whose node a device has, or -1. */
static int64_t minor_of_device(const json_t *device)
{
	int64_t found = -1;
	json_t *node;
	size_t i;

	json_array_foreach (jsonx_at(device, "containerEdits.deviceNodes"), i, node) {
		int64_t minor = card_minor(jsonx_str_or(node, "path", ""));

		if (minor >= 0 && found >= 0 && minor != found)
			return -1;
		if (minor >= 0)
			found = minor;
	}
	return found;
}

static const json_t *device_of_card(const json_t *spec, const struct gpu_card *c)
{
	json_t *device;
	size_t i;

	json_array_foreach (json_object_get(spec, "devices"), i, device)
		/* "0:1" is a part of a card (MIG) */
		if (minor_of_device(device) == c->minor && !strchr(jsonx_str_or(device, "name", ""), ':'))
			return device;
	return NULL;
}

static bool add_node(const char *root, const json_t *node, json_t *devices)
{
	const char *path = jsonx_str_or(node, "path", "");

	if (!json_is_integer(json_object_get(node, "major")))
		return gpu_grant_node(root, host_path(node, "path"), path, devices);
	gpu_grant_node_numbers(devices, path, jsonx_str_or(node, "type", "c"), jsonx_int_or(node, "major", 0),
			       jsonx_int_or(node, "minor", 0), jsonx_int_or(node, "fileMode", 0666),
			       jsonx_int_or(node, "uid", 0), jsonx_int_or(node, "gid", 0));
	return true;
}

static bool add_mount(const char *root, const json_t *mount, json_t *mounts)
{
	const char *inside = jsonx_str_or(mount, "containerPath", "");
	auto_free char *real = gpu_path_real(root, host_path(mount, "containerPath"));

	if (real && *inside == '/' && !str_starts(inside, "/proc/"))
		gpu_grant_mount(mounts, inside, real);
	return real != NULL;
}

/* Both names are ours to say. */
static bool is_ours(const char *env)
{
	return str_starts(env, "NVIDIA_VISIBLE_DEVICES=") || str_starts(env, "CUDA_VISIBLE_DEVICES=");
}

static const char *source_of(const json_t *mounts, const char *target)
{
	json_t *m;
	size_t i;

	json_array_foreach ((json_t *)mounts, i, m)
		if (streq(jsonx_str_or(m, "destination", ""), target))
			return jsonx_str(m, "source");
	return NULL;
}

/* "TARGET::LINK", the target relative to the link's directory. */
static void add_link(const char *text, json_t *mounts)
{
	const char *sep = strstr(text, "::");
	const char *link = sep ? sep + 2 : "";
	const char *slash = strrchr(link, '/');
	auto_free char *target = NULL;
	const char *source;

	if (!slash || *link != '/')
		return;
	target = *text == '/' ? xstrndup(text, (size_t)(sep - text))
			      : xasprintf("%.*s/%.*s", (int)(slash - link), link, (int)(sep - text), text);
	source = source_of(mounts, target);
	if (source) {
		auto_free char *copy = xstrdup(source);

		gpu_grant_mount(mounts, link, copy);
	}
}

static void add_links(const json_t *edits, json_t *mounts)
{
	json_t *hook, *word;
	size_t i, k;

	json_array_foreach (json_object_get(edits, "hooks"), i, hook) {
		const json_t *args = json_object_get(hook, "args");

		json_array_foreach ((json_t *)args, k, word) {
			const char *before = json_string_value(json_array_get(args, k ? k - 1 : 0));

			if (before && streq(before, "--link") && json_is_string(word))
				add_link(json_string_value(word), mounts);
		}
	}
}

static bool add_edits(const char *root, const json_t *edits, struct gpu_grant *grant)
{
	json_t *v;
	size_t i;

	json_array_foreach (json_object_get(edits, "deviceNodes"), i, v)
		if (!add_node(root, v, grant->devices))
			return false;
	json_array_foreach (json_object_get(edits, "mounts"), i, v)
		if (!add_mount(root, v, grant->mounts))
			return false;
	json_array_foreach (json_object_get(edits, "env"), i, v)
		if (json_is_string(v) && !is_ours(json_string_value(v)))
			json_array_append(grant->env, v);
	/* Twice: links to links come in any order. */
	add_links(edits, grant->mounts);
	add_links(edits, grant->mounts);
	return true;
}

/* One file as a grant of its own, merged by the caller if it holds for all cards. */
static bool try_spec(const char *root, const json_t *spec, const struct gpu_card *const *cards, size_t n,
		     struct gpu_grant *ret)
{
	if (!streq(jsonx_str_or(spec, "kind", ""), "nvidia.com/gpu") ||
	    !add_edits(root, json_object_get(spec, "containerEdits"), ret))
		return false;
	for (size_t i = 0; i < n; i++) {
		const json_t *device = device_of_card(spec, cards[i]);

		if (!device || !add_edits(root, json_object_get(device, "containerEdits"), ret))
			return false;
	}
	return true;
}

static json_t *read_spec(const char *root, const char *dir, const char *name)
{
	auto_free char *path = xasprintf("%s/%s", dir, name);
	auto_free char *text = NULL;
	struct err e = ERR_INIT;
	json_t *spec = NULL;

	if (!str_ends(name, ".yaml") && !str_ends(name, ".yml") && !str_ends(name, ".json"))
		return NULL;
	text = gpu_path_text(root, path);
	if (!text || yamlx_parse(text, strlen(text), NULL, NULL, &spec, &e) < 0)
		return NULL;
	return spec;
}

static bool try_dir(const char *root, const char *dir, const struct gpu_card *const *cards, size_t n,
		    struct gpu_grant *ret)
{
	json_auto_t *names = gpu_path_names(root, dir, "");
	json_t *name;
	size_t i;

	json_array_foreach (names, i, name) {
		json_auto_t *spec = read_spec(root, dir, json_string_value(name));
		struct gpu_grant trial = { json_array(), json_array(), json_array() };
		bool good = spec && try_spec(root, spec, cards, n, &trial);

		if (good) {
			json_array_extend(ret->devices, trial.devices);
			json_array_extend(ret->mounts, trial.mounts);
			json_array_extend(ret->env, trial.env);
		}
		gpu_grant_done(&trial);
		if (good)
			return true;
	}
	return false;
}

bool gpu_cdi_grant(const char *root, const struct gpu_card *const *cards, size_t n, struct gpu_grant *grant)
{
	for (size_t i = 0; i < ARRAY_SIZE(dirs); i++)
		if (try_dir(root, dirs[i], cards, n, grant))
			return true;
	return false;
}
