// SPDX-License-Identifier: Apache-2.0
/* image.c - the images there are: looking up, listing, naming
 *
 * Everything is read from image_store.c at each call, which notices by one stat() whether a command or a worker has
 * changed the index.  Configs are kept: an id is the hash of its config, so they never change.
 */
#include "node/image.h"

#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/jsonx.h"
#include "base/mem.h"
#include "node/image_parts.h"

#define CONFIGS_MAX 256

static void free_config(void *config)
{
	json_decref(config);
}

int images_open(struct loop *loop, const struct images_config *config, struct images **ret, struct err *e)
{
	struct images *i = xcalloc(1, sizeof(*i));

	i->loop = loop;
	map_init(&i->configs, free_config);
	if (image_store_open(config->dir, &i->store, e) < 0) {
		images_free(i);
		return err_prefix(e, "images");
	}
	i->store->patient = config->patient;
	/* Never by a command: a server may run beside it. */
	if (!config->patient)
		image_host_adopt(i);
	image_sweep(i);
	*ret = i;
	return 0;
}

void images_free(struct images *i)
{
	if (!i)
		return;
	image_requests_free(i);
	image_host_done(i);
	if (i->sweeper > 0) {
		loop_forget_child(i->loop, i->sweeper);
		kill(i->sweeper, SIGKILL);
		while (waitpid(i->sweeper, NULL, 0) < 0 && errno == EINTR)
			;
	}
	map_done(&i->configs);
	image_store_free(i->store);
	free(i);
}

void image_info_done(struct image_info *info)
{
	free(info->id);
	free(info->name);
	free(info->digest);
	json_decref(info->config);
	*info = (struct image_info){ 0 };
}

/* ---- the machine itself ---- */

#define HOST_PATH "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

/* Programs that came with this one (psgd) are found by their names, installed or not. */
static char *host_path(void)
{
	char own[PATH_MAX];
	ssize_t n = readlink("/proc/self/exe", own, sizeof(own) - 1);
	auto_free char *word = NULL;
	char *slash;

	own[n > 0 ? n : 0] = '\0';
	slash = strrchr(own, '/');
	*(slash ? slash : own) = '\0';
	word = xasprintf(":%s:", own);
	if (!*own || strchr(own, ':') || strstr(":" HOST_PATH ":", word))
		return xstrdup("PATH=" HOST_PATH);
	return xasprintf("PATH=" HOST_PATH ":%s", own);
}

static json_t *host_config(void)
{
	auto_free char *path = host_path();

	return json_pack("{s:s, s:{s:[o], s:[s], s:s}, s:{s:s, s:[]}}", "os", "linux", "config", "Env",
			 jsonx_string(path), "Cmd", "/bin/sh", "WorkingDir", "/", "rootfs", "type", "layers",
			 "diff_ids");
}

static void host_info(struct image_info *ret)
{
	*ret = (struct image_info){
		.id = xstrdup(IMAGE_HOST), .name = xstrdup(IMAGE_HOST), .digest = xstrdup(""), .config = host_config()
	};
}

/* ---- looking up ---- */

static int find_config(struct images *i, const char *id, json_t **ret, struct err *e)
{
	json_t *config = map_find(&i->configs, id);

	if (!config) {
		if (image_store_document(i->store, id, &config, e) < 0)
			return -1;
		if (i->configs.n >= CONFIGS_MAX) {
			map_done(&i->configs);
			map_init(&i->configs, free_config);
		}
		map_set(&i->configs, id, config);
	}
	*ret = json_incref(config);
	return 0;
}

static const char *first_text(const json_t *array)
{
	const char *s = json_string_value(json_array_get(array, 0));

	return s ? s : "";
}

int images_info(struct images *i, const char *id, const json_t *record, struct image_info *ret, struct err *e)
{
	json_t *config;

	if (find_config(i, id, &config, e) < 0)
		return -1;
	*ret = (struct image_info){
		.id = xstrdup(id),
		.name = xstrdup(first_text(json_object_get(record, "names"))),
		.digest = xstrdup(first_text(json_object_get(record, "digests"))),
		.bytes = jsonx_int_or(record, "bytes", 0),
		.config = config,
	};
	return 0;
}

