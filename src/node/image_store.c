// SPDX-License-Identifier: Apache-2.0
/* image_store.c - the index of images and the two locks that server and commands share
 *
 * `lock` is held for the moment of a change: read the index, change it, write it whole, rename.  Reading needs no
 * lock, because a reader sees the old file or the new one.  `claims` is held while a container's use is noted, and
 * while unknown layers are moved away: so a layer is either noted in time or gone before it is looked for.  `busy` is
 * held shared by everything that brings blobs and layers in, for as long as that takes, and exclusively by what removes
 * unknown ones, so that nothing is swept away between its arrival and its entry in the index.  All are flock()s: they
 * end with the process.
 *
 * Only `lock` may take as long as an fsync, and starting a container does not need it.
 *
 * An index that cannot be read is set aside and an empty one begun: images can be fetched again, and what running
 * containers use is written in refs/ too.
 */
#include "node/image_store.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <sys/file.h>
#include <time.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/jsonx.h"
#include "base/limits.h"
#include "base/log.h"
#include "base/mem.h"
#include "loop/crypto.h"
#include "node/image.h"
#include "node/image_name.h"

#define INDEX_MAX    (64u << 20)
#define DOCUMENT_MAX (8u << 20) /* a config with a long history is 100 kB */
#define LOCK_TRIES   100
#define LOCK_WAIT_NS 500000
#define MARK         "image"
#define ID_PREFIX    6 /* hex digits that may stand for an id */

char *image_store_path(const struct image_store *s, const char *below)
{
	return xasprintf("%s/%s", s->root, below);
}

char *image_store_blob(const struct image_store *s, const char *digest)
{
	return xasprintf("%s/blobs/sha256/%s", s->root, digest + strlen("sha256:"));
}

char *image_store_layer(const struct image_store *s, const char *diff_id)
{
	return xasprintf("%s/layers/%s", s->root, diff_id + strlen("sha256:"));
}

int image_store_open(const char *data_dir, struct image_store **ret, struct err *e)
{
	static const char *const dirs[] = { "blobs/sha256", "layers", "used", "refs", "tmp", "trash" };
	struct image_store *s = xcalloc(1, sizeof(*s));
	auto_free char *images = xasprintf("%s/images", data_dir);

	if (file_make_dirs(images, 0700, e) < 0) {
		image_store_free(s);
		return -1;
	}
	s->data = realpath(data_dir, NULL);
	if (!s->data) {
		image_store_free(s);
		return err_errno(e, ERR_INTERNAL, "%s", data_dir);
	}
	s->root = xasprintf("%s/images", s->data);
	for (size_t i = 0; i < ARRAY_SIZE(dirs); i++) {
		auto_free char *path = image_store_path(s, dirs[i]);

		if (file_make_dirs(path, 0700, e) < 0) {
			image_store_free(s);
			return -1;
		}
	}
	*ret = s;
	return 0;
}

void image_store_free(struct image_store *s)
{
	if (!s)
		return;
	json_decref(s->index);
	free(s->data);
	free(s->root);
	free(s);
}

/* ---- locks ---- */

static int take_lock(struct image_store *s, const char *name, struct err *e)
{
	const struct timespec pause = { .tv_nsec = LOCK_WAIT_NS };
	auto_free char *path = image_store_path(s, name);
	int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);

	if (fd < 0)
		return err_errno(e, errno == ENOSPC ? ERR_STORAGE_FULL : ERR_INTERNAL, "%s", path);
	/* One that was stopped while it held the lock must not stop the server. */
	for (int i = 0; s->patient || i < LOCK_TRIES; i++) {
		if (flock(fd, s->patient ? LOCK_EX : LOCK_EX | LOCK_NB) == 0)
			return fd;
		if (!s->patient)
			nanosleep(&pause, NULL);
	}
	close(fd);
	return err_set(e, ERR_UNAVAILABLE, "%s is held by another process; try again", path);
}

int image_store_lock(struct image_store *s, struct err *e)
{
	return take_lock(s, "lock", e);
}

int image_store_claims(struct image_store *s, struct err *e)
{
	return take_lock(s, "claims", e);
}

int image_store_busy(struct image_store *s, bool exclusive)
{
	auto_free char *path = image_store_path(s, "busy");
	int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);

	if (fd < 0)
		return -1;
	/* Whoever has it exclusively is renaming a few directories: shared may wait, it is never the loop that asks. */
	while (flock(fd, exclusive ? LOCK_EX | LOCK_NB : LOCK_SH) < 0) {
		if (errno == EINTR)
			continue;
		close(fd);
		return -1;
	}
	return fd;
}

/* ---- the index ---- */

static int read_json(const char *path, size_t max, json_t **ret, struct err *e)
{
	auto_sbuf struct sbuf text = SBUF(max);

	if (file_read(path, max, &text, e) < 0)
		return -1;
	if (jsonx_parse(text.p ? text.p : "", text.n, NULL, NULL, ret, e) < 0)
		return err_prefix(e, "%s", path);
	return 0;
}

