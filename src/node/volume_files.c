// SPDX-License-Identifier: Apache-2.0
/* volume_files.c - volumes made of objects: configMap, secret, downwardAPI, projected
 *
 * Each type only collects files; volume_write.c puts them in place.  The four sources of a projected volume are the
 * other three and service-account tokens, one row each.  All but ConfigMaps are kept in memory, as what they hold may
 * be secret.
 */
#include "base/jsonx.h"
#include "base/limits.h"
#include "base/mem.h"
#include "node/volume_parts.h"

#define DEFAULT_MODE 0644
#define TOKEN_MODE   0600
#define MEMORY_BYTES (64ll * 1024 * 1024) /* more than every source of a projected volume at its largest */
#define NOBODY       ((uid_t)-1)

/* What is being collected. */
struct collect {
	const struct volume *v;
	struct volume_files files;
	mode_t mode;
};

static mode_t mode_of(const json_t *item, mode_t fallback)
{
	return (mode_t)jsonx_int_or(item, "mode", fallback);
}

/* ---- ConfigMaps and Secrets ---- */

static const struct object_type {
	const char *plural, *what; /* "configmaps/NAME"; as errors call it */
	const char *no_key;        /* Kubernetes' words */
} config_maps = { "configmaps", "configmap", "configmap references non-existent config key" },
  secrets = { "secrets", "secret", "references non-existent secret key" };

/* A key's bytes: text in a ConfigMap's data, else base64.  False if there is none. */
static bool key_bytes(const struct object_type *t, const json_t *obj, const char *key, struct sbuf *out)
{
	const json_t *data = json_object_get(json_object_get(obj, "data"), key);
	const json_t *binary = json_object_get(json_object_get(obj, "binaryData"), key);

	if (t == &config_maps && json_is_string(data)) {
		sbuf_add(out, json_string_value(data), json_string_length(data));
		return true;
	}
	if (t == &config_maps)
		data = binary;
	return json_is_string(data) && base64_decode(json_string_value(data), json_string_length(data), out);
}

static int add_key(struct collect *c, const struct object_type *t, const json_t *obj, const char *key, const char *path,
		   mode_t mode, bool optional, struct err *e)
{
	auto_sbuf struct sbuf bytes = SBUF(LIMIT_OBJECT);
	int r;

	if (!key_bytes(t, obj, key, &bytes))
		return optional ? 0 : err_set(e, ERR_NOT_FOUND, "%s: %s", t->no_key, key);
	r = volume_files_add(&c->files, path, sbuf_str(&bytes), mode, NOBODY, e);
	if (bytes.p)
		mem_wipe(bytes.p, bytes.n);
	return r;
}

static int add_all_keys(struct collect *c, const struct object_type *t, const json_t *obj, struct err *e)
{
	static const char *const maps[] = { "data", "binaryData" };
	const char *key;
	json_t *v;

	for (size_t i = 0; i < ARRAY_SIZE(maps); i++)
		json_object_foreach (json_object_get(obj, maps[i]), key, v)
			if (add_key(c, t, obj, key, key, c->mode, false, e) < 0)
				return -1;
	return 0;
}

static int add_object(struct collect *c, const struct object_type *t, const json_t *source, const char *name,
		      struct err *e)
{
	auto_free char *key = xasprintf("%s/%s", t->plural, name);
	const json_t *obj = json_object_get(c->v->c->objects, key);
	const json_t *items = json_object_get(source, "items");
	bool optional = jsonx_bool_or(source, "optional", false);
	json_t *item;
	size_t i;

	if (!json_is_object(obj))
		return optional ? 0 : err_set(e, ERR_NOT_FOUND, "%s \"%s\" not found", t->what, name);
	if (!json_array_size(items))
		return add_all_keys(c, t, obj, e);
	json_array_foreach ((json_t *)items, i, item)
		if (add_key(c, t, obj, jsonx_str_or(item, "key", ""), jsonx_str_or(item, "path", ""),
			    mode_of(item, c->mode), optional, e) < 0)
			return -1;
	return 0;
}

static int add_config_map(struct collect *c, const json_t *source, struct err *e)
{
	return add_object(c, &config_maps, source, jsonx_str_or(source, "name", ""), e);
}

/* secretName in a volume, name in a projection. */
static int add_secret(struct collect *c, const json_t *source, struct err *e)
{
	return add_object(c, &secrets, source, jsonx_str_or(source, "secretName", jsonx_str_or(source, "name", "")), e);
}

