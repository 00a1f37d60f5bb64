// SPDX-License-Identifier: Apache-2.0
/* volume.h - a pod's volumes as directories and files on this machine
 *
 * One row a volume type.  What comes from the API (ConfigMaps, Secrets, claims) is given by the caller as objects:
 * preparing is local and idempotent.  Paths inside volumes are opened beneath their root (openat2), so that symlinks
 * cannot lead out.
 */
#ifndef STOKER_NODE_VOLUME_H
#define STOKER_NODE_VOLUME_H

#include <jansson.h>
#include <sys/types.h>

#include "base/err.h"

/* Objects the pod's volumes name, by "configmaps/NAME", "secrets/NAME", "persistentvolumeclaims/NAME",
 * "persistentvolumes/NAME". */
struct volume_context {
	const json_t *pod;
	const json_t *objects;
	const char *dir;        /* DIR/pods/<uid>/volumes */
	const char *claims_dir; /* where the default StorageClass makes directories */
	gid_t fs_group;         /* (gid_t)-1: none */
	/* A token for a serviceAccountToken projection, owned by the callee's arena; NULL if none can be had. */
	const char *(*token)(void *arg, const json_t *projection);
	void *arg;
	/* hostPath: may this pod mount it?  NULL: anything. */
	int (*allow_host_path)(void *arg, const char *path, struct err *e);
};

/* Which objects must be fetched before volumes_prepare can work: a new array of "configmaps/NAME" (with '?' in front if
 * optional). */
json_t *volumes_needed(const json_t *pod);
/* Makes or refreshes every volume of the pod.  Errors name the volume: MountVolume.SetUp failed for volume "x": ... */
int volumes_prepare(const struct volume_context *c, struct err *e);
/* Where a container's mount comes from: source path of a volumeMount with subPath resolved; *ret is malloc'ed. */
int volume_source(const struct volume_context *c, const json_t *container, const json_t *mount, char **ret,
		  struct err *e);
/* Unmounts and removes everything below dir. */
void volumes_remove(const char *dir);

#endif
