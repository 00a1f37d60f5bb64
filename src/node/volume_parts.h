// SPDX-License-Identifier: Apache-2.0
/* volume_parts.h - what the files behind volume.h share
 *
 * Below a pod's directory of volumes each volume has a directory (or a file, or a mount) of its own name.  Names are
 * DNS labels, so what begins with a dot is ours: .jobs (volume_job.c), .written (volume_write.c), .subpath
 * (volume_subpath.c).
 */
#ifndef STOKER_NODE_VOLUME_PARTS_H
#define STOKER_NODE_VOLUME_PARTS_H

#include <stdbool.h>

#include "base/str.h"
#include "node/volume.h"

/* One volume of the pod at hand. */
struct volume {
	const struct volume_context *c;
	const char *name;
	const json_t *source;  /* the object below its type: {"path":"/data"} */
	const json_t *options; /* mountOptions of a PersistentVolume, or NULL */
	const char *base;      /* c->dir or c->memory */
	const char *path;      /* base/name */
	bool trusted;          /* an administrator chose the place: the owner's roots do not apply */
	bool read_only;
};

/* One row a type. */
struct volume_type {
	const char *name;
	int (*prepare)(const struct volume *v, struct err *e);
	/* Where its files are; NULL: at v->path. */
	int (*root)(const struct volume *v, char **ret, struct err *e);
	bool read_only; /* whatever the pod says */
	bool memory;    /* at home in c->memory */
};

/* --- volume_host.c, volume_empty.c, volume_files.c, volume_claim.c, volume_nfs.c, volume_pbs.c --- */
int volume_host_prepare(const struct volume *v, struct err *e);
int volume_host_root(const struct volume *v, char **ret, struct err *e);
int volume_empty_prepare(const struct volume *v, struct err *e);
int volume_config_map_prepare(const struct volume *v, struct err *e);
int volume_secret_prepare(const struct volume *v, struct err *e);
int volume_downward_prepare(const struct volume *v, struct err *e);
int volume_projected_prepare(const struct volume *v, struct err *e);
int volume_claim_prepare(const struct volume *v, struct err *e);
int volume_claim_root(const struct volume *v, char **ret, struct err *e);
int volume_nfs_prepare(const struct volume *v, struct err *e);
int volume_pbs_prepare(const struct volume *v, struct err *e);

/* A file system in memory at v->path, unless it is there already or the path is in memory anyway.  A server without the
 * right to mount uses the disk.
 */
int volume_mount_memory(const struct volume *v, int64_t bytes, struct err *e);
/* A directory, made with this mode whatever the umask; one that is there is left as it is. */
int volume_make_dir(const char *path, mode_t mode, struct err *e);

/* --- volume_downward.c --- */
/* Text of a downwardAPI item: fieldRef or resourceFieldRef. */
int volume_downward_text(const json_t *pod, const json_t *item, struct sbuf *out, struct err *e);

/* --- volume_write.c: files that change all at once --- */
struct volume_file {
	char *path; /* relative, clean */
	char *data;
	size_t n;
	mode_t mode;
	uid_t uid;
};
struct volume_files {
	struct volume_file *items;
	size_t n, cap;
};
/* Copies; a path that leads elsewhere is ERR_INVALID.  A second file of the same path replaces the first. */
int volume_files_add(struct volume_files *f, const char *path, struct str data, mode_t mode, uid_t uid, struct err *e);
void volume_files_done(struct volume_files *f);
#define auto_volume_files __attribute__((cleanup(volume_files_done)))
/* Makes the volume hold exactly these files; nothing happens if it does already. */
int volume_files_write(const struct volume *v, const struct volume_files *f, struct err *e);

/* --- volume_owner.c: fsGroup --- */
/* Gives one open file or directory to the group, with the rights that Kubernetes gives it. */
int volume_own_fd(int fd, gid_t gid, bool read_only);
/* A whole tree, as far as it goes; true if the root already looked right and nothing was done. */
int volume_own_tree(const char *path, gid_t gid, bool only_on_mismatch, struct err *e);

/* --- volume_user.c: acting with a user's rights on files --- */
struct volume_user {
	bool acting;
	int ngroups;
	gid_t *groups; /* ours, to go back to */
};
/* (uid_t)-1, or a server that is not root: nothing changes.  Every begin is followed by its end, also after an error.
 */
int volume_user_begin(struct volume_user *u, uid_t uid, struct err *e);
void volume_user_end(struct volume_user *u);

/* --- volume_open.c: names to descriptors, and descriptors to mounts --- */
/* An O_PATH descriptor; symlinks are followed, /proc's are not. */
int volume_open(const char *path);
/* The same below `root`; a path or symlink that leads out is EXDEV. */
int volume_open_beneath(int root, const char *path);
/* As volume_open_beneath(), making directories that are missing.  `mode` is what they get. */
int volume_make_beneath(int root, const char *path, mode_t mode);
/* Binds what fd is onto `target`, which is made, and all that is mounted below it; keeps what is there if it is the
 * same.  Without the right to mount *ret is the path of fd as the kernel knows it, else a copy of target. */
int volume_pin(int fd, const char *target, char **ret, struct err *e);
/* The path of an open file; NULL if it has none any more. */
char *volume_fd_path(int fd);
/* Whether something is mounted exactly here. */
bool volume_is_mounted(const char *path);

/* --- volume_subpath.c --- */
/* Part `sub_path` of the volume at `root`, pinned for the index-th mount of a container. */
int volume_subpath(const struct volume *v, const char *root, const char *container, size_t index, const char *sub_path,
		   char **ret, struct err *e);

/* --- volume_job.c: slow work in a process of its own --- */
/* Runs in the child; what it appends is the result, which must not be empty. */
typedef void volume_job_fn(const void *arg, struct sbuf *result);
enum volume_job { VOLUME_JOB_NONE, VOLUME_JOB_RUNNING, VOLUME_JOB_DONE };
/* The job's state and, in any state, its last result (which may be that of the run before). */
enum volume_job volume_job_look(const char *dir, const char *name, struct sbuf *result);
/* `undo` (or NULL) is called in the child if the volumes were removed while it worked. */
int volume_job_start(const char *dir, const char *name, volume_job_fn *run, void (*undo)(const void *arg),
		     const void *arg, struct err *e);
/* Forgets the result, so that the next look is VOLUME_JOB_NONE. */
void volume_job_forget(const char *dir, const char *name);

#endif
