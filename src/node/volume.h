// SPDX-License-Identifier: Apache-2.0
/* volume.h - a pod's volumes as directories and files on this machine
 *
 * One row a volume type.  What comes from the API (ConfigMaps, Secrets, claims) is given by the caller as objects:
 * preparing is local and idempotent, and preparing again with newer objects refreshes what running containers see, in
 * one rename.  Paths inside volumes are opened beneath their root (openat2), so that symlinks cannot lead out.
 */
#ifndef STOKER_NODE_VOLUME_H
#define STOKER_NODE_VOLUME_H

#include <jansson.h>
#include <stdbool.h>
#include <sys/types.h>

#include "base/err.h"

struct volume_context {
	const json_t *pod;
	/* Objects the pod's volumes name, by "configmaps/NAME", "secrets/NAME", "persistentvolumeclaims/NAME",
	 * "persistentvolumes/NAME" and "tokens/VOLUME/PATH" for serviceAccountToken projections: a text, or an object
	 * whose "error" says why there is none. */
	const json_t *objects;
	const char *dir; /* DIR/pods/<uid>/volumes */
	/* A directory in memory, which somebody else removes, for volumes that may hold secrets; NULL: each of them is
	 * a mount of its own below `dir`. */
	const char *memory;
	gid_t fs_group; /* (gid_t)-1: none */
	uid_t owner;    /* (uid_t)-1: an admin's pod; else host paths are opened with this user's rights only */
	const json_t *host_roots; /* array of directories below which an owner's hostPath must be; NULL: nowhere */
	/* Writes the files of the pod's PBS job into a directory; NULL: it is of none. */
	int (*job_files)(void *arg, const char *dir, struct err *e);
	void *arg;
};

/* Which objects must be fetched before volumes_prepare() can work: a new array of "configmaps/NAME", with '?' in front
 * where optional.  A claim's PersistentVolume is added by the second call, once `objects` has the claim. */
json_t *volumes_needed(const json_t *pod, const json_t *objects);
/* Makes or refreshes every volume of the pod.  Errors name the volume and say what is wrong:
 * MountVolume.SetUp failed for volume "x" : ...  Slow work (nfs, fsGroup of a large claim) goes on in a child:
 * ERR_UNAVAILABLE, ask again soon. */
int volumes_prepare(const struct volume_context *c, struct err *e);
/* Where a container's mount comes from: source path of a volumeMount with subPath (already expanded) resolved, made if
 * it was missing.  It is pinned below `dir`, so that what is mounted is what was checked; *ret is malloc'ed. */
int volume_source(const struct volume_context *c, const json_t *container, const json_t *mount, const char *sub_path,
		  char **ret, struct err *e);
/* Whether a volumeMount is read-only: it says so, its volume does, or its type always is (configMap, secret ...). */
bool volume_is_read_only(const json_t *pod, const json_t *mount);
/* Bytes that disk-backed emptyDirs hold now, and the first one over its sizeLimit (borrowed from pod), or NULL. */
int64_t volumes_usage(const struct volume_context *c, const json_t **ret_over);
/* The same of any directory; `dir` and `name` are where a count that takes long is kept. */
int64_t volume_tree_bytes(const char *dir, const char *name, const char *path);
/* Unmounts and removes everything below dir; never follows a link or a foreign mount.  Deleting many files goes on in a
 * child. */
void volumes_remove(const char *dir);

#endif
