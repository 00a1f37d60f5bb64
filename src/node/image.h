// SPDX-License-Identifier: Apache-2.0
/* image.h - images at rest, layers unpacked once, root file systems for containers
 *
 * DIR/images holds blobs, unpacked layers (one directory a diff ID, shared by overlayfs) and an index of names.  The
 * image "host" is this machine's own root file system.  Moving images is skopeo's work, in a child process.
 */
#ifndef STOKER_NODE_IMAGE_H
#define STOKER_NODE_IMAGE_H

#include <jansson.h>

#include "base/err.h"
#include "base/str.h"
#include "loop/loop.h"

struct images;

struct images_config {
	const char *dir;
	const char *prefix;
};
int images_open(struct loop *loop, const struct images_config *config, struct images **ret, struct err *e);
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
/* Local look-up by name or id; ERR_NOT_FOUND. */
int images_find(struct images *i, const char *name, struct image_info *ret, struct err *e);
/* A JSON array of {id, names[], digest, bytes, created, used}. */
json_t *images_list(struct images *i);

struct pull_options {
	const json_t *auths; /* docker config "auths" object, or NULL */
	bool plain_http;     /* host:port registries may be plain */
	void (*progress)(void *arg, const char *line);
	void *arg;
};
/* Fetches and unpacks; done once.  Pulls of the same name are joined. */
void images_pull(struct images *i, const char *name, const struct pull_options *o,
		 void (*done)(void *arg, const struct image_info *info, const struct err *e), void *arg);

/* Mounts a writable root file system of an image at `target` (overlay; its upper and work directories below `scratch`).
 */
int images_mount(struct images *i, const char *name, const char *scratch, const char *target, bool read_only,
		 struct err *e);
/* Unmounts and removes the scratch; harmless if there is none. */
void images_unmount(const char *scratch, const char *target);

#endif