static bool same_file(const struct stat *a, const struct stat *b)
{
	return a->st_ino == b->st_ino && a->st_size == b->st_size && a->st_mtim.tv_sec == b->st_mtim.tv_sec &&
	       a->st_mtim.tv_nsec == b->st_mtim.tv_nsec;
}

static json_t *empty_index(void)
{
	return json_pack("{s:i, s:{}}", "version", 1, "images");
}

static void load_index(struct image_store *s, const char *path)
{
	struct err e = ERR_INIT;
	json_t *doc = NULL;

	if (read_json(path, INDEX_MAX, &doc, &e) < 0 || !json_is_object(json_object_get(doc, "images"))) {
		auto_free char *aside = xasprintf("%s.bad", path);

		log_warn("set the index of images aside, beginning an empty one path=%s error=%s", aside, e.text);
		(void)!rename(path, aside);
		json_decref(doc);
		doc = empty_index();
	}
	json_decref(s->index);
	s->index = doc;
}

json_t *image_store_images(struct image_store *s)
{
	auto_free char *path = image_store_path(s, "index.json");
	struct stat st = { 0 };

	if (stat(path, &st) < 0) {
		if (!s->index || s->seen.st_ino) {
			json_decref(s->index);
			s->index = empty_index();
		}
	} else if (!s->index || !same_file(&st, &s->seen)) {
		load_index(s, path);
	}
	s->seen = st;
	return json_object_get(s->index, "images");
}

int image_store_save(struct image_store *s, struct err *e)
{
	auto_free char *path = image_store_path(s, "index.json");
	auto_sbuf struct sbuf text = SBUF(INDEX_MAX);
	int r;

	jsonx_dump(s->index, &text);
	r = text.over ? err_set(e, ERR_TOO_LARGE, "the index of images is too large")
		      : file_write(path, 0600, sbuf_str(&text), e);
	/* Whether it is new or still old: what is on disk counts. */
	json_decref(s->index);
	s->index = NULL;
	return r;
}

static bool array_has(const json_t *array, const char *text)
{
	json_t *v;
	size_t i;

	json_array_foreach (array, i, v)
		if (str_same(json_string_value(v), text))
			return true;
	return false;
}

static json_t *find_by_id(json_t *images, const char *name, const char **ret_id)
{
	const char *hex = str_starts(name, "sha256:") ? name + strlen("sha256:") : name;
	size_t n = strlen(hex);
	json_t *found = NULL;
	const char *id;
	json_t *record;

	if (n < ID_PREFIX || strspn(hex, "0123456789abcdef") != n)
		return NULL;
	json_object_foreach (images, id, record) {
		if (strncmp(id + strlen("sha256:"), hex, n) != 0)
			continue;
		if (found)
			return NULL;
		found = record;
		*ret_id = id;
	}
	return found;
}

json_t *image_store_find(struct image_store *s, const char *name, const char **ret_id)
{
	auto_sbuf struct sbuf normal = SBUF(8192);
	json_t *images = image_store_images(s);
	struct err e = ERR_INIT;
	const char *id;
	json_t *record;

	if (image_normalize(name, &normal, &e) == 0)
		json_object_foreach (images, id, record)
			if (array_has(json_object_get(record, "names"), normal.p) ||
			    array_has(json_object_get(record, "digests"), normal.p)) {
				*ret_id = id;
				return record;
			}
	return find_by_id(images, name, ret_id);
}

static void array_remove(json_t *array, const char *text)
{
	for (size_t i = json_array_size(array); i > 0; i--)
		if (str_same(json_string_value(json_array_get(array, i - 1)), text))
			json_array_remove(array, i - 1);
}

static void take_name(json_t *images, const char *name)
{
	const char *id;
	json_t *record;

	json_object_foreach (images, id, record)
		array_remove(json_object_get(record, "names"), name);
}

static void merge_texts(json_t *into, const json_t *from)
{
	json_t *v;
	size_t i;

	json_array_foreach (from, i, v)
		if (!array_has(into, json_string_value(v)))
			json_array_append(into, v);
}

int image_store_add(struct image_store *s, const char *id, const json_t *record, struct err *e)
{
	static const char *const lists[] = { "names", "digests" };
	auto_close int lock = image_store_lock(s, e);
	json_t *images, *old, *v;
	json_auto_t *merged = NULL;
	size_t i;

	if (lock < 0)
		return -1;
	images = image_store_images(s);
	json_array_foreach (json_object_get(record, "names"), i, v)
		take_name(images, json_string_value(v));
	old = json_object_get(images, id);
	merged = jsonx_copy(record);
	for (i = 0; i < ARRAY_SIZE(lists); i++) {
		json_t *list = jsonx_copy(json_object_get(old, lists[i]));

		if (!list)
			list = json_array();
		merge_texts(list, json_object_get(record, lists[i]));
		json_object_set_new(merged, lists[i], list);
	}
	json_object_set(images, id, merged);
	image_store_touch(s, id);
	return image_store_save(s, e);
}

