// SPDX-License-Identifier: Apache-2.0
/* image_unpack.c - from an OCI layout that skopeo wrote to layers on disk and an entry in the index
 *
 * Runs in a worker that holds `busy`.  Manifest and config are checked against their hashes, every layer against its
 * diff ID.  A layer appears under its name only when it is whole and on disk: it is unpacked under tmp/, synced, and
 * renamed.  Two workers that unpack the same layer at once both succeed; the second throws its copy away.
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
#include "node/layer.h"
#include "node/tree.h"

#define LAYERS_MAX 200 /* what one page of mount options holds, see image_mount.c */

static int sync_parent(const char *path, struct err *e)
{
	auto_free char *dir = xstrndup(path, (size_t)(strrchr(path, '/') - path));
	auto_close int fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (fd < 0 || fsync(fd) < 0)
		return err_errno(e, ERR_INTERNAL, "%s", dir);
	return 0;
}

static int write_size(const char *layer, const struct layer_sum *sum, struct err *e)
{
	auto_free char *path = xasprintf("%s.json", layer);
	auto_sbuf struct sbuf text = SBUF(256);

	sbuf_addf(&text, "{\"bytes\":%lld,\"entries\":%lld}", (long long)sum->bytes, (long long)sum->entries);
	return file_write(path, 0600, sbuf_str(&text), e);
}

