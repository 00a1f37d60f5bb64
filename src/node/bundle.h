// SPDX-License-Identifier: Apache-2.0
/* bundle.h - from a container of a pod to an OCI config.json; pure
 *
 * Everything that decides what a container may see and do is in this document, so everything about it can be tested by
 * looking at JSON.
 */
#ifndef STOKER_NODE_BUNDLE_H
#define STOKER_NODE_BUNDLE_H

#include <jansson.h>

#include "base/err.h"
#include "base/str.h"

struct bundle_input {
	const json_t *pod;
	const json_t *container;
	const json_t
		*image_config; /* the OCI image config document ("config": Entrypoint, Cmd, Env, User, WorkingDir) */
	const json_t *env;     /* resolved environment: array of "NAME=value", from env_resolve() */
	const json_t *mounts;  /* array of OCI mounts for volumeMounts, /etc/hosts, resolv.conf, termination log ... */
	const json_t *devices; /* array of OCI linux.devices for GPUs, or NULL */
	const char *cgroup;
	const char *net_ns, *ipc_ns, *uts_ns, *pid_ns; /* namespace files; NULL: the host's, "" : a new one */
	const char *hostname;
	const json_t *passwd;  /* {"uid":..,"gid":..,"home":".."} resolved user, from users.c */
	const json_t *seccomp; /* the document of a Localhost profile */
	uint64_t caps;         /* capabilities there are to give, a bit each; 0: all */
	const char *shm;       /* what is mounted at /dev/shm; NULL: a new one of shm_bytes */
	int64_t shm_bytes;
	bool cgroup_ns; /* it sees its control group as the root, unless it is privileged: as in Kubernetes on v2 */
	bool rootless;  /* in a user namespace, without cgroups */
	bool tty_group; /* which has a group 5 */
};

/* A new config.json document. */
int bundle_make(const struct bundle_input *in, json_t **ret, struct err *e);

/* The seccompProfile that holds for a container, or NULL. */
const json_t *bundle_seccomp_profile(const json_t *pod, const json_t *container);

/* --- env.c --- */
/* $(VAR) and $$ as Kubernetes expands them; unknown ones stay. */
void env_expand(const char *text, const json_t *vars /* object name -> value */, struct sbuf *out);
/* "NAME=value" texts as an object, for env_expand(). */
json_t *env_object(const json_t *env);
/* The whole environment of a container in order: image, services, envFrom, env (valueFrom by `objects`:
 * the ConfigMaps and Secrets it names, under "configmaps/NAME" and "secrets/NAME"), defaults. ERR_NOT_FOUND names the
 * missing object or key (CreateContainerConfigError). */
int env_resolve(const json_t *pod, const json_t *container, const json_t *image_config, const json_t *services,
		const json_t *objects, json_t **ret, struct err *e);

/* --- users.c --- */
/* Who a container runs as: securityContext of container and pod, then the image's USER looked up in the image's own
 * passwd and group texts.  {"uid","gid","groups":[..],"name","home","real": it is an account of this machine};
 * runAsNonRoot is checked here. */
int user_resolve(const json_t *pod, const json_t *container, const json_t *image_config, const char *passwd_text,
		 const char *group_text, json_t **ret, struct err *e);
/* passwd and group texts with a line for a uid or gid that has none; NULL if nothing must be added.  All groups of an
 * account of this machine get theirs, by the names that they have here. */
char *user_add_passwd(const char *passwd_text, const json_t *user);
typedef bool user_group_name(int64_t gid, char *out, size_t n);
char *user_add_group(const char *group_text, const json_t *user, user_group_name *name_of);

#endif