static json_t *find_record(struct images *i, const char *name, const char **ret_id, struct err *e)
{
	json_t *record = image_store_find(i->store, name, ret_id);

	if (!record)
		err_set(e, ERR_NOT_FOUND, "there is no image \"%.*s\" here", 300, name);
	return record;
}

/* The name that was asked for, and the digest under the same repository. */
static void prefer_names(struct image_info *info, const char *name, const json_t *record)
{
	auto_sbuf struct sbuf normal = SBUF(8192);
	auto_sbuf struct sbuf repository = SBUF(8192);
	struct err ignored = ERR_INIT;
	json_t *v;
	size_t k;

	if (image_normalize(name, &normal, &ignored) < 0 || str_starts(info->id, name))
		return;
	image_name_repository(normal.p, &repository);
	if (!str_starts(info->id + strlen("sha256:"), name)) {
		free(info->name);
		info->name = xstrdup(normal.p);
	}
	json_array_foreach (json_object_get(record, "digests"), k, v) {
		const char *digest = json_string_value(v);

		if (!str_starts(digest, repository.p) || digest[repository.n] != '@')
			continue;
		free(info->digest);
		info->digest = xstrdup(digest);
		return;
	}
}

int images_find(struct images *i, const char *name, struct image_info *ret, struct err *e)
{
	const char *id;
	json_t *record;

	if (streq(name, IMAGE_HOST)) {
		host_info(ret);
		return 0;
	}
	record = find_record(i, name, &id, e);
	if (!record || images_info(i, id, record, ret, e) < 0)
		return -1;
	prefer_names(ret, name, record);
	return 0;
}

static json_t *time_text(int64_t seconds)
{
	char text[CLOCK_RFC3339_LEN];

	clock_rfc3339(seconds, text);
	return json_string(text);
}

static json_t *row(struct images *i, const char *id, const json_t *record)
{
	json_t *names = json_object_get(record, "names");

	return json_pack("{s:s, s:O, s:s, s:I, s:s, s:o}", "id", id, "names", names, "digest",
			 first_text(json_object_get(record, "digests")), "bytes",
			 (json_int_t)jsonx_int_or(record, "bytes", 0), "created", jsonx_str_or(record, "created", ""),
			 "used", time_text(image_store_used(i->store, id)));
}

json_t *images_list(struct images *i)
{
	json_t *list = json_array();
	const char *id;
	json_t *record;

	json_object_foreach (image_store_images(i->store), id, record)
		json_array_append_new(list, row(i, id, record));
	return list;
}

static bool in_use(struct images *i, const char *id)
{
	json_auto_t *refs = image_store_refs(i->store);
	json_t *ref;
	size_t k;

	json_array_foreach (refs, k, ref)
		if (streq(jsonx_str_or(ref, "id", ""), id))
			return true;
	return false;
}

int images_inspect(struct images *i, const char *name, json_t **ret, struct err *e)
{
	const char *id;
	json_t *record, *config, *doc;

	if (streq(name, IMAGE_HOST)) {
		*ret = json_pack("{s:s, s:[s], s:o}", "id", IMAGE_HOST, "names", IMAGE_HOST, "config", host_config());
		return 0;
	}
	record = find_record(i, name, &id, e);
	if (!record || find_config(i, id, &config, e) < 0)
		return -1;
	doc = row(i, id, record);
	json_object_set(doc, "digests", json_object_get(record, "digests"));
	json_object_set(doc, "layers", json_object_get(record, "layers"));
	json_object_set_new(doc, "inUse", json_boolean(in_use(i, id)));
	json_object_set_new(doc, "config", config);
	*ret = doc;
	return 0;
}

int images_tag(struct images *i, const char *name, const char *new_name, struct err *e)
{
	auto_sbuf struct sbuf normal = SBUF(8192);
	json_auto_t *copy = NULL;
	auto_free char *id = NULL;
	const char *found;
	json_t *record;

	if (image_normalize(new_name, &normal, e) < 0)
		return -1;
	if (streq(normal.p, IMAGE_HOST) || strchr(normal.p, '@'))
		return err_set(e, ERR_INVALID, "\"%s\" cannot be given to an image", new_name);
	record = find_record(i, name, &found, e);
	if (!record)
		return -1;
	id = xstrdup(found);
	copy = jsonx_copy(record);
	json_object_set_new(copy, "names", json_pack("[s]", normal.p));
	return image_store_add(i->store, id, copy, e);
}
