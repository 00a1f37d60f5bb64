// SPDX-License-Identifier: Apache-2.0
/* image_commit.c - an image from a container that was changed by hand
 *
 * The upper directory of the container's overlay is one more layer on those of the image it started from.  The worker
 * writes the layer, a config and a manifest as blobs of the store and takes them in like any other image; so the layer
 * is unpacked and checked by the same code as a stranger's, and what may not be in a layer does not get in this way.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/jsonx.h"
#include "base/limits.h"
#include "base/mem.h"
#include "loop/crypto.h"
#include "node/image_parts.h"
#include "node/layer_pack.h"

#define MEDIA(what) "application/vnd.oci.image." what

/* A blob of the store under its own digest; the descriptor that names it. */
static int add_document(struct image_store *s, const json_t *doc, const char *media, json_t **ret, struct err *e)
{
	auto_sbuf struct sbuf text = SBUF(LIMIT_BODY);
	auto_sbuf struct sbuf digest = SBUF(128);
	auto_free char *path = NULL;
	unsigned char hash[SHA256_LEN];

	jsonx_dump(doc, &text);
	if (text.over)
		return err_set(e, ERR_TOO_LARGE, "the image's documents are too large");
	crypto_sha256(text.p, text.n, hash);
	sbuf_adds(&digest, "sha256:");
	hex_encode(hash, sizeof(hash), &digest);
	path = image_store_blob(s, digest.p);
	if (file_write(path, 0600, sbuf_str(&text), e) < 0)
		return -1;
	*ret = json_pack("{s:s, s:s, s:I}", "mediaType", media, "digest", digest.p, "size", (json_int_t)text.n);
	return 0;
}

