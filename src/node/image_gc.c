// SPDX-License-Identifier: Apache-2.0
/* image_gc.c - what goes, and how
 *
 * The plan is pure: ages, sizes and thresholds in, ids out, the least recently used first.  Removing is in three steps:
 * entries leave the index; layers and blobs that neither the index nor a container knows are renamed into trash/, which
 * is quick; a child process empties trash/, which is not.  While anything is being brought in, nothing unknown is
 * touched: the next removal finds it.
 */
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <sys/statvfs.h>
#include <sys/wait.h>

#include "base/clock.h"
#include "base/jsonx.h"
#include "base/log.h"
#include "base/mem.h"
#include "node/image_build.h"
#include "node/image_parts.h"
#include "node/tree.h"

/* ---- the plan ---- */

static int compare_used(const void *a, const void *b)
{
	int64_t x = jsonx_int_or(*(json_t *const *)a, "used", 0);
	int64_t y = jsonx_int_or(*(json_t *const *)b, "used", 0);

	return (x > y) - (x < y);
}

/* Bytes that must go for the disk to be at the low mark; 0 below the high one. */
static int64_t bytes_wanted(const struct images_policy *p)
{
	int64_t percent = p->total_bytes / 100;

	if (!p->high_percent || p->total_bytes <= 0 || p->used_bytes < percent * p->high_percent)
		return 0;
	return p->used_bytes - percent * p->low_percent;
}

static bool must_go(const json_t *image, const struct images_policy *p, int64_t age, int64_t wanted)
{
	if (p->all || (p->nameless && !jsonx_bool_or(image, "named", true)))
		return true;
	if (p->spare_local && jsonx_bool_or(image, "local", false))
		return false;
	if (p->max_age && age > p->max_age)
		return true;
	return wanted > 0 && age >= p->min_age;
}

json_t *image_gc_plan(const json_t *images, const struct images_policy *policy, int64_t now)
{
	size_t n = json_array_size(images);
	auto_free const json_t **sorted = xcalloc(n + 1, sizeof(*sorted));
	int64_t wanted = bytes_wanted(policy);
	json_t *ids = json_array();

	for (size_t i = 0; i < n; i++)
		sorted[i] = json_array_get(images, i);
	qsort(sorted, n, sizeof(*sorted), compare_used);
	for (size_t i = 0; i < n; i++) {
		int64_t age = now - jsonx_int_or(sorted[i], "used", 0);

		if (jsonx_bool_or(sorted[i], "inUse", false) || !must_go(sorted[i], policy, age, wanted))
			continue;
		wanted -= jsonx_int_or(sorted[i], "bytes", 0);
		json_array_append(ids, json_object_get(sorted[i], "id"));
	}
	return ids;
}

/* ---- sweeping ---- */

static void add_texts(struct map *set, const json_t *array)
{
	json_t *v;
	size_t i;

	json_array_foreach (array, i, v)
		if (json_is_string(v) && image_digest_valid(json_string_value(v)))
			map_set(set, json_string_value(v) + strlen("sha256:"), set);
}

/* Everything that an image or a container needs, by hex digits. */
static void collect_known(struct image_store *s, struct map *layers, struct map *blobs, struct map *ids)
{
	json_auto_t *refs = image_store_refs(s);
	const char *id;
	json_t *v;
	size_t i;

	json_object_foreach (image_store_images(s), id, v) {
		add_texts(layers, json_object_get(v, "layers"));
		add_texts(blobs, json_object_get(v, "blobs"));
		map_set(ids, id + strlen("sha256:"), ids);
	}
	json_array_foreach (refs, i, v)
		add_texts(layers, json_object_get(v, "layers"));
}

static bool move_to_trash(const struct image_store *s, const char *path, const char *name)
{
	auto_free char *to = xasprintf("%s/trash/%lld-%s", s->root, (long long)clock_mono_ns(), name);

	return rename(path, to) == 0;
}

