// SPDX-License-Identifier: Apache-2.0
/* volume.c - the types of volumes, one row each, and what is common to them */
#include "node/volume.h"

#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/jsonx.h"
#include "base/mem.h"
#include "node/volume_parts.h"

static const struct volume_type types[] = {
	/* name, prepare, root, always read-only, in memory */
	{ "hostPath", volume_host_prepare, volume_host_root, false, false },
	{ "emptyDir", volume_empty_prepare, NULL, false, false },
	{ "configMap", volume_config_map_prepare, NULL, true, false },
	{ "secret", volume_secret_prepare, NULL, true, true },
	{ "downwardAPI", volume_downward_prepare, NULL, true, true },
	{ "projected", volume_projected_prepare, NULL, true, true },
	{ "persistentVolumeClaim", volume_claim_prepare, volume_claim_root, false, false },
	{ "nfs", volume_nfs_prepare, NULL, false, false },
	{ "csi", volume_pbs_prepare, NULL, true, false },
};

/* A volume without any source is an emptyDir, as in Kubernetes. */
static int find_type(const json_t *spec, const struct volume_type **ret, const json_t **ret_source, struct err *e)
{
	auto_sbuf struct sbuf known = SBUF(512);
	const char *name;
	json_t *v;

	for (size_t i = 0; i < ARRAY_SIZE(types); i++) {
		*ret_source = json_object_get(spec, types[i].name);
		*ret = &types[i];
		if (*ret_source)
			return 0;
		sbuf_addf(&known, "%s%s", i ? ", " : "", types[i].name);
	}
	json_object_foreach ((json_t *)spec, name, v)
		if (!streq(name, "name"))
			return err_set(e, ERR_INVALID, "volume type %s is not supported here; these are: %s", name,
				       known.p);
	*ret = &types[1];
	*ret_source = NULL;
	return 0;
}

/* Where it is: *v's base and path; the path is the caller's to free.  A mount of an earlier server stays in use. */
static char *place(struct volume *v, const struct volume_type *type)
{
	char *path = xasprintf("%s/%s", v->c->dir, v->name);

	v->base = v->c->dir;
	if (type->memory && v->c->memory && access(path, F_OK) < 0) {
		free(path);
		v->base = v->c->memory;
		path = xasprintf("%s/%s", v->base, v->name);
	}
	v->path = path;
	return path;
}

static int prepare_one(const struct volume_context *c, const json_t *spec, struct err *e)
{
	struct volume v = { .c = c, .name = jsonx_str_or(spec, "name", "") };
	const struct volume_type *type;
	auto_free char *path = NULL;

	if (find_type(spec, &type, &v.source, e) < 0)
		return -1;
	path = place(&v, type);
	v.read_only = jsonx_bool_or(v.source, "readOnly", false);
	if (file_make_dirs(v.base, 0755, e) < 0)
		return -1;
	return type->prepare(&v, e);
}

int volumes_prepare(const struct volume_context *c, struct err *e)
{
	json_t *spec;
	size_t i;

	json_array_foreach (jsonx_at(c->pod, "spec.volumes"), i, spec)
		if (prepare_one(c, spec, e) < 0)
			return err_prefix(e, "MountVolume.SetUp failed for volume \"%s\" ",
					  jsonx_str_or(spec, "name", ""));
	return 0;
}

/* ---- what must be fetched ---- */

/* Required wins over optional. */
static void need(json_t *out, const char *plural, const char *name, bool optional)
{
	auto_free char *key = xasprintf("?%s/%s", plural, name);
	json_t *item;
	size_t i;

	if (!*name)
		return;
	json_array_foreach (out, i, item) {
		const char *have = json_string_value(item);

		if (streq(have, key + 1) || (streq(have, key) && optional))
			return;
		if (streq(have, key)) {
			json_array_set_new(out, i, jsonx_string(key + 1));
			return;
		}
	}
	json_array_append_new(out, jsonx_string(optional ? key : key + 1));
}