/* ---- the pod itself ---- */

static int add_downward(struct collect *c, const json_t *source, struct err *e)
{
	json_t *item;
	size_t i;

	json_array_foreach (json_object_get(source, "items"), i, item) {
		auto_sbuf struct sbuf text = SBUF(LIMIT_OBJECT);

		if (volume_downward_text(c->v->c->pod, item, &text, e) < 0 ||
		    volume_files_add(&c->files, jsonx_str_or(item, "path", ""), sbuf_str(&text), mode_of(item, c->mode),
				     NOBODY, e) < 0)
			return -1;
	}
	return 0;
}

/* ---- tokens ---- */

/* The uid all containers run as, if the pod says so; Kubernetes makes it the owner of tokens. */
static uid_t only_user(const json_t *pod)
{
	static const char *const lists[] = { "spec.containers", "spec.initContainers" };
	int64_t of_pod = jsonx_int_or(pod, "spec.securityContext.runAsUser", -1);
	int64_t user = -1;
	json_t *container;
	size_t k;

	for (size_t i = 0; i < ARRAY_SIZE(lists); i++)
		json_array_foreach (jsonx_at(pod, lists[i]), k, container) {
			int64_t one = jsonx_int_or(container, "securityContext.runAsUser", of_pod);

			if (one < 0 || (user >= 0 && one != user))
				return NOBODY;
			user = one;
		}
	return user < 0 ? NOBODY : (uid_t)user;
}

static int add_token(struct collect *c, const json_t *source, struct err *e)
{
	const struct volume_context *x = c->v->c;
	const char *path = jsonx_str_or(source, "path", "token");
	auto_free char *key = xasprintf("tokens/%s/%s", c->v->name, path);
	const json_t *answer = json_object_get(x->objects, key);
	const char *token = json_string_value(answer);
	uid_t user = x->owner != NOBODY ? x->owner : only_user(x->pod);
	bool narrow = user != NOBODY || x->fs_group != (gid_t)-1;

	if (!token)
		return err_set(e, ERR_NOT_FOUND, "failed to fetch token: %s", jsonx_str_or(answer, "error", "not yet"));
	return volume_files_add(&c->files, path, str_of(token), narrow ? TOKEN_MODE : c->mode, user, e);
}

/* ---- the types ---- */

static const struct {
	const char *name;
	int (*add)(struct collect *c, const json_t *source, struct err *e);
} projections[] = {
	{ "configMap", add_config_map },
	{ "secret", add_secret },
	{ "downwardAPI", add_downward },
	{ "serviceAccountToken", add_token },
};

static int add_projection(struct collect *c, const json_t *source, struct err *e)
{
	const char *name;
	json_t *v;

	for (size_t i = 0; i < ARRAY_SIZE(projections); i++) {
		const json_t *one = json_object_get(source, projections[i].name);

		if (one)
			return projections[i].add(c, one, e);
	}
	json_object_foreach ((json_t *)source, name, v)
		return err_set(e, ERR_INVALID, "projected source %s is not supported", name);
	return 0;
}

static int add_projected(struct collect *c, const json_t *source, struct err *e)
{
	json_t *one;
	size_t i;

	json_array_foreach (json_object_get(source, "sources"), i, one)
		if (add_projection(c, one, e) < 0)
			return -1;
	return 0;
}

static int prepare(const struct volume *v, bool memory,
		   int (*add)(struct collect *c, const json_t *source, struct err *e), struct err *e)
{
	struct collect c = { .v = v, .mode = (mode_t)jsonx_int_or(v->source, "defaultMode", DEFAULT_MODE) };
	int r = add(&c, v->source, e);

	if (r == 0)
		r = memory ? volume_mount_memory(v, MEMORY_BYTES, e) : volume_make_dir(v->path, 0777, e);
	if (r == 0)
		r = volume_files_write(v, &c.files, e);
	volume_files_done(&c.files);
	return r;
}

int volume_config_map_prepare(const struct volume *v, struct err *e)
{
	return prepare(v, false, add_config_map, e);
}

int volume_secret_prepare(const struct volume *v, struct err *e)
{
	return prepare(v, true, add_secret, e);
}

int volume_downward_prepare(const struct volume *v, struct err *e)
{
	return prepare(v, true, add_downward, e);
}

int volume_projected_prepare(const struct volume *v, struct err *e)
{
	return prepare(v, true, add_projected, e);
}