/* Names of a folder that are not in the set; "HEX.json" goes with "HEX". */
static void sweep_folder(const struct image_store *s, const char *folder, const struct map *known)
{
	auto_free char *dir = image_store_path(s, folder);
	DIR *d = opendir(dir);

	for (struct dirent *de = d ? readdir(d) : NULL; de; de = readdir(d)) {
		auto_free char *path = xasprintf("%s/%s", dir, de->d_name);
		size_t n = strcspn(de->d_name, ".");

		if (de->d_name[0] == '.' || (known && map_find_n(known, de->d_name, n)))
			continue;
		if (!move_to_trash(s, path, de->d_name))
			log_warn("remove %s error=%s, ignoring", path, strerror(errno));
	}
	if (d)
		closedir(d);
}

static void sweep_unknown(struct image_store *s)
{
	struct map layers, blobs, ids;

	map_init(&layers, NULL);
	map_init(&blobs, NULL);
	map_init(&ids, NULL);
	collect_known(s, &layers, &blobs, &ids);
	sweep_folder(s, "layers", &layers);
	sweep_folder(s, "blobs/sha256", &blobs);
	sweep_folder(s, "used", &ids);
	sweep_folder(s, "tmp", NULL);
	map_done(&layers);
	map_done(&blobs);
	map_done(&ids);
}

void image_trash_empty(const struct image_store *s)
{
	auto_free char *dir = image_store_path(s, "trash");
	DIR *d = opendir(dir);

	for (struct dirent *de = d ? readdir(d) : NULL; de; de = readdir(d)) {
		auto_free char *path = xasprintf("%s/%s", dir, de->d_name);

		if (!streq(de->d_name, ".") && !streq(de->d_name, ".."))
			tree_remove(path, NULL);
	}
	if (d)
		closedir(d);
}

static bool trash_waits(const struct image_store *s)
{
	auto_free char *dir = image_store_path(s, "trash");
	DIR *d = opendir(dir);
	bool waits = false;

	for (struct dirent *de = d ? readdir(d) : NULL; de; de = readdir(d))
		if (!streq(de->d_name, ".") && !streq(de->d_name, ".."))
			waits = true;
	if (d)
		closedir(d);
	return waits;
}

static void on_swept(void *arg, pid_t pid, int status)
{
	struct images *i = arg;

	(void)pid;
	(void)status;
	i->sweeper = 0;
}

static void start_sweeper(struct images *i)
{
	struct err e = ERR_INIT;
	pid_t pid;

	if (i->sweeper > 0 || !trash_waits(i->store))
		return;
	fflush(NULL);
	pid = fork();
	if (pid == 0) {
		image_child_begin(3);
		image_trash_empty(i->store);
		_exit(0);
	}
	/* Without a child now, the next removal starts one. */
	if (pid > 0 && loop_on_child(i->loop, pid, on_swept, i, &e) == 0)
		i->sweeper = pid;
}

void image_sweep(struct images *i)
{
	auto_close int busy = image_store_busy(i->store, true);
	struct err e = ERR_INIT;
	auto_close int lock = busy < 0 ? -1 : image_store_claims(i->store, &e);

	if (lock >= 0)
		sweep_unknown(i->store);
	start_sweeper(i);
}

void images_settle(struct images *i)
{
	while (i->sweeper > 0)
		loop_turn(i->loop, false);
}

/* ---- removing ---- */

static int users_of(struct image_store *s, const char *id)
{
	json_auto_t *refs = image_store_refs(s);
	int n = 0;
	json_t *ref;
	size_t i;

	json_array_foreach (refs, i, ref)
		n += streq(jsonx_str_or(ref, "id", ""), id);
	return n;
}