/* The objects of a volume or of one source of a projected volume. */
static void need_objects(json_t *out, const json_t *spec)
{
	const json_t *map = json_object_get(spec, "configMap");
	const json_t *secret = json_object_get(spec, "secret");

	if (map)
		need(out, "configmaps", jsonx_str_or(map, "name", ""), jsonx_bool_or(map, "optional", false));
	if (secret)
		need(out, "secrets", jsonx_str_or(secret, "secretName", jsonx_str_or(secret, "name", "")),
		     jsonx_bool_or(secret, "optional", false));
}

json_t *volumes_needed(const json_t *pod, const json_t *objects)
{
	json_t *out = json_array();
	json_t *spec;
	size_t i;

	json_array_foreach (jsonx_at(pod, "spec.volumes"), i, spec) {
		const char *claim = jsonx_str(spec, "persistentVolumeClaim.claimName");
		auto_free char *key = xasprintf("persistentvolumeclaims/%s", claim ? claim : "");
		json_t *source;
		size_t k;

		need_objects(out, spec);
		json_array_foreach (jsonx_at(spec, "projected.sources"), k, source)
			need_objects(out, source);
		if (!claim)
			continue;
		need(out, "persistentvolumeclaims", claim, false);
		need(out, "persistentvolumes", jsonx_str_or(json_object_get(objects, key), "spec.volumeName", ""),
		     false);
	}
	return out;
}

/* ---- one mount ---- */

static const json_t *find_volume(const json_t *pod, const char *name)
{
	json_t *spec;
	size_t i;

	json_array_foreach (jsonx_at(pod, "spec.volumes"), i, spec)
		if (str_same(jsonx_str(spec, "name"), name))
			return spec;
	return NULL;
}

bool volume_is_read_only(const json_t *pod, const json_t *mount)
{
	const json_t *spec = find_volume(pod, jsonx_str_or(mount, "name", ""));
	const struct volume_type *type;
	struct err e = ERR_INIT;
	const json_t *source;

	if (jsonx_bool_or(mount, "readOnly", false) || !spec || find_type(spec, &type, &source, &e) < 0)
		return true;
	return type->read_only || jsonx_bool_or(source, "readOnly", false);
}

/* Its place among the container's mounts: mount paths are unique there. */
static size_t mount_index(const json_t *container, const json_t *mount)
{
	json_t *one;
	size_t i;

	json_array_foreach (json_object_get(container, "volumeMounts"), i, one)
		if (one == mount || str_same(jsonx_str(one, "mountPath"), jsonx_str(mount, "mountPath")))
			return i;
	return 0;
}

int volume_source(const struct volume_context *c, const json_t *container, const json_t *mount, const char *sub_path,
		  char **ret, struct err *e)
{
	const char *name = jsonx_str_or(mount, "name", "");
	const char *container_name = jsonx_str_or(container, "name", "");
	const json_t *spec = find_volume(c->pod, name);
	auto_free char *path = NULL;
	auto_free char *root = NULL;
	struct volume v = { .c = c, .name = name };
	const struct volume_type *type;

	if (!spec)
		return err_set(e, ERR_INVALID, "container \"%s\" mounts \"%s\", which is no volume of the pod",
			       container_name, name);
	if (find_type(spec, &type, &v.source, e) < 0)
		return -1;
	path = place(&v, type);
	if (type->root && type->root(&v, &root, e) < 0)
		return -1;
	if (!root)
		root = xstrdup(path);
	if (sub_path && *sub_path) {
		if (volume_subpath(&v, root, container_name, mount_index(container, mount), sub_path, ret, e) < 0)
			return err_prefix(e, "failed to prepare subPath for volumeMount \"%s\" of container \"%s\"",
					  name, container_name);
		return 0;
	}
	*ret = TAKE(root);
	return 0;
}
