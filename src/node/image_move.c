// SPDX-License-Identifier: Apache-2.0
/* image_move.c - images leave and enter: push, export, import; each in a worker
 *
 * skopeo reads an image of ours as an OCI layout: two small files written for the occasion, with the store's own blobs.
 * Files outside the store are reached by a symlink in the worker's directory (see image_skopeo.c on colons).
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include "base/file.h"
#include "base/jsonx.h"
#include "base/mem.h"
#include "node/image_archive.h"
#include "node/image_parts.h"
#include "node/tree.h"

#define TIMEOUT "12h"

static int write_text(const char *dir, const char *name, const char *text, struct err *e)
{
	auto_free char *path = xasprintf("%s/%s", dir, name);

	return file_write(path, 0600, str_of(text), e);
}

int image_layout_write(struct image_store *s, const char *name, const char *to, char **ret_id, struct err *e)
{
	auto_sbuf struct sbuf text = SBUF(65536);
	json_auto_t *index = NULL;
	const char *id;
	json_t *record = image_store_find(s, name, &id);
	json_t *descriptor;

	if (!record)
		return err_set(e, ERR_NOT_FOUND, "there is no image \"%.*s\" here", 300, name);
	descriptor = jsonx_copy(json_object_get(record, "manifest"));
	json_object_set_new(descriptor, "annotations",
			    json_pack("{s:s}", "org.opencontainers.image.ref.name", "image"));
	index = json_pack("{s:i, s:[o]}", "schemaVersion", 2, "manifests", descriptor);
	jsonx_dump(index, &text);
	if (write_text(to, "oci-layout", "{\"imageLayoutVersion\":\"1.0.0\"}", e) < 0 ||
	    write_text(to, "index.json", text.p, e) < 0)
		return -1;
	*ret_id = xstrdup(id);
	return 0;
}

/* The same in the worker's own out/. */
static int write_layout(struct image_store *s, const char *name, const char *dir, char **ret_id, struct err *e)
{
	auto_free char *out = xasprintf("%s/out", dir);

	return image_layout_write(s, name, out, ret_id, e);
}

static void begin_from_store(struct skopeo *s, const char *dir, struct image_worker *w)
{
	skopeo_begin(s, dir, w, TIMEOUT, "copy");
	skopeo_add(s, "--src-shared-blob-dir");
	skopeo_add(s, "../../blobs");
}

static int push(const struct image_request *r, struct image_worker *w, const char *dir, json_t **ret, struct err *e)
{
	auto_free char *to = xasprintf("docker://%s", r->to);
	auto_free char *id = NULL;
	struct skopeo s;
	int result;

	if (write_layout(r->images->store, r->name, dir, &id, e) < 0)
		return -1;
	begin_from_store(&s, dir, w);
	result = skopeo_add_access(&s, r, r->to, "dest-", e);
	skopeo_add(&s, "oci:out:image");
	skopeo_add(&s, to);
	if (result == 0)
		result = skopeo_run(&s, e);
	skopeo_done(&s);
	if (result == 0)
		*ret = json_pack("{s:s}", "id", id);
	return result;
}

/* Whoever is called by a tag keeps it in the archive; ids and digests leave the image without a name. */
static char *archive_target(const struct image_request *r)
{
	auto_sbuf struct sbuf normal = SBUF(8192);
	struct err e = ERR_INIT;
	const char *id;
	const json_t *record = image_store_find(r->images->store, r->name, &id);
	json_t *v;
	size_t k;

	if (image_normalize(r->name, &normal, &e) == 0)
		json_array_foreach (json_object_get(record, "names"), k, v)
			if (streq(json_string_value(v), normal.p))
				return xasprintf("%s:file:%s", r->form, normal.p);
	return xasprintf("%s:file", r->form);
}

/* skopeo writes into an empty file that is there, by the link's name. */
static int make_partial(const char *partial, const char *link, struct err *e)
{
	auto_close int fd = open(partial, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);

	if (fd < 0)
		return err_errno(e, errno == ENOSPC ? ERR_STORAGE_FULL : ERR_INTERNAL, "%s", partial);
	if (symlink(partial, link) < 0) {
		unlink(partial);
		return err_errno(e, ERR_INTERNAL, "%s", link);
	}
	return 0;
}