/* True if `name` is one of several names: then only the name goes. */
static bool remove_name(json_t *record, const char *name)
{
	auto_sbuf struct sbuf normal = SBUF(8192);
	json_t *names = json_object_get(record, "names");
	struct err e = ERR_INIT;

	if (json_array_size(names) < 2 || image_normalize(name, &normal, &e) < 0)
		return false;
	for (size_t i = 0; i < json_array_size(names); i++)
		if (streq(json_string_value(json_array_get(names, i)), normal.p)) {
			json_array_remove(names, i);
			return true;
		}
	return false;
}

static int remove_locked(struct images *i, const char *name, bool force, struct err *e)
{
	auto_close int lock = image_store_lock(i->store, e);
	const char *id;
	json_t *record;
	int users;

	if (lock < 0)
		return -1;
	record = image_store_find(i->store, name, &id);
	if (!record)
		return err_set(e, ERR_NOT_FOUND, "there is no image \"%.*s\" here", 300, name);
	if (!remove_name(record, name)) {
		users = users_of(i->store, id);
		if (users && !force)
			return err_set(e, ERR_CONFLICT, "\"%s\" is in use by %d container%s", name, users,
				       users == 1 ? "" : "s");
		json_object_del(image_store_images(i->store), id);
	}
	return image_store_save(i->store, e);
}

int images_remove(struct images *i, const char *name, bool force, struct err *e)
{
	if (streq(name, IMAGE_HOST))
		return err_set(e, ERR_INVALID, "\"" IMAGE_HOST "\" is this machine itself and cannot be removed");
	if (remove_locked(i, name, force, e) < 0)
		return -1;
	image_sweep(i);
	return 0;
}

/* ---- pruning ---- */

static json_t *plan_input(struct image_store *s)
{
	json_t *images = json_array();
	const char *id;
	json_t *r;

	json_object_foreach (image_store_images(s), id, r)
		json_array_append_new(images, json_pack("{s:s, s:I, s:I, s:b, s:b, s:b}", "id", id, "bytes",
							(json_int_t)jsonx_int_or(r, "bytes", 0), "used",
							(json_int_t)image_store_used(s, id), "named",
							json_array_size(json_object_get(r, "names")) > 0, "inUse",
							users_of(s, id) > 0, "local",
							json_array_size(json_object_get(r, "digests")) == 0));
	return images;
}

static void ask_disk(const struct image_store *s, struct images_policy *p)
{
	struct statvfs v;

	if (p->total_bytes || !p->high_percent || statvfs(s->root, &v) < 0)
		return;
	/* As df has it: what only root may fill does not count as room. */
	p->used_bytes = (int64_t)((v.f_blocks - v.f_bfree) * v.f_frsize);
	p->total_bytes = p->used_bytes + (int64_t)(v.f_bavail * v.f_frsize);
}

static int prune_locked(struct images *i, const struct images_policy *policy, json_t *removed, struct err *e)
{
	auto_close int lock = image_store_lock(i->store, e);
	struct images_policy p = *policy;
	json_auto_t *input = NULL;
	json_auto_t *ids = NULL;
	json_t *id;
	size_t k;

	if (lock < 0)
		return -1;
	ask_disk(i->store, &p);
	input = plan_input(i->store);
	ids = image_gc_plan(input, &p, clock_wall());
	json_array_foreach (ids, k, id) {
		json_t *images = image_store_images(i->store);
		json_t *r = json_object_get(images, json_string_value(id));

		json_array_append_new(removed,
				      json_pack("{s:O, s:O, s:O}", "id", id, "names", json_object_get(r, "names"),
						"bytes", json_object_get(r, "bytes")));
		json_object_del(images, json_string_value(id));
	}
	return json_array_size(ids) ? image_store_save(i->store, e) : 0;
}

int images_prune(struct images *i, const struct images_policy *policy, json_t **ret_removed, struct err *e)
{
	json_auto_t *removed = json_array();

	if (prune_locked(i, policy, removed, e) < 0)
		return -1;
	if (policy->all)
		build_storage_expire(i->store, 0);
	image_sweep(i);
	*ret_removed = json_incref(removed);
	return 0;
}