static int unpack_into(const char *blob, const char *diff_id, const char *dir, struct layer_sum *sum, struct err *e)
{
	const struct layer_limits limits = { .entries = LAYER_ENTRIES, .bytes = LAYER_BYTES };
	auto_close int blob_fd = open(blob, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
	auto_close int dir_fd = -1;

	if (blob_fd < 0)
		return err_errno(e, ERR_INTERNAL, "%s", blob);
	if (mkdir(dir, 0755) < 0 || chmod(dir, 0755) < 0)
		return err_errno(e, errno == ENOSPC ? ERR_STORAGE_FULL : ERR_INTERNAL, "%s", dir);
	dir_fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
	if (dir_fd < 0)
		return err_errno(e, ERR_INTERNAL, "%s", dir);
	if (layer_unpack_confined(blob_fd, dir_fd, diff_id, &limits, sum, e) < 0)
		return -1;
	if (syncfs(dir_fd) < 0)
		return err_errno(e, errno == ENOSPC ? ERR_STORAGE_FULL : ERR_INTERNAL, "%s", dir);
	return 0;
}

/* A blob that the disk has spoilt must not be taken for the right one by the next pull. */
static void drop_if_damaged(const char *blob, const char *digest)
{
	auto_close int fd = open(blob, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
	struct sha256 *hash = crypto_sha256_new();
	auto_sbuf struct sbuf hex = SBUF(128);
	unsigned char out[SHA256_LEN];
	char buf[65536];
	ssize_t n;

	while (fd >= 0 && (n = read(fd, buf, sizeof(buf))) > 0)
		crypto_sha256_add(hash, buf, (size_t)n);
	crypto_sha256_end(hash, out);
	hex_encode(out, sizeof(out), &hex);
	if (!str_ends(digest, hex.p))
		unlink(blob);
}

static int unpack_layer(struct image_store *s, const char *work, const char *digest, const char *diff_id, struct err *e)
{
	auto_free char *layer = image_store_layer(s, diff_id);
	auto_free char *blob = image_store_blob(s, digest);
	auto_free char *dir = xasprintf("%s/layer", work);
	struct layer_sum sum = { 0 };

	if (unpack_into(blob, diff_id, dir, &sum, e) < 0 || write_size(layer, &sum, e) < 0) {
		tree_remove(dir, NULL);
		drop_if_damaged(blob, digest);
		return -1;
	}
	if (rename(dir, layer) < 0) {
		int why = errno;

		tree_remove(dir, NULL);
		errno = why;
		if (why != EEXIST && why != ENOTEMPTY)
			return err_errno(e, ERR_INTERNAL, "%s", layer);
	}
	return sync_parent(layer, e);
}

static int64_t layer_bytes(struct image_store *s, const char *diff_id)
{
	auto_free char *layer = image_store_layer(s, diff_id);
	auto_free char *path = xasprintf("%s.json", layer);
	auto_sbuf struct sbuf text = SBUF(4096);
	json_auto_t *doc = NULL;
	struct err e = ERR_INIT;

	if (file_read(path, 4096, &text, &e) < 0 || jsonx_parse(text.p, text.n, NULL, NULL, &doc, &e) < 0)
		return 0;
	return jsonx_int_or(doc, "bytes", 0);
}

/* ---- the documents ---- */

static const char *digest_of(const json_t *descriptor)
{
	const char *digest = jsonx_str_or(descriptor, "digest", "");

	return image_digest_valid(digest) ? digest : NULL;
}

static int read_layout(const char *dir, json_t **ret_manifest_desc, struct err *e)
{
	auto_free char *path = xasprintf("%s/index.json", dir);
	auto_sbuf struct sbuf text = SBUF(LIMIT_BODY);
	json_auto_t *doc = NULL;
	json_t *first;

	if (file_read(path, LIMIT_BODY, &text, e) < 0 ||
	    jsonx_parse(text.p ? text.p : "", text.n, NULL, NULL, &doc, e) < 0)
		return err_prefix(e, "reading what skopeo wrote");
	first = json_array_get(json_object_get(doc, "manifests"), 0);
	if (!digest_of(first))
		return err_set(e, ERR_INTERNAL, "skopeo wrote no manifest");
	*ret_manifest_desc = json_incref(first);
	return 0;
}

/* Manifest and config must tell the same story. */
static int check_documents(const json_t *manifest, const json_t *config, struct err *e)
{
	const json_t *layers = json_object_get(manifest, "layers");
	const json_t *diffs = jsonx_at(config, "rootfs.diff_ids");
	const char *os = jsonx_str_or(config, "os", "linux");
	json_t *v;
	size_t i;

	if (!streq(os, "linux") && *os)
		return err_set(e, ERR_INVALID, "it is an image for %s, not for Linux", os);
	if (!json_is_array(layers) || !json_is_array(diffs) || json_array_size(layers) != json_array_size(diffs))
		return err_set(e, ERR_INVALID, "its manifest and config do not name the same layers");
	if (json_array_size(layers) > LAYERS_MAX)
		return err_set(e, ERR_INVALID, "it has %zu layers; at most %d can be mounted", json_array_size(layers),
			       LAYERS_MAX);
	json_array_foreach (diffs, i, v)
		if (!json_is_string(v) || !image_digest_valid(json_string_value(v)) ||
		    !digest_of(json_array_get(layers, i)))
			return err_set(e, ERR_INVALID, "its layer %zu has no usable digest", i + 1);
	return 0;
}

static int unpack_missing(struct image_store *s, struct image_worker *w, const char *work, const json_t *manifest,
			  const json_t *config, struct err *e)
{
	const json_t *layers = json_object_get(manifest, "layers");
	const json_t *diffs = jsonx_at(config, "rootfs.diff_ids");
	size_t n = json_array_size(diffs);

	for (size_t i = 0; i < n; i++) {
		const char *diff_id = json_string_value(json_array_get(diffs, i));
		auto_free char *layer = image_store_layer(s, diff_id);

		if (access(layer, F_OK) == 0)
			continue;
		image_worker_say(w, "Unpacking layer %zu of %zu", i + 1, n);
		if (unpack_layer(s, work, digest_of(json_array_get(layers, i)), diff_id, e) < 0)
			return err_prefix(e, "layer %zu of %zu", i + 1, n);
	}
	return 0;
}

static json_t *make_record(struct image_store *s, json_t *descriptor, const json_t *manifest, const json_t *config,
			   const json_t *names, const json_t *digests)
{
	json_t *blobs = json_pack("[s, s]", digest_of(descriptor), digest_of(json_object_get(manifest, "config")));
	json_t *diffs = jsonx_copy(jsonx_at(config, "rootfs.diff_ids"));
	int64_t bytes = jsonx_int_or(manifest, "config.size", 0);
	json_t *record, *v;
	size_t i;

	json_array_foreach (json_object_get(manifest, "layers"), i, v)
		json_array_append_new(blobs, json_string(digest_of(v)));
	json_array_foreach (diffs, i, v)
		bytes += layer_bytes(s, json_string_value(v));
	record = json_pack("{s:O, s:O, s:O, s:o, s:o, s:I, s:I}", "names", names, "digests", digests, "manifest",
			   descriptor, "layers", diffs, "blobs", blobs, "bytes", (json_int_t)bytes, "added",
			   (json_int_t)clock_wall());
	json_object_set_new(record, "created", jsonx_string(jsonx_str_or(config, "created", "")));
	return record;
}

int image_take_in(struct image_store *s, struct image_worker *w, const char *dir, const json_t *names,
		  const json_t *digests, json_t **ret, struct err *e)
{
	json_auto_t *descriptor = NULL;
	json_auto_t *manifest = NULL;
	json_auto_t *config = NULL;
	json_auto_t *record = NULL;
	const char *id;

	if (read_layout(dir, &descriptor, e) < 0)
		return -1;
	if (image_store_document(s, digest_of(descriptor), &manifest, e) < 0)
		return err_prefix(e, "manifest");
	id = digest_of(json_object_get(manifest, "config"));
	if (!id)
		return err_set(e, ERR_INVALID, "its manifest names no config");
	if (image_store_document(s, id, &config, e) < 0)
		return err_prefix(e, "config");
	if (check_documents(manifest, config, e) < 0 || unpack_missing(s, w, dir, manifest, config, e) < 0)
		return -1;
	record = make_record(s, descriptor, manifest, config, names, digests);
	if (image_store_add(s, id, record, e) < 0)
		return -1;
	*ret = json_pack("{s:s}", "id", id);
	return 0;
}