static int export(const struct image_request *r, struct image_worker *w, const char *dir, json_t **ret, struct err *e)
{
	auto_free char *partial = xasprintf("%s.partial-%d", r->to, (int)getpid());
	auto_free char *link = xasprintf("%s/file", dir);
	auto_free char *target = archive_target(r);
	auto_free char *id = NULL;
	struct skopeo s;
	int result;

	if (write_layout(r->images->store, r->name, dir, &id, e) < 0)
		return -1;
	if (make_partial(partial, link, e) < 0)
		return -1;
	begin_from_store(&s, dir, w);
	skopeo_add(&s, "oci:out:image");
	skopeo_add(&s, target);
	result = skopeo_run(&s, e);
	skopeo_done(&s);
	if (result == 0 && rename(partial, r->to) < 0)
		result = err_errno(e, ERR_INTERNAL, "%s", r->to);
	if (result < 0) {
		unlink(partial);
		return -1;
	}
	*ret = json_pack("{s:s}", "id", id);
	return 0;
}

static int import_one(const struct image_request *r, struct image_worker *w, const char *dir, const json_t *image,
		      json_t **ret, struct err *e)
{
	json_auto_t *names = r->name ? json_pack("[s]", r->name) : json_incref(json_object_get(image, "names"));
	json_auto_t *digests = json_array();
	auto_free char *out = xasprintf("%s/out", dir);
	struct skopeo s;
	int result;

	if (!json_array_size(names))
		return err_set(e, ERR_INVALID, "the archive does not say what its image is called; give it a name");
	tree_remove(out, NULL);
	skopeo_begin(&s, dir, w, TIMEOUT, "copy");
	skopeo_add(&s, "--dest-shared-blob-dir");
	skopeo_add(&s, "../../blobs");
	skopeo_add(&s, "--dest-oci-accept-uncompressed-layers");
	skopeo_add(&s, jsonx_str(image, "source"));
	skopeo_add(&s, "oci:out:image");
	result = skopeo_run(&s, e);
	skopeo_done(&s);
	if (result < 0 || image_take_in(r->images->store, w, out, names, digests, ret, e) < 0)
		return -1;
	json_object_set(*ret, "name", json_array_get(names, 0));
	image_worker_say(w, "Imported %s", json_string_value(json_array_get(names, 0)));
	return 0;
}

static int import(const struct image_request *r, struct image_worker *w, const char *dir, json_t **ret, struct err *e)
{
	auto_free char *link = xasprintf("%s/file", dir);
	json_auto_t *list = NULL;
	json_t *image;
	size_t k;

	if (symlink(r->to, link) < 0)
		return err_errno(e, ERR_INTERNAL, "%s", link);
	if (image_archive_list(r->to, "file", &list, e) < 0)
		return -1;
	if (r->name && json_array_size(list) > 1)
		return err_set(e, ERR_INVALID, "the archive holds %zu images; one name does not do for all",
			       json_array_size(list));
	json_array_foreach (list, k, image) {
		json_decref(*ret);
		*ret = NULL;
		if (import_one(r, w, dir, image, ret, e) < 0)
			return -1;
	}
	return 0;
}

/* ---- each with a bench of its own ---- */

typedef int move_fn(const struct image_request *r, struct image_worker *w, const char *dir, json_t **ret,
		    struct err *e);

static int with_bench(move_fn *fn, const struct image_request *r, struct image_worker *w, const char *about,
		      json_t **ret, struct err *e)
{
	struct image_bench bench;
	int result;

	if (image_bench_open(r->images->store, &bench, e) < 0)
		return -1;
	result = fn(r, w, bench.dir, ret, e);
	image_bench_done(&bench);
	return result < 0 ? err_prefix(e, "%s", about) : 0;
}

int image_push_work(struct image_worker *w, void *arg, json_t **ret, struct err *e)
{
	const struct image_request *r = arg;

	return with_bench(push, r, w, r->to, ret, e);
}

int image_export_work(struct image_worker *w, void *arg, json_t **ret, struct err *e)
{
	const struct image_request *r = arg;

	return with_bench(export, r, w, r->to, ret, e);
}

int image_import_work(struct image_worker *w, void *arg, json_t **ret, struct err *e)
{
	const struct image_request *r = arg;

	return with_bench(import, r, w, r->to, ret, e);
}
