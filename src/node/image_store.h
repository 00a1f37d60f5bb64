// SPDX-License-Identifier: Apache-2.0
/* image_store.h - DIR/images: the index, its locks, and who uses what
 *
 *	index.json          {"version": 1, "images": {"sha256:ID": RECORD}}, replaced as a whole
 *	blobs/sha256/HEX    manifests, configs and compressed layers, as in an OCI layout
 *	layers/HEX          a layer unpacked, named by its diff ID; HEX.json beside it holds its size
 *	used/HEX            an empty file; its time is the image's last use
 *	refs/HEX            one a mounted root file system: {"id", "layers", "scratch"}
 *	tmp/, trash/        work under way; what waits to be removed
 *	lock, claims, busy  see image_store.c
 *
 * RECORD: {"names": [..], "digests": ["repo@sha256:.."], "manifest": {descriptor}, "layers": [diff IDs],
 * "blobs": [digests], "bytes": N, "created": "..", "added": seconds}
 */
#ifndef STOKER_NODE_IMAGE_STORE_H
#define STOKER_NODE_IMAGE_STORE_H

#include <jansson.h>
#include <sys/stat.h>

#include "base/err.h"
#include "base/str.h"

struct image_store {
	char *data; /* DIR, as a real path */
	char *root; /* DIR/images */
	json_t *index;
	struct stat seen; /* of index.json when it was read */
	bool patient;     /* waits for locks as long as it takes: never in the loop */
};

int image_store_open(const char *data_dir, struct image_store **ret, struct err *e);
void image_store_free(struct image_store *s);
/* "ROOT/a/b", the caller's to free. */
char *image_store_path(const struct image_store *s, const char *below);
/* Path of a blob or layer by its digest ("sha256:..." checked by the caller). */
char *image_store_blob(const struct image_store *s, const char *digest);
char *image_store_layer(const struct image_store *s, const char *diff_id);

/* For a change of the index.  A descriptor to close, or -1 and ERR_UNAVAILABLE. */
int image_store_lock(struct image_store *s, struct err *e);
/* For a change of refs/ and for sweeping; never held while the disk is waited for. */
int image_store_claims(struct image_store *s, struct err *e);
/* Held, shared, while blobs or layers come in that no index knows yet; exclusive to remove unknown ones: -1 if others
 * are at work. */
int image_store_busy(struct image_store *s, bool exclusive);

/* The object of records by id, as it is on disk now; borrowed until the next call. */
json_t *image_store_images(struct image_store *s);
/* Writes what the caller changed in image_store_images() under the lock. */
int image_store_save(struct image_store *s, struct err *e);
/* Record by normalised name, digest name, id or the beginning of an id; borrowed. */
json_t *image_store_find(struct image_store *s, const char *name, const char **ret_id);
/* Adds a record, or what it says to the one there is; its names leave other images.  Takes the lock. */
int image_store_add(struct image_store *s, const char *id, const json_t *record, struct err *e);
/* The JSON document in a blob, its hash checked. */
int image_store_document(struct image_store *s, const char *digest, json_t **ret, struct err *e);

void image_store_touch(struct image_store *s, const char *id);
/* Seconds since 1970. */
int64_t image_store_used(struct image_store *s, const char *id);

/* Notes that a root file system at `scratch` uses an image; under the claims.  The mark in the scratch, which
 * image_scratch_forget() takes away, makes the note valid. */
int image_store_ref(struct image_store *s, const char *id, const json_t *layers, const char *scratch, struct err *e);
/* Valid notes: array of {"id", "layers", "scratch"}; a new reference. */
json_t *image_store_refs(struct image_store *s);
/* The mark's content, or NULL: {"id", "ref", "trash"}; a new reference. */
json_t *image_scratch_mark(const char *scratch);

#endif
