// SPDX-License-Identifier: Apache-2.0
/* rootfs.h - an image is a stranger's: looked at before a runtime, which is root, walks through it
 *
 * For the pod worker: rootfs_check() after images_mount() and bundle_make(), rootfs_read() for any file of an image.
 */
#ifndef STOKER_NODE_ROOTFS_H
#define STOKER_NODE_ROOTFS_H

#include <jansson.h>

#include "base/err.h"
#include "base/str.h"

/* Refuses (ERR_INVALID) a root file system whose /dev, /proc or /sys is there but no directory, a working directory
 * that leads into /proc, and volumes in the place of what the runtime relies on; `config` is the OCI document. */
int rootfs_check(const char *rootfs, const json_t *config, struct err *e);

/* Appends a file of the image, "/etc/passwd"; links are followed within the image only.  ERR_NOT_FOUND; ERR_TOO_LARGE
 * beyond `max` bytes; ERR_INVALID if it is no plain file. */
int rootfs_read(const char *rootfs, const char *path, size_t max, struct sbuf *out, struct err *e);

/* Where a path of the container leads once the image's links are followed: absolute, without "..".  Parts that do not
 * exist stay as they are.  ERR_INVALID after too many links. */
int rootfs_resolve(const char *rootfs, const char *path, struct sbuf *out, struct err *e);

/* Makes a directory that is missing, and those above it, for everyone to enter.  What cannot be made stays missing: the
 * runtime says so. */
void rootfs_make_dir(const char *rootfs, const char *path);

#endif
