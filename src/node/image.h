// SPDX-License-Identifier: Apache-2.0
/* image.h - images at rest, layers unpacked once, root file systems for containers
 *
 * DIR/images holds blobs, unpacked layers (one directory a diff ID, shared by overlayfs) and an index of names.  The
 * image "host" is this machine's own root file system.  Moving images is skopeo's work, in a child process.
 *
 * Server and command line share the directory by file locks: either may change it at any time, and each sees what the
 * other did at its next call.
 */
#ifndef STOKER_NODE_IMAGE_H
#define STOKER_NODE_IMAGE_H

#include <jansson.h>

#include "base/err.h"
#include "base/str.h"
#include "loop/loop.h"

struct images;

struct images_config {
	const char *dir; /* the data directory, DIR; DIR/images is made below it */
	const char *prefix;
	bool patient; /* wait for locks as long as it takes: for commands, never for the server */
};
int images_open(struct loop *loop, const struct images_config *config, struct images **ret, struct err *e);
/* Ends work under way; its `done` is not called. */
void images_free(struct images *i);

/* "busybox" -> "docker.io/library/busybox:latest"; ERR_INVALID (InvalidImageName) for nonsense. */
int image_normalize(const char *name, struct sbuf *out, struct err *e);

struct image_info {
	char *id;     /* sha256:... of the config */
	char *name;   /* normalised */
	char *digest; /* name@sha256:... or "" */
	int64_t bytes;
	json_t *config; /* the OCI image config document */
};
void image_info_done(struct image_info *info);
/* Local look-up by name or id (whole, or its first 6 or more hex digits if only one begins so); ERR_NOT_FOUND. */
int images_find(struct images *i, const char *name, struct image_info *ret, struct err *e);
/* A JSON array of {id, names[], digest, bytes, created, used}; `used` and `created` are RFC3339 texts. */
json_t *images_list(struct images *i);
/* {id, names[], digests[], bytes, created, used, inUse, layers[], config}. */
int images_inspect(struct images *i, const char *name, json_t **ret, struct err *e);

/* ---- moving images: by skopeo, in a child process ---- */

struct pull_options {
	const json_t *auths; /* docker config "auths" object, or NULL */
	bool plain_http;     /* host:port registries may be plain */
	void (*progress)(void *arg, const char *line);
	void *arg;
	const char *authfile; /* instead of auths: a file of credentials; "" for skopeo's own places */
	const char *cert_dir; /* CA and client certificates of the registry, beside /etc/containers/certs.d */
};
typedef void images_done_fn(void *arg, const struct image_info *info, const struct err *e);

/* Fetches and unpacks; done once, never before this returns; it must not call images_free().  Pulls of the same name
 * with the same credentials are joined.  Nothing is copied if the registry still has what is here.  Kinds: ERR_INVALID
 * (InvalidImageName, or an image that must not run here), ERR_NOT_FOUND, ERR_FORBIDDEN, ERR_UNAVAILABLE,
 * ERR_STORAGE_FULL. */
void images_pull(struct images *i, const char *name, const struct pull_options *o, images_done_fn *done, void *arg);
/* Copies a local image to a registry, as `to`. */
void images_push(struct images *i, const char *name, const char *to, const struct pull_options *o, images_done_fn *done,
		 void *arg);
/* form: "docker-archive" or "oci-archive".  The file is replaced only when the new one is whole. */
void images_export(struct images *i, const char *name, const char *path, const char *form, const struct pull_options *o,
		   images_done_fn *done, void *arg);
/* An archive of either form, or a directory with an OCI layout.  name: what to call it, or NULL for what it says
 * itself. */
void images_import(struct images *i, const char *path, const char *name, const struct pull_options *o,
		   images_done_fn *done, void *arg);

/* ---- making images ---- */

struct build_options {
	const char *context; /* a directory, a git repository or a tar archive on the web */
	const char *file;    /* NULL: Dockerfile or Containerfile in the context */
	const char *target;  /* stage to stop at, or NULL */
	const json_t *names; /* what to call it: an array, may be empty */
	const json_t *args;  /* array of "NAME=value" */
	bool no_cache;
	struct pull_options pull; /* for base images that are not here, and progress */
};
/* Builds by buildah, with a storage of its own in DIR/images/build; base images that are here are not fetched. */
void images_build(struct images *i, const struct build_options *o, images_done_fn *done, void *arg);

struct commit_options {
	const char *scratch;      /* of the mounted container */
	const char *name;         /* what to call the new image */
	const json_t *skip;       /* its mount points, an array of absolute paths */
	const json_t *changes;    /* array of "CMD ...", "ENV A=b", ... as in a Dockerfile */
	const char *made_by;      /* for the image's history */
	const char *comment;      /* or NULL */
	struct pull_options pull; /* progress */
};
/* An image from what a container changed.  ERR_INVALID for one of the image "host". */
void images_commit(struct images *i, const struct commit_options *o, images_done_fn *done, void *arg);
/* Ends work under way and removes what it left; no `done` is called.  For a command that is interrupted. */
void images_cancel(struct images *i);

/* ---- names and space ---- */

/* A further name; one that another image had moves. */
int images_tag(struct images *i, const char *name, const char *new_name, struct err *e);
/* Takes the name away, and the image with its last name; by id all of its names.  ERR_CONFLICT if containers use it,
 * unless `force`: then they keep its files until they end. */
int images_remove(struct images *i, const char *name, bool force, struct err *e);

/* What may go.  Zero fields ask for nothing. */
struct images_policy {
	bool nameless;       /* images that lost their last name to a newer one */
	bool all;            /* every image that is not in use */
	bool spare_local;    /* age and want of space do not count for what came from no registry: the only copy */
	int64_t max_age;     /* seconds since the last use after which an image goes */
	int64_t min_age;     /* ... before which none goes for want of space */
	int high_percent;    /* from this share of the disk in use on, the least recently used go ... */
	int low_percent;     /* ... down to this one */
	int64_t used_bytes;  /* 0: ask the file system */
	int64_t total_bytes; /* 0: ask the file system */
};
/* Never what is in use.  *ret_removed: array of {id, names[], bytes}.  Files go in a child process; the next call
 * finishes what a crash left.  Meant for a timer of the node and for `stoker image prune`. */
int images_prune(struct images *i, const struct images_policy *policy, json_t **ret_removed, struct err *e);
/* Waits for removals under way: for commands, never for the server. */
void images_settle(struct images *i);

/* ---- root file systems ---- */

/* Mounts a writable root file system of an image at `target` (overlay; its upper and work directories below `scratch`).
 * The image is in use until images_unmount.  Both directories are made; mounted already is no error. */
int images_mount(struct images *i, const char *name, const char *scratch, const char *target, bool read_only,
		 struct err *e);
/* Unmounts and removes the scratch; harmless if there is none. */
void images_unmount(const char *scratch, const char *target);

#endif