int image_store_document(struct image_store *s, const char *digest, json_t **ret, struct err *e)
{
	auto_free char *path = image_store_blob(s, digest);
	auto_sbuf struct sbuf text = SBUF(DOCUMENT_MAX);
	auto_sbuf struct sbuf hex = SBUF(128);
	unsigned char hash[SHA256_LEN];

	if (file_read(path, DOCUMENT_MAX, &text, e) < 0)
		return -1;
	crypto_sha256(text.p ? text.p : "", text.n, hash);
	hex_encode(hash, sizeof(hash), &hex);
	if (!streq(hex.p, digest + strlen("sha256:"))) {
		/* So that the next pull fetches it again. */
		unlink(path);
		return err_set(e, ERR_CORRUPT, "%s: its content does not have this hash", path);
	}
	if (jsonx_parse(text.p ? text.p : "", text.n, NULL, NULL, ret, e) < 0) {
		e->kind = ERR_INVALID;
		return err_prefix(e, "%s", digest);
	}
	return 0;
}

/* ---- use ---- */

static char *used_path(const struct image_store *s, const char *id)
{
	return xasprintf("%s/used/%s", s->root, id + strlen("sha256:"));
}

void image_store_touch(struct image_store *s, const char *id)
{
	auto_free char *path = used_path(s, id);
	auto_close int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
	const struct timespec now[2] = { { .tv_sec = clock_wall() }, { .tv_sec = clock_wall() } };

	/* A time that is lost makes the image look older than it is; refs/ still protects what runs. */
	if (fd >= 0)
		(void)!futimens(fd, now);
}

int64_t image_store_used(struct image_store *s, const char *id)
{
	auto_free char *path = used_path(s, id);
	struct stat st;

	return stat(path, &st) < 0 ? 0 : st.st_mtim.tv_sec;
}

json_t *image_scratch_mark(const char *scratch)
{
	auto_free char *path = xasprintf("%s/" MARK, scratch);
	struct err e = ERR_INIT;
	json_t *doc = NULL;

	return read_json(path, LIMIT_BODY, &doc, &e) < 0 ? NULL : doc;
}

static int write_json(const char *path, const json_t *doc, struct err *e)
{
	auto_sbuf struct sbuf text = SBUF(LIMIT_BODY);
	auto_close int fd = -1;

	jsonx_dump(doc, &text);
	fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600);
	/* No fsync: after a power failure nothing runs that it could speak of. */
	if (fd < 0 || write(fd, text.p, text.n) != (ssize_t)text.n)
		return err_errno(e, errno == ENOSPC || errno == EDQUOT ? ERR_STORAGE_FULL : ERR_INTERNAL, "%s", path);
	return 0;
}

int image_store_ref(struct image_store *s, const char *id, const json_t *layers, const char *scratch, struct err *e)
{
	auto_free char *mark = xasprintf("%s/" MARK, scratch);
	auto_free char *trash = image_store_path(s, "trash");
	auto_free char *path = NULL;
	auto_sbuf struct sbuf hex = SBUF(128);
	unsigned char hash[SHA256_LEN];
	json_auto_t *note = NULL;

	crypto_sha256(scratch, strlen(scratch), hash);
	hex_encode(hash, 16, &hex);
	path = xasprintf("%s/refs/%s", s->root, hex.p);
	note = json_pack("{s:s, s:O, s:o, s:o, s:o}", "id", id, "layers", layers, "scratch", jsonx_string(scratch),
			 "ref", jsonx_string(path), "trash", jsonx_string(trash));
	/* The mark first: a note without one is stale. */
	if (write_json(mark, note, e) < 0)
		return -1;
	/* One file under two names, where both may be: two for each container are more work than all of this. */
	unlink(path);
	return link(mark, path) == 0 ? 0 : write_json(path, note, e);
}

json_t *image_store_refs(struct image_store *s)
{
	auto_free char *dir = image_store_path(s, "refs");
	json_t *refs = json_array();
	DIR *d = opendir(dir);

	for (struct dirent *de = d ? readdir(d) : NULL; de; de = readdir(d)) {
		auto_free char *path = xasprintf("%s/%s", dir, de->d_name);
		auto_free char *mark = NULL;
		struct err e = ERR_INIT;
		json_t *ref = NULL;

		if (de->d_name[0] == '.' || read_json(path, LIMIT_BODY, &ref, &e) < 0)
			continue;
		mark = xasprintf("%s/" MARK, jsonx_str_or(ref, "scratch", ""));
		if (access(mark, F_OK) == 0) {
			json_array_append_new(refs, ref);
			continue;
		}
		json_decref(ref);
		unlink(path);
	}
	if (d)
		closedir(d);
	return refs;
}