/* The layer as a blob; *ret_diff_id is its digest, for it is not compressed. */
static int add_layer(struct image_store *s, const char *dir, const json_t *details, json_t **ret, struct err *e)
{
	auto_free char *upper = xasprintf("%s/upper", jsonx_str_or(details, "scratch", ""));
	auto_free char *partial = xasprintf("%s/layer.tar", dir);
	auto_close int fd = open(partial, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	auto_sbuf struct sbuf digest = SBUF(128);
	auto_free char *blob = NULL;
	int64_t bytes = 0;

	if (fd < 0)
		return err_errno(e, ERR_INTERNAL, "%s", partial);
	if (layer_pack(upper, fd, json_object_get(details, "skip"), &digest, &bytes, e) < 0)
		return -1;
	blob = image_store_blob(s, digest.p);
	if (fsync(fd) < 0 || rename(partial, blob) < 0)
		return err_errno(e, errno == ENOSPC ? ERR_STORAGE_FULL : ERR_INTERNAL, "%s", blob);
	*ret = json_pack("{s:s, s:s, s:I}", "mediaType", MEDIA("layer.v1.tar"), "digest", digest.p, "size",
			 (json_int_t)bytes);
	return 0;
}

static int change_config(json_t *config, const json_t *details, const char *diff_id, struct err *e)
{
	char now[CLOCK_RFC3339_LEN];
	json_t *entry, *v;
	size_t i;

	json_array_foreach (json_object_get(details, "changes"), i, v)
		if (image_change(config, json_string_value(v), e) < 0)
			return err_prefix(e, "change %zu", i + 1);
	clock_rfc3339(clock_wall(), now);
	json_object_set_new(config, "created", json_string(now));
	json_array_append_new(jsonx_at(config, "rootfs.diff_ids"), json_string(diff_id));
	entry = json_pack("{s:s, s:s}", "created", now, "created_by", jsonx_str_or(details, "madeBy", "stoker"));
	if (jsonx_str(details, "comment"))
		json_object_set(entry, "comment", json_object_get(details, "comment"));
	if (!json_is_array(json_object_get(config, "history")))
		json_object_set_new(config, "history", json_array());
	json_array_append_new(json_object_get(config, "history"), entry);
	return 0;
}

/* The documents of the image that the container started from. */
static int find_base(struct image_store *s, const char *scratch, json_t **ret_manifest, json_t **ret_config,
		     struct err *e)
{
	json_auto_t *mark = image_scratch_mark(scratch);
	const char *id = jsonx_str_or(mark, "id", "");
	json_t *record = json_object_get(image_store_images(s), id);

	if (!*id)
		return err_set(e, ERR_NOT_FOUND, "the container is not mounted; it must be there, running or ended");
	if (streq(id, IMAGE_HOST))
		return err_set(e, ERR_INVALID,
			       "the container runs on this machine's own file system, and there is no image to add to; "
			       "start it from an image");
	if (!record)
		return err_set(e, ERR_NOT_FOUND, "the image it started from is no longer here");
	if (image_store_document(s, jsonx_str_or(record, "manifest.digest", ""), ret_manifest, e) < 0 ||
	    image_store_document(s, id, ret_config, e) < 0)
		return err_prefix(e, "the image it started from");
	return 0;
}

static int write_index(const char *dir, const json_t *descriptor, struct err *e)
{
	auto_sbuf struct sbuf text = SBUF(65536);
	auto_free char *path = xasprintf("%s/out/index.json", dir);
	json_auto_t *index = json_pack("{s:i, s:[O]}", "schemaVersion", 2, "manifests", descriptor);

	jsonx_dump(index, &text);
	return file_write(path, 0600, sbuf_str(&text), e);
}

static int commit(const struct image_request *r, struct image_worker *w, const char *dir, json_t **ret, struct err *e)
{
	struct image_store *s = r->images->store;
	auto_free char *out = xasprintf("%s/out", dir);
	json_auto_t *base_manifest = NULL, *base_config = NULL;
	json_auto_t *config = NULL, *layer = NULL, *manifest = NULL;
	json_auto_t *config_desc = NULL, *manifest_desc = NULL;
	json_auto_t *names = json_pack("[s]", r->name);
	json_auto_t *digests = json_array();

	if (find_base(s, jsonx_str_or(r->details, "scratch", ""), &base_manifest, &base_config, e) < 0)
		return -1;
	image_worker_say(w, "Packing what the container changed");
	if (add_layer(s, dir, r->details, &layer, e) < 0)
		return -1;
	config = jsonx_copy(base_config);
	if (change_config(config, r->details, jsonx_str(layer, "digest"), e) < 0 ||
	    add_document(s, config, MEDIA("config.v1+json"), &config_desc, e) < 0)
		return -1;
	manifest = json_pack("{s:i, s:s, s:O, s:o}", "schemaVersion", 2, "mediaType", MEDIA("manifest.v1+json"),
			     "config", config_desc, "layers", jsonx_copy(json_object_get(base_manifest, "layers")));
	json_array_append(json_object_get(manifest, "layers"), layer);
	if (add_document(s, manifest, MEDIA("manifest.v1+json"), &manifest_desc, e) < 0 ||
	    write_index(dir, manifest_desc, e) < 0 || image_take_in(s, w, out, names, digests, ret, e) < 0)
		return -1;
	json_object_set_new(*ret, "name", json_string(r->name));
	return 0;
}

int image_commit_work(struct image_worker *w, void *arg, json_t **ret, struct err *e)
{
	const struct image_request *r = arg;
	struct image_bench bench;
	int result;

	if (image_bench_open(r->images->store, &bench, e) < 0)
		return -1;
	result = commit(r, w, bench.dir, ret, e);
	image_bench_done(&bench);
	return result;
}

void images_commit(struct images *i, const struct commit_options *o, images_done_fn *done, void *arg)
{
	auto_sbuf struct sbuf normal = SBUF(8192);
	struct image_request *r;
	struct err e = ERR_INIT;

	image_normalize(o->name, &normal, &e);
	r = image_request_new(i, image_commit_work, normal.n ? normal.p : o->name, &o->pull);
	r->err = e;
	if (e.kind == ERR_NONE && (strchr(normal.p, '@') || streq(normal.p, IMAGE_HOST)))
		err_set(&r->err, ERR_INVALID, "\"%s\" cannot be the name of a new image; give NAME:TAG", o->name);
	r->details = json_pack("{s:o, s:O?, s:O?, s:o}", "scratch", jsonx_string(o->scratch), "skip", o->skip,
			       "changes", o->changes, "madeBy", jsonx_string(o->made_by ? o->made_by : "stoker"));
	if (o->comment)
		json_object_set_new(r->details, "comment", jsonx_string(o->comment));
	image_request_wait(r, &o->pull, done, arg);
	image_request_start(r);
}

void images_cancel(struct images *i)
{
	image_requests_free(i);
	image_sweep(i);
}
